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
# One after the other, and slowly: seconds lie between the first bug that comes and the next.
checker 'sleep 0.2; cd {dir} && ../check .'
sqlite3 "$place/session.flotsam" "INSERT OR REPLACE INTO meta VALUES ('jobs', '1')"
cause() { # KIND: of the bug of that kind in the report
    sqlite3 "$place/session.flotsam" "SELECT json_extract(bug.value, '$.cause')
        FROM report, json_each(report.json, '$.bugs') bug
        WHERE json_extract(bug.value, '$.kind') = '$1'"
}
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
shown '─ Bugs found so far ─.* 1 of 1 ─' || fail "the other bug came too soon for what follows"
for command in 'status confirmed' 'note this one' 'why' 'open' 'schedule' 'state' 'fix' 'copy x'; do
    type_line ":$command"
    expect 'its bugs have no numbers yet; :stop ends it'
    press Escape
    expect_gone 'no numbers yet'
done
expect '─ Bug 1 ─'
expect '^▹ what +"reset" printed'
tmux resize-window -t test -x 120 -y 40
expect '─ workload.c ─' # the line to look at is that of the one that came
expect '│▸ +[0-9]+ +printf\("reset'
tmux resize-window -t test -x 80 -y 24
[ "$(sqlite3 "$place/session.flotsam" 'SELECT count(*) FROM triage' 2>/dev/null || echo 0)" = 0 ] ||
    fail "something was said of a bug that has no number"
type_line ':stop'
expect 'the check before had seen more'
expect '^▸ *1 +ordering' # nobody has selected another one
type_line ':status confirmed'
expect 'bug 1 is confirmed now'
said=$(sqlite3 "$place/session.flotsam" 'SELECT cause, status FROM triage')
[ "$said" = "$(cause ordering)|confirmed" ] || fail "another bug is confirmed: $said"
press Q
ended 0

# ---- a report that is not kept ----

start
expect '^▸ *[12] '
expect_gone 'working the graph out'
type_line ':check model=posix'
expect 'checking [1-9]'
type_line ':stop'
expect 'the check before had seen more'
press Escape
type_line ':model' # what is shown is of the report that stays
expect 'the model is ext4'
press 8
expect '^▸ *1 '
press Enter
expect '─ Schedule of state 1 '
shown '^ flotsam  session.flotsam   ext4 ' || fail "the bar has another model than the report"
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
expect_gone 'working the graph out' # a schedule needs it
press Enter
expect '─ Schedule of bug 1 '
press X
expect 'checked: [0-9]+ states, 2 bugs'
press s
expect '─ Schedule of bug 2 '
press Q
ended 0

# ---- keys that come faster than screens are drawn ----

# The list is made anew, and what had been selected in it is not forgotten.
cp "$scratch/current.flotsam" "$place/session.flotsam"
start
expect '^▸ *1 '
expect_gone 'working the graph out'
press j Enter
expect '─ Schedule of bug 2 '
press 2 f
expect 'pretended for bug 2'
expect_gone 'working the graph out'
shown '^▸ *2 ' || fail "another bug is selected"
press Q
ended 0

# ---- what one looks at first ----

# Of what was told too early it is what was lost, and not the last thing that survived.
cp "$scratch/current.flotsam" "$place/session.flotsam"
start
expect '^▸ *1 +unpersisted'
expect_gone 'working the graph out' # a schedule needs it
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
expect_gone 'working the graph out' # a schedule needs it
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
