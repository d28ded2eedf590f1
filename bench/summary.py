#!/usr/bin/env python3
"""Sums up runs of gpufilter-bench: a table a suite of the fastest method against each peer, and one of each
method against the floor.

summary.py SUITES.json [SUITES.json ...]        prints Markdown
summary.py --small SMALL.json SUITES.json       writes what this script and roofline.py read, a line a case

Of several files, rows of the same peer or method are told apart by commit and hold only the cases that are in
all files that have it, so that they can be compared. Methods whose result was wrong do not
count, nor tilings that are forced (`special/n1`); peers count with whatever exactness they have. Suite
`sources` is left out: each of its experiments races contestants of its own choice, and has no mean.
"""
import json
import math
import sys

DROPPED = ('rounds', 'launches', 'graph', 'apart_from_direct', 'gb_per_s')


def times(result, kind):
    """{contestant: microseconds} of those that ran."""
    return {one['name']: one['us'] for one in result['contestants'] if one['ran'] and one['kind'] == kind
            and '/' not in one['name'] and not (kind == 'method' and one.get('right') is False)}


def ratios(run, suite):
    """Two dictionaries: {peer: {case: its time over that of the fastest method}}, {method: {case: time / floor}}."""
    peers, methods = {}, {}
    for result in run['results']:
        ours, theirs = times(result, 'method'), times(result, 'peer')
        if result['suite'] != suite or not ours:
            continue
        best = min(ours.values())
        if theirs:
            peers.setdefault('the fastest of them', {})[result['case']] = min(theirs.values()) / best
        for name, time in theirs.items():
            peers.setdefault(name, {})[result['case']] = time / best
        methods.setdefault('the fastest of them', {})[result['case']] = best / result['floor_us']
        if result.get('auto') in ours:
            methods.setdefault('what auto takes', {})[result['case']] = ours[result['auto']] / result['floor_us']
        for name, time in ours.items():
            methods.setdefault(name, {})[result['case']] = time / result['floor_us']
    return peers, methods


def names(tables):
    """All names of the tables, in the order in which they come up, after that of the fastest."""
    found = dict.fromkeys(['the fastest of them'])
    for table in tables:
        found.update(dict.fromkeys(table))
    return found


def rows(commits, tables, least_is_worst):
    """Lines of a Markdown table: the geometric mean, the worst and the best case, of each name and run."""
    for name in names(tables):
        having = [(commit, table[name]) for commit, table in zip(commits, tables) if name in table]
        cases = set.intersection(*(set(values) for _, values in having)) if having else ()
        for commit, values in having if cases else ():
            ordered = sorted(((values[case], case) for case in cases), reverse=not least_is_worst)
            mean = math.exp(sum(math.log(value) for value, _ in ordered) / len(ordered))
            (worst, worst_case), (best, best_case) = ordered[0], ordered[-1]
            yield (f'| {name} | {commit} | {len(cases)} | {mean:.2f} | {worst:.2f} ({worst_case}) '
                   f'| {best:.2f} ({best_case}) |')


def table(title, first, commits, tables, least_is_worst):
    print(f'\n{title}\n\n| {first} | commit | cases | geometric mean | worst case | best case |')
    print('|---|---|---:|---:|---|---|')
    print('\n'.join(rows(commits, tables, least_is_worst)))


def summary(runs):
    commits = [run['commit'] for run in runs]
    for run in runs:
        device = run['device']
        print(f'{device["name"]}, {run["date"][:10]}, commit {run["commit"]}: copy '
              f'{device["copy_bytes_per_s"] / 1e12:.2f} TB/s, f32 multiply-adds {device["fma_flop_per_s"] / 1e12:.1f} '
              f'TFLOP/s, cuDNN {device.get("cudnn", "-")}, NPP {device.get("npp", "-")}.')
    for suite in dict.fromkeys(result['suite'] for run in runs for result in run['results']):
        peers, methods = zip(*(ratios(run, suite) for run in runs))
        if suite == 'sources':
            continue
        print(f'\n## {suite}')
        if any(peers):
            table("A peer's time over that of the fastest method (above 1: gpufilter is faster):", 'peer', commits,
                  peers, True)
        table("A method's time over the floor:", 'method', commits, methods, False)


def small(run):
    """The run without what no script reads; every case on a line of its own."""
    results = run.pop('results')
    run.pop('means', None)
    for result in results:
        result['contestants'] = [{key: value for key, value in one.items() if key not in DROPPED}
                                 for one in result['contestants'] if one['ran']]
    lines = ',\n'.join(json.dumps(result, separators=(',', ':')) for result in results)
    return json.dumps(run, indent=1)[:-2] + ',\n "results": [\n' + lines + '\n]}\n'


def load(path):
    with open(path, encoding='utf-8') as file:
        return json.load(file)


def main():
    if len(sys.argv) == 4 and sys.argv[1] == '--small':
        text = small(load(sys.argv[3]))
        with open(sys.argv[2], 'w', encoding='utf-8') as file:
            file.write(text)
    elif len(sys.argv) > 1 and not sys.argv[1].startswith('-'):
        summary([load(path) for path in sys.argv[1:]])
    else:
        sys.exit(__doc__)


main()
