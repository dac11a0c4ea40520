#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 300
#
# The benchmark of the analysis runs to its end. Whether it holds its limits is for `make
# bench-scale` on a quiet machine to say: a busy one proves nothing.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

bench=$O/tests/bench/scale
[ -x "$bench" ] || skip "$bench is not built"
if grep -q __asan_init "$bench"; then
    skip 'a million events take too long with sanitizers'
fi
status=0
"$bench" >"$out" 2>"$err" || status=$?
[ "$status" -le 1 ] || fail "the benchmark broke with status $status"
tail -n 1 "$out" | grep -Eq '^1e4→1e6: time ×[0-9]+, memory [0-9]+ bytes/event$' ||
    fail 'its last line is not what it should be'
