#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The disk that holds the session fills up: said clearly, while the program runs to its end as if
# nothing had happened; what was stored before can be read.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq
[ "$(id -u)" = 0 ] || skip "mounting a small file system needs root"
mkdir "$scratch/small"
mount -t tmpfs -o size=2m tmpfs "$scratch/small" 2>/dev/null || skip "cannot mount a tmpfs"
session=$scratch/small/session.flotsam

cd "$data"
# Slow enough that some of it is stored before the rest no longer fits.
run 2 "$FLOTSAM" record -o "$session" --dir "$data" -- "$act" write 400 16384 2000
says "$session"
says '[Ff]ull|[Ss]pace'
[ "$(grep -c events "$err")" = 1 ] || fail "it counts events twice"
prints '^finished$'
[ -e "$data/finished" ] || fail "the program did not run to its end"
[ "$(stat -c %s "$data/data")" = $((400 * 16384)) ] || fail "the program's data is short"
nothing_left_running
has_events 1+ true

# Full before it begins: nothing is run.
rm -f "$session" "$data"/*
head -c 4000000 /dev/zero >"$scratch/small/ballast" 2>/dev/null || true
run 2 "$FLOTSAM" record -o "$session" --dir "$data" -- "$act" write 1
says "$session"
