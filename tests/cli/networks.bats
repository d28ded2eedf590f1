#!/usr/bin/env bats
# Filter files: each kind of stage, worked out by hand; which network a picture gets; where messages lead. What is wrong
# with a file is tried in tests/unit/test_network_file.c, larger networks in tests/networks.py.
# shellcheck disable=SC2154 # bats sets stderr
load common

# shape FILE: of an array, as NumPy writes it.
shape() {
    head -c 192 "$1" | LC_ALL=C sed -n "1s/.*'shape': (\([^)]*\)).*/\1/p"
}

# nine: the picture 0 1 2 / 3 4 5 / 6 7 8.
nine() {
    npy '|u1' 1 '3, 3' '\x00\x01\x02\x03\x04\x05\x06\x07\x08' >picture.npy
}

# two A B: a picture of one row.
two() {
    npy '|u1' 1 '1, 2' "$1$2" >picture.npy
}

# net MEMBERS: the file net.json.
net() {
    printf '{"gpufilter": 1, %s}\n' "$1" >net.json
}

# gives_of KERNEL SHAPE VALUES: what becomes of picture.npy on every device of this machine that needs no GPU.
gives_of() {
    local device
    for device in cpu reference; do
        gf picture.npy -k "$1" --device "$device" -o out.npy --overwrite
        printf '%s: %s %s: %s %s\n' "$device" "$1" "$stderr" "$(shape out.npy)" "$(values f4 out.npy)"
        [ "$status" -eq 0 ]
        [ "$(shape out.npy)" = "$2" ]
        [ "$(values f4 out.npy)" = "$3" ]
    done
}

# stages LIST SHAPE VALUES: of a network without an input.
stages() {
    net "\"stages\": [$1]"
    gives_of @net.json "$2" "$3"
}

@test "layers" {
    nine
    npy '|i1' 1 '1, 1, 2, 2' '\x01\x01\x01\x01' >w.npy
    npy '|i1' 1 '1,' '\x0a' >b.npy
    stages '{"stage": "conv", "weight": "w.npy", "bias": "b.npy"}' '2, 2' '18 22 30 34'
    stages '{"stage": "conv", "weight": "w.npy", "stride": [1, 2]}' '2, 1' '8 20'
    stages '{"stage": "conv", "weight": "w.npy", "dilation": 2}' '1, 1' '16'
    stages '{"stage": "conv", "weight": "w.npy", "padding": [1, 0, 0, 0]}' '3, 2' '1 3 8 12 20 24'
    stages '{"stage": "conv", "weight": "w.npy", "padding": [1, 0, 0, 0], "border": "replicate"}' '3, 2' '2 6 8 12 20 24'
    stages '{"stage": "conv", "weight": "w.npy", "padding": [1, 0, 0, 0], "border": "wrap"}' '3, 2' '14 18 8 12 20 24'
    stages '{"stage": "conv", "weight": "w.npy", "padding": "same"}' '3, 3' '8 12 7 20 24 13 13 15 8'
    stages '{"stage": "conv", "weight": "w.npy", "padding": "same_lower"}' '3, 3' '0 1 3 3 8 12 9 20 24'
}

@test "layers in groups" {
    npy '|u1' 1 '2, 1, 1' '\x03\x05' >picture.npy
    npy '|i1' 1 '4, 1, 1, 1' '\x01\x02\x01\x02' >w.npy
    stages '{"stage": "conv", "weight": "w.npy", "groups": 2}' '4, 1, 1' '3 6 5 10'
}

@test "pools" {
    nine
    stages '{"stage": "maxpool", "size": 2}' '1, 1' '4'
    stages '{"stage": "maxpool", "size": 2, "ceil": true}' '2, 2' '4 5 7 8'
    stages '{"stage": "maxpool", "size": [1, 2], "stride": 1}' '3, 2' '1 2 4 5 7 8'
    stages '{"stage": "maxpool", "size": 2, "dilation": 2}' '1, 1' '8'
    stages '{"stage": "avgpool", "size": 2, "ceil": true}' '2, 2' '2 3.5 6.5 8'
    stages '{"stage": "avgpool", "size": 2, "padding": 1}' '2, 2' '0 1.5 4.5 6'
    stages '{"stage": "avgpool", "size": 2, "padding": 1, "count_padding": true}' '2, 2' '0 0.75 2.25 6'
    two '\x03' '\x04'
    stages '{"stage": "l2pool", "size": [1, 2]}' '1, 1' '5'
    stages '{"stage": "maxpool", "size": 3, "ceil": true}' '1, 1' '4'
}

@test "functions of one sample" {
    local less='{"stage": "scale", "offset": -4}'
    nine
    stages "$less" '3, 3' '-4 -3 -2 -1 0 1 2 3 4'
    stages "$less, {\"stage\": \"relu\"}" '3, 3' '0 0 0 0 0 1 2 3 4'
    stages "$less, {\"stage\": \"leaky_relu\", \"slope\": 0.5}" '3, 3' '-2 -1.5 -1 -0.5 0 1 2 3 4'
    stages "$less, {\"stage\": \"abs\"}" '3, 3' '4 3 2 1 0 1 2 3 4'
    stages '{"stage": "clamp", "low": 2, "high": 5}' '3, 3' '2 2 2 3 4 5 5 5 5'
    stages '{"stage": "clamp", "high": 5}' '3, 3' '0 1 2 3 4 5 5 5 5'
    stages '{"stage": "scale", "gain": 0.5, "offset": 1}' '3, 3' '1 1.5 2 2.5 3 3.5 4 4.5 5'
    two '\x00' '\x04'
    stages '{"stage": "sigmoid"}' '1, 2' '0.5 0.98201376'
    stages '{"stage": "sigmoid", "offset": -4}' '1, 2' '0.01798621 0.5'
    stages '{"stage": "tanh"}' '1, 2' '0 0.9993293'
}

@test "what earlier stages made" {
    local twice='{"stage": "scale", "gain": 2}'
    nine
    stages "{\"stage\": \"abs\", \"name\": \"a\"}, $twice, {\"stage\": \"add\", \"from\": \"a\"}" '3, 3' '0 3 6 9 12 15 18 21 24'
    stages '{"stage": "abs", "name": "a"}, {"stage": "add", "from": "a"}' '3, 3' '0 2 4 6 8 10 12 14 16'
    stages '{"stage": "add", "from": "input"}' '3, 3' '0 2 4 6 8 10 12 14 16'
    stages "$twice, {\"stage\": \"add\", \"from\": \"input\", \"name\": \"b\"}, $twice, {\"stage\": \"add\", \"from\": \"b\"}, {\"stage\": \"add\", \"from\": \"input\"}" \
        '3, 3' '0 10 20 30 40 50 60 70 80'
}

@test "enlargements" {
    nine
    stages '{"stage": "maxpool", "size": 2, "ceil": true}, {"stage": "upsample", "factor": 2, "like": "picture"}' \
        '3, 3' '4 4 5 4 4 5 7 7 8'
    two '\x00' '\x01'
    stages '{"stage": "upsample", "factor": [2, 3]}' '2, 6' '0 0 0 1 1 1 0 0 0 1 1 1'
    npy '|u1' 1 '4, 1, 1' '\x00\x01\x02\x03' >picture.npy
    stages '{"stage": "shuffle", "factor": 2}' '1, 2, 2' '0 1 2 3'
    npy '|u1' 1 '4, 1, 2' '\x00\x01\x02\x03\x04\x05\x06\x07' >picture.npy
    stages '{"stage": "shuffle", "factor": 2}' '1, 2, 4' '0 2 1 3 4 6 5 7'
}

@test "one channel is one" {
    cat >blocks.json <<<'{"gpufilter": 1, "stages": [{"stage": "shuffle", "factor": 2}]}'
    scene gray8 a.png 8x8
    gf a.png -k @blocks.json -o b.png --device cpu
    [ "$status" -ne 0 ]
    [[ $stderr == *': 1 channel cannot be shuffled into blocks of 2 x 2'* ]]
}

@test "what lies between enlargements and a pool has a limit" {
    cat >between.json <<<'{"gpufilter": 1, "stages": [{"stage": "upsample", "factor": 64},
        {"stage": "upsample", "factor": 16}, {"stage": "maxpool", "size": 1024}]}'
    scene gray8 a.png 8x8
    gf a.png -k @between.json -o b.npy --depth 8 --device cpu --memory 30M
    [ "$status" -eq 1 ]
    [[ $stderr == *"between the network's layers needs more than the limit of 30720 KiB" ]]
    [ ! -e b.npy ]
    # A row of windows takes 32 MiB.
    gf a.png -k @between.json -o b.npy --depth 8 --device cpu --memory 40M
    [ "$status" -eq 0 ]
    same_picture a.png b.npy
}

@test "what enlargements make of a row of input has a limit" {
    cat >large.json <<<'{"gpufilter": 1, "stages": [{"stage": "upsample", "factor": 64}, {"stage": "upsample", "factor": 64}]}'
    scene gray8 a.png 512x384
    gf a.png -k @large.json -o b.png --device cpu
    [ "$status" -eq 1 ]
    [ "$stderr" = 'gpufilter: a.png: the rows in flight need 16777217 KiB, the limit is 4194304 KiB (--memory)' ]
    [ ! -e b.png ]
}

@test "how a network sees the picture" {
    local identity='"stages": [{"stage": "scale"}]'
    two '\x00' '\xff'
    net "\"input\": {\"channels\": 1}, $identity"
    gives_of @net.json '1, 2' '0 1'
    net "\"input\": {\"channels\": 1, \"range\": [-1, 3]}, $identity"
    gives_of @net.json '1, 2' '-1 3'
    net "\"input\": {\"channels\": 1, \"mean\": [0.5], \"std\": [0.25]}, $identity"
    gives_of @net.json '1, 2' '-2 2'
    net "\"input\": {\"channels\": 1, \"planes\": [{\"value\": 7}, {\"value\": -1}]}, $identity"
    gives_of @net.json '3, 1, 2' '0 1 7 7 -1 -1'
    net "\"input\": {\"channels\": 3, \"mean\": [0, 1, 2]}, $identity"
    gives_of @net.json '3, 1, 2' '0 1 -1 0 -2 -1'
    npy '|u1' 1 '3, 1, 1' '\xff\x00\x33' >picture.npy
    net "\"input\": {\"channels\": 1}, $identity"
    gives_of @net.json '1, 1, 1' '0.3218'
}

@test "what a network gives back" {
    two '\x00' '\xff'
    net '"input": {"channels": 1}, "stages": [{"stage": "scale", "gain": -1, "offset": 1}], "output": {"as": "picture"}'
    gives_of @net.json '1, 2' '255 0'
    net '"input": {"channels": 1}, "stages": [{"stage": "scale", "gain": 0, "offset": 0.2}], "output": {"as": "residual"}'
    gives_of @net.json '1, 2' '51 306'
    net '"input": {"channels": 1}, "stages": [{"stage": "scale", "gain": 0, "offset": 0.2}], "output": {"as": "residual", "range": [-1, 1]}'
    gives_of @net.json '1, 2' '25.5 280.5'
    npy '|u1' 1 '3, 1, 1' '\x01\x02\x03' >picture.npy
    net '"input": {"channels": 1}, "stages": [{"stage": "scale", "gain": 0, "offset": 1}], "output": {"as": "residual"}'
    gives_of @net.json '3, 1, 1' '256 257 258'
}

@test "parameters" {
    two '\x00' '\xff'
    net '"parameters": {"level": {"default": 2, "minimum": 0, "maximum": 9}},
         "input": {"channels": 1, "planes": [{"parameter": "level", "scale": 10, "offset": 1}]}, "stages": [{"stage": "abs"}]'
    gives_of @net.json '2, 1, 2' '0 1 21 21'
    gives_of @net.json:level=0.5 '2, 1, 2' '0 1 6 6'
    gf picture.npy -k @net.json:level=10
    [ "$status" -eq 2 ]
    [[ $stderr == *'@net.json: level=10 is outside 0 to 9' ]]
    gf filters @net.json:level=3
    [ "$status" -eq 0 ]
    [[ $output == *'level        a number of the network: 0 to 9, default 2'* ]]
    [[ $output == *'  numbers         31'* ]]
}

@test "one network for gray, one for colour" {
    net '"networks": [
        {"input": {"channels": 3, "range": [0, 255]}, "stages": [{"stage": "scale", "gain": 3}], "output": {"as": "picture"}},
        {"input": {"channels": 1, "range": [0, 255]}, "stages": [{"stage": "scale", "gain": 2}], "output": {"as": "picture"}}]'
    two '\x01' '\x02'
    gives_of @net.json '1, 2' '2 4'
    gives_of @net.json,@net.json '1, 2' '4 8'
    npy '|u1' 1 '3, 1, 1' '\x01\x02\x03' >picture.npy
    gives_of @net.json '3, 1, 1' '3 6 9'
    # What enters decides, not the picture.
    printf '{"gpufilter": 1, "input": {"channels": 1, "range": [0, 1000]}, "stages": [{"stage": "clamp", "low": 5, "high": 5}]}' >gray.json
    gives_of @gray.json,@net.json '1, 1, 1' '10'
}

@test "names of outputs and paths" {
    scene gray8 a.png 8x8
    mkdir nets
    net '"name": "soft", "stages": [{"stage": "avgpool", "size": 3, "stride": 1, "padding": 1}]'
    mv net.json 'nets/a,b:c.v2.json'
    gf a.png -k '@nets/a\,b\:c.v2.json'
    [ "$status" -eq 0 ]
    [ -e a.soft.png ]
    net '"stages": [{"stage": "abs"}]'
    gf a.png -k @net.json,sobel
    [ -e a.net-sobel.png ]
    gf a.png -k @<(cat net.json) -o b.png # a pipe
    [ "$status" -eq 0 ]
    same_picture a.png b.png
}

@test "weights lie beside their file" {
    nine
    mkdir -p nets/deep
    npy '|i1' 1 '1, 1, 1, 1' '\x02' >nets/deep/w.npy
    printf '{"gpufilter": 1, "stages": [{"stage": "conv", "weight": "deep/w.npy"}]}' >nets/n.json
    gives_of @nets/n.json '3, 3' '0 2 4 6 8 10 12 14 16'
}

@test "what does not fit the picture names the stage" {
    scene gray8 a.png 4x3
    net '"stages": [{"stage": "relu"}, {"stage": "maxpool", "size": 5, "name": "down"}]'
    gf a.png -k @net.json -o out.png
    [ "$status" -eq 1 ]
    [[ $stderr == 'gpufilter: a.png: @net.json: stage 2 (maxpool "down"): a window of 5 '*' does not fit into '* ]]
    net '"stages": [{"stage": "relu"}, {"stage": "maxpool", "size": 2}, {"stage": "add", "from": "input"}]'
    gf a.png -k @net.json -o out.png
    [ "$status" -eq 1 ]
    [[ $stderr == 'gpufilter: a.png: @net.json: stage 3 (add): 2 x 1 pixels meet 4 x 3'* ]]
    [ ! -e out.png ]
}

@test "opacity is put back where the size is the same" {
    net '"input": {"channels": 3}, "stages": [{"stage": "maxpool", "size": 2}], "output": {"as": "picture"}'
    scene rgba8 a.png 12x10
    gf a.png -k @net.json -o b.png
    printf '%s\n' "$stderr"
    [ "$status" -eq 1 ]
    [[ $stderr == *"opacity cannot be put back: 12 x 10 pixels became 6 x 5"* ]]
    scene rgb8 a.png 12x10
    gf a.png -k @net.json -o b.png
    [ "$status" -eq 0 ]
}

@test "a file that is wrong is found before any picture is read" {
    net '"stages": [{"stage": "relu"}, {"stage": "maxpool", "sizes": 5, "name": "down"}]'
    gf missing.png -k @net.json
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --kernel "@net.json": @net.json: stage 2 (maxpool "down"): unknown key "sizes"; did you mean "size"?' ]
}

@test "opacity waits for the end of a network, whatever comes before or after" {
    local chain how
    scene rgba8 a.png 21x14
    for chain in denoise denoise,avgpool:size=2 avgpool:size=2,denoise gaussian,denoise,box \
        box,scale:offset=9,denoise,clamp:low=20,box; do
        for how in auto copy filter premul; do
            gf a.png -k "$chain" --alpha "$how" --device cpu --compare -o out.png --overwrite
            printf '%s %s: %s\n' "$chain" "$how" "$stderr"
            [ "$status" -eq 0 ]
            [ "$(od -An -j25 -N1 -tu1 out.png | tr -d ' ')" = 6 ]
        done
    done
    # Behind a network that ends in maps there is none to divide by.
    for chain in natural scale:offset=5,natural,relu; do
        gf a.png -k "$chain" --alpha premul --device cpu --compare
        [ "$status" -eq 0 ]
        [[ $output != *'beyond the tolerance'* ]]
    done
    # Of a network alone the opacity is the input's, to the bit: only colours differ from the input's.
    gf a.png -k denoise --device cpu -o alone.png
    npy '|i1' 1 '1, 4, 1, 1' '\x00\x00\x00\x01' >alpha.npy
    gf a.png -k conv:weights=alpha.npy --device cpu -o before.png
    gf alone.png -k conv:weights=alpha.npy --device cpu -o after.png
    same_picture before.png after.png
}

@test "what lies between layers may be as much as --memory says" {
    # 512 maps of a row of 200,000: 400 MiB.
    scene gray8 wide.png 200000x1
    npy '<f4' 4 '512, 1, 1, 1' "$(printf '\\x00\\x00\\x00\\x3b%.0s' {1..512})" >many.npy
    npy '<f4' 4 '1, 512, 1, 1' "$(printf '\\x00\\x00\\x80\\x3f%.0s' {1..512})" >one.npy
    gf wide.png -k conv:weights=many.npy,conv:weights=one.npy -o same.png --device cpu --memory 500M
    [ "$status" -eq 0 ]
    same_picture wide.png same.png
    gf wide.png -k conv:weights=many.npy,conv:weights=one.npy -o not.png --device cpu --memory 300M
    [ "$status" -eq 1 ]
    [[ $stderr == *"between the network's layers needs more than the limit of 307200 KiB"* ]]
    [ ! -e not.png ]
}
