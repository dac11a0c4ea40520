#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Real programs, recorded and replayed: the replayed folder must equal the real one. Each workload
# runs twice, so that the second recording starts from an image that is not empty.
#
#     replay.sh [NAME...]        all of them, or those named
# timeout: 600
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need sqlite3 git jq

real=$O/tests/real

workload() {
    case $1 in
    sqlite-*) echo "$real/sqlite" "$data" "${1#sqlite-}" ;;
    git) echo "$top/tests/real/git.bash" "$data" ;;
    *) echo "$real/$1" "$data" ;;
    esac
}

if [ $# -eq 0 ]; then
    set -- leveldb leveldb-O0 rocksdb sqlite-delete sqlite-truncate sqlite-persist sqlite-wal \
        lmdb gdbm git
fi
for name; do
    rm -rf "$data"
    mkdir "$data"
    read -ra command < <(workload "$name")
    for start in empty filled; do
        began=$SECONDS
        record_and_compare "${command[@]}"
        echo "$name, $start directory: the same ($((SECONDS - began)) s)"
    done
done
