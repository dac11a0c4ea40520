#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# flotsam trace: text and JSON of a recording, and its filters.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq

# lists N OPTION...: that many events, by JSON.
lists() {
    local want=$1 got
    shift
    got=$("$FLOTSAM" trace "$session" --json "$@" | jq length) || fail "no JSON: trace $*"
    [ "$got" = "$want" ] || fail "$got events, not $want: trace $*"
}

record "$act" threads
total=$(events)
run 0 "$FLOTSAM" trace "$session" --json
jq -e 'type == "array" and all(.[]; (.event | type) == "number" and (.call | type) == "string" and
        (.stack | type) == "array" and has("path") and has("offset") and has("size") and
        has("function") and has("file") and has("line"))' "$out" >/dev/null ||
    fail "the JSON is not as CLI.md says"
jq -e '[.[].event] == ([.[].event] | sort) and .[0].event == 1' "$out" >/dev/null ||
    fail "events are not numbered in order"
[ "$(jq '[.[].process] | unique | length' "$out")" = 1 ] || fail "not one process"
[ "$(jq '[.[] | select(.call == "write") | .thread] | unique | length' "$out")" = 4 ] ||
    fail "not four writing threads"

# Offsets of appends follow one another, whoever wrote; every event has a stack down to the source.
jq -e '[.[] | select(.call == "write" and .path == "data")] | length == 200 and
       ([.[].offset] == [range(0; 1800; 9)]) and all(.[]; .size == 9 and .result == 9)' \
    "$out" >/dev/null || fail "appends do not follow one another"
jq -e '[.[] | select(.call == "write")] | all(.[]; .function == "append" and
       (.file | endswith("act.c")) and .line > 0 and ([.stack[].function] | index("write_some")))' \
    "$out" >/dev/null || fail "stacks are not the source's"

lists 200 --call write
lists 400 --call write,close --path data
lists 0 --path no-such-file
lists 200 --path 'd*' --call write
lists "$total" --events "1..$total"
lists 3 --events 5..7
lists 1 --events 5
lists 200 --function append --call write
lists 0 --function no_such_function
thread=$(jq '[.[] | select(.call == "write")][0].thread' "$out")
lists 50 --thread "$thread" --call write

run 2 "$FLOTSAM" trace "$session" --call wrte
says 'wrte.*write'
run 2 "$FLOTSAM" trace "$session" --events 9..x
run 2 "$FLOTSAM" trace "$session" --thread x

# As text: a line an event, no colours without a terminal.
run 0 "$FLOTSAM" trace "$session" --call write
[ "$(grep -c 'data' "$out")" -ge 200 ] || fail "not a line an event"
if grep -q $'\033' "$out"; then
    fail "escape sequences without a terminal"
fi

# Names with bytes that would play tricks on a terminal or on JSON.
# shellcheck disable=SC2016 # for the recorded shell
record sh -c 'echo x >"$(printf "a\033[31m\nb")"; echo y >"$(printf "\377\376")"; ln -s "\"" q'
run 0 "$FLOTSAM" trace "$session"
if LC_ALL=C grep -q $'[\001-\010\013-\037\377]' "$out"; then
    fail "control characters came through"
fi
run 0 "$FLOTSAM" trace "$session" --json
jq -e length "$out" >/dev/null || fail "the JSON is not valid"
same_tree

# Without a session, the newest in the working directory.
cd "$scratch"
run 0 "$FLOTSAM" trace --call symlink
prints 'symlink'

# Names with spaces that nobody would see.
# shellcheck disable=SC2016 # for the recorded shell
record sh -c 'echo x >" "; echo y >"a b "; mv "a b " " c"'
run 0 "$FLOTSAM" trace "$session"
prints '  \\x20 write create'
prints '  a b\\x20 → \\x20c( |$)'
run 1 "$FLOTSAM" check "$session" --checker 'test ! -e {dir}/" c"'
prints '^bug 1: .*"a b " renamed to " c"'
run 0 "$FLOTSAM" bugs "$session" 1
prints 'rename a b\\x20 to \\x20c'
printf '%s\n' 'go bug:1' open state 'dump view -' >"$scratch/files.script"
run 0 "$FLOTSAM" open "$session" --script "$scratch/files.script"
prints '^\\x20 +2 B'
prints '^\\x20c +2 B'
run 1 "$FLOTSAM" check "$session" --strategy sync --checker 'test ! -e {dir}/" c"'
prints '^bug 1: .* \(1 state\)$'
