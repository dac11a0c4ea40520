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

# A marker is an acknowledgement: a checker can hold the program to it, and the report names it.
# shellcheck disable=SC2016 # the recorded shell and the checker expand it
record bash -c 'echo entry >log; echo "saved one" >>"$FLOTSAM_MARK"'
# shellcheck disable=SC2016
run 1 "$FLOTSAM" check "$session" --checker '! grep -qx "saved one" "$FLOTSAM_MARKERS" || grep -qx entry {dir}/log'
prints 'unpersisted: marker "saved one" passed, log not written'
run 0 "$FLOTSAM" bugs "$session" 1
prints 'marker "saved one"'
prints 'by then the program had passed these markers'
prints '[|] saved one$'
run 0 "$FLOTSAM" bugs "$session" 1 --json
[ "$(jq -r '.survived[0].call, .markers' "$out")" = 'marker
saved one' ] || fail "the marker is not in the document: $(cat "$out")"

# A run that prints much: a report has the last of it, and says what it leaves out.
# shellcheck disable=SC2016
record sh -c 'echo entry >log; i=0; while [ $i -lt 2000 ]; do i=$((i + 1)); echo "line $i"; done'
# shellcheck disable=SC2016
run 1 "$FLOTSAM" check "$session" --checker '! grep -qx "line 2000" "$FLOTSAM_STDOUT" || grep -qx entry {dir}/log'
run 0 "$FLOTSAM" bugs "$session" 1 --json
jq -e '(.told | endswith("\nline 2000\n")) and (.told | startswith("line ")) and
    (.told | length) <= 4096 and (.told | length) + .told_before == 18893' "$out" >/dev/null ||
    fail "what was printed: $(jq -c '[.told_before, (.told | length)]' "$out")"
run 0 "$FLOTSAM" bugs "$session" 1
prints 'after 1[0-9]{4} bytes more'
prints '[|] line 2000$'
