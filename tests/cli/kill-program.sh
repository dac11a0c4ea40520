#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# kill -9 of the program: its recording is complete up to there, and says how it ended.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq sqlite3

counted() {
    [ "$(wc -l <"$scratch/counts")" -ge 5 ]
}

cd "$data"
"$FLOTSAM" record -o "$session" --dir "$data" -- "$act" endless >"$scratch/counts" 2>"$err" &
recorder=$!
poll 60 counted || fail "the helper did not get going"
for pid in $(leftovers); do
    kill -9 "$pid"
done
status=0
wait "$recorder" || status=$?
[ "$status" = 0 ] || fail "record ended with $status"
says '[Kk]ill|signal 9'
nothing_left_running
[ "$(sqlite3 "$session" "SELECT value FROM meta WHERE key = 'complete'")" = 1 ] ||
    fail "the session is not complete"
has_events 250+ '.call == "write"'
same_tree
