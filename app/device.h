/* Which backend a run computes on, and what happens when it fails. */
#pragma once

#include "app/bank.h"
#include "app/options.h"
#include "filters/backend.h"

typedef struct GfDevices GfDevices;

/* Where one GPU is wanted at most, lets CUDA see that only. To be called before there are
 * threads. */
void gf_devices_narrow(const GfOptions *options);

/* Opens what --device names; of all GPUs the first, and a thread opens the others, one by one, when
 * work waits for them. Under `auto` nothing is opened yet: even to ask CUDA whether there is a GPU
 * takes a tenth of a second. While a GPU starts, the reader `meanwhile`, of which no row was read,
 * decodes ahead; NULL: nobody does. Errors: GF_ENODEVICE with the reason, GF_EUSAGE, GF_EMEMORY. */
GfStatus gf_devices_create(const GfOptions *options, GfReader *meanwhile, GfDevices **devices);

/* The backend of the run. Under `auto` the first call decides for all: `in` is the format of a
 * picture and `weight` how many times its work the whole run is (>= 1); `meanwhile` as above. Under
 * cuda:all it waits for all GPUs where one would be kept for long. Threads may call it at once. The
 * backend stays the devices'. */
GfStatus gf_devices_choose(GfDevices *devices, const GfBank *bank, const GfFormat *in,
                           double weight, GfReader *meanwhile, GfBackend **backend);

/* Else it is the CPU, or the float64 reference there. */
bool gf_backend_is_gpu(const GfBackend *backend);

/* After `backend` failed with `status`: sets another one for the same picture, after a message with
 * `path`, or raises the failure again where the user asked for that device and no other. The failed
 * one is not chosen any more, but for a failure that lies in the picture: GF_EDEVMEM,
 * GF_EUNSUPPORTED. */
GfStatus gf_devices_fall_back(GfDevices *devices, const char *path, GfBackend *failed,
                              GfStatus status, GfBackend **backend);

/* Says which of all GPUs have failed since the last time. */
void gf_devices_tell_losses(GfDevices *devices);

/* Two backends to compare: GPU and CPU, or CPU and float64 reference where the user wants the CPU
 * or, after a note, no GPU is there. */
GfStatus gf_devices_pair(GfDevices *devices, GfBackend **one, GfBackend **other);

/* Closes all backends. NULL is allowed. No session may be left. */
void gf_devices_close(GfDevices *devices);
