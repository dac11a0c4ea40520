#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
# timeout: 300
#
# The benchmark of the debugger on a session of twenty thousand events, with generous limits: what a
# key costs must not grow with the trace. `make bench-ui` on a quiet machine says the rest.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

bench=$O/tests/bench/ui
[ -x "$bench" ] || skip "$bench is not built"
events=20000 factor=5
if grep -q __asan_init "$bench"; then
    events=2000 factor=50
fi
status=0
"$bench" "$events" "$factor" >"$out" 2>"$err" || status=$?
[ "$status" = 0 ] || fail "the benchmark ended with status $status"
