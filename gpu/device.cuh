/* What the kernels share. Arithmetic that decides an output's bits is written with explicit fma, so
 * that two kernels, or two paths of one, cannot be contracted differently. */
#pragma once

#include "gpu/blocks.cuh"
#include "gpu/finish.cuh"
#include "gpu/groups.cuh"
#include "gpu/halves.cuh"
#include "gpu/instructions.cuh"
#include "gpu/layer.cuh"
#include "gpu/problem.cuh"
#include "gpu/samples.cuh"
#include "gpu/special.cuh"
#include "gpu/special_rows.cuh"
#include "gpu/special_short.cuh"
#include "gpu/special_walk.cuh"
#include "gpu/tensor_bytes.cuh"
#include "gpu/tensor_first.cuh"
#include "gpu/tensor_flat.cuh"
#include "gpu/tensor_rolling.cuh"
#include "gpu/tensor_strips.cuh"
