#!/usr/bin/env bash
# on_devices.sh ARGUMENT...: the program EMULATED, with --device cuda:all where that is of use.
case ${1-} in
    algorithms | compare | completion | devices | filters | weights) exec "$EMULATED" "$@" ;;
esac
for argument in "$@"; do
    case $argument in
        --device* | --algorithm* | --help | --version) exec "$EMULATED" "$@" ;;
        --) exec "$EMULATED" --device cuda:all "$@" ;;
    esac
done
exec "$EMULATED" "$@" --device cuda:all
