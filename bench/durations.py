#!/usr/bin/env python3
"""Durations by ncu beside the bench's: gpu__time_duration of one launch of each contestant, caches emptied before it,
clocks left alone. A contestant that needs several kernels has the sum of their durations.

durations.py BENCH [BENCH'S OPTIONS]...         prints Markdown

Launches in a row, as the bench times them, overlap in part and find their code and weights in caches; of a small case
ncu's duration is much longer.
"""
import csv
import json
import math
import os
import re
import subprocess
import sys
import tempfile

MICROSECONDS = {'nsecond': 1e-3, 'ns': 1e-3, 'usecond': 1, 'us': 1, 'msecond': 1e3, 'ms': 1e3, 'second': 1e6, 's': 1e6}


def durations(log):
    """{(case, contestant): microseconds} of ncu's table, whose kernels bear the names that race.c gives a launch."""
    with open(log, encoding='utf-8') as file:
        rows = csv.DictReader(line for line in file if line.startswith('"'))
        found = {}
        for row in rows:
            name = re.search(r'bench: (.*): ([\w-]+)/', row['Kernel Name'])
            if name and row['Metric Name'] == 'gpu__time_duration.sum':
                us = float(row['Metric Value'].replace(',', '')) * MICROSECONDS[row['Metric Unit']]
                found[name.groups()] = found.get(name.groups(), 0) + us
    return found


def run(bench, options):
    """What the bench and ncu found, in one run."""
    with tempfile.TemporaryDirectory() as folder:
        log, results = os.path.join(folder, 'ncu.csv'), os.path.join(folder, 'results.json')
        command = ['ncu', '--csv', '--nvtx', '--nvtx-include', 'regex:bench.*/', '--print-nvtx-rename', 'kernel',
                   '--metrics', 'gpu__time_duration.sum', '--clock-control', 'none', '--log-file', log,
                   bench, *options, '--once', '--json', results]
        subprocess.run(command, stdout=subprocess.DEVNULL, check=False)
        with open(results, encoding='utf-8') as file:
            return durations(log), json.load(file)['results']


def fastest(times, case, kind):
    """(microseconds, name) of the side's fastest contestant of a case by ncu."""
    names = (one['name'] for one in case['contestants'] if one['ran'] and one['kind'] == kind)
    return min(((times[case['case'], name], name) for name in names if (case['case'], name) in times), default=None)


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    times, results = run(arguments[1], arguments[2:])
    print('| case | `auto` takes | us | fastest of ours | us | fastest peer | us | over `auto` |\n'
          '|---|---|---:|---|---:|---|---:|---:|')
    ratios = {}
    for case in results:
        ours, peer = fastest(times, case, 'method'), fastest(times, case, 'peer')
        auto = times.get((case['case'], case.get('auto')))
        if not ours or not auto:
            continue
        cells = [case['case'], case['auto'], f'{auto:.2f}', ours[1], f'{ours[0]:.2f}']
        cells += [peer[1], f'{peer[0]:.2f}', f'{peer[0] / auto:.2f}'] if peer else ['-'] * 3
        print('| ' + ' | '.join(cells) + ' |')
        if peer:
            ratios.setdefault(case['suite'], []).append(peer[0] / auto)
    print()
    for suite, found in ratios.items():
        mean = math.exp(sum(map(math.log, found)) / len(found))
        print(f'- {suite}: the fastest peer over what `auto` takes {mean:.2f} in the mean of {len(found)}, '
              f'{min(found):.2f} at least')
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv))
