/* What CUDA was let see. Private to this room. */
#pragma once

/* The number by which CUDA knows device `number`: 0 after gf_cuda_narrow() to it. */
int gf_cuda_ordinal(int number);
