#!/usr/bin/env bash
# Holds the manual pages to the program: manual.sh PROGRAM. Every option of --help stands in
# gpufilter(1) and every filter, bank and parameter of "gpufilter filters" in gpufilter-filters(7), and the
# other way round; and the table there is that of "gpufilter filters --table". mandoc finds the pages clean.
set -euo pipefail

program=$1
pages=$(dirname "${BASH_SOURCE[0]}")/../man
status=0

# same WHAT PROGRAM'S-LIST MANUAL'S-LIST
same() {
    local differences
    if [ -z "$2" ] || [ -z "$3" ]; then
        printf 'manual: no %s found\n' "$1"
        status=1
    elif ! differences=$(diff <(sort -u <<<"$2") <(sort -u <<<"$3")); then
        printf 'manual: %s: program (<) and manual page (>) differ:\n%s\n' "$1" "$differences"
        status=1
    fi
}

# Lines with their numbers, for same() compares sorted ones.
numbered() { nl -ba; }

same options \
    "$("$program" --help | grep -E '^ +(-[a-z], )?--[a-z]' | grep -oE -- '--[a-z-]+' | grep -v '^--$')" \
    "$(grep -E '^\.It Fl' "$pages/gpufilter.1" | grep -oE 'Fl -[a-z-]+' | sed 's/^Fl -/--/')"

# The catalogue, and each filter's entry in it: from its .It to the next.
catalogue=$(sed -n '/^\.Sh CATALOGUE/,/^\.Sh BANKS/p' "$pages/gpufilter-filters.7")
filters=$("$program" filters | grep -oE '^[a-z][a-z0-9]* {2,}' | tr -d ' ' || true)
same filters "$filters" "$(sed -n 's/^\.It Cm \([a-z0-9]*\)$/\1/p' <<<"$catalogue")"

# The same of the banks.
banks_text=$(sed -n '/^\.Sh BANKS/,/^\.Sh EXACTNESS/p' "$pages/gpufilter-filters.7")
banks=$("$program" filters | sed -n 's/^--bank \([a-z]*\) .*/\1/p')
same banks "$banks" "$(sed -n 's/^\.It Cm \([a-z0-9]*\)$/\1/p' <<<"$banks_text")"
for bank in $banks; do
    entry=$(awk -v bank="$bank" '/^\.It Cm/ { item = $3 } item == bank' <<<"$banks_text")
    parameters=$("$program" filters --bank "$bank" |
        sed -n '/^Parameters:/,/^$/s/^  \([a-z][a-z0-9_]*\)  *.*/\1/p')
    for parameter in $parameters; do
        if ! grep -qE "^\.Cm $parameter( |\$)" <<<"$entry"; then
            printf 'manual: gpufilter-filters(7) lacks --bank %s:%s\n' "$bank" "$parameter"
            status=1
        fi
    done
done

# A parameter is described in its filter's entry, or where its group of filters begins.
for filter in $filters; do
    entry=$(awk -v filter="$filter" '
        /^\.Ss/ { group = ""; item = "" }
        /^\.It Cm/ { item = $3 }
        item == "" { group = group $0 "\n" }
        item == filter { text = text (text == "" ? group : "") $0 "\n" }
        END { print text }' <<<"$catalogue")
    parameters=$("$program" filters "$filter" |
        sed -n '/^Parameters:/,/^$/s/^  \([a-z][a-z0-9_]*\)  .*/\1/p')
    for parameter in $parameters; do
        if ! grep -qE "^\.Cm $parameter( |\$)" <<<"$entry"; then
            printf 'manual: gpufilter-filters(7) lacks %s:%s\n' "$filter" "$parameter"
            status=1
        fi
    done
done

# All parameters, ranges, standard values and formulas are those of the program's table.
same 'table of filters' \
    "$("$program" filters --table | numbered)" \
    "$(sed -n '/^\.Ss All of them in short/,/^\.Ed/p' "$pages/gpufilter-filters.7" |
        sed '1,/^\.Bd/d; /^\.Ed/d; s/\\-/-/g' | numbered)"

# mandoc has nothing to say, but that pages are not found where they are not installed.
if command -v mandoc >/dev/null; then
    # It fails itself where it has anything to say.
    if { mandoc -T lint "$pages"/*.[17] || true; } | grep -v 'referenced manual not found: Xr gpufilter'; then
        status=1
    fi
fi

# groff closes what Op opens at the line's end, in the last column of a table: Oo and Oc are needed.
if grep -nE '^\.It .* Op .* Ta( |$)' "$pages"/*.[17]; then
    status=1
fi

exit "$status"
