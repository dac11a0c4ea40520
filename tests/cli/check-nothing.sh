#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A run that changed nothing has one state, the one before it: it is tested whatever the strategy,
# and a directory that was mistaken does not look like a success.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

session=$scratch/nothing.flotsam
mkdir -p "$scratch/data"
run 0 "$FLOTSAM" record -o "$session" --dir "$scratch/data" -- true
for strategy in representative all-behaviours exhaustive prefix sync random; do
    run 0 "$FLOTSAM" check "$session" --checker true --strategy "$strategy"
    prints '^1 state went through, 1 distinct, 0 inconsistent'
    says 'the run changed nothing in .*/data'
    run 1 "$FLOTSAM" check "$session" --checker false --strategy "$strategy"
    prints 'recovery: the checker finds the state before the run inconsistent'
    run 0 "$FLOTSAM" states "$session"
    for list in graph behaviours groups; do
        run 0 "$FLOTSAM" $list "$session"
        says 'there are no (ops|behaviours|groups)'
    done
    run 0 "$FLOTSAM" lint "$session"
    says 'no sync, flush or fence is wasted'
done
