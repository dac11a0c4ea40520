#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Lines written to FLOTSAM_MARK become marker events, in their place among the others.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq

record "$act" mark one "two words" three
has_events 3 '.call == "marker"'
order=$("$FLOTSAM" trace "$session" --json |
    jq -r '[.[] | select(.call == "marker" or .call == "write") | .call] | join(" ")')
[ "$order" = "write marker write marker write marker" ] || fail "order: $order"
run 0 "$FLOTSAM" trace "$session"
prints 'marker.*two words'
same_tree

# The last line counts without its end too.
# shellcheck disable=SC2016
record bash -c 'printf "first\nlast" >>"$FLOTSAM_MARK"; (exit 3); true'
run 0 "$FLOTSAM" trace "$session" --call marker
prints 'marker +"first"'
prints 'marker +"last"'
