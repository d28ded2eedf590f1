/* `auto` weighs a GPU's start-up and transfers against the CPU's slower kernels, once for the whole
 * run: were it decided picture by picture, the bits of a directory's outputs would depend on the
 * order in which they are made. Decoding and encoding take the same time either way and are left
 * out. */
#include "app/device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/message.h"
#include "common/clock.h"
#include "common/thread.h"
#include "common/workers.h"
#include "cpu/backend.h"
#include "filters/spread.h"
#include "gpu/backend.h"

/* Seconds and rates of the estimate. The start-up was measured on an H200 (342 ms); the rates are
 * what a PCIe link and one core reach with a margin. Ten per cent either way change no choice that
 * matters. */
static const double gpu_start = 0.35;
static const double gpu_bytes = 10e9;        /* a second, both ways */
static const double cpu_multiply_adds = 4e9; /* a second and thread */
static const double cpu_bytes = 2e9;         /* a second and thread */
/* A second, on an H200: floats reach 20, f64 12, bytes 140; where a method is forced it may be the
 * slowest. */
static const double gpu_multiply_adds = 10e12, slow_multiply_adds = 1.8e12;

/* Under cuda:all, in milliseconds. On four H200 a GPU's context takes 110 to 150, but 64 JPEG took
 * 2000 longer with four opened at once than with one. Another is opened when work has waited for
 * those that there are, since the last one was: so where decoding takes the time none is. What
 * would keep one GPU for longer than HEAVY is given to all from its beginning, since work is not
 * taken back from the first. */
enum { LOOK_EVERY = 10, BUSY_BEFORE = 500, HEAVY = 1000 };

struct GfDevices {
    const GfOptions *options; /* borrowed */
    GfDeviceWish wish;        /* --algorithm makes it GF_DEVICE_CUDA */
    pthread_mutex_t mutex;
    GfBackend *cpu, *cuda, *reference; /* opened so far */
    GfBackend *chosen;                 /* NULL: not decided */
    size_t first, gpus; /* under cuda:all: which was opened first, and one beyond the last */
    const char *kind;   /* what that one is */
    pthread_t opener;   /* of all but the first */
    bool has_opener;
    bool gathered;       /* it was found whether the run is heavy */
    atomic_bool hurried; /* all are to be opened at once */
    atomic_bool closing; /* no more need be opened */
};

void gf_devices_narrow(const GfOptions *options)
{
    if (options->command == GF_COMMAND_FILTER && !options->all_devices &&
        (options->device == GF_DEVICE_AUTO || options->device == GF_DEVICE_CUDA))
        gf_cuda_narrow(options->device_number);
}

/* ---- opening; the mutex is held ---- */

static GfStatus open_cpu(GfDevices *devices, GfBackend **backend)
{
    if (!devices->cpu)
        GF_TRY(gf_cpu_open(devices->options->threads, &devices->cpu));
    *backend = devices->cpu;
    return GF_OK;
}

static GfStatus open_reference(GfDevices *devices, GfBackend **backend)
{
    if (!devices->reference)
        GF_TRY(gf_reference_open(&devices->reference));
    *backend = devices->reference;
    return GF_OK;
}

/* Waits until another GPU is worth its start; false: until the devices are closed. */
static bool wait_for_work(GfDevices *devices)
{
    const struct timespec pause = {.tv_nsec = LOOK_EVERY * 1000000L};
    for (int busy = 0; busy < BUSY_BEFORE && !atomic_load(&devices->hurried);) {
        nanosleep(&pause, NULL);
        if (atomic_load(&devices->closing))
            return false;
        GfSpreadLoad load = gf_spread_load(devices->cuda);
        if (load == GF_SPREAD_STRANDED)
            return true;
        busy += load == GF_SPREAD_BUSY ? LOOK_EVERY : 0;
    }
    return true;
}

/* Of another kind than the first one a GPU may sum in another order. */
static GfStatus open_alike(const GfDevices *devices, size_t number, GfBackend **backend)
{
    GF_TRY(gf_cuda_open((int)number, devices->options->algorithm, backend));
    GfBackend *opened = *backend;
    if (!devices->kind || strcmp(opened->device, devices->kind) == 0)
        return GF_OK;
    GfStatus status = gf_fail(GF_ENODEVICE, "it is another kind of GPU (%s)", opened->device);
    opened->close(opened);
    *backend = NULL;
    return status;
}

/* Opens one of several GPUs, and says it when the others have to do without. */
static GfStatus open_one(const GfDevices *devices, size_t number, GfBackend **backend)
{
    GfStatus status = open_alike(devices, number, backend);
    if (status != GF_OK && status != GF_EUSAGE)
        gf_say_note(NULL, "cuda:%zu: %s; its work is done by the others", number, gf_message());
    return status;
}

/* One after the other, while those that there are work. */
static void *open_others(void *argument)
{
    GfDevices *devices = argument;
    for (size_t i = devices->first + 1; i < devices->gpus && wait_for_work(devices); i++) {
        GfBackend *other = NULL;
        double start = gf_now();
        if (open_one(devices, i, &other) == GF_OK)
            gf_say_detail(NULL, "%s (%s): started in %.2f s", other->name, other->device,
                          gf_now() - start);
        gf_spread_add(devices->cuda, other);
    }
    return NULL;
}

/* Of the GPUs the first that can be opened. */
static GfStatus open_first(GfDevices *devices, GfBackend **backend)
{
    for (; devices->first + 1 < devices->gpus; devices->first++) {
        GfStatus status = open_one(devices, devices->first, backend);
        if (status == GF_OK || status == GF_EUSAGE)
            return status;
    }
    return gf_cuda_open((int)devices->first, devices->options->algorithm, backend);
}

/* All GPUs as one backend. */
static GfStatus open_all(GfDevices *devices)
{
    GfBackend *first;
    size_t found = 0;
    GF_TRY(gf_cuda_count(&found));
    devices->gpus = gf_min(found, GF_SPREAD_MAX);
    GF_TRY(open_first(devices, &first));
    GfStatus status =
        gf_spread_create(first, devices->gpus - devices->first, "cuda:all", &devices->cuda);
    if (status != GF_OK) {
        first->close(first);
        return status;
    }
    devices->kind = first->device;
    devices->has_opener = gf_thread_start(&devices->opener, open_others, devices);
    if (!devices->has_opener) /* slower, but no failure */
        for (size_t i = devices->first + 1; i < devices->gpus; i++)
            gf_spread_add(devices->cuda, NULL);
    return GF_OK;
}

/* A GPU takes a third of a second to start, in which `meanwhile` (NULL: nobody) decodes ahead. */
static GfStatus open_cuda(GfDevices *devices, GfReader *meanwhile, GfBackend **backend)
{
    const GfOptions *options = devices->options;
    GfStatus status = GF_OK;
    if (!devices->cuda) {
        if (meanwhile && gf_cuda_version() > 0)
            gf_reader_start_ahead(meanwhile);
        status = options->all_devices
                     ? open_all(devices)
                     : gf_cuda_open(options->device_number, options->algorithm, &devices->cuda);
        gf_reader_stop_ahead(meanwhile);
    }
    *backend = devices->cuda;
    return status;
}

void gf_devices_tell_losses(GfDevices *devices)
{
    const char *name;
    GfError why;
    pthread_mutex_lock(&devices->mutex);
    while (devices->options->all_devices && devices->cuda &&
           gf_spread_next_loss(devices->cuda, &name, &why))
        gf_say_note(NULL, "%s: %s; it gets no more work", name, why.message);
    pthread_mutex_unlock(&devices->mutex);
}

GfStatus gf_devices_create(const GfOptions *options, GfReader *meanwhile, GfDevices **out)
{
    GfDevices *devices;
    GfStatus status = GF_OK;
    *out = NULL;
    GF_TRY(gf_allocate_zero(1, sizeof *devices, &devices));
    pthread_mutex_init(&devices->mutex, NULL);
    devices->options = options;
    devices->wish = options->algorithm ? GF_DEVICE_CUDA : options->device;
    if (devices->wish == GF_DEVICE_CPU)
        status = open_cpu(devices, &devices->chosen);
    else if (devices->wish == GF_DEVICE_REFERENCE)
        status = open_reference(devices, &devices->chosen);
    else if (devices->wish == GF_DEVICE_CUDA)
        status = open_cuda(devices, meanwhile, &devices->chosen);
    if (status != GF_OK && devices->wish == GF_DEVICE_CUDA)
        gf_fail_at(status, options->algorithm ? "--algorithm" : "--device cuda");
    if (status == GF_OK)
        *out = devices;
    else
        gf_devices_close(devices);
    return status;
}

/* ---- choosing ---- */

/* What the run has to do. */
typedef struct Work {
    double multiply_adds, bytes;
    double left; /* multiply-adds that the CPU takes */
} Work;

static GfStatus find_work(const GfDevices *devices, const GfBank *bank, const GfFormat *in,
                          double weight, Work *work)
{
    GfPlan *plan;
    GfPlanOptions options =
        gf_options_plan(devices->options, gf_options_sample(devices->options, NULL, in->sample));
    options.memory = 0;
    GF_TRY(
        gf_plan_create((const GfFilter *const *)bank->filters, bank->count, in, &options, &plan));
    *work = (Work){0};
    for (size_t i = 0; i < plan->outputs; i++) {
        work->multiply_adds += weight * plan->pipelines[i].multiply_adds;
        work->left += weight * gf_cpu_multiply_adds(&plan->pipelines[i]);
        work->bytes += weight * plan->pipelines[i].bytes;
    }
    gf_plan_free(plan);
    return GF_OK;
}

/* Seconds that the run is expected to take on each device. */
static GfStatus estimate(const GfDevices *devices, const GfBank *bank, const GfFormat *in,
                         double weight, double *cpu, double *gpu)
{
    Work work;
    size_t threads = devices->options->threads ? devices->options->threads : gf_processors();
    double parallel = (double)gf_min(threads, gf_processors());
    GF_TRY(find_work(devices, bank, in, weight, &work));
    *cpu = (work.left / cpu_multiply_adds + work.bytes / cpu_bytes) / parallel;
    *gpu = gpu_start + work.bytes / gpu_bytes;
    return GF_OK;
}

/* Under cuda:all, for the first picture that can be filtered: waits for all GPUs where the run is
 * heavy. */
static void gather(GfDevices *devices, const GfBank *bank, const GfFormat *in, double weight)
{
    Work work;
    if (find_work(devices, bank, in, weight, &work) != GF_OK)
        return;
    devices->gathered = true;
    const double rate = devices->options->algorithm ? slow_multiply_adds : gpu_multiply_adds;
    if (work.multiply_adds / rate < HEAVY * 1e-3)
        return;
    atomic_store(&devices->hurried, true);
    pthread_join(devices->opener, NULL);
    devices->has_opener = false;
}

static GfStatus decide(GfDevices *devices, const GfBank *bank, const GfFormat *in, double weight,
                       GfReader *meanwhile)
{
    double cpu, gpu;
    GF_TRY(estimate(devices, bank, in, weight, &cpu, &gpu));
    if (gpu < cpu && open_cuda(devices, meanwhile, &devices->chosen) == GF_OK) {
        gf_say_detail(NULL, "computing on %s (%s): about %.2f s, %.2f s on the CPU",
                      devices->chosen->name, devices->chosen->device, gpu, cpu);
        return GF_OK;
    }
    if (gpu < cpu)
        gf_say_detail(NULL, "no GPU: %s", gf_message());
    GF_TRY(open_cpu(devices, &devices->chosen));
    gf_say_detail(NULL, "computing on %s (%s): about %.2f s, a GPU%s with its start-up %.2f s",
                  devices->chosen->name, devices->chosen->device, cpu,
                  gpu < cpu ? "" : ", which was not looked for,", gpu);
    return GF_OK;
}

GfStatus gf_devices_choose(GfDevices *devices, const GfBank *bank, const GfFormat *in,
                           double weight, GfReader *meanwhile, GfBackend **backend)
{
    GfStatus status = GF_OK;
    pthread_mutex_lock(&devices->mutex);
    if (!devices->chosen)
        status = decide(devices, bank, in, weight, meanwhile);
    else if (devices->has_opener && !devices->gathered)
        gather(devices, bank, in, weight);
    *backend = devices->chosen;
    pthread_mutex_unlock(&devices->mutex);
    return status;
}

bool gf_backend_is_gpu(const GfBackend *backend)
{
    return strncmp(backend->name, "cuda", 4) == 0;
}

GfStatus gf_devices_fall_back(GfDevices *devices, const char *path, GfBackend *failed,
                              GfStatus status, GfBackend **backend)
{
    GfError failure = {0};
    gf_error_save(&failure, status);
    pthread_mutex_lock(&devices->mutex);
    bool possible = devices->wish == GF_DEVICE_AUTO && failed == devices->cuda;
    if (possible) {
        status = open_cpu(devices, backend);
        /* What lies in the picture (its rows are too long, its plan is beyond the GPU) says nothing
         * about the next one; all else would happen again. */
        if (failure.status != GF_EDEVMEM && failure.status != GF_EUNSUPPORTED)
            devices->chosen = devices->cpu;
    }
    pthread_mutex_unlock(&devices->mutex);
    if (!possible)
        return gf_error_raise(&failure);
    gf_say_note(path, "%s; it is computed on the CPU instead", failure.message);
    return status;
}

static GfStatus find_pair(GfDevices *devices, GfBackend **one, GfBackend **other)
{
    GfStatus status = GF_ENODEVICE;
    if (devices->wish == GF_DEVICE_AUTO || devices->wish == GF_DEVICE_CUDA) {
        status = open_cuda(devices, NULL, one);
        if (status == GF_OK)
            return open_cpu(devices, other);
        if (status != GF_ENODEVICE || devices->wish == GF_DEVICE_CUDA)
            return gf_fail_at(status, "the GPU");
        gf_say_note(NULL, "no GPU (%s): the CPU is compared with the float64 reference",
                    gf_message());
    }
    GF_TRY(open_cpu(devices, one));
    return open_reference(devices, other);
}

GfStatus gf_devices_pair(GfDevices *devices, GfBackend **one, GfBackend **other)
{
    pthread_mutex_lock(&devices->mutex);
    GfStatus status = find_pair(devices, one, other);
    pthread_mutex_unlock(&devices->mutex);
    return status;
}

void gf_devices_close(GfDevices *devices)
{
    if (!devices)
        return;
    atomic_store(&devices->closing, true);
    if (devices->has_opener)
        pthread_join(devices->opener, NULL);
    GfBackend *opened[] = {devices->cuda, devices->cpu, devices->reference};
    for (size_t i = 0; i < sizeof opened / sizeof *opened; i++)
        if (opened[i])
            opened[i]->close(opened[i]);
    pthread_mutex_destroy(&devices->mutex);
    free(devices);
}
