#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What somebody who opens a session for the first time relies on: the way to the help is in sight,
# keys mean what is selected, and what was cut short is not shown as good.
# shellcheck source=tests/tui/tui.bash
. "$(dirname "$0")/tui.bash"

checked_sample current
cp "$scratch/current.flotsam" "$place/session.flotsam"
export LC_ALL=C

# screen COMMAND...: what is shown after the commands, as $out.
screen() {
    printf '%s\n' "$@" 'dump screen -' >"$scratch/script"
    (cd "$place" && run 0 "$FLOTSAM" open session.flotsam --script "$scratch/script") >"$out"
}

# says COMMAND TEXT: a command fails with a text.
says() {
    echo "$1" >"$scratch/script"
    (cd "$place" && "$FLOTSAM" open session.flotsam --script "$scratch/script") >"$out" 2>&1 &&
        fail "$1 did not fail"
    has "$2"
}

# has TEXT: it is in $out.
has() {
    grep -qF -e "$1" "$out" || { cat "$out" >&2; fail "\"$1\" is not shown"; }
}

out=$scratch/out

screen bugs
has '? help'

# The bug that is selected, not one that was in hand before, nor the run.
screen bugs 'press 0'
has 'Files left by bug 1'
screen 'go bug:1' 'press Enter' bugs 'press Down 0'
has 'Files left by bug 2'
screen bugs 'press Down 9'
has 'Schedule of bug 2'
screen 'go state:7' 'press 9'
has 'Schedule of state 7'
# What was stepped stays so.
screen 'go bug:2' 'press Enter S' bugs 'press 9'
has 'Schedule of bug 2'

# In the title the end may be cut off: it must not turn the meaning round.
screen 'go bug:2' 'press Enter'
has 'crash during 14 rename'
has '? help'

# A line of source leads to itself.
screen 'source store.c:77' 'press Enter'
has 'store.c'
grep -q 'no such line' "$out" && fail "Enter does not find the line it is on"

# Of a representative: one of those that it stands for.
screen groups 'go behaviour:14' 'press w'
has 'Why: #14 represents'
says 'why 1' 'two behaviours'
says 'bind' 'bind KEY COMMAND'
says 'fix foo' 'fsync, fdatasync, dirsync, sync and flush can'

# A check that was stopped after a few states says so.
run 0 "$FLOTSAM" check "$place/session.flotsam" --checker true --budget 3 --strategy representative
screen overview
has 'cut short'
exit 0
