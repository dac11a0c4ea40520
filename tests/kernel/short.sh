#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The short form of make truth: every litmus program and some random ones on a real ext4, with few
# seeds. Nothing may be seen that the model does not allow.
# timeout: 120
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

[ -x "$O/tests/kernel/truth" ] || skip "libfuse3-dev is not installed"
status=0
"$O/tests/kernel/truth" --fs ext4 --seeds 3 --images 50 --random 24 --random-seeds 2 --quick \
    "$top"/tests/litmus/*.litmus >"$out" 2>"$err" || status=$?
if [ "$status" = 77 ]; then
    skip "$(cat "$err")"
fi
[ "$status" = 0 ] || fail "status $status"
prints '^ext4: [0-9]+ litmus programs, .* 0 seen but not allowed'
prints '^ext4: 24 random programs, .* 0 seen but not allowed'
