/* The header of a .safetensors file: eight bytes of length, little-endian; one JSON object of that
 * length, padded with spaces, which says of each tensor its dtype, shape and the bytes behind the
 * header that it takes; the bytes. https://huggingface.co/docs/safetensors
 *
 * A header may have 100 MB, and as one JSON document ten times that in memory. So it is cut into
 * its members while it is read, and each is given to the JSON library by itself: a tensor's entry
 * is short, and what is no entry is refused before it grows. Names are compared after that, as they
 * were decoded. The bytes have to be taken exactly: no hole in which something could hide, and no
 * tensor that reads another one's. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "common/memory.h"
#include "common/text.h"
#include "filters/tensor_formats.h"

enum {
    WINDOW = 16 << 10,
    NAME_TEXT_MAX = 6 * GF_TENSOR_NAME_MAX + 2, /* each byte as an escape of JSON */
    ENTRY_MAX = 4 << 10,
    METADATA_MAX = 8 << 20,
    MEMBERS_MAX = 1 << 16, /* of one entry or of the metadata */
    DEPTH_MAX = 2,         /* lists in objects */
    END = -1,              /* of the header; no byte has that value */
    SHOWN = 160
};

/* The header while it is read: the byte that comes next, and the piece being cut out. */
typedef struct Header {
    GfBytes *bytes;
    size_t left; /* bytes of the header behind the window */
    unsigned char window[WINDOW];
    size_t at, filled;
    int byte;
    char *piece;
    size_t length, capacity, most;
} Header;

/* ---- pieces of text ---- */

static GfStatus advance(Header *header)
{
    header->at++;
    if (header->at >= header->filled) {
        header->filled = gf_min(header->left, WINDOW);
        header->left -= header->filled;
        header->at = 0;
        GF_TRY(gf_bytes_read(header->bytes, header->window, header->filled));
    }
    header->byte = header->filled ? header->window[header->at] : END;
    return GF_OK;
}

/* Appends the next byte to the piece. */
static GfStatus take(Header *header)
{
    if (header->byte == END)
        return gf_fail(GF_EUSAGE, "the header ends within its JSON object");
    if (header->length == header->most)
        return gf_fail(GF_EUSAGE,
                       "a name, an entry or the metadata in the header is longer than "
                       "%zu bytes",
                       header->most);
    if (header->length == header->capacity) {
        size_t capacity = gf_max(2 * header->capacity, 256);
        char *piece = realloc(header->piece, capacity);
        if (!piece)
            return gf_fail(GF_EMEMORY, "out of memory");
        header->piece = piece;
        header->capacity = capacity;
    }
    header->piece[header->length++] = (char)header->byte;
    return advance(header);
}

static GfStatus skip_blanks(Header *header)
{
    while (header->byte != END && header->byte && strchr(" \t\r\n", header->byte))
        GF_TRY(advance(header));
    return GF_OK;
}

static GfStatus expect(const Header *header, char wanted)
{
    if (header->byte == wanted)
        return GF_OK;
    return gf_fail(GF_EUSAGE, "the header is no JSON object of tensors: no '%c' where one must be",
                   wanted);
}

static GfStatus take_string(Header *header)
{
    GF_TRY(expect(header, '"'));
    GF_TRY(take(header));
    while (header->byte != '"') {
        if (header->byte == '\\')
            GF_TRY(take(header));
        GF_TRY(take(header));
    }
    return take(header);
}

/* What stands in an entry besides strings. So there is no sign, point or exponent, which JSON
 * libraries treat in different ways. */
static GfStatus take_plain(Header *header, size_t *depth, size_t *members)
{
    int byte = header->byte;
    if (byte != END && (!byte || !strchr("{}[]:, \t\r\n0123456789", byte)))
        return gf_fail(GF_EUSAGE, "the header has more than strings and whole numbers, which have "
                                  "neither sign nor point nor exponent");
    *depth += byte == '{' || byte == '[';
    *depth -= byte == '}' || byte == ']';
    *members += byte == ',';
    if (*depth > DEPTH_MAX || *members > MEMBERS_MAX)
        return gf_fail(GF_EUSAGE, "an entry of the header is %s",
                       *depth > DEPTH_MAX ? "nested too deep" : "too long");
    return take(header);
}

static GfStatus take_object(Header *header)
{
    size_t depth = 0, members = 0;
    GF_TRY(expect(header, '{'));
    do {
        if (header->byte == '"')
            GF_TRY(take_string(header));
        else
            GF_TRY(take_plain(header, &depth, &members));
    } while (depth > 0);
    return GF_OK;
}

/* Cuts the next string or object out of the header and parses it. The caller releases *value. */
static GfStatus next_value(Header *header, GfStatus (*cut)(Header *), size_t most, json_t **value)
{
    json_error_t error;
    char shown[SHOWN];
    header->length = 0;
    header->most = most;
    GF_TRY(skip_blanks(header));
    GF_TRY(cut(header));
    GF_TRY(skip_blanks(header));
    *value =
        json_loadb(header->piece, header->length, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY, &error);
    if (*value)
        return GF_OK;
    if (json_error_code(&error) == json_error_out_of_memory)
        return gf_fail(GF_EMEMORY, "out of memory");
    return gf_fail(GF_EUSAGE, "the header is no JSON: %s",
                   gf_escape(error.text, shown, sizeof shown));
}

/* ---- entries ---- */

typedef struct Dtype {
    const char *name;
    size_t bits;
    GfNumberType number; /* of size 0: known, but no type of weights */
} Dtype;

static const Dtype dtypes[] = {{"F32", 32, {GF_IEEE, 4, false}},
                               {"F16", 16, {GF_IEEE, 2, false}},
                               {"BF16", 16, {GF_BRAIN, 2, false}},
                               {"F64", 64, {GF_IEEE, 8, false}},
                               {"BOOL", 8, {0}},
                               {"U8", 8, {0}},
                               {"I8", 8, {0}},
                               {"U16", 16, {0}},
                               {"I16", 16, {0}},
                               {"U32", 32, {0}},
                               {"I32", 32, {0}},
                               {"U64", 64, {0}},
                               {"I64", 64, {0}},
                               {"C64", 64, {0}},
                               {"F8_E4M3", 8, {0}},
                               {"F8_E5M2", 8, {0}},
                               {"F8_E8M0", 8, {0}},
                               {"F8_E4M3FNUZ", 8, {0}},
                               {"F8_E5M2FNUZ", 8, {0}},
                               {"F6_E2M3", 6, {0}},
                               {"F6_E3M2", 6, {0}},
                               {"F4", 4, {0}}};

static GfStatus find_dtype(const json_t *name, const Dtype **dtype)
{
    char shown[SHOWN];
    if (!json_is_string(name))
        return gf_fail(GF_EUSAGE, "it has no dtype");
    for (size_t i = 0; i < sizeof dtypes / sizeof *dtypes; i++) {
        *dtype = &dtypes[i];
        if (strcmp(dtypes[i].name, json_string_value(name)) == 0)
            return GF_OK;
    }
    return gf_fail(GF_EUSAGE, "unknown dtype \"%s\"",
                   gf_escape(json_string_value(name), shown, sizeof shown));
}

/* A list of at most `most` whole numbers; their text had no sign. */
static GfStatus read_sizes(const json_t *list, const char *what, size_t most, size_t *sizes,
                           size_t *count)
{
    *count = json_array_size(list);
    if (!json_is_array(list))
        return gf_fail(GF_EUSAGE, "its %s is no list", what);
    if (*count > most)
        return gf_fail(GF_EUSAGE, "its %s has %zu numbers; at most %zu are accepted", what, *count,
                       most);
    for (size_t i = 0; i < *count; i++) {
        const json_t *item = json_array_get(list, i);
        if (!json_is_integer(item))
            return gf_fail(GF_EUSAGE, "its %s has something else than whole numbers", what);
        sizes[i] = (size_t)json_integer_value(item);
    }
    return GF_OK;
}

/* The bytes that a tensor of that shape takes. */
static GfStatus measure(const Dtype *dtype, GfTensorInfo *info, size_t *bytes)
{
    size_t bits;
    info->count = 1;
    for (size_t i = 0; i < info->rank; i++)
        if (!gf_mul(info->count, info->shape[i], &info->count))
            return gf_fail(GF_EUSAGE, "its shape is too large for any file");
    if (!gf_mul(info->count, dtype->bits, &bits))
        return gf_fail(GF_EUSAGE, "its shape is too large for any file");
    *bytes = bits / 8;
    return bits % 8 == 0 ? GF_OK : gf_fail(GF_EUSAGE, "it ends within a byte");
}

static GfStatus read_entry(const json_t *entry, GfTensor *tensor)
{
    const Dtype *dtype;
    size_t offsets[2], count, bytes;
    GF_TRY(find_dtype(json_object_get(entry, "dtype"), &dtype));
    GF_TRY(read_sizes(json_object_get(entry, "shape"), "shape", GF_TENSOR_RANK_MAX,
                      tensor->info.shape, &tensor->info.rank));
    GF_TRY(read_sizes(json_object_get(entry, "data_offsets"), "data_offsets", 2, offsets, &count));
    if (count != 2 || json_object_size(entry) != 3)
        return gf_fail(GF_EUSAGE, count != 2 ? "its data_offsets are not two"
                                             : "it has more than dtype, shape and data_offsets");
    GF_TRY(measure(dtype, &tensor->info, &bytes));
    if (offsets[1] < offsets[0] || offsets[1] - offsets[0] != bytes)
        return gf_fail(GF_EUSAGE, "bytes %zu to %zu are not the %zu that its shape needs",
                       offsets[0], offsets[1], bytes);
    tensor->info.type = dtype->name;
    tensor->number = dtype->number;
    tensor->begin = offsets[0];
    tensor->end = offsets[1];
    return GF_OK;
}

static GfStatus add_tensor(const char *name, const json_t *entry, GfTensors *tensors)
{
    GfTensor *tensor;
    GF_TRY(gf_tensors_add(tensors, name, &tensor));
    return gf_tensor_fail(read_entry(entry, tensor), tensor);
}

static GfStatus check_metadata(json_t *metadata)
{
    char shown[SHOWN];
    const char *key;
    json_t *value;
    json_object_foreach (metadata, key, value) {
        if (!json_is_string(value))
            return gf_fail(GF_EUSAGE, "__metadata__: the value of \"%s\" is no string",
                           gf_escape(key, shown, sizeof shown));
    }
    return GF_OK;
}

/* One member of the header: a tensor, or what people wrote about the file. */
static GfStatus read_member(Header *header, GfTensors *tensors, bool *described)
{
    json_t *name = NULL, *value = NULL;
    GfStatus status;
    GF_GO(next_value(header, take_string, NAME_TEXT_MAX, &name));
    const char *text = json_string_value(name);
    bool metadata = strcmp(text, "__metadata__") == 0;
    if (json_string_length(name) > GF_TENSOR_NAME_MAX)
        GF_GO(gf_fail(GF_EUSAGE, "a name has more than %d bytes", GF_TENSOR_NAME_MAX));
    if (metadata && *described)
        GF_GO(gf_fail(GF_EUSAGE, "__metadata__ stands in the header twice"));
    GF_GO(expect(header, ':'));
    GF_GO(advance(header));
    GF_GO(next_value(header, take_object, metadata ? METADATA_MAX : ENTRY_MAX, &value));
    *described = *described || metadata;
    GF_GO(metadata ? check_metadata(value) : add_tensor(text, value, tensors));
done:
    json_decref(name);
    json_decref(value);
    return status;
}

static GfStatus read_members(Header *header, GfTensors *tensors)
{
    bool described = false;
    GF_TRY(advance(header));
    GF_TRY(expect(header, '{'));
    GF_TRY(advance(header));
    GF_TRY(skip_blanks(header));
    for (bool more = header->byte != '}'; more;) {
        GF_TRY(read_member(header, tensors, &described));
        more = header->byte == ',';
        if (more)
            GF_TRY(advance(header));
    }
    GF_TRY(expect(header, '}'));
    do {
        GF_TRY(advance(header));
    } while (header->byte == ' ');
    if (header->byte == END)
        return GF_OK;
    return gf_fail(GF_EUSAGE, "the header goes on after its JSON object");
}

/* ---- the bytes ---- */

static int compare_places(const void *a, const void *b)
{
    const GfTensor *x = *(GfTensor *const *)a, *y = *(GfTensor *const *)b;
    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return (x->end > y->end) - (x->end < y->end);
}

/* Each begins where the one before it ends; they are given as they lie. */
static GfStatus check_places(GfTensor *const *tensors, size_t count, size_t size)
{
    size_t end = 0;
    for (size_t i = 0; i < count; end = tensors[i++]->end) {
        if (tensors[i]->begin != end)
            return gf_tensor_fail(
                gf_fail(GF_EUSAGE, "it begins at byte %zu, but what is before it ends at %zu",
                        tensors[i]->begin, end),
                tensors[i]);
        if (tensors[i]->end > size)
            return gf_tensor_fail(
                gf_fail(GF_EUSAGE, "it ends at byte %zu of %zu", tensors[i]->end, size),
                tensors[i]);
    }
    if (end == size)
        return GF_OK;
    return gf_fail(GF_EUSAGE, "%zu byte%s behind the last tensor belong%s to none", size - end,
                   size - end == 1 ? "" : "s", size - end == 1 ? "s" : "");
}

/* Offsets count from the end of the header, `start`; from here on they are the file's. */
static GfStatus place(GfTensors *tensors, size_t start)
{
    GfTensor **order;
    GF_TRY(gf_allocate(tensors->count + 1, sizeof *order, &order));
    for (size_t i = 0; i < tensors->count; i++)
        order[i] = &tensors->list[i];
    qsort(order, tensors->count, sizeof *order, compare_places);
    GfStatus status = check_places(order, tensors->count, tensors->bytes.size - start);
    free(order);
    for (size_t i = 0; i < tensors->count && status == GF_OK; i++) {
        tensors->list[i].begin += start;
        tensors->list[i].end += start;
    }
    return status;
}

size_t gf_safetensors_length(const unsigned char *head)
{
    size_t length = 0;
    for (size_t i = 8; i-- > 0;)
        length = length << 8 | head[i];
    return length;
}

GfStatus gf_tensors_of_safetensors(GfTensors *tensors)
{
    unsigned char head[8];
    size_t size = tensors->bytes.size;
    if (size < sizeof head)
        return gf_fail(GF_EUSAGE, "%zu byte%s no .safetensors file", size,
                       size == 1 ? " is" : "s are");
    GF_TRY(gf_bytes_seek(&tensors->bytes, 0));
    GF_TRY(gf_bytes_read(&tensors->bytes, head, sizeof head));
    size_t length = gf_safetensors_length(head);
    if (length > GF_SAFETENSORS_HEADER_MAX || length > size - sizeof head)
        return gf_fail(GF_EUSAGE,
                       "its header claims %zu bytes; the file has %zu, and the format allows %d",
                       length, size - sizeof head, GF_SAFETENSORS_HEADER_MAX);
    Header header = {.bytes = &tensors->bytes, .left = length};
    GfStatus status = read_members(&header, tensors);
    free(header.piece);
    tensors->named = true;
    if (status == GF_OK)
        status = gf_tensors_sort(tensors);
    return status == GF_OK ? place(tensors, sizeof head + length) : status;
}
