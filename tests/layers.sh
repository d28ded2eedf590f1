#!/usr/bin/env bash
# Holds the sources to the law of the floors (CONTRIBUTING.md): who may include whom, and who may
# speak to the user or end the process. `layers.sh [ROOT]` prints each breach as FILE:LINE: REASON
# and exits 1 when there is any; `layers.sh --self-test` proves that each kind of breach is found.
set -euo pipefail

# The rooms that each room may include, itself among them.
declare -A may_include=(
    [common]='common'
    [images]='common images'
    [filters]='common images filters'
    [cpu]='common images filters cpu'
    [gpu]='common images filters gpu'
    [app]='common images filters cpu gpu app'
    [bench]='common images filters cpu gpu bench'
    [tests]='common images filters cpu gpu app tests'
)

# What kernel files and their headers may include in angle brackets: CUDA's own headers, and those of
# C and C++ that only define.
readonly kernel_headers='^(cuda|cub/|cooperative_groups|mma\.h$|(stdint|stddef|stdbool|float|limits|math)\.h$|c(stdint|stddef|float|math)$|(limits|type_traits)$)'

# Written in pieces, or this file would be a breach itself.
readonly machine_paths='/wor''k/|/far''m/'
# Printing, and ending the process; snprintf and names like gf_exit_x( are something else.
readonly speaking='(^|[^_[:alnum:]])(v?f?printf|v?dprintf|puts|fputs|putchar|fputc|putc|perror|_?exit|quick_exit|abort)[[:space:]]*\('

breaches=0
breach() { # FILE LINE REASON
    printf '%s:%s: %s\n' "$1" "$2" "$3"
    breaches=$((breaches + 1))
}

check_include() { # FILE LINE INCLUDED
    local file=$1 line=$2 included=$3
    local room=${file%%/*} other=${included%%/*}
    if [[ $file == *.cu && $included != gpu/launch.h && $included != gpu/device.cuh ]] ||
        [[ $file == *.cuh && $room == gpu && $included != gpu/launch.h && $included != gpu/*.cuh ]]; then
        breach "$file" "$line" "a kernel file may not include \"$included\""
    elif [[ $included != */* || -z ${may_include[$other]-} ]]; then
        breach "$file" "$line" "\"$included\" does not begin with a room"
    elif [[ " ${may_include[$room]} " != *" $other "* ]]; then
        breach "$file" "$line" "$room may not include $other"
    fi
}

check_file() { # FILE
    local file=$1 line text
    local room=${file%%/*}
    while IFS=: read -r line text; do
        if [[ $text =~ include[[:space:]]*\"([^\"]*)\" ]]; then
            check_include "$file" "$line" "${BASH_REMATCH[1]}"
        elif [[ $file == *.cu* && $text =~ include[[:space:]]*\<(.*)\> ]]; then
            text=${BASH_REMATCH[1]}
            [[ $text =~ $kernel_headers ]] || breach "$file" "$line" "a kernel file may not include <$text>"
        fi
    done < <(grep -nE '^[[:space:]]*#[[:space:]]*include' "$file" || true)
    # The emulation has headers that stand for those of gpu/.
    if [[ $file == *.cu || $file == *.cuh ]] && [[ $room != gpu && $file != tests/emulation/gpu/*.cuh ]]; then
        breach "$file" 1 'kernel files stand in gpu/'
    fi
    [[ $room =~ ^(common|images|filters|cpu|gpu)$ ]] || return 0
    while IFS=: read -r line text; do
        breach "$file" "$line" "nothing below app/ prints or ends the process:$(tr -s ' \t' ' ' <<<" $text")"
    done < <(sed -E 's,//.*,,; s,"([^"\\]|\\.)*","",g' "$file" | grep -vnE '^[[:space:]]*(/?\*|//)' |
        grep -E "^[0-9]+:.*" | grep -E "$speaking" || true)
}

check() { # ROOT
    cd "$1"
    local file line text
    while IFS= read -r file; do
        check_file "$file"
    done < <(find common images filters cpu gpu app bench tests -type f \
        \( -name '*.[ch]' -o -name '*.cu' -o -name '*.cuh' -o -name '*.cpp' \) 2>/dev/null | LC_ALL=C sort)
    while IFS=: read -r file line text; do
        breach "${file#./}" "$line" 'names a path of one machine'
    done < <(grep -rnIE "$machine_paths" --exclude-dir=.git --exclude=.git --exclude-dir=build . || true)
    if [ "$breaches" -gt 0 ]; then
        printf 'layers: %d breaches\n' "$breaches"
        return 1
    fi
    printf 'layers: the floors hold\n'
}

# Each line: a file, the reason expected for it, and the file's text. "-" stands for no breach.
self_test() {
    local tree file expected text report failures=0
    tree=$(mktemp -d)
    # shellcheck disable=SC2064 # the name as it is now
    trap "rm -rf '$tree'" EXIT
    while IFS='|' read -r file expected text; do
        rm -rf "${tree:?}"/*
        mkdir -p "$tree/$(dirname "$file")"
        printf '%b\n' "$text" >"$tree/$file"
        report=$("$0" "$tree" || true)
        if [[ $expected == - && $report != 'layers: the floors hold' ]] ||
            [[ $expected != - && $report != *"$file:"*"$expected"* ]]; then
            printf 'self-test: %s with %s: expected %s, got:\n%s\n' "$file" "$text" "$expected" "$report"
            failures=$((failures + 1))
        fi
    done <<END
common/a.c|may not include images|#include "images/image.h"
images/a.h|may not include filters|#include "filters/plan.h"
filters/a.c|may not include cpu|  #  include "cpu/backend.h"
filters/a.c|may not include gpu|#include "gpu/backend.h"
cpu/a.c|may not include gpu|#include "gpu/backend.h"
gpu/a.c|may not include cpu|#include "cpu/backend.h"
gpu/a.c|may not include app|#include "app/run.h"
bench/a.c|may not include app|#include "app/run.h"
app/a.c|does not begin with a room|#include "run.h"
app/a.c|may not include tests|#include "tests/scene.h"
app/a.c|may not include bench|#include "bench/bench.h"
gpu/a.cu|kernel file may not include|#include "filters/plan.h"
gpu/a.cu|kernel file may not include|#include <stdio.h>
gpu/a.cu|-|#include <cuda_runtime.h>\n#include <stdint.h>\n#include "gpu/launch.h"\n#include "gpu/device.cuh"
gpu/a.cuh|kernel file may not include|#include "filters/plan.h"
gpu/a.cu|kernel file may not include|#include "gpu/samples.cuh"
gpu/a.cuh|kernel file may not include|#include <vector>
gpu/a.cuh|-|#include <cuda_runtime.h>\n#include <cmath>\n#include "gpu/launch.h"\n#include "gpu/samples.cuh"
app/a.cu|kernel files stand in gpu|#include <cuda_runtime.h>
tests/a.cuh|kernel files stand in gpu|#include <cstdint>
tests/emulation/a.cu|kernel files stand in gpu|#include <cstdint>
tests/emulation/gpu/a.cuh|-|#include "tests/emulation/device.h"
tests/emulation/gpu/a.cuh|may not include bench|#include "bench/bench.h"
tests/emulation/a.cpp|does not begin with a room|#include "device.h"
cpu/a.c|prints or ends|    printf("%d", 1);
common/a.c|prints or ends|x = 1; exit(1);
gpu/a.cu|prints or ends|    if (i == 0) printf("x");
images/a.c|prints or ends|    fprintf(stderr, "x");
filters/a.c|prints or ends|abort();
filters/a.c|prints or ends|perror (name);
images/a.c|-|snprintf(a, n, "printf(");\n/* printf( is not for us:\n * exit() neither */\npng_exit(x); // abort()
app/a.c|-|#include "cpu/backend.h"\n#include "gpu/backend.h"\n#include "app/run.h"\nprintf("x"); exit(1);
tests/a.c|-|#include "app/compare.h"\nabort();
README.md|path of one machine|see ${machine_paths%%|*}main
.ci/run|path of one machine|${machine_paths##*|}bin
END
    if [ "$failures" -gt 0 ]; then
        return 1
    fi
    printf 'layers: the self-test passed\n'
}

if [ "${1-}" = --self-test ]; then
    self_test
else
    check "${1:-$(dirname "${BASH_SOURCE[0]}")/..}"
fi
