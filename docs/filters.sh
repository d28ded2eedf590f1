#!/usr/bin/env bash
# Makes docs/filters.md, what each filter does to the sample, with its pictures: docs/filters.sh PROGRAM DIRECTORY
# shellcheck disable=SC2016 # the back quotes are Markdown's
set -euo pipefail

if [ $# -ne 2 ]; then
    echo 'usage: docs/filters.sh PROGRAM DIRECTORY' >&2
    exit 2
fi
program=$1
pictures=$2/pictures/filters
scene=$(dirname "${BASH_SOURCE[0]}")/../tests/pictures/scene.png
small=$(mktemp --suffix=.png)
page=$(mktemp)
trap 'rm -f "$small" "$page"' EXIT

# What stands for a filter where it needs parameters to be seen, or something in front of it.
declare -A shown=(
    [shift]='shift:x=20:y=12'
    [box]='box:size=7'
    [gaussian]='gaussian:sigma=2'
    [binomial]='binomial:size=7'
    [disk]='disk:radius=4'
    [motion]='motion:length=15'
    [unsharp]='unsharp:sigma=1.5:amount=1.5'
    [relu]='laplacian,relu'
    [sigmoid]='scale:factor=0.04:offset=-5,sigmoid,scale:factor=255'
    [tanh]='scale:factor=0.01,tanh,scale:factor=255'
    [gabor]='gabor:wavelength=5,scale:factor=6'
    [dog]='dog:scale=4'
    [farid]='farid:scale=4'
    [abs]='laplacian,abs'
    [clamp]='clamp:low=60:high=160'
    [scale]='scale:factor=0.5:offset=100'
    [denoise]='denoise:sigma=25'
)

row() { # NAME SUMMARY CALL PICTURE
    printf '| `%s` | %s | %s | %s |\n' "$1" "$2" "${3:+\`$3\`}" "$4"
}

mkdir -p "$pictures"
"$program" "$scene" --quiet --overwrite --kernel avgpool:size=4 -o "$small"
{
    echo '# The filters, seen'
    echo
    echo 'What each filter does to the sample at a quarter of its size (`docs/filters.sh PROGRAM docs` makes this page). Formulas and'
    echo 'parameters are in gpufilter-filters(7) and in `gpufilter filters NAME`.'
    echo
    echo '| filter | | as here | |'
    echo '|---|---|---|---|'
    while read -r name summary; do
        call=${shown[$name]-$name}
        case $name in
        conv | wpool)
            row "$name" "$summary" '' 'whatever its weights do'
            ;;
        natural)
            row "$name" "$summary" "$call" '![32 maps](pictures/natural.png)'
            ;;
        *)
            "$program" "$small" --quiet --overwrite --png-level 9 --kernel "$call" -o "$pictures/$name.png"
            row "$name" "$summary" "$call" "![$name](pictures/filters/$name.png)"
            ;;
        esac
    done < <("$program" filters | sed '/^$/,$d')
} >"$page"
cat "$page" >"$2/filters.md"
