#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# flotsam replay: where it lays the files, and when it refuses.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
record "$act" write 10

# A directory that is made, an empty one that is there, and never one with anything in it.
run 0 "$FLOTSAM" replay "$session" end "$scratch/new"
run 0 "$O/tests/treecmp" "$data" "$scratch/new"
mkdir "$scratch/there"
run 0 "$FLOTSAM" replay "$session" end "$scratch/there"
run 0 "$O/tests/treecmp" "$data" "$scratch/there"
mkdir "$scratch/full"
echo mine >"$scratch/full/.mine"
run 2 "$FLOTSAM" replay "$session" end "$scratch/full"
says "$scratch/full"
[ "$(ls -A "$scratch/full")" = .mine ] || fail "something was added to the directory"
[ "$(cat "$scratch/full/.mine")" = mine ] || fail "the directory was touched"
run 2 "$FLOTSAM" replay "$session" end "$data/data"
says "$data/data"
run 2 "$FLOTSAM" replay "$session" end "$scratch/no/such/parent"
says "$scratch/no/such"
run 2 "$FLOTSAM" replay "$session" nonsense "$scratch/other"
says nonsense
[ ! -e "$scratch/other" ] || fail "something was made for a state that is not there"
run 2 "$FLOTSAM" replay "$session"

# The comparison itself can tell a difference.
echo more >>"$scratch/new/data"
run 1 "$O/tests/treecmp" "$data" "$scratch/new"
chmod 600 "$scratch/there/data"
run 1 "$O/tests/treecmp" "$data" "$scratch/there"
