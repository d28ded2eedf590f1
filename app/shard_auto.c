/* Engines number their tasks in variables. There are two kinds, and both can be there at once: jobs
 * of an array, and tasks within a job; a shard is then a task of a job.
 *
 * Left out would be worse than refused: where the numbers cannot be trusted to cover everything (an
 * array with gaps, a batch script that was given four tasks but runs once) nothing is guessed. */
#include "app/shard_auto.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/values.h"
#include "common/memory.h"
#include "common/text.h"

/* One numbering: `index` of `count`; count 0: the variables do not say how many. */
typedef struct Part {
    size_t index, count;
    const char *name; /* of the variable; NULL: no such numbering here */
    size_t number;    /* in it */
} Part;

/* Tasks of one job; the first row whose variable is set counts. mpirun within a Slurm job is
 * started by a task of Slurm's, so that it comes first. */
static const struct {
    const char *rank, *size, *other_size;
} launchers[] = {
    {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", NULL},
    {"PMI_RANK", "PMI_SIZE", NULL},
    {"SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
    {"PMIX_RANK", NULL, NULL},
};

enum { LAUNCHERS = sizeof launchers / sizeof *launchers, SHOWN = 64 };

static const char *get(const char *name)
{
    const char *text = name ? getenv(name) : NULL;
    return text && *text ? text : NULL;
}

/* *number stays what it is where the variable is not set. */
static GfStatus read_number(const char *name, size_t *number)
{
    char shown[SHOWN];
    const char *text = get(name);
    if (!text || gf_value_count(name, text, 0, SIZE_MAX, number) == GF_OK)
        return GF_OK;
    return gf_fail(GF_EUSAGE, "--shard auto: %s is no whole number: \"%s\"", name,
                   gf_escape(text, shown, sizeof shown));
}

/* Slurm sets the variables of a task in a batch script too, which is no task: it runs once. */
static bool is_batch_script(void)
{
    return get("SLURM_JOB_ID") && !get("SLURM_STEP_ID") && !get("SLURM_STEPID");
}

static GfStatus find_slurm_array(Part *part)
{
    size_t task = 0, least = SIZE_MAX, most = 0, step = 1;
    if (!get("SLURM_ARRAY_TASK_MIN") || !get("SLURM_ARRAY_TASK_MAX"))
        return gf_fail(GF_EUSAGE, "--shard auto: SLURM_ARRAY_TASK_ID is set, but not "
                                  "SLURM_ARRAY_TASK_MIN and SLURM_ARRAY_TASK_MAX; give K/N");
    GF_TRY(read_number("SLURM_ARRAY_TASK_ID", &task));
    GF_TRY(read_number("SLURM_ARRAY_TASK_MIN", &least));
    GF_TRY(read_number("SLURM_ARRAY_TASK_MAX", &most));
    GF_TRY(read_number("SLURM_ARRAY_TASK_STEP", &step));
    if (task < least || task > most || step == 0)
        return gf_fail(GF_EUSAGE, "--shard auto: SLURM_ARRAY_TASK_ID is not between "
                                  "SLURM_ARRAY_TASK_MIN and SLURM_ARRAY_TASK_MAX; give K/N");
    size_t count = (most - least) / step + 1, said = count;
    GF_TRY(read_number("SLURM_ARRAY_TASK_COUNT", &said));
    if (said != count || (most - least) % step || (task - least) % step)
        return gf_fail(GF_EUSAGE,
                       "--shard auto: the numbers of this Slurm array have gaps (%zu of them from "
                       "%zu to %zu); give K/N",
                       said, least, most);
    *part = (Part){(task - least) / step, count, "SLURM_ARRAY_TASK_ID", task};
    return GF_OK;
}

static GfStatus find_job(Part *part)
{
    if (get("SLURM_ARRAY_TASK_ID"))
        return find_slurm_array(part);
    if (!get("JOB_COMPLETION_INDEX"))
        return GF_OK;
    part->name = "JOB_COMPLETION_INDEX";
    GF_TRY(read_number(part->name, &part->number));
    part->index = part->number;
    return read_number("JOB_COMPLETIONS", &part->count);
}

static GfStatus find_task(Part *part)
{
    for (size_t i = 0; i < LAUNCHERS && !part->name; i++) {
        if (!get(launchers[i].rank) || (launchers[i].other_size && is_batch_script()))
            continue;
        part->name = launchers[i].rank;
        GF_TRY(read_number(part->name, &part->number));
        part->index = part->number;
        GF_TRY(read_number(get(launchers[i].size) ? launchers[i].size : launchers[i].other_size,
                           &part->count));
    }
    return GF_OK;
}

static GfStatus nothing_found(void)
{
    if (is_batch_script())
        return gf_fail(GF_EUSAGE, "--shard auto: a batch script of Slurm runs once; make it a job "
                                  "array, or start gpufilter by srun or mpirun");
    return gf_fail(GF_EUSAGE, "--shard auto: none of SLURM_ARRAY_TASK_ID, JOB_COMPLETION_INDEX, "
                              "OMPI_COMM_WORLD_RANK, PMI_RANK, SLURM_PROCID and PMIX_RANK is set "
                              "here; give K/N");
}

/* Fills in a number of parts that its variables do not say, from that of all shards. */
static GfStatus complete(size_t wanted, Part *part, const Part *other)
{
    if (part->count)
        return GF_OK;
    if (!wanted)
        return gf_fail(GF_EUSAGE,
                       "--shard auto: %s is set, but nothing says how many there are; "
                       "give auto/N%s",
                       part->name,
                       strcmp(part->name, "JOB_COMPLETION_INDEX") == 0 ? ", or set JOB_COMPLETIONS"
                                                                       : "");
    if (!other->count)
        return gf_fail(GF_EUSAGE,
                       "--shard auto: neither %s nor %s says how many there are; give K/N",
                       part->name, other->name);
    if (wanted % other->count)
        return gf_fail(GF_EUSAGE,
                       "--shard auto/%zu: this is no multiple of the tasks that %s "
                       "counts; give K/N",
                       wanted, other->name);
    part->count = wanted / other->count;
    return GF_OK;
}

GfStatus gf_shard_auto(size_t wanted, GfShard *shard)
{
    Part job = {0}, task = {0};
    GF_TRY(find_job(&job));
    GF_TRY(find_task(&task));
    if (!job.name && !task.name)
        return nothing_found();
    if (!job.name)
        job.count = 1;
    if (!task.name)
        task.count = 1;
    GF_TRY(complete(wanted, &job, &task));
    GF_TRY(complete(wanted, &task, &job));
    const Part *wrong = job.index >= job.count ? &job : task.index >= task.count ? &task : NULL;
    if (wrong)
        return gf_fail(GF_EUSAGE, "--shard auto: %s is %zu, but there %s %zu, counted from 0",
                       wrong->name, wrong->number, wrong->count == 1 ? "is" : "are", wrong->count);
    if (!gf_mul(job.count, task.count, &shard->count))
        return gf_fail(GF_EUSAGE, "--shard auto: too many shards");
    if (wanted && wanted != shard->count)
        return gf_fail(GF_EUSAGE, "--shard auto/%zu: there %s %zu task%s here; give K/N", wanted,
                       shard->count == 1 ? "is" : "are", shard->count,
                       shard->count == 1 ? "" : "s");
    shard->index = job.index * task.count + task.index;
    shard->engine = true;
    int used = 0;
    if (job.name)
        used = snprintf(shard->source, sizeof shard->source, "%s=%zu%s", job.name, job.number,
                        task.name ? ", " : "");
    if (task.name)
        snprintf(shard->source + used, sizeof shard->source - (size_t)used, "%s=%zu of %zu",
                 task.name, task.number, task.count);
    return GF_OK;
}
