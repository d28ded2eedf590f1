#!/usr/bin/env bash
# Makes the README's pictures from the samples: docs/pictures.sh PROGRAM DIRECTORY
set -euo pipefail

if [ $# -ne 2 ]; then
    echo 'usage: docs/pictures.sh PROGRAM DIRECTORY' >&2
    exit 2
fi
program=$1
directory=$2
scene=$(dirname "${BASH_SOURCE[0]}")/../tests/pictures/scene.png

picture() { # NAME OPTIONS...
    "$program" "$scene" --quiet --overwrite --png-level 9 -o "$directory/$1.png" "${@:2}"
}

mkdir -p "$directory"
picture sobel --kernel sobel
picture gaussian --kernel gaussian:sigma=3
picture unsharp --kernel unsharp:sigma=1.5:amount=1.5
picture emboss --kernel emboss
picture laplacian --kernel laplacian

# A photograph with noise of sigma 25, without it, and 32 maps of its luma on one sheet.
noisy=$(dirname "$scene")/noisy.png
"$program" "$noisy" --quiet --overwrite --png-level 9 --kernel denoise:sigma=25 -o "$directory/denoise.png"
"$program" "$directory/denoise.png" --quiet --overwrite --png-level 9 --kernel avgpool,natural \
    --montage "$directory/natural.png" --montage-columns 8
"$program" filters natural --overwrite --picture "$directory/natural-kernels.png" >/dev/null

# A bank on one sheet, of the sample at half its size, and what its kernels look like.
half=$(mktemp --suffix=.png)
trap 'rm -f "$half"' EXIT
"$program" "$scene" --quiet --overwrite --kernel avgpool -o "$half"
"$program" "$half" --quiet --overwrite --png-level 9 --bank gabor:wavelengths=6 \
    --montage "$directory/gabor.png" --montage-columns 4
"$program" filters --bank gabor:wavelengths=6 --overwrite --picture "$directory/gabor-kernels.png" >/dev/null
