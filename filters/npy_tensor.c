/* An .npy file as a list of one tensor. Its header is read by the parser that pictures use; only
 * what follows differs: weights take more types of numbers than samples do. */
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "filters/tensor_formats.h"

static GfStatus read_header(const unsigned char *head, size_t size, GfBytes *bytes,
                            GfNpyHeader *header)
{
    unsigned char preamble[GF_NPY_PREAMBLE];
    size_t offset, text_size;
    char *text;
    memcpy(preamble, head, size);
    if (size == GF_TENSOR_HEAD && head[6] > 1) /* versions whose length has four bytes */
        size += gf_bytes_some(bytes, preamble + size, GF_NPY_PREAMBLE - size);
    GF_TRY(gf_npy_preamble(preamble, size, &offset, &text_size));
    GF_TRY(gf_allocate(text_size + 1, 1, &text));
    GfStatus status = gf_bytes_read(bytes, text, text_size);
    if (status == GF_OK)
        status = gf_npy_parse(text, text_size, header);
    free(text);
    return status;
}

static GfStatus find_type(const char *descr, GfNumberType *type)
{
    static const struct {
        const char *name;
        GfNumberKind kind;
        size_t size;
    } known[] = {{"f2", GF_IEEE, 2},     {"f4", GF_IEEE, 4},     {"f8", GF_IEEE, 8},
                 {"u1", GF_UNSIGNED, 1}, {"i1", GF_SIGNED, 1},   {"u2", GF_UNSIGNED, 2},
                 {"i2", GF_SIGNED, 2},   {"u4", GF_UNSIGNED, 4}, {"i4", GF_SIGNED, 4}};
    const char *name = descr[0] ? descr + 1 : descr;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (strcmp(name, known[i].name) != 0 ||
            !strchr(known[i].size == 1 ? "<>|" : "<>", descr[0]))
            continue;
        *type = (GfNumberType){known[i].kind, known[i].size, descr[0] == '>'};
        return GF_OK;
    }
    return gf_fail(GF_EUSAGE,
                   "numbers of dtype '%s' are not accepted; convert them to float16, float32 or "
                   "float64 with array.astype()",
                   descr);
}

static GfStatus place(const GfBytes *bytes, size_t count, GfTensor *tensor)
{
    size_t size;
    tensor->begin = bytes->at;
    if (!gf_mul(count, tensor->number.size, &size) || !gf_add(bytes->at, size, &tensor->end))
        return gf_fail(GF_EUSAGE, "its shape is too large for any file");
    if (!bytes->sized || bytes->size == tensor->end)
        return GF_OK;
    size_t held = gf_max(bytes->size, bytes->at) - bytes->at;
    return gf_fail(GF_EUSAGE, "the file holds %zu byte%s of numbers, its header announces %zu",
                   held, held == 1 ? "" : "s", size);
}

GfStatus gf_tensors_of_npy(const unsigned char *head, size_t size, GfTensors *tensors)
{
    GfNpyHeader header;
    GfTensor *tensor;
    GF_TRY(read_header(head, size, &tensors->bytes, &header));
    GF_TRY(gf_tensors_add(tensors, "", &tensor));
    GF_TRY(find_type(header.descr, &tensor->number));
    GF_TRY(place(&tensors->bytes, header.count, tensor));
    memcpy(tensors->descr, header.descr, sizeof tensors->descr);
    tensor->nameless = true;
    tensor->info.type = tensors->descr;
    tensor->info.rank = header.rank;
    tensor->info.count = header.count;
    memcpy(tensor->info.shape, header.shape, sizeof header.shape);
    tensor->fortran_order = header.fortran_order && header.rank > 1;
    return GF_OK;
}
