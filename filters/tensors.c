/* A sorted array of what a format found in the file, and a search in it. Numbers are read when they
 * are asked for, one tensor at a time, so that a large network costs what is used of it. */
#include "filters/tensors.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/memory.h"
#include "common/text.h"
#include "filters/tensor_candidates.h"
#include "filters/tensor_formats.h"

/* ---- opening ---- */

static const char advice[] =
    "of a PyTorch model it is safetensors.torch.save_file(model.state_dict(), "
    "\"net.safetensors\"), "
    "of one tensor t numpy.save(\"weights.npy\", t.detach().numpy())";

static bool is_npy(const unsigned char *head, size_t size)
{
    return size >= 6 && memcmp(head, "\x93NUMPY", 6) == 0;
}

/* A length that the format allows and the brace of its header: what no pickle begins with. */
static bool is_safetensors(const unsigned char *head, size_t size)
{
    return size > 8 && head[8] == '{' && gf_safetensors_length(head) <= GF_SAFETENSORS_HEADER_MAX;
}

/* Zip archives (.npz, .pt), and pickles by their first opcode unless it is a length's first
 * byte. */
static bool is_pickle(const unsigned char *head, size_t size)
{
    if (size >= 4 && memcmp(head, "PK\x03\x04", 4) == 0)
        return true;
    return size >= 2 && head[0] == 0x80 && head[1] <= 5 &&
           !(size >= 8 && memcmp(head + 4, "\0\0\0\0", 4) == 0);
}

static bool is_named_so(const char *path)
{
    const char *end = strrchr(path, '.');
    return end && strcasecmp(end, ".safetensors") == 0;
}

/* By content; the name decides only which complaint is of use about a file that is neither. */
static GfStatus read_structure(const char *path, GfTensors *tensors)
{
    unsigned char head[GF_TENSOR_HEAD] = {0};
    size_t size = gf_bytes_some(&tensors->bytes, head, sizeof head);
    if (is_npy(head, size))
        return gf_tensors_of_npy(head, size, tensors);
    if (!is_safetensors(head, size) && is_pickle(head, size))
        return gf_fail(GF_EUSAGE,
                       "an archive or a pickle (.npz, .pt, .pkl), which is never opened; save a "
                       ".safetensors or .npy file: %s",
                       advice);
    if (!is_safetensors(head, size) && !is_named_so(path))
        return gf_fail(GF_EUSAGE, "neither an .npy nor a .safetensors file; %s", advice);
    if (!tensors->bytes.sized)
        return gf_fail(GF_EUSAGE, "a .safetensors file is not read from a pipe; save it first");
    return gf_tensors_of_safetensors(tensors);
}

GfStatus gf_tensors_add(GfTensors *tensors, const char *name, GfTensor **tensor)
{
    if (tensors->count == GF_TENSORS_MAX)
        return gf_fail(GF_ELIMIT, "more than %d tensors", GF_TENSORS_MAX);
    if (tensors->count == tensors->capacity) {
        size_t capacity = gf_max(2 * tensors->capacity, 8);
        GfTensor *list = realloc(tensors->list, capacity * sizeof *list);
        if (!list)
            return gf_fail(GF_EMEMORY, "out of memory");
        tensors->list = list;
        tensors->capacity = capacity;
    }
    *tensor = &tensors->list[tensors->count];
    **tensor = (GfTensor){.name = strdup(name)};
    if (!(*tensor)->name)
        return gf_fail(GF_EMEMORY, "out of memory");
    (*tensor)->info.name = (*tensor)->name;
    tensors->count++;
    return GF_OK;
}

/* ---- order ---- */

/* Digits count as one number; of equal numbers the one with more zeros before it comes later. */
static int compare_digits(const char **a, const char **b)
{
    const char *x = *a + strspn(*a, "0"), *y = *b + strspn(*b, "0");
    size_t n = strspn(x, "0123456789"), m = strspn(y, "0123456789");
    *a = x + n;
    *b = y + m;
    return n != m ? (n > m) - (n < m) : memcmp(x, y, n);
}

/* Zero for equal names only. */
static int compare_names(const char *a, const char *b)
{
    const char *x = a, *y = b;
    while (*x && *y) {
        bool digits = *x >= '0' && *x <= '9' && *y >= '0' && *y <= '9';
        int order = digits ? compare_digits(&x, &y) : (unsigned char)*x++ - (unsigned char)*y++;
        if (order)
            return order;
    }
    return *x || *y ? (*x != '\0') - (*y != '\0') : strcmp(a, b);
}

static int compare_tensors(const void *a, const void *b)
{
    return compare_names(((const GfTensor *)a)->name, ((const GfTensor *)b)->name);
}

GfStatus gf_tensors_sort(GfTensors *tensors)
{
    char shown[GF_TENSOR_NAME_SHOWN];
    if (tensors->count > 1)
        qsort(tensors->list, tensors->count, sizeof *tensors->list, compare_tensors);
    for (size_t i = 1; i < tensors->count; i++) {
        const GfTensor *tensor = &tensors->list[i];
        if (strcmp(tensor->name, tensor[-1].name) == 0)
            return gf_fail(GF_EUSAGE, "two tensors are called \"%s\"",
                           gf_escape(tensor->name, shown, sizeof shown));
    }
    return GF_OK;
}

/* What is wrong with a picture is wrong usage here: nothing was started. */
static GfStatus as_usage(GfStatus status)
{
    return status == GF_OK || status == GF_EMEMORY ? status : GF_EUSAGE;
}

static GfStatus finish_open(GfStatus status, GfTensors *opened, GfTensors **tensors)
{
    if (status != GF_OK) {
        gf_tensors_close(opened);
        return as_usage(status);
    }
    for (size_t i = 0; i < opened->count; i++) {
        GfTensor *tensor = &opened->list[i];
        tensor->info.readable = tensor->number.size > 0 && tensor->info.count > 0;
    }
    *tensors = opened;
    return GF_OK;
}

GfStatus gf_tensors_open(const char *path, GfTensors **tensors)
{
    GfTensors *opened;
    *tensors = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *opened, &opened));
    GfStatus status = gf_bytes_open(path, &opened->bytes);
    if (status == GF_OK)
        status = read_structure(path, opened);
    return finish_open(status, opened, tensors);
}

GfStatus gf_tensors_open_memory(const void *bytes, size_t size, GfTensors **tensors)
{
    GfTensors *opened;
    *tensors = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *opened, &opened));
    opened->bytes = (GfBytes){.memory = bytes, .sized = true, .size = size};
    return finish_open(gf_tensors_of_safetensors(opened), opened, tensors);
}

void gf_tensors_close(GfTensors *tensors)
{
    if (!tensors)
        return;
    gf_bytes_close(&tensors->bytes);
    for (size_t i = 0; i < tensors->count; i++)
        free(tensors->list[i].name);
    free(tensors->list);
    free(tensors);
}

/* ---- looking ---- */

bool gf_tensors_named(const GfTensors *tensors)
{
    return tensors->named;
}

size_t gf_tensors_count(const GfTensors *tensors)
{
    return tensors->count;
}

const GfTensorInfo *gf_tensors_info(const GfTensors *tensors, size_t i)
{
    return &tensors->list[i].info;
}

static const GfTensor *find(const GfTensors *tensors, const char *name)
{
    for (size_t i = 0; i < tensors->count; i++)
        if (strcmp(tensors->list[i].name, name) == 0)
            return &tensors->list[i];
    return NULL;
}

const GfTensorInfo *gf_tensors_find(const GfTensors *tensors, const char *name)
{
    const GfTensor *tensor = find(tensors, name);
    return tensor ? &tensor->info : NULL;
}

static GfStatus check_readable(const GfTensor *tensor)
{
    if (tensor->number.size == 0)
        return gf_fail(GF_EUSAGE,
                       "numbers of type %s cannot be weights; convert them to F32 by "
                       "tensor.float()",
                       tensor->info.type);
    if (tensor->info.count == 0)
        return gf_fail(GF_EUSAGE, "it is empty: a length of its shape is 0");
    if (tensor->info.count > GF_WEIGHTS_MAX)
        return gf_fail(GF_EUSAGE, "%zu numbers are more than the %d that one array may have",
                       tensor->info.count, GF_WEIGHTS_MAX);
    return GF_OK;
}

GfStatus gf_tensor_fail(GfStatus status, const GfTensor *tensor)
{
    char shown[GF_TENSOR_NAME_SHOWN];
    if (status == GF_OK || tensor->nameless)
        return status;
    gf_escape(tensor->name, shown, sizeof shown);
    return gf_fail(status, "tensor \"%s\": %s", shown, gf_message());
}

static GfStatus choose(const GfTensors *tensors, const char *name, size_t least, size_t most,
                       const GfTensor **tensor)
{
    const GfTensor *chosen = name ? find(tensors, name) : NULL;
    if (!name && tensors->count == 1)
        chosen = tensors->list;
    if (!name && !chosen)
        GF_TRY(gf_tensors_only(tensors, least, most, &chosen));
    if (!chosen)
        return gf_tensors_missing(tensors, name);
    *tensor = chosen;
    return gf_tensor_fail(check_readable(chosen), chosen);
}

GfStatus gf_tensors_choose(const GfTensors *tensors, const char *name, size_t least, size_t most,
                           const GfTensorInfo **info)
{
    const GfTensor *tensor;
    GF_TRY(choose(tensors, name, least, most, &tensor));
    *info = &tensor->info;
    return GF_OK;
}

/* ---- reading ---- */

/* From Fortran order, the first index fastest, to C order. */
static GfStatus transpose(GfWeights *weights)
{
    double *turned;
    size_t step[GF_TENSOR_RANK_MAX], index[GF_TENSOR_RANK_MAX] = {0}, to = 0, last = 1;
    GF_TRY(gf_allocate(weights->count, sizeof *turned, &turned));
    for (size_t d = weights->rank; d-- > 0; last *= weights->shape[d])
        step[d] = last;
    for (size_t from = 0; from < weights->count; from++) {
        turned[to] = weights->values[from];
        for (size_t d = 0; d < weights->rank; d++) {
            to += step[d];
            if (++index[d] < weights->shape[d])
                break;
            to -= index[d] * step[d];
            index[d] = 0;
        }
    }
    free(weights->values);
    weights->values = turned;
    return GF_OK;
}

/* A pipe's length shows only now. */
static GfStatus check_end(GfBytes *bytes)
{
    unsigned char more;
    if (!bytes->sized && gf_bytes_some(bytes, &more, 1) > 0)
        return gf_fail(GF_EUSAGE, "the file goes on after the last number");
    return GF_OK;
}

static GfStatus read_tensor(GfBytes *bytes, const GfTensor *tensor, GfWeights *weights)
{
    weights->rank = tensor->info.rank;
    weights->count = tensor->info.count;
    memcpy(weights->shape, tensor->info.shape, sizeof weights->shape);
    GF_TRY(gf_bytes_seek(bytes, tensor->begin));
    GF_TRY(gf_allocate(weights->count, sizeof *weights->values, &weights->values));
    GF_TRY(gf_numbers_read(bytes, &tensor->number, weights->count, weights->values));
    GF_TRY(check_end(bytes));
    return tensor->fortran_order ? transpose(weights) : GF_OK;
}

GfStatus gf_tensors_read(GfTensors *tensors, const char *name, GfWeights *weights)
{
    const GfTensor *tensor;
    *weights = (GfWeights){0};
    GF_TRY(choose(tensors, name, 0, GF_TENSOR_RANK_MAX, &tensor));
    GfStatus status = read_tensor(&tensors->bytes, tensor, weights);
    if (status != GF_OK)
        gf_weights_free(weights);
    return gf_tensor_fail(status, tensor);
}
