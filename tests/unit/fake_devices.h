/* The devices of fake_cuda.c. The environment says what they are:
 *   FAKE_CUDA_DEVICES=N           how many there are, 1 (the default) to 8
 *   FAKE_CUDA_MEMORY=BYTES        the memory of all together; the default is 64 GiB
 *   FAKE_CUDA_LOST=N:CALLS[,...]  device N does so many calls and after them fails for good
 *   FAKE_CUDA_ERROR=NUMBER        what it then says; the default is cudaErrorLaunchFailure
 *   FAKE_CUDA_UNLIKE=N            device N is of another kind
 *   FAKE_CUDA_SHARED=BYTES        shared memory of a block
 *   CUDA_VISIBLE_DEVICES=N[,...]  those that the program sees, in its order, as CUDA reads it
 * It is read at the first call. For who holds fake_cuda.c's lock. */
#pragma once

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

/* How many the program sees. */
int fake_device_count(void);

/* The thread's own choice of those; false: there is no such device. */
bool fake_device_choose(int ordinal);
int fake_device_chosen(void);

/* The number of the thread's device among all. */
int fake_device(void);

/* Counts a call of the thread's device, which may be its last. */
cudaError_t fake_device_call(void);

bool fake_device_is_lost(int number);

/* What the environment says of a device that the program sees. */
void fake_device_describe(int ordinal, struct cudaDeviceProp *properties);

/* Takes memory; false: there is not so much. */
bool fake_device_take(size_t bytes);
void fake_device_give(size_t bytes);

/* Free bytes, and all. */
void fake_device_memory(size_t *available, size_t *total);
