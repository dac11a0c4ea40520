#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Neither the session nor the file that the program's output goes to is part of what is recorded,
# even inside the data directory. And what flotsam itself reports as done is durable by then.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq

# By default, all happens in the working directory.
cd "$data"
echo before >first
run 0 "$FLOTSAM" record -- "$act" write 500
sessions=(*.flotsam)
[ "${#sessions[@]} ${sessions[0]}" != '1 *.flotsam' ] || fail "no session here"
[ ${#sessions[@]} = 1 ] || fail "not one session: ${sessions[*]}"
mv "${sessions[0]}" "$session"
[ "$(ls -A)" = $'data\nfinished\nfirst' ] || fail "something else was left: $(ls -A)"
has_events 0 '(.path // "") | test("[.]flotsam")'
has_events 500+ '.call == "write"'
same_tree

# A session that is replaced was not part of the starting image either.
cp "$session" again.flotsam
run 0 "$FLOTSAM" record -o again.flotsam -- "$act" write 10
mv again.flotsam "$session"
has_events 0 '(.path // "") | test("[.]flotsam")'
same_tree

# The program's output, sent to a file in the data directory by the shell, is what it told the
# world, not data.
timeout 60 "$FLOTSAM" record -o "$session" --dir "$data" -- "$act" write 5 >printed 2>"$err" ||
    fail "record failed"
[ "$(cat printed)" = finished ] || fail "the output went elsewhere"
has_events 1 '.call == "print" and .text == "finished\n"'
has_events 0 '.path == "printed"'
same_tree --except printed

# Checked while it is recorded itself: when the result is printed, the removal of the last journal
# has been synced, so that no power failure can bring it back and undo the report.
mkdir "$scratch/kept"
mv "$session" "$scratch/kept/s.flotsam"
run 0 "$FLOTSAM" record -o "$session" --dir "$scratch/kept" -- \
    "$FLOTSAM" check "$scratch/kept/s.flotsam" --checker true
"$FLOTSAM" trace "$session" --json | jq -e '
    (map(.call == "print") | index(true)) as $told | .[:$told] |
    (map(.call == "unlink" or .call == "fdatasync" and .path == ".") | rindex(true)) as $last |
    .[$last].call == "fdatasync" and any(.call == "unlink")' >/dev/null ||
    fail "the report can be lost after it was printed"
