#!/usr/bin/env bats
# Layers, pools and functions of one sample: what they compute, worked out by hand; the shapes that come of them;
# and what is wrong with a file of weights. tests/onnx.py holds them to more cases.
# shellcheck disable=SC2154 # bats sets stderr
load common

# zeros TYPE SHAPE COUNT: an array of one-byte zeros on standard output.
zeros() {
    npy "$1" 1 "$2" ''
    head -c "$3" /dev/zero
}

# shape FILE: of an array, as NumPy writes it.
shape() {
    head -c 192 "$1" | LC_ALL=C sed -n "1s/.*'shape': (\([^)]*\)).*/\1/p"
}

# counting HEIGHT WIDTH: the picture 0, 1, 2, ... as an array on standard output.
counting() {
    local i bytes=
    for ((i = 0; i < $1 * $2; i++)); do
        bytes+=$(printf '\\x%02x' "$i")
    done
    npy '|u1' 1 "$1, $2" "$bytes"
}

# gives KERNEL SHAPE VALUES: the filter makes that of picture.npy on every device of this machine that needs no GPU.
gives() {
    local device
    for device in cpu reference; do
        gf picture.npy -k "$1" --device "$device" -o out.npy --overwrite
        printf '%s: %s %s: %s %s\n' "$device" "$1" "$stderr" "$(shape out.npy)" "$(values f4 out.npy)"
        [ "$status" -eq 0 ]
        [ "$(shape out.npy)" = "$2" ]
        [ "$(values f4 out.npy)" = "$3" ]
    done
}

# gives_16 KERNEL VALUES: likewise, of ten thousand times the result the nearest whole numbers.
gives_16() {
    local device
    for device in cpu reference; do
        gf picture.npy -k "$1,scale:factor=10000" --depth 16 --device "$device" -o out.npy --overwrite
        printf '%s: %s %s: %s\n' "$device" "$1" "$stderr" "$(values u2 out.npy)"
        [ "$status" -eq 0 ]
        [ "$(values u2 out.npy)" = "$2" ]
    done
}

# refuses MESSAGE KERNEL: exit status 2 and that message, before the picture, which is not there, is missed.
refuses() {
    gf missing.png -k "$2"
    printf '%s\n' "$status: $stderr"
    [ "$status" -eq 2 ]
    [ "$stderr" = "gpufilter: --kernel \"$2\": $1" ]
}

@test "a layer by hand: the product of an unrolled column and a filter's row" {
    npy '|u1' 1 '3, 2, 2' '\x01\x02\x01\x01\x00\x02\x00\x03\x01\x02\x00\x01' >picture.npy
    npy '|i1' 1 '1, 3, 2, 2' '\x01\x01\x02\x02\x01\x01\x01\x01\x00\x01\x01\x00' >w.npy
    gives conv:weights=w.npy '1, 1, 1' 14
    npy '|i1' 1 '1,' '\xf6' >b.npy
    gives conv:weights=w.npy:bias=b.npy '1, 1, 1' 4
    gives conv:weights=w.npy:bias=b.npy,relu '1, 1, 1' 4
    gives conv:weights=w.npy:bias=b.npy,scale:factor=-1,relu '1, 1, 1' 0
}

@test "padding, stride, dilation and border by hand" {
    npy '|u1' 1 '1, 5' '\x01\x02\x03\x04\x05' >picture.npy
    npy '|i1' 1 '1, 1, 1, 3' '\x01\x0a\x64' >w.npy # 1 10 100
    gives conv:weights=w.npy '1, 3' '321 432 543'
    gives conv:weights=w.npy:padding=0x1 '1, 5' '210 321 432 543 54'
    gives conv:weights=w.npy:padding=0x0x0x2 '1, 5' '321 432 543 54 5'
    gives conv:weights=w.npy:stride=2 '1, 2' '321 543'
    gives conv:weights=w.npy:dilation=2 '1, 1' 531
    gives conv:weights=w.npy:same:stride=1x2 '1, 3' '210 432 54'
    gives conv:weights=w.npy:same:stride=1x4 '1, 2' '210 54'
    gives conv:weights=w.npy:same_lower:dilation=2 '1, 5' '310 420 531 42 53'
    gives conv:weights=w.npy:padding=0x1:border=replicate '1, 5' '211 321 432 543 554'
    gives conv:weights=w.npy:padding=0x2:reflect '1, 7' '112 211 321 432 543 554 455'
    gives conv:weights=w.npy:padding=0x1:reflect101 '1, 5' '212 321 432 543 454'
    gives conv:weights=w.npy:padding=0x1:wrap '1, 5' '215 321 432 543 154'
}

@test "what same means where a pixel of padding is left over" {
    npy '|u1' 1 '1, 4' '\x01\x02\x03\x04' >picture.npy
    npy '|i1' 1 '1, 2' '\x01\x0a' >w.npy
    gives conv:weights=w.npy:padding=same '1, 4' '21 32 43 4'
    gives conv:weights=w.npy:padding=same_lower '1, 4' '10 21 32 43'
}

@test "groups, depth and the forms of weights" {
    npy '|u1' 1 '2, 1, 2' '\x01\x02\x03\x04' >picture.npy
    npy '|i1' 1 '2, 1, 1, 1' '\x0a\x64' >depthwise.npy
    gives conv:weights=depthwise.npy:groups=2 '2, 1, 2' '10 20 300 400'
    npy '|i1' 1 '4, 1, 1, 1' '\x01\x02\x03\x04' >multiplied.npy
    gives conv:weights=multiplied.npy:groups=2 '4, 1, 2' '1 2 2 4 9 12 12 16'
    npy '|i1' 1 '3, 2, 1, 1' '\x01\x00\x00\x01\x01\x01' >mixed.npy
    gives conv:weights=mixed.npy '3, 1, 2' '1 2 3 4 4 6'
    npy '|i1' 1 '1, 2' '\x01\x0a' >kernel.npy # 2-D: every channel alike
    gives conv:weights=kernel.npy '2, 1, 1' '21 43'
    gf picture.npy -k conv:weights=mixed.npy:groups=1 -o out.npy --overwrite
    npy '|u1' 1 '1, 2' '\x01\x02' >picture.npy
    npy '|i1' 1 '2, 1, 2' '\x01\x0a\x02\x00' >maps.npy # 3-D: maps of one channel
    gives conv:weights=maps.npy '2, 1, 1' '21 2'
}

@test "true convolution turns a layer's kernels" {
    npy '|u1' 1 '1, 3' '\x01\x02\x03' >picture.npy
    npy '|i1' 1 '1, 1, 1, 3' '\x01\x0a\x64' >w.npy
    gf picture.npy -k conv:weights=w.npy --flip --device cpu -o out.npy
    [ "$(values f4 out.npy)" = 123 ]
}

@test "pools by hand" {
    counting 4 4 >picture.npy
    gives maxpool '2, 2' '5 7 13 15'
    gives avgpool '2, 2' '2.5 4.5 10.5 12.5'
    gives maxpool:size=3 '1, 1' 10
    gives maxpool:size=3:ceil=yes '2, 2' '10 11 14 15'
    gives maxpool:size=1x4 '4, 1' '3 7 11 15'
    gives maxpool:size=2:stride=1x2 '3, 2' '5 7 9 11 13 15'
    gives maxpool:dilation=2:stride=1 '2, 2' '10 11 14 15'
    gives maxpool:padding=1 '3, 3' '0 2 3 8 10 11 12 14 15'
    gives avgpool:padding=1 '3, 3' '0 1.5 3 6 7.5 9 12 13.5 15'
    gives avgpool:padding=1:count=padding '3, 3' '0 0.75 0.75 3 7.5 4.5 3 6.75 3.75'
    gives avgpool:size=3:ceil=yes '2, 2' '5 7 13 15'
    npy '|i1' 1 '1,' '\xfe' >b.npy
    gives avgpool:bias=b.npy '2, 2' '0.5 2.5 8.5 10.5'
    npy '<u2' 2 '2, 2' '\x00\x00\x01\x00\x02\x00\x03\x00' >picture.npy # 0 1 2 3
    gives_16 l2pool 37417 # the square root of 14
    gives_16 avgpool:bias=b.npy,sigmoid 3775 # 1 / (1 + e^0.5) = 0.377541
}

@test "weighted pools" {
    counting 2 5 >picture.npy
    npy '|i1' 1 '2, 2' '\x01\x02\x03\x04' >w.npy
    gives wpool:weights=w.npy '1, 2' '41 61'
    gives wpool:weights=w.npy:stride=1x3 '1, 2' '41 71'
    printf '2 2 10 0\n1 2\n3 4\n' >w.txt # the header divides by 10
    gives wpool:weights=w.txt '1, 2' '4.1 6.1'
}

@test "functions of one sample" {
    npy '<f4' 4 '1, 3' '\x00\x00\x00\xc0\x00\x00\x00\x00\x00\x00\x00\x40' >picture.npy # -2 0 2
    gives relu '1, 3' '0 0 2'
    gives abs '1, 3' '2 0 2'
    gives clamp:low=-1 '1, 3' '-1 0 2'
    gives clamp:high=1:low=-1 '1, 3' '-1 0 1'
    gives scale:factor=3:offset=1 '1, 3' '-5 1 7'
    gives_16 sigmoid '1192 5000 8808' # 1 / (1 + e^2) = 0.119203
    gives_16 sigmoid:bias=2 '5000 8808 9820' # 1 / (1 + e^-4) = 0.982014
    gives_16 tanh,abs '9640 0 9640' # 0.964028
    gives_16 tanh '0 0 9640'
}

@test "a network's shapes" {
    zeros '|u1' '28, 28' 784 >picture.npy
    zeros '|i1' '16, 1, 5, 5' 400 >w16.npy
    gf picture.npy -k conv:weights=w16.npy:padding=2 -o out.npy
    [ "$(shape out.npy)" = '16, 28, 28' ]
    gf picture.npy -k conv:weights=w16.npy:padding=2,relu,maxpool -o out.npy --overwrite
    [ "$(shape out.npy)" = '16, 14, 14' ]
    zeros '|u1' '2, 1, 86, 86' 14792 >picture.npy
    zeros '|i1' '6, 1, 7, 7' 294 >w6.npy
    zeros '|i1' '16, 6, 5, 5' 2400 >w16.npy
    gf picture.npy -k conv:weights=w6.npy -o out.npy --overwrite
    [ "$(shape out.npy)" = '2, 6, 80, 80' ]
    gf picture.npy -k conv:weights=w6.npy,relu,avgpool,sigmoid,conv:weights=w16.npy,relu,maxpool -o out.npy --overwrite
    [ "$status" -eq 0 ]
    [ "$(shape out.npy)" = '2, 16, 18, 18' ]
}

@test "an array keeps its axes where it can" {
    npy '|i1' 1 '1, 1, 1, 1' '\x01' >one.npy
    npy '|i1' 1 '2, 1, 1, 1' '\x01\x02' >two.npy
    local axes maps
    while read -r axes maps; do
        zeros '|u1' "${axes//,/, }" 6 >a.npy
        gf a.npy -k "conv:weights=$maps.npy" -o b.npy --overwrite
        printf '%s %s: %s %s\n' "$axes" "$maps" "$(shape b.npy)" "$stderr"
        case $axes/$maps in
        2,3/one) [ "$(shape b.npy)" = '2, 3' ] ;;
        2,3/two) [ "$(shape b.npy)" = '2, 2, 3' ] ;;
        1,2,3/one) [ "$(shape b.npy)" = '1, 2, 3' ] ;;
        2,1,1,3/one) [ "$(shape b.npy)" = '2, 1, 1, 3' ] ;;
        2,1,1,3/two) [ "$(shape b.npy)" = '2, 2, 1, 3' ] ;;
        esac
    done <<<$'2,3 one\n2,3 two\n1,2,3 one\n2,1,1,3 one\n2,1,1,3 two'
    gf a.npy -k conv:weights=one.npy -k conv:weights=two.npy -o c.npy
    [ "$status" -eq 1 ]
    [[ $stderr == *"the filters' outputs have 1 and 2 channels and cannot go into one array" ]]
}

@test "maps that are no picture are a picture each, or one array" {
    scene gray8 a.png
    local maps bytes=
    for maps in 1 2 3 4 5; do
        bytes+='\x01'
        npy '|i1' 1 "$maps, 1, 1, 1" "$bytes" >w.npy
        gf a.png -k conv:weights=w.npy -o out.png --overwrite
        printf '%s maps: %s\n' "$maps" "$stderr"
        [ "$status" -eq 0 ]
        if [ "$maps" -eq 1 ] || [ "$maps" -eq 3 ]; then
            [ "$(echo out*.png)" = out.png ]
        else
            [ "$(find . -name 'out.?.png' | wc -l)" -eq "$maps" ]
            [ ! -e out.png ]
        fi
        rm out*.png
        gf a.png -k conv:weights=w.npy -o out.npy --overwrite
        [ "$status" -eq 0 ]
    done
    [ "$(shape out.npy)" = '5, 48, 64' ]
}

@test "a layer meets the channels it was made for" {
    scene rgb8 a.png
    npy '|i1' 1 '1, 2, 1, 1' '\x01\x01' >w.npy
    gf a.png -k conv:weights=w.npy -o out.npy
    [ "$status" -eq 1 ]
    [[ $stderr == *'a layer that takes 2 channels is given 3' ]]
    [ ! -e out.npy ]
    npy '|i1' 1 '4, 2, 1, 1' '\x01\x01\x01\x01\x01\x01\x01\x01' >w.npy
    gf a.png -k conv:weights=w.npy:groups=2 -o out.npy
    [[ $stderr == *'a layer that takes 4 channels (all groups together) is given 3' ]]
    npy '|i1' 1 '2,' '\x01\x01' >b.npy
    gf a.png -k avgpool:bias=b.npy -o out.npy
    [ "$status" -eq 1 ]
    [[ $stderr == *'a bias of 2 numbers for a pool of 3 channels' ]]
}

@test "pools keep opacity, layers take it for a channel" {
    scene rgba8 a.png 10x8
    gf a.png -k maxpool -o pooled.png
    [ "$status" -eq 0 ]
    [ "$(od -An -j16 -N10 -tx1 pooled.png | tr -d ' ')" = 00000005000000040806 ] # 5 x 4, 8 bits, RGBA
    npy '|i1' 1 '3, 4, 1, 1' '\x01\x00\x00\x00\x00\x01\x00\x00\x00\x00\x01\x00' >w.npy
    gf a.png -k conv:weights=w.npy -o rgb.png
    [ "$status" -eq 0 ]
    [ "$(od -An -j16 -N10 -tx1 rgb.png | tr -d ' ')" = 0000000a000000080802 ] # RGB
}

@test "a layer's picture is limited to black and white, not made positive" {
    npy '|u1' 1 '1, 2' '\x03\x04' >a.npy
    npy '|i1' 1 '1, 1, 1, 1' '\xff' >w.npy
    gf a.npy -k conv:weights=w.npy --depth 8 -o out.npy
    [ "$(values u1 out.npy)" = '0 0' ]
}

@test "one kernel for all channels is a layer too" {
    npy '|u1' 1 '1, 3' '\x00\xff\x00' >a.npy
    npy '|i1' 1 '1, 3' '\xff\x00\x01' >w.npy
    gf a.npy -k conv:weights=w.npy:padding=0x1 --depth 8 -o out.npy
    [ "$(values u1 out.npy)" = '255 0 0' ]
    scene rgba8 a.png 10x8
    npy '|i1' 1 '2, 2' '\x01\x00\x00\x01' >w.npy
    gf a.png -k wpool:weights=w.npy,scale:factor=.5 -o auto.npy
    gf a.png -k wpool:weights=w.npy,scale:factor=.5 --alpha filter -o filter.npy
    [ "$(shape auto.npy)" = '4, 4, 5' ]
    cmp auto.npy filter.npy
}

@test "half floats are read, results are single" {
    npy '<f2' 2 '1, 3' '\x00\x3c\x00\xc1\x01\x00' >picture.npy # 1 -2.5 2^-24
    gives scale:factor=2 '1, 3' '2 -5 1.1920929e-07'
    npy '<f2' 2 '1, 3' '\x00\x3c\x00\xc1\x00\x04' >picture.npy # 1 -2.5 2^-14
    gf picture.npy -k identity --depth f64 -o out.npy --overwrite
    [ "$(values f8 out.npy)" = '1 -2.5 6.103515625e-05' ]
    gf picture.npy -k abs -o out.png
    [ "$status" -eq 0 ]
    npy '>f2' 2 '2, 1, 1' '\x3c\x00\x41\x00' >picture.npy
    gives identity '2, 1, 1' '1 2.5'
}

@test "weights in both byte orders, in Fortran order, from a pipe" {
    counting 2 3 >picture.npy
    npy '<f2' 2 '2, 2' '\x00\x3c\x00\x40\x00\x42\x00\x44' >w.npy # 1 2 3 4
    gives conv:weights=w.npy '1, 2' '27 37'
    npy '>f4' 4 '2, 2' '\x3f\x80\x00\x00\x40\x00\x00\x00\x40\x40\x00\x00\x40\x80\x00\x00' >w.npy
    gives conv:weights=w.npy '1, 2' '27 37'
    npy '|u1' 1 '2, 2' '\x01\x03\x02\x04' | sed 's/False,/True, /' >w.npy
    gives conv:weights=w.npy '1, 2' '27 37'
    gf picture.npy -k "conv:weights=$(printf '%s' <(cat w.npy))" --device cpu -o out.npy --overwrite
    [ "$(values f4 out.npy)" = '27 37' ]
}

@test "damaged weights are refused before any picture is read" {
    refuses 'weights w.npy: No such file or directory' conv:weights=w.npy
    : >w.npy
    refuses 'weights w.npy: neither an .npy nor a .safetensors file; of a PyTorch model it is safetensors.torch.save_file(model.state_dict(), "net.safetensors"), of one tensor t numpy.save("weights.npy", t.detach().numpy())' conv:weights=w.npy
    npy '<f4' 4 '1, 1' '\x00\x00\xc0\x7f' >w.npy
    refuses 'weights w.npy: number 1 of 1 is NaN' conv:weights=w.npy
    refuses 'weights w.npy: number 1 of 1 is NaN' wpool:weights=w.npy
    npy '<f4' 4 '1, 2' '\x00\x00\x00\x00\x00\x00\x80\x7f' >w.npy
    refuses 'weights w.npy: number 2 of 2 is infinite' conv:weights=w.npy
    npy '<f8' 8 '1, 1' '\x00\x00\x00\x00\x00\x00\xf0\x7e' >w.npy
    refuses 'weights w.npy: number 1 of 1 is beyond what floats can hold' conv:weights=w.npy
    npy '|i1' 1 '3, 3' '\x00' >w.npy
    refuses 'weights w.npy: the file holds 1 byte of numbers, its header announces 9' conv:weights=w.npy
    npy '|O' 8 '1, 1' '\x80\x04\x95' >w.npy
    refuses 'weights w.npy: an .npy array of Python objects is a pickle and never opened; save it by numpy.save() with a numeric dtype, e.g. array.astype('\''float32'\'')' conv:weights=w.npy
    printf 'PK\x03\x04' >net.pt
    refuses 'weights net.pt: an archive or a pickle (.npz, .pt, .pkl), which is never opened; save a .safetensors or .npy file: of a PyTorch model it is safetensors.torch.save_file(model.state_dict(), "net.safetensors"), of one tensor t numpy.save("weights.npy", t.detach().numpy())' conv:weights=net.pt
    npy '|i1' 1 '2,' '\x01\x02' >b.npy
    refuses 'weights b.npy: an array of shape (2,); kernels are maps x channels x height x width, maps x height x width or height x width' conv:weights=b.npy
    npy '|i1' 1 '1, 1' '\x01' >w.npy
    refuses 'bias b.npy: 2 numbers for 1 map' conv:weights=w.npy:bias=b.npy
    refuses 'bias w.npy: an array of shape (1, 1); a bias is a row of numbers' conv:weights=w.npy:bias=w.npy
    refuses 'conv: weights=FILE is missing: maps x [channels x] height x width, or height x width; .npy or .safetensors' conv:stride=2
}

@test "parameters that are wrong" {
    zeros '|i1' '1, 1' 1 >w.npy
    refuses 'conv: stride=0 is outside 1 to 4095' conv:weights=w.npy:stride=0
    refuses 'conv: stride=1x2x3 is neither N nor HEIGHTxWIDTH' conv:weights=w.npy:stride=1x2x3
    refuses 'conv: stride=2.5 is neither N nor HEIGHTxWIDTH' conv:weights=w.npy:stride=2.5
    refuses 'conv: padding=valid is neither N nor HEIGHTxWIDTH nor TOPxLEFTxBOTTOMxRIGHT, nor one of: same same_lower' conv:weights=w.npy:padding=valid
    refuses 'conv: padding=1x2x3 is neither N nor HEIGHTxWIDTH nor TOPxLEFTxBOTTOMxRIGHT, nor one of: same same_lower' conv:weights=w.npy:padding=1x2x3
    refuses 'conv: border is one of: zero replicate reflect101 reflect wrap; not "mirror"' conv:weights=w.npy:border=mirror
    refuses 'conv has no parameter "strides"; did you mean "stride"? (gpufilter filters conv lists them)' conv:weights=w.npy:strides=2
    refuses 'maxpool: size=0 is outside 1 to 4095' maxpool:size=0
    refuses 'clamp: low=2 is above high=1' clamp:low=2:high=1
    refuses 'unknown filter "maxpol"; did you mean "maxpool"?' maxpol
}

@test "a window that does not fit is the picture's failure" {
    scene gray8 a.png 4x3
    gf a.png -k maxpool:size=5 -o out.png
    [ "$status" -eq 1 ]
    [ "$stderr" = 'gpufilter: a.png: a window of 5 columns does not fit into 4 columns' ]
    [ ! -e out.png ]
    scene gray8 b.png 1x3
    gf b.png -k maxpool -o out.png
    [ "$stderr" = 'gpufilter: b.png: a window of 2 columns does not fit into 1 column' ]
}

@test "names of files may hold what separates filters" {
    counting 1 2 >picture.npy
    npy '|i1' 1 '1, 1' '\x02' >'a,b:c.npy'
    gives 'conv:weights=a\,b\:c.npy,relu' '1, 2' '0 2'
}

@test "gpufilter filters shows a layer in numbers" {
    npy '|i1' 1 '2, 1, 1, 2' '\x01\x02\x03\x04' >w.npy
    gf filters conv
    [ "$status" -eq 0 ]
    [[ $output == *'weights '*'a file, must be given'*'stride '*'N or HEIGHTxWIDTH'* ]]
    gf filters conv:weights=w.npy:stride=2,relu,avgpool
    [ "$status" -eq 0 ]
    [[ $output == *'Layer: 2 maps from 1 channel, kernels of 1 x 2'*'stride 2 x 2'*'map 2, channel 1'*'3          4'* ]]
    [[ $output == *'0 where it is negative'*'Pool: mean of windows of 2 x 2'* ]]
}
