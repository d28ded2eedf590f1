/* gpufilter: filters pictures with convolution kernels. From here the way goes to options.c (what
 * is wanted), jobs.c (which files), batch.c and run.c (the work). */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/batch.h"
#include "app/compare_devices.h"
#include "app/compare_files.h"
#include "app/completion.h"
#include "app/descriptors.h"
#include "app/kernel_sheet.h"
#include "app/listing.h"
#include "app/message.h"
#include "app/print.h"
#include "app/shard.h"
#include "app/stop.h"
#include "app/tensor_listing.h"
#include "app/tensor_sheet.h"
#include "app/version.h"
#include "common/thread.h"

/* A standard stream that the caller closed would give its number to the next file that is opened,
 * and messages would go into a picture. In its place comes one that can only do the opposite, so
 * that using it fails as it should. */
static void occupy_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd) {
                gf_say_error("/dev/null", "%s; it is for a standard stream that is closed",
                             strerror(errno));
                _exit(2);
            }
}

/* 2, after the message. */
static int usage_error(void)
{
    gf_say_error(NULL, "%s", gf_message());
    return 2;
}

/* What a run needs; all of it is checked for every input before the shard takes its own, so that
 * all shards refuse alike. */
typedef struct Needs {
    GfBank bank;
    GfJobs jobs;
    GfFailures failures;
    GfReader *reader; /* of the only job, until that takes it; or NULL */
    GfDevices *devices;
} Needs;

/* The only picture is opened before the devices are, so that it can be decoded while a GPU starts.
 * What fails here fails again, and is told, when the picture's turn comes. */
static void open_single(const GfOptions *options, Needs *needs)
{
    const GfJob *job = needs->jobs.jobs;
    if (needs->jobs.count != 1 || options->compare || !job->input->regular ||
        (options->skip_existing && gf_outlets_exist(job)))
        return;
    (void)gf_reader_open(job->input->path, &options->read, &needs->reader);
}

/* Tells of an option that is for outputs of one format, where there is none; the input's format,
 * that of outputs without a codec, may be the one. */
static void note_unused(const char *option, const char *format, const GfJobs *jobs)
{
    for (size_t i = 0; i < jobs->count; i++) {
        const GfCodec *codec = jobs->jobs[i].codec;
        if (jobs->jobs[i].outputs > 0 && (!codec || strcmp(codec->name, format) == 0))
            return;
    }
    if (jobs->count > 0)
        gf_say_note(NULL, "--%s changes nothing: no output is of format %s", option, format);
}

static GfStatus prepare(const GfOptions *options, Needs *needs)
{
    GfShard shard;
    GF_TRY(gf_shard_find(options->shard, &shard));
    GF_TRY(gf_bank_create(options, &needs->bank));
    GF_TRY(gf_jobs_create(options, &needs->bank, &needs->jobs));
    if (needs->jobs.inputs.count == 0)
        gf_say_note(options->files_from, "nothing is listed here");
    if (options->quality_given)
        note_unused("quality", "jpeg", &needs->jobs);
    if (options->png_level_given)
        note_unused("png-level", "png", &needs->jobs);
    GF_TRY(gf_failures_create(options, &shard, &needs->jobs, &needs->failures));
    GF_TRY(gf_shard_take(&shard, &needs->jobs));
    open_single(options, needs);
    return gf_devices_create(options, needs->reader, &needs->devices);
}

/* Whether it may be long, or for ever, before anything looks at the flag of a signal: the reference
 * computes a picture at a stretch. A list of failures is worth waiting for. */
static bool ends_at_once(const GfOptions *options)
{
    return options->compare || (options->device == GF_DEVICE_REFERENCE && !options->failures);
}

static int filter(const GfOptions *options)
{
    Needs needs = {0};
    int result;
    if (prepare(options, &needs) != GF_OK) {
        result = usage_error();
    } else {
        gf_stop_install(gf_jobs_may_wait(&needs.jobs) || ends_at_once(options),
                        options->failures != NULL);
        result = options->compare
                     ? gf_compare_devices(options, &needs.bank, needs.devices, &needs.jobs)
                     : gf_batch_run(options, &needs.bank, needs.devices, &needs.jobs, &needs.reader,
                                    &needs.failures);
    }
    gf_reader_close(needs.reader);
    gf_devices_close(needs.devices);
    gf_failures_free(&needs.failures);
    gf_jobs_free(&needs.jobs);
    gf_bank_free(&needs.bank);
    return result;
}

static int run(const GfOptions *options)
{
    if (options->help) {
        gf_options_help(stdout);
        return 0;
    }
    if (options->version) {
        gf_version_print();
        return 0;
    }
    switch (options->command) {
    case GF_COMMAND_COMPARE:
        gf_stop_install(true, false);
        return gf_compare_files(options);
    case GF_COMMAND_FILTERS:
        return (options->picture ? gf_kernel_sheet : gf_list_filters)(options) == GF_OK
                   ? 0
                   : usage_error();
    case GF_COMMAND_WEIGHTS:
        if (options->picture || options->tensor)
            return gf_tensor_sheet(options) == GF_OK ? 0 : usage_error();
        return gf_list_weights(options);
    case GF_COMMAND_DEVICES:
        return gf_list_devices() == GF_OK ? 0 : usage_error();
    case GF_COMMAND_COMPLETION:
        return gf_completion_print(options->operands[0]) == GF_OK ? 0 : usage_error();
    case GF_COMMAND_ALGORITHMS:
        gf_list_algorithms();
        return 0;
    default:
        return filter(options);
    }
}

/* The workers that compress, shared by all pictures in flight. Without memory for them each picture
 * is compressed by its own thread. */
static int run_with_workers(GfOptions *options)
{
    GfWorkers *workers;
    if (gf_workers_create(options->threads ? options->threads : gf_processors(), &workers) == GF_OK)
        options->write.workers = workers;
    int result = run(options);
    gf_workers_destroy(workers);
    options->write.workers = NULL;
    return result;
}

int main(int count, char **arguments)
{
    GfOptions options;
    occupy_standard_streams();
    (void)signal(SIGXFSZ, SIG_IGN); /* too large a file is an error of its picture */
    gf_threads_save_room();
    gf_descriptors_raise();
    gf_print_begin();
    int result;
    if (gf_options_parse(count, arguments, &options) != GF_OK) {
        result = usage_error();
    } else {
        gf_message_setup(options.quiet, options.verbose);
        gf_devices_narrow(&options);
        result = run_with_workers(&options);
    }
    int unprinted = gf_print_flush();
    if (unprinted && gf_stop_signal() != SIGPIPE) { /* which is quiet */
        gf_say_error(NULL, "standard output: %s", strerror(unprinted));
        /* Of a comparison the figures are the result. */
        result = options.command == GF_COMMAND_COMPARE ? 2 : result ? result : 3;
    }
    gf_options_free(&options);
    return result;
}
