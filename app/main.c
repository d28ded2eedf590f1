/* gpufilter: filters pictures with convolution kernels. From here the way goes to options.c (what
 * is wanted), jobs.c (which files), batch.c and run.c (the work). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "app/batch.h"
#include "app/compare_devices.h"
#include "app/compare_files.h"
#include "app/completion.h"
#include "app/kernel_sheet.h"
#include "app/listing.h"
#include "app/message.h"
#include "app/stop.h"
#include "app/tensor_listing.h"
#include "app/tensor_sheet.h"

/* A standard stream that the caller closed would give its number to the next file that is opened,
 * and messages would go into a picture. In its place comes one that can only do the opposite, so
 * that using it fails as it should. */
static void occupy_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            if (open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY) != fd)
                _exit(2);
}

/* Every output of a picture is open until all are complete, and a layer's maps may be many. */
static void allow_open_files(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    /* Without it a picture with too many outputs fails, and says why. */
    (void)setrlimit(RLIMIT_NOFILE, &limit);
}

/* 2, after the message. */
static int usage_error(void)
{
    gf_say_error(NULL, "%s", gf_message());
    return 2;
}

static int filter(const GfOptions *options)
{
    GfBank bank = {0};
    GfJobs jobs = {0};
    GfDevices *devices = NULL;
    int result;
    if (gf_bank_create(options, &bank) != GF_OK || gf_jobs_create(options, &bank, &jobs) != GF_OK ||
        gf_devices_create(options, &devices) != GF_OK) {
        result = usage_error();
    } else {
        gf_stop_install(jobs.inputs.any_pipe);
        result = options->compare ? gf_compare_devices(options, &bank, devices, &jobs)
                                  : gf_batch_run(options, &bank, devices, &jobs);
    }
    gf_devices_close(devices);
    gf_jobs_free(&jobs);
    gf_bank_free(&bank);
    return result;
}

static int run(const GfOptions *options)
{
    if (options->help) {
        gf_options_help(stdout);
        return 0;
    }
    if (options->version) {
        printf("gpufilter %s\n", GPUFILTER_VERSION);
        return 0;
    }
    switch (options->command) {
    case GF_COMMAND_COMPARE:
        gf_stop_install(true);
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
    allow_open_files();
    int result;
    if (gf_options_parse(count, arguments, &options) != GF_OK) {
        result = usage_error();
    } else {
        gf_message_setup(options.quiet, options.verbose);
        result = run_with_workers(&options);
    }
    if (fflush(stdout) != 0 || ferror(stdout)) {
        gf_say_error(NULL, "standard output: %s", strerror(errno));
        /* Of a comparison the figures are the result. */
        result = options.command == GF_COMMAND_COMPARE ? 2 : result ? result : 3;
    }
    gf_options_free(&options);
    return result;
}
