/* Stands for CUDA's header of this name. */
#pragma once

#include "tests/emulation/device.h"

inline void __pipeline_memcpy_async(void *to, const void *from, size_t size)
{
    if (reinterpret_cast<uintptr_t>(to) % size || reinterpret_cast<uintptr_t>(from) % size)
        emulation::fail("a copy is not aligned");
    emulation::begin_copy(to, from, size);
}

inline void __pipeline_commit()
{
    emulation::end_copies();
}

inline void __pipeline_wait_prior(size_t but)
{
    emulation::wait_for_copies(but);
}
