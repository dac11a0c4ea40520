#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What is on the screen while what it was made from changes: the rows of a filtered list when the
# schedule moves, the picture of a graph when there is another graph, a source line whose view is
# opened anew.
# shellcheck source=tests/tui/tui.bash
. "$(dirname "$0")/tui.bash"

checked_sample current
cp "$scratch/current.flotsam" "$place/session.flotsam"

# script NAME: runs standard input; what it dumps is in $place.
script() {
    cat >"$scratch/$1.script"
    (cd "$place" && run 0 "$FLOTSAM" open session.flotsam --script "$scratch/$1.script") || exit 1
}

# rows_have FILE TEXT: the rows of the main pane, down to the title of the next, all have the text.
rows_have() {
    awk 'NR > 3 { if (/^─/) exit; if (NF) print }' "$place/$1" >"$scratch/rows"
    [ -s "$scratch/rows" ] || fail "$1 shows no rows"
    grep -v "$2" "$scratch/rows" && fail "$1 shows rows without $2"
    return 0
}

# The crash is a row of a schedule: where it goes, others move; at the end there is none.
script steps <<'END'
schedule op:10
filter print
dump screen before
step 300
bottom
dump screen end
undo
dump screen undone
schedule op:60
state
filter log
step-back 300
state
dump screen files
END
for screen in before end undone; do rows_have $screen print; done
rows_have files log
grep -q '▸ .*"put 15 19' "$place/end" || fail "the last row is not selected at the end"

# Another model, or a pretended sync, is another graph, and its picture another.
script graphs <<'END'
graph op:3
bind F5 model posix
press F5 % r Left
left
dump screen posix
go bug:1
fix
graph op:3
unfix
left
export graph.dot
dump screen unfixed
bind F6 model ext4
press F5 F6
END
grep -q 'around op 3' "$place/posix" || fail "the picture is not drawn again with another model"
grep -q 'around op 3' "$place/unfixed" || fail "the picture is not drawn again without the sync"

# From a line to itself: the view in which it was selected is closed on the way.
script lines <<'END'
go bug:2
source
source
open
links
links
dump screen links
END
grep -q 'Links' "$place/links" || fail "no links of a source line"

# The difference is that of the file that is selected, also where the state was there before the
# desk; and it has the columns of a pane as wide as its own.
script files <<'END'
go bug:2
open
size 120x30
dump screen narrow
size 200x50
dump screen wide
size 120x30
dump screen narrow-again
why
state
dump screen again
END
grep -q '▸ manifest-1 ' "$place/again" || fail "not the file that differs is selected"
grep -q '─ manifest-1: without' "$place/again" || fail "the difference is not of that file"
for screen in narrow narrow-again; do
    grep -q '│ *- uncrashed, + this state *$' "$place/$screen" || fail "$screen: other titles"
    grep -q '│▹ *0  - 65 6e 64 20 30 0a *end 0\.$' "$place/$screen" || fail "$screen: text is cut"
done
grep -q '│ *uncrashed  *this state$' "$place/wide" || fail "not side by side where there is room"
grep -Eq '│▹ *0  65 6e 64 20 30 0a *end 0\. *00 00' "$place/wide" || fail "not side by side"

# The bug that is selected stays so: when there is a status, in an order of one's own, while all is
# checked again, and with the pretended syncs with which it is not found.
script again <<'END'
bugs
sort states
bottom
status confirmed
dump screen sorted
cancel
fix
try
dump screen tried
unfix
check
dump screen checked
sort -states
check
dump screen checked-sorted
END
for screen in sorted tried checked checked-sorted; do
    grep -q '^▸ *2 .* confirmed$' "$place/$screen" || fail "$screen: another bug is selected"
    grep -q '^─ Bug 2 ' "$place/$screen" || fail "$screen: another bug is shown"
done

# A check under another model: what is shown beside its states is of that model, too.
script model <<'END2'
check model=xfs budget=200
dump screen model
bugs
top
open
dump screen walked
states
dump screen states
END2
grep -q '^ flotsam .* xfs ' "$place/model" || fail "the model is still the old one"
grep -q 'Schedule of bug 1 ' "$place/walked" || fail "a bug found under xfs cannot be walked through"
grep -q 'does not fit' "$place/states" && fail "states are said not to fit the trace"

# Taking back ends where the bug's schedule began; what was tested there keeps its words.
script began <<'END2'
go bug:1
open
toggle op:60
undo
dump screen began
output
dump screen output
END2
grep -q 'Schedule of bug 1 ' "$place/began" || fail "taking back left the bug"
grep -q 'in the last check' "$place/output" || fail "an old verdict looks like a new one"
