# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash disable=SC2119,SC2120 # arguments may be left out
#
# What the tests of the debugger on a real terminal share. The terminal is tmux's, on a private
# socket; a shell runs in it.
# shellcheck source=tests/tui/tui.bash
. "$(dirname "${BASH_SOURCE[0]}")/tui.bash"
need tmux

tmux() {
    command tmux -L "flotsam-tui-$$" -f /dev/null "$@"
}
trap 'tmux kill-server 2>/dev/null || true; clean_up' EXIT

# ---- what is there to see ----

shown() {
    tmux capture-pane -p -t test >"$out" 2>/dev/null && grep -qE -e "$1" "$out"
}
expect() { # REGEX
    poll 30 shown "$1" || fail "the terminal does not show: $1"
}
not_shown() {
    ! shown "$1"
}
expect_gone() { # REGEX
    poll 30 not_shown "$1" || fail "the terminal still shows: $1"
}
type_line() {
    tmux send-keys -t test -l "$1"
    tmux send-keys -t test Enter
}
press() {
    tmux send-keys -t test "$@"
}

# ---- the debugger in it ----

# It is started by a shell that mends nothing afterwards, which notes how the terminal was before
# and after, and how the debugger ended.
cat >"$scratch/go" <<END
#!/bin/sh
stty -g >$scratch/tty-before
"$FLOTSAM" "\$@"
echo \$? >$scratch/status
stty -g >$scratch/tty-after
echo end-of""-run
END
chmod +x "$scratch/go"

# A terminal of 80x24 with a shell, at whose prompt one is.
open_terminal() {
    tmux new-session -d -s test -x 80 -y 24 -c "$place" \
        "env PS1='prompt> ' HISTFILE= bash --norc --noprofile -i"
    tmux set-option -g status off
    tmux resize-window -t test -x 80 -y 24
    expect '^prompt>'
}

# start [VARIABLE=VALUE...]: the debugger, on the session, with a folder of its own for what it
# makes besides.
rooms=$scratch/rooms
mkdir "$rooms"
start() {
    rm -f "$scratch"/tty-* "$scratch/status"
    type_line "clear; env TMPDIR=$rooms $* $scratch/go open session.flotsam"
}

# debuggers [WORD]: the processes of ours that run on the session, or those with a word in their
# command.
debuggers() {
    local exe p command
    while read -r exe; do
        p=${exe%/exe}
        [ "$(readlink "$p/cwd" 2>/dev/null)" = "$place" ] || continue
        command=$(tr '\0' ' ' <"$p/cmdline" 2>/dev/null) || continue
        case $command in
        *" ${1:-}"*) echo "${p#/proc/}" ;;
        esac
    done < <(find /proc -mindepth 2 -maxdepth 2 -path '/proc/[0-9]*' -name exe \
        -lname "$(realpath "$FLOTSAM")" 2>/dev/null)
}
some_run() {
    [ -n "$(debuggers)" ]
}
none_left() {
    [ -z "$(debuggers)" ]
}

# ended STATUS: it has ended with that status (or pattern), the terminal is as it was, and nothing
# is left of it.
ended() {
    poll 30 test -s "$scratch/tty-after" || fail "the debugger did not end"
    # shellcheck disable=SC2053 # a pattern
    [[ $(cat "$scratch/status") == $1 ]] || fail "status $(cat "$scratch/status"), not $1"
    as_before
}

as_before() {
    expect '^end-of-run'
    cmp -s "$scratch/tty-before" "$scratch/tty-after" ||
        fail "the terminal's modes: $(diff "$scratch/tty-before" "$scratch/tty-after")"
    local flags
    flags=$(tmux display-message -p -t test \
        '#{alternate_on} #{cursor_flag} #{mouse_any_flag} #{keypad_cursor_flag} #{keypad_flag}')
    [ "$flags" = '0 1 0 0 0' ] ||
        fail "alternate screen, cursor, mouse, keypad: $flags, not 0 1 0 0 0"
    type_line 'echo "typed""_this"'
    expect '^typed_this'
    poll 10 none_left || fail "still running: $(debuggers)"
    ! grep -qF "$scratch" /proc/self/mountinfo || fail "something is still mounted"
    [ -z "$(ls -A "$rooms")" ] || fail "left behind: $(ls -A "$rooms")"
}
