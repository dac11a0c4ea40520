#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A program that removes the data directory and makes it again: the new one is followed, whatever
# inode it has. One that puts another directory there is told that it was not.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq

record_again() {
    run 0 "$FLOTSAM" record -o "$session" --dir "$data" -- bash -c "$1" bash "$data"
}

# While somebody has it open, its number is not given to the new one.
echo before >"$data/file"
# shellcheck disable=SC2016
record_again 'exec 3<"$1" && rm -r "$1" && mkdir -m 0750 "$1" && echo x >"$1/new" && mkdir "$1/sub"'
has_events 1 '.call == "write" and .path == "new"'
same_tree

# What happens elsewhere meanwhile is not data, even where it gets the inode.
# shellcheck disable=SC2016
record_again 'cd / && rm -r "$1" && mkdir "$1.other" && echo x >"$1.other/foreign" &&
    mkdir "$1" && echo x >"$1/after"'
has_events 0 '.path | test("foreign")'
has_events 1 '.call == "write" and .path == "after"'
same_tree
rm -r "$data.other"

run 0 "$FLOTSAM" record -o "$session" --dir "$data" -- mv "$data" "$data.old"
has_events 0 '.call == "write"'
mv "$data.old" "$data"
# shellcheck disable=SC2016
record_again 'mv "$1" "$1.old" && mkdir "$1" && echo x >"$1/unseen"'
says 'took the place of the data directory'
run 0 "$FLOTSAM" trace "$session"
says 'took the place of the data directory'

# The session is completed wherever it was, even when the working directory is gone.
rm -rf "${data:?}" "$session"
mkdir "$data"
# shellcheck disable=SC2016
(cd "$data" && run 0 "$FLOTSAM" record -o ../session.flotsam -- bash -c 'rm -r "$1"' bash "$data") ||
    exit 1
! grep -q 'cannot' "$err" || fail "something failed"
has_events 1 '.call == "exec" and (.path | test("bash"))'
