#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What keeps a recording from starting: status 2, a message that names it, and nothing left behind.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
# refused PATTERN ARGUMENT...: the program must not have run either.
refused() {
    local pattern=$1
    shift
    rm -f "$session"
    run 2 "$FLOTSAM" record "$@"
    says "$pattern"
    [ ! -e "$session" ] || fail "a session was left: record $*"
    [ -z "$(ls -A "$data")" ] || fail "something was written: record $*"
    nothing_left_running
}

cd "$data"
refused 'no-such-program.*(No such file|not found)' -o "$session" --dir "$data" -- ./no-such-program
refused 'not found: no-such-program' -o "$session" --dir "$data" -- no-such-program
echo 'text' >"$scratch/text"
refused 'text.*(Permission denied|executable)' -o "$session" --dir "$data" -- "$scratch/text"
refused "$scratch is not a program|$scratch.*(directory|Permission denied)" -o "$session" --dir "$data" -- "$scratch"
refused 'no-such-dir.*No such file' -o "$session" --dir "$scratch/no-such-dir" -- "$act" exit 0
refused 'text.*[Nn]ot a directory' -o "$session" --dir "$scratch/text" -- "$act" exit 0
refused 'missing/s.flotsam.*(No such file|unable to open)' -o "$scratch/missing/s.flotsam" \
    --dir "$data" -- "$act" exit 0
refused 'PROGRAM|program' -o "$session" --dir "$data"
refused 'PROGRAM|program' -o "$session" --dir "$data" --
refused 'no-such-option' --no-such-option -- "$act" exit 0

# A file that is no session is never overwritten.
echo precious >"$scratch/precious"
run 2 "$FLOTSAM" record -o "$scratch/precious" --dir "$data" -- "$act" exit 0
says precious
[ "$(cat "$scratch/precious")" = precious ] || fail "another file was overwritten"
[ -z "$(ls -A "$data")" ] || fail "the program ran"

# A session is replaced, and programs are found by PATH.
record "$act" exit 0
(cd "$data" && run 0 "$FLOTSAM" record -o "$session" --dir "$data" -- true) || exit 1

# A program has room for one tracer. (A build that looks for leaks would want to trace as well.)
run 0 "$FLOTSAM" record -o "$session" --dir "$data" -- \
    env ASAN_OPTIONS=detect_leaks=0 "$FLOTSAM" record -o "$scratch/inner.flotsam" --dir "$data" -- "$act" exit 0
says 'another tracer'
says 'exited with status 2'
[ ! -e "$scratch/inner.flotsam" ] || fail "a session was left by the inner one"
nothing_left_running
