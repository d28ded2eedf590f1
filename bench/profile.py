#!/usr/bin/env python3
"""Profiles cases of gpufilter-bench by ncu: what a kernel moves, how much of the card's turns it uses and what its
warps wait for.

profile.py BENCH [SUITE CASE METHOD]...       prints Markdown

Without cases, those that miss a target of results/README.md. A case's first launch counts. Caches are emptied before
a launch and clocks are left alone; launches that follow one another, as in the bench, may take less time.
"""
import csv
import os
import re
import subprocess
import sys
import tempfile

# Of the mean of `special` those that are far from their floors.
MISSED = (
    ('special', '1x1024x1024 K=1 F=16', 'special'),
    ('special', '1x1024x1024 K=1 F=32', 'special'),
    ('special', '1x2048x2048 K=1 F=32', 'special'),
    ('special', '1x4096x4096 K=1 F=32', 'special'),
    ('special', '1x1024x1024 K=5 F=4', 'special'),
    ('special', '1x1024x1024 K=7 F=1', 'special'),
    ('special', '1x4096x4096 K=7 F=1', 'special'),
    ('special', '1x4096x4096 K=7 F=4', 'tensor'),
    ('u8', 'u8 gray 8192x8192 K=3', 'special'),
    ('u8', 'u8 gray 8192x8192 K=5', 'tensor'),
    ('u8', 'u8 gray 8192x8192 K=15 gauss', 'tensor'),
    ('u8', 'u8 RGB 8192x8192 K=7 gauss', 'tensor'),
    ('u8', 'u8 RGB 8192x8192 K=15 gauss', 'tensor'),
    ('u8', 'u8 RGB 8192x8192 K=31', 'tensor'),
    ('u8', 'u8 RGB 8192x8192 K=31 gauss', 'tensor'),
    ('sources', 'tutorial 64x1x28x28 K=5 F=16', 'special'),
    ('sources', 'tutorial 64x1x28x28 K=5 F=16 relu pool', 'special'),
    ('sources', 'course layer 1 10000x1x86x86 K=7 F=4', 'tensor'),
)

# What a warp that does not issue waits for; `not_selected`, another's turn, is no wait.
STALLS = {
    'barrier': 'a barrier',
    'branch_resolving': 'a branch',
    'dispatch_stall': 'dispatch',
    'drain': 'its stores at the end',
    'gmma': 'wgmma',
    'imc_miss': 'constants',
    'lg_throttle': "global memory's queue",
    'long_scoreboard': 'global memory',
    'math_pipe_throttle': 'a busy pipe',
    'membar': 'a fence',
    'mio_throttle': "shared memory's queue",
    'no_instruction': 'instructions',
    'short_scoreboard': 'shared memory',
    'sleeping': 'sleep',
    'wait': 'fixed latencies',
}
METRICS = {
    'us': 'gpu__time_duration.sum',
    'registers': 'launch__registers_per_thread',
    'fixed': 'launch__shared_mem_per_block_static',
    'asked': 'launch__shared_mem_per_block_dynamic',
    'local_loads': 'smsp__inst_executed_op_local_ld.sum',
    'local_stores': 'smsp__inst_executed_op_local_st.sum',
    'instructions': 'smsp__inst_executed.sum',
    'read': 'dram__bytes_read.sum',
    'written': 'dram__bytes_write.sum',
    'issued': 'smsp__issue_active.avg.pct_of_peak_sustained_elapsed',
    'warps': 'smsp__warps_active.avg.per_cycle_active',
}
METRICS.update({name: f'smsp__average_warps_issue_stalled_{name}_per_issue_active.ratio' for name in STALLS})
HEAD = ('case', 'kernel', 'us', 'read MB', 'written MB', 'of the rate of DRAM', 'million instructions', 'issue slots',
        'warps a scheduler', 'cycles an instruction waits for', 'registers', 'spills run', 'shared KB')
DRAM = 4.8e6  # bytes a microsecond, of HBM3e on an H200 by its data sheet


def value(text, unit):
    """A number of ncu's, in bytes, microseconds or as it is."""
    scale = {'Kbyte': 1e3, 'Mbyte': 1e6, 'Gbyte': 1e9, 'Kbyte/block': 1e3, 'nsecond': 1e-3, 'ns': 1e-3, 'msecond': 1e3,
             'ms': 1e3}
    return float(text.replace(',', '')) * scale.get(unit, 1)


def profile(bench, suite, case, method):
    """(the kernel's name, {METRICS' names: values}) of the first launch of a case."""
    with tempfile.TemporaryDirectory() as folder:
        log = os.path.join(folder, 'ncu.csv')
        command = ['ncu', '--csv', '--page', 'raw', '--print-units', 'base', '--metrics', ','.join(METRICS.values())]
        command += ['--clock-control', 'none', '--kernel-name', 'regex:^(special|tensor|general|separable)']
        command += ['--launch-count', '1', '--kill', 'yes', '--log-file', log]
        command += [bench, '--suite', suite, '--case', case, '--algorithm', method, '--peer', 'none', '--quick']
        subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)
        with open(log, encoding='utf-8') as file:
            rows = list(csv.reader(line for line in file if line.startswith('"')))
    if len(rows) < 3:
        raise ValueError(f'{suite}, {case}, {method}: no launch was seen')
    columns = {name: index for index, name in enumerate(rows[0])}
    found = {name: value(rows[2][columns[metric]], rows[1][columns[metric]])
             for name, metric in METRICS.items() if rows[2][columns.get(metric, 0)] and metric in columns}
    return rows[2][columns['Kernel Name']], found


def row(case, kernel, found):
    """A line of the table."""
    waits = sorted(((found.get(name, 0), text) for name, text in STALLS.items()), reverse=True)[:4]
    name = re.search(r'(\w+)\s*[<(]', kernel.replace('<unnamed>', '')).group(1)
    local = found.get('local_loads', 0) + found.get('local_stores', 0)
    cells = (case, name, f"{found['us']:.1f}", f"{found['read'] / 1e6:.1f}", f"{found['written'] / 1e6:.1f}",
             f"{100 * (found['read'] + found['written']) / found['us'] / DRAM:.0f} %",
             f"{found['instructions'] / 1e6:.1f}", f"{found['issued']:.0f} %", f"{found['warps']:.1f}",
             ', '.join(f'{text} {wait:.1f}' for wait, text in waits if wait >= 0.05), f"{found['registers']:.0f}",
             f"{local:.0f}", f"{(found['fixed'] + found['asked']) / 1024:.1f}")
    return '| ' + ' | '.join(cells) + ' |'


def main(arguments):
    if len(arguments) < 2 or len(arguments) % 3 != 2:
        print(__doc__, file=sys.stderr)
        return 2
    cases = tuple(zip(*[iter(arguments[2:])] * 3)) or MISSED
    print('| ' + ' | '.join(HEAD) + ' |\n|---|---|' + '---:|' * 7 + '---|' + '---:|' * 3)
    status = 0
    for suite, case, method in cases:
        try:
            print(row(case, *profile(arguments[1], suite, case, method)), flush=True)
        except (ValueError, KeyError, OSError) as problem:
            print(f'profile.py: {problem}', file=sys.stderr)
            status = 1
    return status


if __name__ == '__main__':
    sys.exit(main(sys.argv))
