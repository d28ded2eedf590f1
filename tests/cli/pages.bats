#!/usr/bin/env bats
# --report: pages of HTML. tests/page.py reads them; a browser shows one where chromium is installed.
# shellcheck disable=SC2154 # bats sets stderr and stderr_lines
load common

# page WHAT FILE [ARGUMENT...]: $output is what tests/page.py says.
page() {
    command -v python3 >/dev/null || skip 'no python3'
    run python3 "$BATS_TEST_DIRNAME/../page.py" "$@"
    printf '%s\n' "$output"
    [ "$status" -eq 0 ]
}

# has LINE: $output has it.
has() {
    grep -qxF -- "$1" <<<"$output"
}

@test "--report: two files: figures, difference, histogram" {
    npy '|u1' 1 '2, 3' '\x00\x0a\x14\x1e\x28\x32' >a.npy
    npy '|u1' 1 '2, 3' '\x00\x0a\x14\x20\x28\x2e' >b.npy
    gf compare a.npy b.npy --tolerance 3 --report page.html
    [ "$status" -eq 1 ]
    page check page.html
    [ "$output" = $'A: a.npy 3x2 1\nB: b.npy 3x2 1\nDifference 3x2 1' ]
    page pixel page.html 0 2 1
    [ "$output" = 50 ]
    page pixel page.html 1 0 1
    [ "$output" = 32 ]
    # 2 of 4: half of white, rounded to even.
    page pixel page.html 2 0 1
    [ "$output" = 128 ]
    page pixel page.html 2 2 1
    [ "$output" = 255 ]
    page text page.html
    has 'Comparison failed'
    has '0 of 1 within the tolerance.'
    has 'a.npy and b.npy'
    has '3 × 2 pixels, gray, 8 bits'
    has 'Beyond 3'
    has 'of 6 samples, 16.67 %'
    has 'white is 4, amplified 63.75 times'
    has 'At x = 2, y = 1; A is 50; B is 46.'
    has '-2: 1 sample'
    has '0: 4 samples'
    has '4: 1 sample'
    [ "$(grep -cE ': [0-9]+ samples?$' <<<"$output")" -eq 3 ]
}

@test "--report: pictures that are equal" {
    scene rgb8 a.png
    gf compare a.png a.png --report page.html
    [ "$status" -eq 0 ]
    page check page.html
    [ "$output" = $'A: a.png 64x48 3\nB: a.png 64x48 3\nDifference 64x48 3' ]
    page pixel page.html 2 13 7
    [ "$output" = '0 0 0' ]
    page text page.html
    has 'Comparison passed'
    has 'none: the outputs are equal'
    has '0: 9216 samples'
}

@test "--report: large pictures are reduced, and shown whole around the largest difference" {
    # Black; in b one pixel, at 1007, 3, is white.
    { npy '|u1' 1 '4, 1010' '' && head -c 4040 /dev/zero; } >a.npy
    { npy '|u1' 1 '4, 1010' '' && head -c 4037 /dev/zero && printf '\xff\0\0'; } >b.npy
    gf compare a.npy b.npy --report page.html
    [ "$status" -eq 1 ]
    page check page.html
    [ "${lines[*]:0:3}" = 'A: a.npy 505x2 1 B: b.npy 505x2 1 Difference 505x2 1' ]
    [ "${lines[*]:3}" = 'A: a.npy 128x4 1 B: b.npy 128x4 1 Difference 128x4 1' ]
    # The mean of a square of four, 63.75, and its largest.
    page pixel page.html 1 503 1
    [ "$output" = 64 ]
    page pixel page.html 2 503 1
    [ "$output" = 255 ]
    page pixel page.html 4 125 3
    [ "$output" = 255 ]
    page text page.html
    has 'reduced 2 × 2 to one'
    has 'the largest of each 2 × 2'
    has 'At x = 1007, y = 3; A is 0; B is 255. Shown pixel by pixel: columns 882 to 1009, rows 0 to 3.'
}

@test "--report: floats are stretched, and NaN counts" {
    npy '<f4' 4 '1, 3' '\x00\x00\x80\xbf\x00\x00\x00\x00\x00\x00\xc0\x7f' >a.npy
    npy '<f4' 4 '1, 3' '\x00\x00\x00\x00\x00\x00\x40\x40\x00\x00\x00\x00' >b.npy
    gf compare a.npy b.npy --report page.html
    [ "$status" -eq 1 ]
    # From -1 to 3: 0 is a quarter of white.
    page pixel page.html 0 1 0
    [ "$output" = 64 ]
    page pixel page.html 1 1 0
    [ "$output" = 255 ]
    page pixel page.html 0 2 0
    [ "$output" = 0 ]
    page text page.html
    has 'black is -1, white is 3'
    has 'white is ∞'
    [[ $output == *'Samples without a finite difference: 1.'* ]]
}

@test "--report: more channels than pictures have" {
    npy '|u1' 1 '5, 1, 2' '\x00\x01\x02\x03\x04\x05\x06\x07\x08\x09' >a.npy
    npy '|u1' 1 '5, 1, 2' '\x00\x01\x02\x03\x04\x05\x06\x0c\x08\x09' >b.npy
    gf compare a.npy b.npy --report page.html
    [ "$status" -eq 1 ]
    page check page.html
    [ "${lines[0]}" = 'A: a.npy 2x1 1' ]
    page pixel page.html 1 1 0
    [ "$output" = 12 ]
    page text page.html
    has 'channel 4 of 5'
    has 'the largest of all channels'
    has 'At x = 1, y = 0, channel 4; A is 7; B is 12.'
}

@test "--compare --report: a section a picture, a part of it a filter" {
    mkdir in
    scene rgba8 in/a.png
    scene gray16 in/b.png 1201x7
    echo broken >in/c.png
    gf in -k box -k sobel --compare --device cpu --report page.html
    [ "$status" -eq 1 ]
    page check page.html
    [ "${lines[0]}" = 'Input 64x48 4' ]
    [ "$(grep -c '^Input' <<<"$output")" -eq 2 ]
    [ "$(grep -c '^A: cpu 64x48 4' <<<"$output")" -eq 2 ]
    [ "$(grep -c '^B: reference 601x4 1' <<<"$output")" -eq 2 ]
    page text page.html
    has 'Comparison incomplete'
    has '4 of 4 within the tolerance, 1 with errors.'
    has 'not a PNG, JPEG or .npy picture'
    has 'shown with 8 of its 16 bits'
    [ "$(grep -cxF 'float64' <<<"$output")" -ge 1 ]
    nothing_hidden
}

@test "--report: names are text and nothing else" {
    local name=$'"><script>alert(1)</script>&amp;\'\n\xff.png'
    mkdir -p "in/${name%/*}" # the names of a folder and of a file in it
    scene gray8 "in/$name"
    gf in -r -k '3x3: 0 0 0  0 1 0  0 0 0' --compare --device cpu --report page.html
    [ "$status" -eq 0 ]
    run ! grep -q 'alert(1)</script>' page.html
    page text page.html
    has 'in/"><script>alert(1)</script>&amp;'"'"'\x0a\xff.png'
    gf compare "in/$name" "in/$name" --report page.html --overwrite
    [ "$status" -eq 0 ]
    page check page.html
    [ "${lines[0]}" = 'A: in/"><script>alert(1)</script>&amp;'"'"'\x0a\xff.png 64x48 1' ]
}

@test "--report replaces nothing unasked, and neither inputs nor outputs" {
    scene gray8 a.png
    gf a.png -k box -o b.png
    echo mine >page.html
    gf compare a.png b.png --report page.html
    [ "$status" -eq 2 ]
    [ -z "$output" ]
    [ "$stderr" = 'gpufilter: --report page.html: exists already' ]
    gf a.png -k box --compare --device cpu --report page.html
    [ "$status" -eq 2 ]
    [ "$(cat page.html)" = mine ]
    gf compare a.png b.png --report page.html --overwrite
    [ "$status" -eq 1 ]
    page check page.html
    gf compare a.png b.png --report b.png --overwrite
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --report b.png: this is b.png, which would be lost' ]
    gf a.png -k box --compare --device cpu -o c.png --report c.png
    [ "$status" -eq 2 ]
    gf compare a.png b.png --report d.png --diff-image ./d.png
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --report d.png: this is ./d.png, which would be lost' ]
    gf compare a.png b.png --report -
    [ "$status" -eq 2 ]
    gf a.png -k box --report e.html
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --report goes with --compare, or with gpufilter compare A B' ]
    [ ! -e c.png ] && [ ! -e d.png ] && [ ! -e e.html ]
    nothing_hidden
}

@test "--report: trouble leaves no page" {
    scene gray8 a.png
    gf compare a.png none.png --report page.html
    [ "$status" -eq 2 ]
    gf compare a.png a.png --report none/page.html
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: --report none/page.html: its directory does not exist' ]
    [ -c /dev/full ] || skip 'no /dev/full'
    gf compare a.png a.png --report /dev/full
    [ "$status" -eq 2 ]
    [ "$stderr" = 'gpufilter: /dev/full: writing failed: No space left on device' ]
    gf a.png -k box --compare --device cpu --report /dev/full
    [ "$status" -eq 3 ]
    [ ! -e page.html ]
    nothing_hidden
}

# browser ARGUMENT...: chromium without a screen, a profile of its own.
browser() {
    timeout 120 chromium --headless --no-sandbox --disable-gpu --hide-scrollbars \
        --user-data-dir="$PWD/profile" "$@" 2>messages
}

@test "--report: a browser shows the page" {
    command -v chromium >/dev/null || skip 'no chromium'
    # Of one colour each, which occur nowhere else.
    npy '|u1' 1 '3, 1, 1' '\xc8\x1e\x3c' >a.npy
    npy '|u1' 1 '3, 1, 1' '\xc8\x1e\x7c' >b.npy
    gf compare a.npy b.npy --report page.html
    [ "$status" -eq 1 ]
    browser --screenshot=shot.png --window-size=1200,1400 "file://$PWD/page.html"
    # Squares a third of the page wide, and behind the verdict its colour.
    page colours shot.png c81e3c
    [ "$output" -gt 100000 ]
    page colours shot.png c81e7c
    [ "$output" -gt 100000 ]
    page colours shot.png 0000ff
    [ "$output" -gt 100000 ]
    page colours shot.png fbe6e6
    [ "$output" -gt 500 ]
    browser --dump-dom "file://$PWD/page.html" >dom
    grep -q '<h1>Comparison failed</h1>' dom
    # The script ran, and the page's own rule lets nothing else in.
    grep -q '<button type="button" aria-pressed="false">Blink' dom
    run ! grep -q 'Content Security Policy' messages
}
