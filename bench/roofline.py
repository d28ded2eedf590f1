#!/usr/bin/env python3
"""Draws the roofline of a run of gpufilter-bench: operations for a byte against operations a second.

roofline.py RESULTS.json PICTURE        writes PICTURE.svg and PICTURE.png; needs gnuplot

One panel a suite and one with the names, one point a contestant and case. The roofs are the run's own
limits: the rate of a device-to-device copy, and that of f32 multiply-adds. A case's operations and bytes
are those that it needs (each sample moved once), so that every contestant of a case stands above the same
place. Of NPP's functions the fastest of a case is shown. Methods whose result was wrong are left out;
peers are shown with whatever exactness they have.
"""
import json
import subprocess
import sys

# Of each suite the cases whose names hold the word: the largest pictures.
PANELS = {
    'special': ('one channel, f32, 4096 x 4096, K = 1 to 7', '4096x4096'),
    'general': ('16 to 256 channels, f32, 224 x 224, K = 3 to 7', '224x224'),
    'u8': ('8-bit gray, 8192 x 8192, K = 3 to 15', 'u8 gray'),
}
# gnuplot's point types and colours. Textbook methods are gray, those that the program chooses are
# filled, peers are crosses and drawn last.
STYLES = {
    'direct': (6, '#999999'), 'constant': (8, '#999999'), 'tiled': (4, '#999999'), 'cached': (12, '#999999'),
    'im2col': (10, '#999999'),
    'shared': (13, '#2e933c'), 'implicit': (11, '#9b72cf'), 'separable': (9, '#00a0b0'), 'general': (5, '#e0900a'),
    'special': (7, '#1b6ca8'),
    'cudnn-ieee': (2, '#d00000'), 'cudnn-tf32': (1, '#000000'), 'npp': (2, '#d00080'),
}
OTHERS = [(7, '#7a4a20'), (5, '#e377c2'), (9, '#5b4b8a'), (13, '#b5bd00')]
LEGENDS = {'cudnn-ieee': 'cuDNN, f32', 'cudnn-tf32': 'cuDNN, TF32 allowed', 'npp': 'NPP'}
WIDTH, HEIGHT = 1100, 900


def points(run, suite):
    """{contestant: [(OP/B, TFLOP/s)]}; the copy is a limit and no point."""
    series = {}
    for result in run['results']:
        if result['suite'] != suite or PANELS[suite][1] not in result['case']:
            continue
        fastest = {}
        for one in result['contestants']:
            wrong = one['kind'] == 'method' and one.get('right') is False
            if one['ran'] and one['kind'] != 'copy' and not wrong:
                name = 'npp' if one['name'].startswith('npp') else one['name']
                fastest[name] = max(fastest.get(name, 0), one['tflop_per_s'])
        for name, rate in fastest.items():
            series.setdefault(name, []).append((result['op_per_byte'], rate))
    return series


def style(name, styles):
    """`with points ...` of a contestant, the same in all panels."""
    if name not in styles:
        styles[name] = OTHERS[(len(styles) - len(STYLES)) % len(OTHERS)]
    shape, colour = styles[name]
    return f"with points pt {shape} ps 1.1 lw 1.6 lc rgb '{colour}'"


def drawn(names):
    """In the order of STYLES, others before the peers."""
    order = list(STYLES)
    peers = order.index('cudnn-ieee')
    return sorted(names, key=lambda name: order.index(name) if name in order else peers - 0.5)


def panel(run, suite, styles):
    series = points(run, suite)
    if not series:
        return ''
    places = [place for one in series.values() for place in one]
    copy, fma = run['device']['copy_bytes_per_s'] / 1e12, run['device']['fma_flop_per_s'] / 1e12
    data, plots = [], []
    for name in drawn(series):
        data.append(f'${suite}{len(data)} << E\n' + ''.join('%g %g\n' % place for place in series[name]) + 'E\n')
        plots.append(f'${suite}{len(plots)} {style(name, styles)} notitle')
    return ''.join(data) + f'''
set title '{suite}: {PANELS[suite][0]}'
set xrange [{min(x for x, _ in places) / 1.6}:{max(x for x, _ in places) * 1.6}]
set yrange [{min(y for _, y in places) / 1.6}:{max([2 * fma] + [1.6 * y for _, y in places])}]
plot (x * {copy} < {fma} ? x * {copy} : {fma}) with lines lw 2 lc rgb '#222222' notitle, {', '.join(plots)}
'''


def legend(names, styles):
    plots = ["NaN with lines lw 2 lc rgb '#222222' title 'roof'"]
    plots += [f"NaN {style(name, styles)} title '{LEGENDS.get(name, name)}'" for name in drawn(names)]
    return f'''
unset title; unset border; unset tics; unset grid; unset xlabel; unset ylabel; unset logscale
set xrange [0:1]; set yrange [0:1]
set key at graph 0.5, 0.75 center top Left reverse samplen 2 width -1 spacing 1.3 maxrows 8 font ',11'
plot {', '.join(plots)}
'''


def script(run, terminal, output):
    styles = dict(STYLES)
    panels = [text for text in (panel(run, suite, styles) for suite in PANELS) if text]
    if not panels:
        sys.exit('roofline: no results of the suites ' + ', '.join(PANELS))
    names = {name for suite in PANELS for name in points(run, suite)}
    device = run['device']
    head = (f'{device["name"]}, {run["date"][:10]}, commit {run["commit"]}. Roofs: copy '
            f'{device["copy_bytes_per_s"] / 1e12:.2f} TB/s, f32 multiply-adds '
            f'{device["fma_flop_per_s"] / 1e12:.0f} TFLOP/s')
    return f'''
set terminal {terminal} size {WIDTH},{HEIGHT} font 'DejaVu Sans,11' background '#ffffff'
set output '{output}'
set logscale xy
set format '%g'
set samples 500
set grid lc rgb '#dddddd'
set xlabel 'operations for a byte moved'
set ylabel 'TFLOP/s'
unset key
set multiplot layout 2,2 title "{head}"
''' + ''.join(panels) + legend(names, styles) + 'unset multiplot\n'


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    with open(sys.argv[1], encoding='utf-8') as file:
        run = json.load(file)
    for terminal, extension in (('svg', 'svg'), ('pngcairo', 'png')):
        text = script(run, terminal, f'{sys.argv[2]}.{extension}')
        subprocess.run(['gnuplot'], input=text, text=True, check=True)


main()
