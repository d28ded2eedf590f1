#!/usr/bin/env python3
"""Types lines into an interactive shell and prints what they became: typist.py bash|zsh SCRIPT LINE...

The shell runs in a terminal of its own and has read SCRIPT, completions of gpufilter. Each LINE is typed, a tab after it
and then return; for each the arguments that gpufilter would have got are printed in one line, as <one> <two>.
"""
import os
import pty
import select
import sys
import time

PROMPT = b"READY% "
SHELLS = {
    "bash": (["bash", "--norc", "--noprofile", "-i"], "bind 'set enable-bracketed-paste off'; . {}; PS1='REA''DY% '"),
    "zsh": (["zsh", "-f", "-i"], "unsetopt zle_bracketed_paste prompt_sp; autoload -U compinit; compinit -uD; . {};"
            " LISTMAX=0; PS1='REA''DY%% '"),
}  # fmt: skip


def read_until(terminal, text, seconds=20.0):
    """What the shell shows until `text`, or what there is when the time is up."""
    seen, end = b"", time.monotonic() + seconds
    while text not in seen and time.monotonic() < end:
        if select.select([terminal], [], [], 0.2)[0]:
            try:
                seen += os.read(terminal, 65536)
            except OSError:  # the shell has ended
                break
    return seen


def quiet(terminal):
    """Until nothing was shown for a while: the completion is done."""
    while select.select([terminal], [], [], 0.3)[0]:
        os.read(terminal, 65536)


def main():
    shell, script, lines = sys.argv[1], os.path.abspath(sys.argv[2]), sys.argv[3:]
    command, setup = SHELLS[shell]
    child, terminal = pty.fork()
    if child == 0:
        os.environ.update(TERM="dumb", HISTFILE="/dev/null", INPUTRC="/dev/null")
        os.execvp(command[0], command)
    report = os.path.abspath("typed.args")
    os.write(terminal, setup.format(script).encode() + b"\n")
    read_until(terminal, PROMPT)
    os.write(terminal, f"gpufilter() {{ printf '<%s> ' \"$@\" >{report}; }}\n".encode())
    read_until(terminal, PROMPT)
    for line in lines:
        if os.path.exists(report):
            os.remove(report)
        os.write(terminal, line.encode() + b"\t")
        quiet(terminal)
        os.write(terminal, b"\n")
        read_until(terminal, PROMPT)
        print(open(report, encoding="utf-8").read().rstrip() if os.path.exists(report) else "nothing", flush=True)
    os.close(terminal)  # hangs up
    os.waitpid(child, 0)


main()
