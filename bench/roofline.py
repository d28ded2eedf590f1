#!/usr/bin/env python3
"""Draws the roofline of a run of gpufilter-bench: operations for a byte against operations a second.

roofline.py RESULTS.json PICTURE        writes PICTURE.svg and PICTURE.png; needs gnuplot

One panel a suite, one point a contestant and case. The roofs are the run's own limits: the rate of a
device-to-device copy, and that of f32 multiply-adds. A case's operations and bytes are those that it
needs (each sample moved once), so that every contestant of a case stands above the same place.
"""
import json
import subprocess
import sys

# Of each suite the cases whose names hold the word: the largest pictures.
PANELS = {
    'special': ('one channel, 4096 x 4096, K = 1 to 7, 1 to 32 filters', '4096x4096'),
    'general': ('16 to 256 channels, 224 x 224, K = 3 to 7', '224x224'),
    'u8': ('8-bit gray, 8192 x 8192, K = 3 to 15', 'u8 gray'),
}
# Methods are discs, peers crosses.
SHAPES = {'method': 7, 'peer': 2}
COLOURS = {
    'method': ['#1b6ca8', '#2e933c', '#7f7f7f', '#edae49', '#9b72cf', '#00a6a6', '#a05a2c', '#e377c2', '#b5bd00',
               '#17becf', '#5b4b8a', '#f28e6b'],
    'peer': ['#d00000', '#000000', '#ff7f0e', '#8000c0', '#008060'],
}
PANEL_WIDTH, PANEL_HEIGHT = 640, 620


def points(run, suite):
    """{contestant: [(OP/B, TFLOP/s)]}, methods before peers; the copy is a limit and no point."""
    series = {'method': {}, 'peer': {}}
    for result in run['results']:
        if result['suite'] != suite or PANELS[suite][1] not in result['case']:
            continue
        for one in result['contestants']:
            if one['ran'] and one['kind'] in series and one.get('right') is not False:
                place = (result['op_per_byte'], one['tflop_per_s'])
                series[one['kind']].setdefault(one['name'], []).append(place)
    return series


def panel(run, suite, colours):
    series = points(run, suite)
    device = run['device']
    everything = [place for kind in series.values() for places in kind.values() for place in places]
    if not everything:
        return ''
    left, right = min(x for x, _ in everything) / 2, max(x for x, _ in everything) * 2
    bottom, top = min(y for _, y in everything) / 1.6, max(y for _, y in everything) * 1.6
    copy, fma = device['copy_bytes_per_s'] / 1e12, device['fma_flop_per_s'] / 1e12
    data, plots = [], []
    for kind, shape in SHAPES.items():
        for name, places in series[kind].items():
            colour = colours[kind].setdefault(name, COLOURS[kind][len(colours[kind]) % len(COLOURS[kind])])
            data.append('$d%d << E\n%s\nE\n' % (len(data), '\n'.join('%g %g' % p for p in places)))
            plots.append("$d%d with points pt %d ps 0.9 lw 1.6 lc rgb '%s' title '%s'"
                         % (len(data) - 1, shape, colour, name))
    return ''.join(data) + f'''
set title '{suite}: {PANELS[suite][0]}'
set xrange [{left}:{right}]
set yrange [{bottom}:{max(top, fma * 2.5)}]
set label 1 'roofs: copy {copy:.2f} TB/s, f32 multiply-adds {fma:.0f} TFLOP/s' at graph 0.02, 0.965
plot (x * {copy} < {fma} ? x * {copy} : {fma}) with lines lw 2 lc rgb '#222222' notitle, {', '.join(plots)}
unset label 1
'''


def script(run, terminal, output):
    colours = {kind: {} for kind in SHAPES}
    panels = [text for text in (panel(run, suite, colours) for suite in PANELS) if text]
    if not panels:
        sys.exit('roofline: no results of the suites ' + ', '.join(PANELS))
    size = f'size {PANEL_WIDTH * len(panels)},{PANEL_HEIGHT}'
    head = f'{run["device"]["name"]}, {run["date"][:10]}, commit {run["commit"]}'
    return f'''
set terminal {terminal} {size} font 'DejaVu Sans,11' background '#ffffff'
set output '{output}'
set logscale xy
set samples 1000
set grid lc rgb '#dddddd'
set xlabel 'operations for a byte moved'
set ylabel 'TFLOP/s'
set key at graph 0.5, -0.15 center top horizontal maxrows 4 samplen 1 width 1
set bmargin 10
set multiplot layout 1,{len(panels)} title "{head}"
''' + ''.join(panels) + 'unset multiplot\n'


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding='utf-8') as file:
        run = json.load(file)
    for terminal, extension in (('svg', 'svg'), ('pngcairo', 'png')):
        text = script(run, terminal, f'{sys.argv[2]}.{extension}')
        subprocess.run(['gnuplot'], input=text, text=True, check=True)


main()
