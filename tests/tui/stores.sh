#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A session of stores to a mapped file: fields, cache lines and objects where others have files and
# blocks.
# shellcheck source=tests/tui/tui.bash
. "$(dirname "$0")/tui.bash"
need_store_tracer
need truncate

mkdir "$scratch/targets"
cp "$top"/tests/targets/target.* "$top/tests/targets/mapped.h" "$scratch/targets"
cp -r "$top/tests/targets/levelhash" "$scratch/targets"
folder=$scratch/targets/levelhash
rm -rf "$folder/data"
run 0 make -s -C "$folder" clean
run 0 make -s -C "$folder"
mkdir "$folder/data"
set_up "$folder" "$folder/data"
(cd "$folder" && run 0 "$FLOTSAM" record -o "$scratch/stores.flotsam" --backend valgrind --dir data \
    -- ./workload data) || exit 1
sqlite3 "$scratch/stores.flotsam" "UPDATE meta SET value = '2026-01-02T03:04:05Z'
    WHERE key = 'started'"
run 1 "$FLOTSAM" check "$scratch/stores.flotsam" --checker 'cd {dir} && ../check .'
scene stores "$scratch/stores.flotsam"
nothing_differs
