#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The graph of a bug, its nodes one after the other, and what is exported of it.
# shellcheck source=tests/tui/tui.bash
. "$(dirname "$0")/tui.bash"
need dot jq

checked_sample current
story graph "$scratch/current.flotsam"

# What was exported can be used, and is about the bug.
cd "$place"
run 0 dot -Tsvg bug.dot
# Graphviz writes the minus as a character reference.
prints 'manifest(-|&#45;)1'
grep -q '<svg' bug.svg || fail "bug.svg is no picture"
grep -qE 'manifest(-|&#45;)1' bug.svg || fail "bug.svg does not name the file"
grep -q 'store.c:60' bug.svg || fail "bug.svg does not name the source line"
head -c 8 bug.png | cmp -s - <(printf '\211PNG\r\n\032\n') || fail "bug.png is no picture"
run 0 jq -e '.. | strings | select(test("manifest-1"))' bug.json
grep -q 'CURRENT.new' behaviour.svg || fail "behaviour.svg does not name the file"
nothing_differs
