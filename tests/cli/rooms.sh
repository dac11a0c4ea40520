#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The house's rules: includes point one way, only tui/ knows the terminal, files stay readable,
# nothing stands about at the top.
set -euo pipefail
cd "$(dirname "$0")/../.."
bad=0

complain() {
    echo "$*"
    bad=1
}

# forbid ROOM PATTERN: no file of the room includes a header like that.
forbid() {
    local found
    found=$(grep -nE "^[[:space:]]*#[[:space:]]*include[[:space:]]*[<\"]($2)" "$1"/*.[ch] || true)
    [ -z "$found" ] || complain "$1/ must not include this:"$'\n'"$found"
}

terminal='n?curses|term\.h|termios\.h|readline/'
forbid engine "$terminal|tui/|views/|tracer/"
forbid views "$terminal|tui/|tracer/"
forbid tracer "n?curses|term\.h|readline/|tui/|views/"

# Only tui/ prints.
found=$(grep -nE '\b(printf|puts|putchar|perror) ?\(|\b(stdout|stderr)\b' engine/*.c views/*.c tracer/*.c |
    grep -vE '/\*|^\S+ \*|"[^"]*std(out|err)[^"]*"' || true)
case $found in
'') ;;
*) # mem.c must tell of lost memory itself: nothing above it could
    found=$(grep -v '^engine/mem.c:' <<<"$found" || true)
    [ -z "$found" ] || complain "only tui/ prints:"$'\n'"$found"
    ;;
esac

while read -r lines file; do
    [ "$file" = total ] || [ "$lines" -le 1000 ] || complain "$file has $lines lines: split it"
done < <(git ls-files '*.c' '*.h' '*.cc' '*.sh' Makefile tests/run | xargs -d '\n' wc -l)

while read -r file; do
    head -n 3 "$file" | grep -q 'SPDX-License-Identifier: GPL-[23].0-or-later' ||
        complain "$file does not name its licence"
done < <(git ls-files '*.c' '*.h' '*.cc' '*.sh' '*.bash' Makefile tests/run .ci)

# With pipefail, a pipe into grep -q is false as well when grep found it, and left before the other
# had written all: what decides about more than a failure needs the whole output first.
while read -r place; do
    complain "$place: a pipe into grep -q decides; write [ -n \"\$(… | grep …)\" ]"
done < <(git grep -nE '[^|]\| *grep -[a-zA-Z]*q' -- tests ':!*.c' |
    grep -vE ':[0-9]+: *[^! #].*\|\||:[0-9]+: *#' | cut -d: -f1,2)

allowed=' .ci .clang-format .gitignore LICENSE Makefile README.md docs engine tests themes tracer tui views '
while read -r entry; do
    [[ $allowed == *" $entry "* ]] || complain "what is $entry doing at the top?"
done < <(git ls-files | cut -d/ -f1 | sort -u)

exit $bad
