#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# However the debugger ends, or is stopped, the terminal is as it was and nothing is left behind; and
# when the process that checks dies, the debugger says so and goes on.
# shellcheck source=tests/tui/terminal.bash disable=SC2119
. "$(dirname "$0")/terminal.bash"

checked_sample current
cp "$scratch/current.flotsam" "$place/session.flotsam"
open_terminal

begin() {
    start
    expect '─ Bugs ─'
    expect '^▸ *1 '
    pid=$(debuggers open)
    [ "$(wc -w <<<"$pid")" = 1 ] || fail "one debugger was started, there are: $pid"
}

for signal in TERM INT HUP; do
    begin
    kill -s "$signal" "$pid"
    ended '*'
done
for signal in SEGV ABRT BUS QUIT USR1 XFSZ; do
    begin
    kill -s "$signal" "$pid"
    ended $((128 + $(kill -l "$signal")))
done

# In the midst of a line that is typed.
begin
press :
tmux send-keys -t test -l 'go eve'
expect '^:go eve'
kill -s TERM "$pid"
ended '*'

# Stopped and gone on with: by the interactive shell, which started it itself here.
type_line "clear; $FLOTSAM open session.flotsam"
expect '─ Bugs ─'
pid=$(debuggers open)
kill -s TSTP "$pid"
expect 'Stopped'
type_line 'stty -a | tr " " "\n" | grep -x "echo;*"'
expect '^echo'
[ "$(tmux display-message -p -t test '#{alternate_on} #{cursor_flag}')" = '0 1' ] ||
    fail "stopped, and the terminal is not as it was"
type_line 'clear; fg'
expect '─ Bugs ─'
expect '^▸ *1 '
press j
expect '^▸ *2 '
press Q
expect '^prompt> *$'
poll 10 none_left || fail "still running: $(debuggers)"

# Ctrl-Z stops make as well, which started it: the shell is there again.
# shellcheck disable=SC2016 # for make to expand
printf 'look:\n\t@"$(FLOTSAM)" open session.flotsam\n' >"$place/Makefile"
type_line "clear; FLOTSAM=$FLOTSAM make look"
expect '─ Bugs ─'
press C-z
expect 'Stopped'
type_line 'clear; fg'
expect '^▸ *2 |^▸ *1 '
press Q
expect '^prompt> *$'
poll 10 none_left || fail "still running: $(debuggers)"

# What is pressed in an editor is for the editor.
cat >"$scratch/editor" <<END
#!/bin/bash
trap 'echo interrupted >>$scratch/editing' INT
echo begun >$scratch/editing
until grep -q interrupted $scratch/editing; do sleep 0.05; done
echo 'written after all' >"\$1"
END
chmod +x "$scratch/editor"
type_line "clear; env TMPDIR=$rooms VISUAL= EDITOR=$scratch/editor $FLOTSAM open session.flotsam"
expect '^▸ *1 '
press m
poll 30 test -s "$scratch/editing" || fail "no editor was called"
press C-c
expect '[+]note'
press Q
expect '^prompt> *$'
poll 10 none_left || fail "still running: $(debuggers)"

# Nor does the debugger draw over an editor that was suspended, as vim does by Ctrl-Z.
cat >"$scratch/editor" <<END
#!/bin/bash
clear
echo 'in the editor'
kill -s TSTP 0
echo 'back in the editor'
until [ -e $scratch/enough ]; do sleep 0.05; done
echo 'written later' >"\$1"
END
type_line "clear; env TMPDIR=$rooms VISUAL= EDITOR=$scratch/editor $FLOTSAM open session.flotsam"
expect '^▸ *1 '
press m
expect '^in the editor'
expect '^prompt> *$'
type_line fg
expect '^back in the editor'
sleep 0.5 # nothing is to happen
shown '^back in the editor' || fail "the debugger has drawn over the editor"
not_shown '▸' || fail "the debugger has drawn over the editor"
touch "$scratch/enough"
expect '[+]note|written later'
press Q
expect '^prompt> *$'
poll 10 none_left || fail "still running: $(debuggers)"

# A check that takes its time: one types meanwhile, the process that checks is killed.
slow() {
    cp "$scratch/current.flotsam" "$place/session.flotsam"
    sqlite3 "$place/session.flotsam" "DELETE FROM verdicts; UPDATE meta SET
        value = 'sleep 0.2; cd {dir} && ../check .' WHERE key = 'checker'"
}
slow
begin
press X
expect 'checking [1-9][0-9]* states'
press 3
expect '─ Trace ─'
press j
expect '^▸ *2 '
type_line ':go event:14'
expect '^▸ *14 '
worker=$(debuggers worker | head -n 1)
[ -n "$worker" ] || fail "no process checks"
press 1
expect '─ Overview ─'
kill -s KILL "$worker"
expect 'killed|signal 9|SIGKILL|died'
expect_gone 'checking'
press 2
expect '─ Bugs ─'
# It checks again when it is asked to, and goes when the debugger does.
press X
expect 'checking [1-9][0-9]* states'
press Q
ended 0

# What runs a target ends by a signal while it checks; by Ctrl-C the check alone does.
sed "s,^checker .*,checker  = sleep 0.2; ./check {dir}," "$scratch/targets/current/flotsam.ini" \
    >"$scratch/slow.ini"
run_slow() { # [COMMAND]: what starts it
    rm -f "$scratch"/tty-* "$scratch/status"
    cp "$scratch/slow.ini" "$scratch/targets/current/flotsam.ini"
    rm -rf "$scratch/targets/current/data"
    type_line "clear; env TMPDIR=$rooms $1 run -o $place/run.flotsam \
$scratch/targets/current/flotsam.ini"
    expect '[0-9]+ distinct'
}
run_slow "$scratch/go"
kill -s TERM "$(pgrep -o -f -- "^$FLOTSAM run -o $place/run.flotsam")"
ended 130
run_slow "$FLOTSAM"
press C-c
expect '─ Overview ─|─ Bugs ─'
press Q
expect '^prompt> *$'

# The debugger is killed while it checks: what checks for it goes too.
slow
begin
press X
expect 'checking [1-9][0-9]* states'
kill -s KILL "$pid"
poll 30 none_left || fail "the debugger was killed, still running: $(debuggers)"
poll 30 test -s "$scratch/tty-after" || fail "the shell did not go on"
type_line 'reset'

# The terminal goes away.
slow
begin
press X
expect 'checking [1-9][0-9]* states'
tmux kill-server
poll 30 none_left || fail "the terminal is gone, still running: $(debuggers)"
run 0 "$FLOTSAM" bugs "$place/session.flotsam"
