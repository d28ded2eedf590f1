#!/usr/bin/env bats
# What users see of GPUs: those of tests/unit/fake_devices.h, several, short of memory, or lost while they work.
# shellcheck disable=SC2154 # bats sets stderr
load ../cli/common

setup_file() {
    export FAKE_CUDA_DEVICES=3
}

# Two filters on a directory: sessions of several pictures, kernels of several methods.
filters=(-k gaussian:sigma=1 -k sobel)

# pictures COUNT: a directory of them, of different sizes.
pictures() {
    local i
    mkdir in
    for ((i = 0; i < $1; i++)); do
        scene rgb8 "in/$i.png" "$((61 + i))x50"
    done
}

@test "devices are listed, one that cannot be used among others" {
    gf devices
    [ "$status" -eq 0 ]
    [[ $(grep -c '^cuda:[012] .*compute capability 9.0, ' <<<"$output") -eq 3 ]]
    FAKE_CUDA_LOST=1:0 gf devices
    [ "$status" -eq 0 ]
    [[ $(grep -c 'compute capability' <<<"$output") -eq 2 ]]
    [[ $output == *$'\ncuda:1     cannot be used: cudaSetDevice: unspecified launch failure\n'* ]]
    CUDA_VISIBLE_DEVICES=2,0 gf devices
    [[ $(grep -c '^cuda:[01] ' <<<"$output") -eq 2 && $output != *cuda:2* ]]
    CUDA_VISIBLE_DEVICES='' gf devices
    [[ $output == *$'\ncuda       none: '* ]]
}

@test "a device is chosen by its number" {
    scene rgb8 a.png
    "$GPUFILTER" a.png -k sobel -o cpu.png --device cpu
    gf a.png -k sobel -o 2.png --device cuda:2 -v
    [ "$status" -eq 0 ]
    [[ $stderr == *'2.png: computed by tensor'* ]]
    same_picture cpu.png 2.png
    gf a.png -k sobel -o 3.png --device cuda:3
    [ "$status" -eq 2 ]
    [[ $stderr == 'gpufilter: --device cuda: there is no cuda:3 '* ]]
    CUDA_VISIBLE_DEVICES=1 gf a.png -k sobel -o 3.png --device cuda:1
    [ "$status" -eq 2 ]
    [ ! -e 3.png ]
}

@test "the method makes no difference to 8 bits but in rounding" {
    local method
    scene rgb8 a.png
    for method in special separable tensor direct constant tiled cached shared general implicit im2col; do
        gf a.png -k gaussian:sigma=0.8 --algorithm "$method" --compare
        [ "$status" -eq 0 ] || [[ $method == general && $stderr == *': general: layers, which mix channels; no banks' ]]
    done
}

@test "pictures and bands of them: cuda:all has the bytes of cuda:0" {
    local devices
    pictures 5
    scene gray8 in/large.png 500x600
    for devices in cuda:0 cuda:all; do
        gf in "${filters[@]}" -k box:size=9 -o "$devices" --device "$devices" --memory 2M
        [ "$status" -eq 0 ]
    done
    FAKE_CUDA_DEVICES=1 gf in "${filters[@]}" -k box:size=9 -o one --device cuda:all -j 1 --threads 1
    [ "$status" -eq 0 ]
    diff -r cuda:0 cuda:all
    diff -r cuda:0 one
}

# The whole picture is more than 1500 calls: whenever the second opens, both come to their 250.
@test "bands of one picture by three devices, of which two are lost" {
    scene gray8 a.png 201x3000
    "$GPUFILTER" a.png -k sobel -o one.png --device cuda:0
    FAKE_CUDA_LOST=0:250,1:250 gf a.png -k sobel -o three.png --device cuda:all --memory 100K
    [ "$status" -eq 0 ]
    [[ $stderr == *'gpufilter: cuda:0: '*'it gets no more work'* ]]
    [[ $stderr == *'gpufilter: cuda:1: '*'it gets no more work'* ]]
    cmp one.png three.png
}

@test "a device that is lost hands its work to the others" {
    local calls lost
    pictures 3
    "$GPUFILTER" in "${filters[@]}" -o whole --device cuda:0 -q
    for calls in 0 5 40 100 170 240; do
        for lost in "0:$calls" "0:$calls,2:30" "0:$calls,1:$((calls / 2))"; do
            FAKE_CUDA_LOST=$lost gf in "${filters[@]}" -o lost --device cuda:all
            [ "$status" -eq 0 ]
            [[ $stderr == 'gpufilter: cuda:0: '*': unspecified launch failure; it'* ]]
            diff -r whole lost
            rm -r lost
        done
    done
}

@test "a device that is not there any more hands its work to the others, too" {
    pictures 3
    "$GPUFILTER" in "${filters[@]}" -o whole --device cuda:0 -q
    FAKE_CUDA_ERROR=46 FAKE_CUDA_LOST=0:100 gf in "${filters[@]}" -o lost --device cuda:all
    [ "$status" -eq 0 ]
    [[ $stderr == 'gpufilter: cuda:0: '*': an error; it gets no more work'* ]]
    diff -r whole lost
    FAKE_CUDA_ERROR=46 FAKE_CUDA_LOST=0:100 gf in "${filters[@]}" -o one --device cuda --jobs 1
    [ "$status" -eq 3 ]
    [[ $(grep -c ': an error$' <<<"$stderr") -eq 1 ]]
}

@test "of another kind of GPU cuda:all makes no use" {
    pictures 3
    "$GPUFILTER" in "${filters[@]}" -o whole --device cuda:0 -q
    FAKE_CUDA_LOST=0:100 FAKE_CUDA_UNLIKE=1 gf in "${filters[@]}" -o lost --device cuda:all
    [ "$status" -eq 0 ]
    [[ $stderr == *'gpufilter: cuda:1: it is another kind of GPU (another); its work is done by the others'* ]]
    diff -r whole lost
}

@test "a device whose blocks have too little shared memory is none" {
    scene rgb8 a.png
    FAKE_CUDA_SHARED=65536 gf a.png -k sobel -o b.png --device cuda
    [ "$status" -eq 2 ]
    [[ $stderr == 'gpufilter: --device cuda: cuda:0 has 64 KiB of shared memory a block, 96 are needed' ]]
    FAKE_CUDA_SHARED=65536 gf a.png -k sobel -o b.png
    [ "$status" -eq 0 ]
}

@test "when all are lost nothing is left of what was not done" {
    local calls
    pictures 3
    "$GPUFILTER" in "${filters[@]}" -o whole --device cuda:0 -q
    for calls in 5 40 100 170; do
        FAKE_CUDA_LOST=0:$calls,1:30,2:90 gf in "${filters[@]}" -o lost --device cuda:all
        [ "$status" -eq 3 ]
        [[ $stderr == *'gpufilter: in/'[012]'.png: '*' launch failure'* || $stderr == *': all devices have failed'* ]]
        if [ -e lost ]; then
            nothing_hidden lost
            diff -r whole lost | grep -v '^Only in whole: ' && return 1
            rm -r lost
        fi
    done
    FAKE_CUDA_LOST=0:0,1:0,2:0 gf in "${filters[@]}" -o lost --device cuda:all
    [ "$status" -eq 2 ]
    [[ $stderr == *$'\ngpufilter: --device cuda: cudaSetDevice: unspecified launch failure' ]]
    [ ! -e lost ]
}

@test "auto: what a lost device does not do the CPU does" {
    scene rgb8 a.png 400x300
    "$GPUFILTER" a.png -k denoise -o cpu.png --device cpu
    FAKE_CUDA_LOST=0:70 gf a.png -k denoise -o auto.png --threads 1 -v
    [ "$status" -eq 0 ]
    [[ $stderr == 'gpufilter: computing on cuda:0 '* ]]
    [[ $stderr == *'a.png: '*'unspecified launch failure; it is computed on the CPU instead'* ]]
    cmp cpu.png auto.png
    FAKE_CUDA_LOST=0:70 gf a.png -k denoise -o cuda.png --device cuda
    [ "$status" -eq 3 ]
    [[ $stderr == *'a.png: '*'unspecified launch failure'* ]]
    [ ! -e cuda.png ]
    nothing_hidden
    FAKE_CUDA_LOST=0:0 gf a.png -k sobel --compare
    [ "$status" -eq 2 ]
    [[ $stderr == 'gpufilter: the GPU: cudaSetDevice: unspecified launch failure' ]]
}

@test "little memory on the device: smaller bands, and a failure that names the picture" {
    scene gray8 a.png 500x400
    "$GPUFILTER" a.png -k sobel -o whole.png --device cuda
    FAKE_CUDA_MEMORY=400000 gf a.png -k sobel -o small.png --device cuda -v
    [ "$status" -eq 0 ]
    [[ $stderr == *'a.png: cudaMalloc: out of memory; trying smaller bands'* ]]
    cmp whole.png small.png
    FAKE_CUDA_MEMORY=10000 gf a.png -k sobel -o none.png --device cuda
    [ "$status" -eq 1 ]
    [[ $stderr == 'gpufilter: a.png: cudaMalloc: out of memory' ]]
    [ ! -e none.png ]
    FAKE_CUDA_MEMORY=10000 gf a.png -k denoise -o auto.png --threads 1
    [ "$status" -eq 0 ]
    [[ $stderr == *'a.png: cudaMalloc: out of memory; it is computed on the CPU instead' ]]
}
