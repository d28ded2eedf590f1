/* Which shard this process is, from what the engine that started it says. */
#pragma once

#include "app/shard.h"

/* Fills the shard from the environment: the task of a Slurm job array or the index of a Kubernetes
 * job, times the rank of a task that srun or mpirun started in it. `wanted`, unless 0, is the
 * number of shards that there must be; it is needed where the environment does not say it.
 * GF_EUSAGE: none of these engines, or numbers that do not fit together. */
GfStatus gf_shard_auto(size_t wanted, GfShard *shard);
