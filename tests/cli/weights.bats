#!/usr/bin/env bats
# Files of weights: what gpufilter weights says of them, which tensors filters take, and how they are refused.
# tests/unit/test_tensors.c has the defects of the format itself.
# shellcheck disable=SC2154 # bats sets stderr
load common

# tensors HEADER BYTES: a .safetensors file on standard output, BYTES as \xNN.
tensors() {
    local n=${#1}
    # shellcheck disable=SC2059
    printf "$(printf '\\x%02x\\x%02x\\0\\0\\0\\0\\0\\0' $((n & 255)) $((n >> 8)))"
    # shellcheck disable=SC2059
    printf '%s' "$1" && printf "$2"
}

# tensor NAME DTYPE SHAPE BEGIN END: a member of a header.
tensor() {
    printf '"%s":{"dtype":"%s","shape":[%s],"data_offsets":[%s,%s]}' "$@"
}

# net FILE: 10 and 100 as a layer of two maps, their biases 1 and 2, a kernel 3, and what can be no weights.
net() {
    tensors "{$(tensor conv1.weight F32 2,1,1,1 0 8),$(tensor conv1.bias BF16 2 8 12),$(
        tensor pool/window F16 1,1 12 14),$(tensor a:b F32 1 14 18),$(tensor steps I64 1 18 26)}" \
        '\x00\x00\x20\x41\x00\x00\xc8\x42\x80\x3f\x00\x40\x00\x42\x00\x00\x80\x40\0\0\0\0\0\0\0\0' >"$1"
}

# gives KERNEL VALUES: the filter makes that of picture.npy.
gives() {
    gf picture.npy -k "$1" --device cpu -o out.npy --overwrite
    printf '%s: %s %s\n' "$1" "$stderr" "$(values f4 out.npy)"
    [ "$status" -eq 0 ]
    [ "$(values f4 out.npy)" = "$2" ]
}

# refuses PATTERN KERNEL: exit status 2 and a message of that form.
refuses() {
    gf missing.png -k "$2"
    printf '%s\n' "$status: $stderr"
    [ "$status" -eq 2 ]
    # shellcheck disable=SC2053
    [[ $stderr == $1 ]]
}

@test "tensors are listed by name, with type, shape and count" {
    net net.safetensors
    npy '>f4' 4 '1, 2' '\x3f\x80\x00\x00\xc0\x00\x00\x00' >w.npy
    gf weights net.safetensors w.npy
    [ "$status" -eq 0 ]
    [ "$stderr" = '' ]
    [ "$output" = 'net.safetensors: 5 tensors
  a:b           F32   (1,)                       1
  conv1.bias    BF16  (2,)                       2
  conv1.weight  F32   (2, 1, 1, 1)               2
  pool/window   F16   (1, 1)                     1
  steps         I64   (1,)                       1
w.npy: 1 tensor
  -  >f4   (1, 2)                     2' ]
    gf weights -v net.safetensors w.npy
    [[ $output == *'conv1.weight  F32   (2, 1, 1, 1)               2  10 to 100'* ]]
    [[ $output == *'steps         I64   (1,)                       1'$'\n'* ]]
    [[ $output == *'>f4   (1, 2)                     2  -2 to 1' ]]
}

@test "one JSON object a file" {
    net net.safetensors
    : >empty.safetensors
    gf weights --json -v net.safetensors empty.safetensors
    [ "$status" -eq 2 ]
    [[ ${output%%$'\n'*} == '{"input":"net.safetensors","status":"ok","tensors":[{"name":"a:b","type":"F32","shape":[1],"count":1,"min":4.0,"max":4.0},'*',{"name":"steps","type":"I64","shape":[1],"count":1}]}' ]]
    [ "${output##*$'\n'}" = '{"input":"empty.safetensors","status":"failed","error":"0 bytes are no .safetensors file"}' ]
    [ "$stderr" = 'gpufilter: empty.safetensors: 0 bytes are no .safetensors file' ]
}

@test "a file that is wrong is named, and the others are listed" {
    net net.safetensors
    printf 'PK\x03\x04 and so on' >net.pt
    gf weights missing.safetensors net.pt net.safetensors
    [ "$status" -eq 2 ]
    [[ $stderr == 'gpufilter: missing.safetensors: No such file or directory'$'\n''gpufilter: net.pt: an archive or a pickle'*'save_file(model.state_dict(), "net.safetensors")'* ]]
    [[ $output == 'net.safetensors: 5 tensors'* ]]
    gf weights
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: usage: gpufilter weights FILE... [--tensor NAME] [--picture FILE]' ]
    gf weights net.safetensors --in-place
    [ "$stderr" = 'gpufilter: --in-place does not go with "weights"' ]
    gf weights net.safetensors - </dev/null
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: weights are not read from standard input (-); name a file' ]
    [ -z "$output" ]
    cp net.safetensors ./-
    gf weights ./-
    [ "$status" -eq 0 ]
    [[ $output == './-: 5 tensors'* ]]
}

@test "names are made harmless" {
    tensors "{$(tensor '\u001b[31m\n' F32 1 0 4)}" '\0\0\0\0' >$'n\n.safetensors'
    gf weights $'n\n.safetensors'
    [ "$status" -eq 0 ]
    [ "$output" = 'n\x0a.safetensors: 1 tensor
  \x1b[31m\x0a  F32   (1,)                       1' ]
    gf weights --json $'n\n.safetensors'
    [ "$output" = '{"input":"n\n.safetensors","status":"ok","tensors":[{"name":"\u001B[31m\n","type":"F32","shape":[1],"count":1}]}' ]
}

@test "a tensor and its bias" {
    net net.safetensors
    npy '|u1' 1 '1, 2' '\x01\x02' >picture.npy
    gives conv:weights=net.safetensors:tensor=conv1.weight '10 20 100 200'
    gives conv:weights=net.safetensors:tensor=conv1.weight:bias=conv1.bias '11 21 102 202'
    gives 'conv:weights=net.safetensors:tensor=pool/window:bias=a\:b' '7 10'
    gives wpool:weights=net.safetensors '3 6'
    gives 'avgpool:size=1:bias=net.safetensors:tensor=a\:b' '5 6'
    npy '|i1' 1 '2,' '\x05\x06' >conv2.bias
    gives conv:weights=net.safetensors:tensor=conv1.weight:bias=conv2.bias '15 25 106 206'
    npy '|i1' 1 '2,' '\x05\x06' >conv1.bias # the tensor comes first, unless the path says otherwise
    gives conv:weights=net.safetensors:tensor=conv1.weight:bias=conv1.bias '11 21 102 202'
    gives conv:weights=net.safetensors:tensor=conv1.weight:bias=./conv1.bias '15 25 106 206'
    gf picture.npy -k conv:weights=net.safetensors:tensor=conv1.weight:bias=./none.bias -o none.npy
    [ "$status" -eq 2 ]
    [[ $stderr == *'bias ./none.bias: No such file or directory' ]]
    tensors "{$(tensor w F64 1,1,1 0 8),$(tensor b F32 1 8 12)}" '\0\0\0\0\0\0\0\x40\0\0\0\0' >one.safetensors
    gives conv:weights=one.safetensors '2 4'
    npy '|i1' 1 '1,' '\x05' >five.npy
    gives conv:weights=one.safetensors:bias=five.npy '7 9'
    npy '|i1' 1 '1, 1' '\x02' >two.npy
    gives conv:weights=two.npy:bias=one.safetensors '2 4'
    mv one.safetensors one.weights # content says what a file is
    gives conv:weights=one.weights '2 4'
}

@test "tensors that cannot be meant" {
    net net.safetensors
    refuses '*: weights net.safetensors: several tensors can be meant, and none is named: conv1.weight (2, 1, 1, 1), pool/window (1, 1)' conv:weights=net.safetensors
    refuses '*: weights net.safetensors: it has no tensor "conv1.wieght", but conv1.weight (2, 1, 1, 1), conv1.bias (2,), *' conv:weights=net.safetensors:tensor=conv1.wieght
    refuses '*: weights net.safetensors: tensor "steps": numbers of type I64 cannot be weights; *' conv:weights=net.safetensors:tensor=steps
    refuses '*: weights net.safetensors: tensor "conv1.bias": an array of shape (2,); kernels are *' conv:weights=net.safetensors:tensor=conv1.bias
    refuses '*: bias net.safetensors: it has no tensor "conv1.bais", but conv1.bias (2,), *' conv:weights=net.safetensors:tensor=conv1.weight:bias=conv1.bais
    refuses '*: bias net.safetensors: tensor "a:b": 1 number for 2 maps' 'conv:weights=net.safetensors:tensor=conv1.weight:bias=a\:b'
    refuses '*: bias net.safetensors: tensor "conv1.weight": an array of shape (2, 1, 1, 1); a bias is a row of numbers' conv:weights=net.safetensors:tensor=conv1.weight:bias=conv1.weight
    refuses '*: bias missing.npy: No such file or directory' conv:weights=net.safetensors:tensor=conv1.weight:bias=missing.npy
    refuses '*: weights net.safetensors: a pool has one window, height x width, not 2 maps' wpool:weights=net.safetensors:tensor=conv1.weight
    refuses '*: conv: tensor= names nothing' conv:weights=net.safetensors:tensor=
    refuses '*: avgpool: tensor= goes with bias=FILE' avgpool:tensor=conv1.bias
    npy '|i1' 1 '1, 1' '\x02' >two.npy
    refuses '*: weights two.npy: an .npy file has one array without a name, no tensor "w"' conv:weights=two.npy:tensor=w
    mkfifo pipe
    cat net.safetensors >pipe &
    refuses '*: weights pipe: a .safetensors file is not read from a pipe; save it first' conv:weights=pipe
    tensors "{$(tensor w F32 1,1 0 4)}" '\x00\x00\xc0\x7f' >nan.safetensors
    refuses '*: weights nan.safetensors: tensor "w": number 1 of 1 is NaN' conv:weights=nan.safetensors
}

@test "weights --picture draws the kernels of a tensor, each as in filters --picture" {
    net net.safetensors
    gf weights net.safetensors --tensor conv1.weight --picture both.npy
    [ "$status" -eq 0 ]
    [ "$output$stderr" = '' ]
    # Two tiles of one positive tap each: white, and gray between them.
    [ "$(values u1 both.npy | tr ' ' '\n' | sort -n | uniq -c | awk '{print $2}' | xargs)" = '32 255' ]
    gf weights net.safetensors --tensor conv1.weight --picture both.npy
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: both.npy: exists already' ]
    gf weights net.safetensors --tensor conv1.bias --picture x.png
    [ "$status" -eq 2 ]
    [[ $stderr == 'gpufilter: net.safetensors: '*'(2,)'*'no kernels to draw' ]]
    gf weights net.safetensors --picture x.png
    [ "$status" -eq 2 ]
    [[ $stderr == 'gpufilter: net.safetensors: '*'conv1.weight (2, 1, 1, 1)'* ]]
    gf weights net.safetensors net.safetensors --picture x.png
    [ "$status" -eq 2 ]
    [[ $stderr == *'one file of weights, not of 2' ]]
    gf weights net.safetensors --tensor conv1.weight
    [ "$status" -eq 2 ]
    [[ $stderr == *'--tensor goes with --picture' ]]
    [ ! -e x.png ]
}
