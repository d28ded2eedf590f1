#!/usr/bin/env bats
# The completion scripts, in the shells themselves where these are there.
# shellcheck disable=SC2154 # bats sets stderr
load common

# completed WORD...: what bash offers for the last word.
completed() {
    "$GPUFILTER" completion bash >script
    # shellcheck disable=SC2016
    bash -c '. ./script; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpufilter; echo "${COMPREPLY[@]}"' \
        bash "$@"
}

@test "bash completes calls, options, filters and methods" {
    [ "$(completed gpufilter fil)" = filters ]
    [ "$(completed gpufilter a.png --ker)" = --kernel ]
    [ "$(completed gpufilter a.png -k so)" = sobel ]
    [ "$(completed gpufilter a.png --algorithm sp)" = special ]
    [ -z "$(completed gpufilter a.png b)" ]
}

@test "parameters that are files are completed by files" {
    : >net-weights.npy
    [ "$(completed gpufilter a.png -k conv:weights=net)" = conv:weights=net-weights.npy ]
    [ "$(completed gpufilter a.png -k conv:stride=2:bias=net)" = conv:stride=2:bias=net-weights.npy ]
    [ -z "$(completed gpufilter a.png -k conv : weights = net)" ] # left to the shell
    [ -z "$(completed gpufilter a.png -k sobel:direction=net)" ]
    if command -v fish >/dev/null; then
        "$GPUFILTER" completion fish >script.fish
        run env HOME="$PWD" fish --no-config -c "source script.fish; complete -C 'gpufilter a.png --kernel conv:weights=net'"
        [[ $output == *net-weights.npy* ]]
    fi
}

@test "every option of the help is completed" {
    local option options
    options=$("$GPUFILTER" --help | grep -oE '^ +(-[a-z], )?--[a-z-]+' | grep -oE -- '--[a-z-]+')
    [ "$(wc -w <<<"$options")" -gt 20 ]
    for option in $options; do
        [[ " $(completed gpufilter a.png "$option") " == *" $option "* ]]
    done
}

@test "zsh takes the script" {
    command -v zsh >/dev/null || skip 'no zsh'
    "$GPUFILTER" completion zsh >script
    run zsh -fc 'autoload -U compinit; compinit -D; . ./script; print $_comps[gpufilter]'
    [ "$output" = _gpufilter ]
}

@test "fish completes options and filters" {
    command -v fish >/dev/null || skip 'no fish'
    "$GPUFILTER" completion fish >script.fish
    run env HOME="$PWD" fish --no-config -c "source script.fish; complete -C 'gpufilter a.png --kernel so'"
    [[ $output == sobel* ]]
    run env HOME="$PWD" fish --no-config -c "source script.fish; complete -C 'gpufilter a.png --over'"
    [[ $output == --overwrite* ]]
}

@test "other shells are refused" {
    gf completion tcsh
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: completion: nothing is known of the shell "tcsh"; bash, zsh or fish' ]
}
