#include "common/memory.h"

#include <stdlib.h>
#include <string.h>

GfStatus gf_allocate(size_t count, size_t size, void *memory)
{
    void *block = NULL;
    size_t bytes;
    /* aligned_alloc wants a multiple of the alignment. */
    if (gf_mul(count, size, &bytes) && gf_add(bytes, GF_ALIGNMENT, &bytes))
        block = aligned_alloc(GF_ALIGNMENT, bytes / GF_ALIGNMENT * GF_ALIGNMENT);
    memcpy(memory, &block, sizeof block);
    return block ? GF_OK : gf_fail(GF_EMEMORY, "out of memory (%zu x %zu bytes)", count, size);
}

GfStatus gf_allocate_zero(size_t count, size_t size, void *memory)
{
    GF_TRY(gf_allocate(count, size, memory));
    void *block;
    memcpy(&block, memory, sizeof block);
    memset(block, 0, count * size);
    return GF_OK;
}
