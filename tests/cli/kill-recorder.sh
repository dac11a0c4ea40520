#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# kill -9 of the recorder: the recorded program dies with it, and the session opens with all but
# the last moment.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq sqlite3

# The helper writes 5,000 times a second at most, and the recorder stores every tenth of a second;
# four times that much may be lost on a busy machine.
enough=4000
slack=2000

count() {
    tail -n 1 "$scratch/counts" 2>/dev/null | grep -E '^[0-9]+$' || echo 0
}
counted() {
    [ "$(count)" -ge "$enough" ]
}

cd "$data"
"$FLOTSAM" record -o "$session" --dir "$data" -- "$act" endless >"$scratch/counts" 2>"$err" &
recorder=$!
poll 60 counted || fail "the helper did not get going"
kill -9 "$recorder"
wait "$recorder" 2>/dev/null || true
nothing_left_running

wrote=$(count)
run 0 "$FLOTSAM" trace "$session"
[ -z "$(sqlite3 "$session" "SELECT value FROM meta WHERE key = 'complete'")" ] ||
    fail "the session calls itself complete"
has_events "$((wrote - slack))+" '.call == "write"'

# What is there can be replayed: the file's beginning.
run 0 "$FLOTSAM" replay "$session" end "$scratch/copy"
size=$(stat -c %s "$scratch/copy/data")
cmp -n "$size" "$scratch/copy/data" "$data/data" || fail "not the beginning of the real file"
[ "$size" -ge $((8 * (wrote - slack))) ] || fail "only $size bytes"
