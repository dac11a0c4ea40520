#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# While a check runs there are two lists of bugs: those of the check before, which have numbers, and
# those that come, which have none yet. What is said of the one is never taken for the other; and
# what a check or a test left behind is not taken for what the next one says.
# shellcheck source=tests/tui/terminal.bash disable=SC2119
. "$(dirname "$0")/terminal.bash"

checked_sample current
checker() { # COMMAND
    sqlite3 "$place/session.flotsam" "DELETE FROM verdicts;
        INSERT OR REPLACE INTO meta VALUES ('checker', '$1')"
}
cp "$scratch/current.flotsam" "$place/session.flotsam"
checker 'sleep 0.05; cd {dir} && ../check .'
open_terminal

# ---- bugs that come ----

# Another first bug than that of the report: what is kept of them is turned round.
sqlite3 "$place/session.flotsam" "UPDATE report SET json = json_set(json, '$.bugs', json_array(
    json_set(json_extract(json, '$.bugs[1]'), '$.id', 1),
    json_set(json_extract(json, '$.bugs[0]'), '$.id', 2)))"
start
expect '^▸ *1 +ordering'
press X
expect '─ Bugs found so far ─'
expect '^▸ *1 +unpersisted'
press p
expect 'paused'
for command in 'status confirmed' 'note this one' 'why' 'open' 'schedule' 'state' 'fix' 'copy x'; do
    type_line ":$command"
    expect 'its bugs have no numbers yet; :stop ends it'
    press j k
    expect_gone 'no numbers yet'
done
expect '─ Bug 1 ─'
expect '[●▸] *[0-9]+|store.c' # the line to look at is that of the one that came
[ "$(sqlite3 "$place/session.flotsam" 'SELECT count(*) FROM triage' 2>/dev/null || echo 0)" = 0 ] ||
    fail "something was said of a bug that has no number"
type_line ':stop'
expect 'the check before had seen more'
expect '^▸ *. +ordering|^▸ *. +unpersisted'
type_line ':status confirmed'
expect 'bug [12] is confirmed now'
press Q
ended 0

# ---- a report that is not kept ----

start
expect ' ext4 '
expect '^▸ *[12] '
type_line ':check model=posix'
expect '─ Bugs found so far ─|checking [1-9]'
type_line ':stop'
expect 'the check before had seen more'
press j
expect ' ext4 '
press 8
expect '^▸ *1 '
press Enter
expect '─ Schedule of state 1 '
press Q
ended 0

# ---- a schedule in hand when another report comes ----

cp "$scratch/current.flotsam" "$place/session.flotsam"
sqlite3 "$place/session.flotsam" "UPDATE report SET json = json_set(json, '$.bugs', json_array(
    json_set(json_extract(json, '$.bugs[1]'), '$.id', 1),
    json_set(json_extract(json, '$.bugs[0]'), '$.id', 2))); UPDATE bugs SET id = 3 - id + 10;
    UPDATE bugs SET id = id - 10"
start
expect '^▸ *1 +ordering'
press Enter
expect '─ Schedule of bug 1 '
press X
expect 'checked: [0-9]+ states, 2 bugs'
press s
expect '─ Schedule of bug 2 '
press Q
ended 0

# ---- what one looks at first ----

# Of what was told too early it is what was lost, and not the last thing that survived.
cp "$scratch/current.flotsam" "$place/session.flotsam"
start
expect '^▸ *1 +unpersisted'
press Enter
expect '^▸ *[0-9]+ +○ rename'
press 2
press j
expect '^▸ *2 +ordering'
press Enter
expect '^▸ *[0-9]+ +● rename'
for name in x.pdf x.GIF; do
    type_line ":export $name"
    expect 'end its name in one of'
    [ ! -e "$place/$name" ] || fail "$name is no picture"
done
type_line ':check budget=-5'
expect 'budget: -5 is not a whole number'
press Q
ended 0

# ---- a test that comes to nothing ----

cat >"$scratch/once" <<'END'
#!/bin/sh
rm -- "$0"
echo all is well
END
chmod +x "$scratch/once"
checker "$scratch/once"
start
expect '^▸ *1 '
press Enter
expect '─ Schedule of bug 1 '
press x
expect 'the checker says: consistent'
press o
expect 'all is well'
press x
expect 'not found'
expect_gone 'consistent'
press Q
ended 0
