#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A check that is stopped early does not take the place of one that saw more.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq

# shellcheck disable=SC2016 # for the recorded shell
record sh -c 'for i in 1 2 3 4; do echo $i >f$i; done; echo done'
run 1 "$FLOTSAM" check "$session" --checker 'test ! -e {dir}/f4 || test -s {dir}/f4'
before=$("$FLOTSAM" bugs "$session" --json)
[ "$(jq '.bugs | length' <<<"$before")" -gt 0 ] || fail "there is nothing to lose"

"$FLOTSAM" check "$session" --jobs 1 --checker "echo >>$scratch/runs; sleep 20" >"$out" 2>"$err" &
pid=$!
poll 30 test -s "$scratch/runs" || fail "the checker was not run"
kill -INT $pid
status=0
wait $pid || status=$?
[ $status = 130 ] || fail "status $status, not 130"
[ "$("$FLOTSAM" bugs "$session" --json)" = "$before" ] || fail "the report of before is gone"
prints '^the check before had seen more: the session keeps its report'
! grep -q '^bug [0-9]' "$out" || fail "numbers of bugs that are not in the session"
