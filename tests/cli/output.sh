#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Results that could not be written make the command fail; a reader that leaves early does not make
# it noisy.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

expect() { # STATUS SAID
    [ "$status" = "$1" ] || fail "status $status, not $1"
    says "$2"
}

status=0
"$FLOTSAM" --help >/dev/full 2>"$err" || status=$?
expect 2 'could not write the results: No space left on device'

status=0
"$FLOTSAM" --help >&- 2>"$err" || status=$?
expect 2 'could not write the results: Bad file descriptor'

# With nothing to print, a closed output is nobody's business.
status=0
"$FLOTSAM" xyzzy >&- 2>"$err" || status=$?
expect 2 'no command is called xyzzy'

set +o pipefail
"$FLOTSAM" completion bash 2>"$err" | head -n 1 >"$out"
[ ! -s "$err" ] || fail "noise when the reader leaves"
(
    trap '' PIPE
    "$FLOTSAM" completion bash 2>"$err" | true
)
[ ! -s "$err" ] || fail "noise when the reader leaves and SIGPIPE is ignored"
set -o pipefail

# A session must not be opened on the number of a closed standard descriptor.
cd "$data"
"$FLOTSAM" record -o "$session" --dir "$data" -- "$act" write 3 >&- 2>&- <&- || true
run 0 "$FLOTSAM" trace "$session"
