#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# On a terminal: start, keys right and wrong, Escape, the prompt, the mouse, sizes down to nothing
# and back, quit; poor terminals and no colours.
# shellcheck source=tests/tui/terminal.bash disable=SC2119
. "$(dirname "$0")/terminal.bash"

checked_sample current
cp "$scratch/current.flotsam" "$place/session.flotsam"
open_terminal

# Keys, wrong ones, Escape, the prompt.
start
expect '─ Bugs ─'
expect '^▸ *1 '
press j
expect '^▸ *2 '
press F7
expect 'F7 does nothing here'
press Enter
expect 'Schedule of bug 2'
press q
expect '─ Bugs ─'
press :
tmux send-keys -t test -l 'go event:14'
expect '^:go event:14'
press Escape
expect_gone '^:go'
type_line ':go event:14'
expect '─ Trace ─'
expect '^▸ *14 '
type_line ':frobnicate'
expect 'no command is called frobnicate'
press Escape Escape
type_line '/CURRENT.new'
expect '^▸ *5[0-9] '
press Tab
for unknown in '[99;5~' '[I' 'Oz'; do # sequences that no key sends
    tmux send-keys -t test -l $'\033'"$unknown"
done
press 2
expect '─ Bugs ─'

# A picture is written while one goes on; the list stays where it is.
type_line ':export bug.png'
press j
press :
expect '^:'
press Escape
expect_gone '^:'
poll 30 test -s "$place/bug.png" || fail "no picture was written"
type_line ':export bug.svg'
expect 'the graph is in bug.svg'
shown '─ Bugs ─' || fail "exporting led away from the list"
type_line ':export nowhere/bug.svg'
expect 'cannot write the graph to nowhere/bug.svg'
press Q
ended 0

# The mouse: a row, then twice, then a button in the line of keys; a turn of the wheel.
start TERM=xterm-256color
expect '─ Bugs ─'
mouse() { # BUTTON COLUMN ROW
    tmux send-keys -t test -l "$(printf '\033[<%d;%d;%dM' "$@")"
    tmux send-keys -t test -l "$(printf '\033[<%d;%d;%dm' "$@")"
}
mouse 0 10 4
expect '^▸ *1 '
mouse 0 10 5
expect '^▸ *2 '
press 3 g
expect '^:go'
press Escape
press '<'
expect '^▸ *1 .*execve'
mouse 65 10 6
expect_gone '^▸ .*execve'
mouse 0 3 23
expect '^/'
press Escape

# Sizes.
press 2
expect '─ Bugs ─'
tmux resize-window -t test -x 20 -y 5
expect '^ flotsam .{0,11}$'
expect '^▸.{0,19}$'
tmux resize-window -t test -x 5 -y 2
expect 'too s|small'
tmux resize-window -t test -x 1 -y 1
tmux resize-window -t test -x 80 -y 24
expect '^▸ *2 +ordering .*new$'
expect '^ Enter open .*w why'
shown 'Bug 2' || fail "the pane below is gone"
tmux resize-window -t test -x 200 -y 50
expect 'filename|store.c ─'
tmux resize-window -t test -x 80 -y 24
expect '^ Enter open'

press Q
ended 0

# The mouse where terminfo has the old encoding: three bytes, also such as are no characters.
start TERM=tmux-256color
expect '─ Bugs ─'
tmux resize-window -t test -x 200 -y 50
expect '─ store.c|─ workload.c'
old_mouse() { # BUTTON COLUMN ROW
    local button
    for button in "$1" 3; do
        # shellcheck disable=SC2046 # three words
        tmux send-keys -t test -H 1b 5b 4d $(printf '%x %x %x' $((32 + button)) $((32 + $2)) $((32 + $3)))
    done
}
old_mouse 0 10 5
expect '^▸ *2 '
old_mouse 0 150 4
expect '^▸ *1 '
press 3
expect '─ Trace ─'
press '<'
expect '^▸ *1 .*execve'
old_mouse 65 10 6
expect_gone '^▸ .*execve'
tmux resize-window -t test -x 80 -y 24
expect '─ Trace ─'
press Q
ended 0

# Too small from the beginning, then larger.
tmux resize-window -t test -x 8 -y 2
start
poll 30 some_run || fail "it did not start on 8x2"
tmux resize-window -t test -x 80 -y 24
expect '─ Bugs ─'
press q
ended 0

# Terminals that can do less. -e shows the sequences that set colours.
colours() {
    tmux capture-pane -e -p -t test >"$out"
    grep -qE $'\033\\[[0-9;]*[34][0-8]' "$out"
}
start TERM=screen-256color
expect '─ Bugs ─'
colours || fail "no colours on a terminal with 256"
press Q
ended 0
start TERM=xterm
expect '─ Bugs ─'
colours || fail "no colours on a terminal with 8"
press j
expect '^▸ *2 '
press Q
ended 0
start NO_COLOR=1
expect '─ Bugs ─'
colours && fail "colours in spite of NO_COLOR"
press Q
ended 0
start TERM=vt100
expect 'Bugs'
colours && fail "colours on a vt100"
press Q
ended 0
start LC_ALL=C
expect '^- Bugs -'
expect '^> *1 '
press Q
ended 0
for name in dumb nonsense ''; do
    start "TERM=$name"
    expect 'terminal'
    ended 2
done

# A note by an editor; and by one that leaves nothing to read.
cat >"$scratch/editor" <<'EOF'
#!/bin/sh
echo 'looked into' >"$1"
EOF
chmod +x "$scratch/editor"
start EDITOR="$scratch/editor" VISUAL=
expect '^▸ *1 '
press m
expect '[+]note'
press Q
ended 0
start EDITOR=rm VISUAL=
expect '^▸ *1 '
press m
expect 'the note cannot be read again'
expect '[+]note'
press Q
ended 0

# What was asked for is there when one has left.
start
expect '^▸ *1 '
tmux send-keys -t test -l ':save other.flotsam'
tmux send-keys -t test Enter Q
ended 0
run 0 "$FLOTSAM" bugs "$place/other.flotsam"

# Standard output is the screen.
start
expect '^▸ *1 '
for command in 'export -' 'copy -' 'dump view -'; do
    type_line ":$command"
    expect 'standard output is this terminal; name a file'
    press j
    expect_gone 'standard output'
done
press Q
ended 0
