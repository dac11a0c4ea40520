#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# On a terminal: the program sees it, Ctrl-C reaches it, Ctrl-Z and fg work.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need tmux

tmux() {
    command tmux -L "flotsam-$$" -f /dev/null "$@"
}
screen() {
    tmux capture-pane -p -S -200 -t test >"$out"
}
shown() {
    screen && grep -qE -e "$1" "$out"
}
expect() {
    poll 60 shown "$1" || fail "the terminal does not show: $1"
}
type_line() {
    tmux send-keys -t test -l "$1"
    tmux send-keys -t test Enter
}
trap 'tmux kill-server 2>/dev/null || true; clean_up' EXIT

# Status lines are written apart ("status""=") so that the echo of the command does not match.
cd "$data"
tmux new-session -d -s test -x 150 -y 40 "env PS1='prompt> ' bash --norc --noprofile -i"
expect '^prompt>'
go="'$FLOTSAM' record -o '$session' --dir '$data' -- '$act'"

type_line "$go interrupt; echo \"status\"\"=\$?\""
expect '^ready'
tmux send-keys -t test C-c
expect 'got it'
expect '^status=0'
grep -q interrupted "$data/data" || fail "the program did not act on Ctrl-C"
grep -qE '(status|code) 5' "$out" || fail "the program's status 5 is not told"

tmux clear-history -t test
type_line "clear; $go ask; echo \"end\"\"=\$?\""
expect 'input is a terminal, output is a terminal'
type_line 'one'
expect 'heard one'
tmux send-keys -t test C-z
expect 'Stopped'
type_line 'echo back"_"again'
expect '^back_again'
type_line 'fg'
type_line 'two'
expect 'heard two'
type_line 'enough'
expect 'heard enough'
# fg skips the rest of the line that was stopped; the session says how it ended.
type_line 'echo "after""wards"'
expect '^afterwards'
nothing_left_running
printf 'interrupted\none\ntwo\nenough\n' | cmp - "$data/data" || fail "the program's data is wrong"

# Nobody catches it: the program dies of Ctrl-C, the recording of what it did is kept.
type_line "clear; $go endless; echo \"last\"\"=\$?\""
expect '^[0-9]+$'
tmux send-keys -t test C-c
expect '^last=(0|130)'
nothing_left_running
run 0 "$FLOTSAM" trace "$session"
same_tree
