#!/usr/bin/env bats
# --shard: parts of the inputs that are disjoint, complete and the same everywhere.
# shellcheck disable=SC2154,SC2030,SC2031 # bats sets stderr and stderr_lines; tests are subshells
load common

# No engine may have started the tests themselves.
setup_file() {
    local name
    for name in $(compgen -e); do
        case $name in SLURM_* | OMPI_* | PMI_* | PMIX_* | JOB_COMPLETION*) unset "$name" ;; esac
    done
}

# tree: in/ with 11 pictures, with names whose order differs between bytes and languages.
tree() {
    local name
    mkdir -p in/a in/B
    scene gray8 in/a.png 8x8
    for name in a-b B.2 b.10 Z zz _x a/x B/y a/z ä; do
        cp in/a.png "in/$name.png"
    done
}

# inputs: the inputs of --json lines on standard input.
inputs() {
    sed 's/^{"input":"\([^"]*\)".*/\1/'
}

# shard VALUE [ARGUMENT...]: inputs of that shard of in/, one a line.
shard() {
    local value=$1
    shift
    "$GPUFILTER" "${@:-in}" -r -k box -o "out.$BATS_TEST_NUMBER" --overwrite --shard "$value" --json -q | inputs
}

# same_shards VALUE K/N: both are the same part.
same_shards() {
    [ "$(shard "$1" | LC_ALL=C sort)" = "$(shard "$2" | LC_ALL=C sort)" ]
}

@test "all splits are disjoint and complete, also into more parts than there are files" {
    tree
    find in -name '*.png' | LC_ALL=C sort >all
    local n k
    for n in 1 2 3 5 11 16; do
        for ((k = 1; k <= n; k++)); do
            shard "$k/$n" >"part.$k"
            [ "$(wc -l <"part.$k")" -eq $(((11 - k + n) / n)) ]
        done
        # With duplicates the two would differ.
        cat part.* | LC_ALL=C sort | diff - all
        rm part.*
    done
}

@test "the split goes by the bytes of the paths below the directory" {
    tree
    local expected
    expected=$(cd in && find . -name '*.png' | sed 's,^\./,,' | LC_ALL=C sort |
        awk 'NR % 3 == 2 { print "in/" $0 }' | LC_ALL=C sort)
    [ "$(shard 2/3 -j 1 in | LC_ALL=C sort)" = "$expected" ]
}

@test "neither the order of the call, nor that of the directory, nor the language matters" {
    tree
    local expected
    expected=$(shard 2/3 in/*.png | LC_ALL=C sort)
    # shellcheck disable=SC2046 # none has white space
    [ "$(shard 2/3 $(printf '%s\n' in/*.png | LC_ALL=C sort -r) | LC_ALL=C sort)" = "$expected" ]
    [ "$(find in -maxdepth 1 -name '*.png' | shuf | shard 2/3 -T - | LC_ALL=C sort)" = "$expected" ]
    [ "$(LC_ALL=C.UTF-8 shard 2/3 in/*.png | LC_ALL=C sort)" = "$expected" ]
    expected=$(shard 2/3 | LC_ALL=C sort)
    mkdir other
    find in -name '*.png' | LC_ALL=C sort -r | xargs tar -cf - | tar -xf - -C other
    [ "$(cd other && shard 2/3 | LC_ALL=C sort)" = "$expected" ]
}

@test "an empty shard is a success, and -v says so" {
    scene gray8 a.png
    gf a.png -k box --shard 2/2 -v
    [ "$status" -eq 0 ]
    [ "$stderr" = 'gpufilter: shard 2 of 2 (--shard): 0 of 1 inputs' ]
    [ ! -e a.box.png ]
    gf a.png -k box --shard 2/2
    [ "$status" -eq 0 ]
    [ -z "$stderr" ]
}

@test "what is no shard is refused" {
    scene gray8 a.png
    local value
    for value in 0/3 4/3 1/0 1 / 1/ /3 -1/3 1/3x 1/3/4 ' 1/3' 1/99999999999999999999999 auto/ auto/0 auto/x autox; do
        gf a.png -k box --shard "$value"
        [ "$status" -eq 2 ]
        [[ $stderr == "gpufilter: --shard $value: K/N is wanted, K from 1 to N, or auto, or auto/N" ]]
    done
    gf a.png -k box --shard ''
    [ "$status" -eq 2 ]
    [ ! -e a.box.png ]
}

@test "every shard refuses two inputs of one output, whoever has them" {
    mkdir one two
    scene gray8 one/a.png
    cp one/a.png two/a.png
    cp one/a.png one/b.png
    local k
    for k in 1 2 3; do
        gf one two -k box -o out --shard "$k/3"
        [ "$status" -eq 2 ]
        [[ $stderr == *'both one/a.png and two/a.png would be written here' ]]
    done
}

@test "{index} counts all inputs" {
    tree
    gf in -k box -o out --name '{index}{ext}' --shard 2/2
    [ "$status" -eq 0 ]
    gf in -k box -o out --name '{index}{ext}' --shard 1/2
    [ "$status" -eq 0 ]
    [ "$(find out -type f | wc -l)" -eq 8 ]
}

@test "auto: a Slurm array, its tasks, and both" {
    tree
    export SLURM_ARRAY_TASK_ID=12 SLURM_ARRAY_TASK_MIN=10 SLURM_ARRAY_TASK_MAX=14
    export SLURM_ARRAY_TASK_STEP=2 SLURM_ARRAY_TASK_COUNT=3
    same_shards auto 2/3
    same_shards auto/3 2/3
    gf in -k box -o out --shard auto -v
    [ "${stderr_lines[0]}" = 'gpufilter: shard 2 of 3 (SLURM_ARRAY_TASK_ID=12): 3 of 8 inputs' ]
    export SLURM_PROCID=1 SLURM_NTASKS=2
    same_shards auto 4/6
    # A batch script has both variables too, but is no task of a step.
    export SLURM_JOB_ID=7
    same_shards auto 2/3
    export SLURM_STEP_ID=0 SLURM_STEP_NUM_TASKS=4
    same_shards auto 6/12
    unset "${!SLURM_ARRAY@}"
    same_shards auto 2/4
    unset SLURM_STEP_ID
    gf in -k box -o out --shard auto
    [ "$status" -eq 2 ]
    [[ $stderr == *'a batch script of Slurm runs once; make it a job array, or start gpufilter by srun or mpirun' ]]
}

@test "auto: an array with gaps, or of another size than said, is refused" {
    scene gray8 a.png
    export SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_MAX=7
    export SLURM_ARRAY_TASK_STEP=1 SLURM_ARRAY_TASK_COUNT=3
    gf a.png -k box --shard auto
    [ "$status" -eq 2 ]
    [[ $stderr == *'have gaps (3 of them from 1 to 7); give K/N' ]]
    # One task of an array that was submitted again alone is not the whole array.
    export SLURM_ARRAY_TASK_MIN=3 SLURM_ARRAY_TASK_MAX=3 SLURM_ARRAY_TASK_COUNT=1
    gf a.png -k box --shard auto/7
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --shard auto/7: there is 1 task here; give K/N' ]
    SLURM_ARRAY_TASK_ID=x gf a.png -k box --shard auto
    [ "$status" -eq 2 ]
    [[ $stderr == *'SLURM_ARRAY_TASK_ID is no whole number: "x"' ]]
    unset SLURM_ARRAY_TASK_MIN
    gf a.png -k box --shard auto/7
    [ "$status" -eq 2 ]
    [[ $stderr == *'SLURM_ARRAY_TASK_ID is set, but not SLURM_ARRAY_TASK_MIN and SLURM_ARRAY_TASK_MAX; give K/N' ]]
}

@test "auto: Open MPI, PMI, PMIx" {
    tree
    OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3 same_shards auto 2/3
    PMI_RANK=2 PMI_SIZE=3 same_shards auto 3/3
    PMIX_RANK=0 same_shards auto/3 1/3
    # mpirun inside a Slurm job: its own ranks count.
    SLURM_PROCID=0 SLURM_NTASKS=1 OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=3 same_shards auto 2/3
    PMIX_RANK=0 gf in -k box -o out --shard auto
    [ "$status" -eq 2 ]
    [[ $stderr == *'PMIX_RANK is set, but nothing says how many there are; give auto/N' ]]
    PMI_RANK=3 PMI_SIZE=3 gf in -k box -o out --shard auto
    [ "$status" -eq 2 ]
    [[ $stderr == *'PMI_RANK is 3, but there are 3, counted from 0' ]]
    PMI_RANK=1 PMI_SIZE=1 gf in -k box -o out --shard auto
    [[ $stderr == *'PMI_RANK is 1, but there is 1, counted from 0' ]]
}

@test "auto: a Kubernetes indexed job" {
    tree
    export JOB_COMPLETION_INDEX=2
    same_shards auto/4 3/4
    JOB_COMPLETIONS=4 same_shards auto 3/4
    gf in -k box -o out --shard auto
    [ "$status" -eq 2 ]
    [[ $stderr == *'give auto/N, or set JOB_COMPLETIONS' ]]
    # Each of its pods may start tasks.
    PMI_RANK=1 PMI_SIZE=2 same_shards auto/8 6/8
    PMI_RANK=1 PMI_SIZE=2 gf in -k box -o out --shard auto/9
    [ "$status" -eq 2 ]
}

@test "auto: without any engine it says what it looked for" {
    scene gray8 a.png
    gf a.png -k box --shard auto
    [ "$status" -eq 2 ]
    [[ $stderr == 'gpufilter: --shard auto: none of SLURM_ARRAY_TASK_ID, '*' is set here; give K/N' ]]
}
