#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A note belongs to the bug that was in sight when it was asked for, whatever a check has made of
# its number meanwhile; and what another flotsam has noted is seen before it is written over.
# shellcheck source=tests/tui/terminal.bash disable=SC2119
. "$(dirname "$0")/terminal.bash"
need jq

checked_sample current
session=$place/session.flotsam

note_of() { # KIND: of the bug of that kind
    "$FLOTSAM" bugs "$session" --json |
        jq -r --arg kind "$1" '.bugs[] | select(.kind == $kind) | .note // ""'
}

# ---- a check ends while the note is in an editor ----

# The report has the bugs the other way round; the check numbers them as it finds them.
cp "$scratch/current.flotsam" "$session"
sqlite3 "$session" "DELETE FROM verdicts; UPDATE bugs SET id = 3 - id + 10; UPDATE bugs SET id = id - 10;
    INSERT OR REPLACE INTO meta VALUES ('checker', 'sleep 0.02; cd {dir} && ../check .');
    UPDATE report SET json = json_set(json, '\$.bugs', json_array(
        json_set(json_extract(json, '\$.bugs[1]'), '\$.id', 1),
        json_set(json_extract(json, '\$.bugs[0]'), '\$.id', 2)))"
[ "$("$FLOTSAM" bugs "$session" --json | jq -r '.bugs[0].kind')" = ordering ] ||
    fail "the bugs are not the other way round"
cat >"$scratch/editor" <<EDITOR
#!/bin/sh
echo begun >$scratch/editing
until [ -e $scratch/enough ]; do sleep 0.05; done
echo 'of the rename' >"\$1"
EDITOR
chmod +x "$scratch/editor"
checked_anew() {
    [ "$("$FLOTSAM" bugs "$session" --json | jq -r '.bugs[0].kind')" = unpersisted ]
}
open_terminal
start VISUAL= "EDITOR=$scratch/editor"
expect '^▸ *1 +ordering'
press Enter
expect '─ Schedule of bug 1 '
press X
expect 'checking [1-9]'
press m
poll 30 test -s "$scratch/editing" || fail "no editor was called"
poll 60 checked_anew || fail "the check does not end while the editor is open"
touch "$scratch/enough"
expect '─ Schedule of bug 2 '
press Q
ended 0
[ "$(note_of ordering)" = 'of the rename' ] || fail "the note is not on its bug: $(note_of ordering)"
[ -z "$(note_of unpersisted)" ] || fail "the note is on another bug"

# ---- two debuggers on one session ----

cp "$scratch/current.flotsam" "$session"
start VISUAL= EDITOR=
expect '^▸ *1 '
printf 'go bug:1\nnote said by another\n' >"$scratch/other.script"
run 0 "$FLOTSAM" open "$session" --script "$scratch/other.script"
press m
expect 'said by another'
press C-u
type_line 'and by us'
expect 'noted on bug 1'
press Q
ended 0
[ "$(note_of unpersisted)" = 'and by us' ] || fail "the note is $(note_of unpersisted)"
