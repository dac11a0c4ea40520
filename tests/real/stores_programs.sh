#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Libraries that persist by stores, recorded with the store tracer and replayed: byte for byte what
# they left. Each runs twice, so that the second recording starts from an image that is not empty.
#
#     stores_programs.sh [NAME...]
# timeout: 300
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq sqlite3
need_store_tracer
record_options=(--backend valgrind)

real=$O/tests/real

workload() {
    case $1 in
    lmdb) echo "$real/lmdb" "$data" writemap ;;
    gdbm) echo "$real/gdbm" "$data" mmap ;;
    pmemobj) echo env PMEM_IS_PMEM_FORCE=1 "$real/pmemobj" "$data" 10000 ;;
    pmemobj-msync) echo env PMEM_IS_PMEM_FORCE=0 "$real/pmemobj" "$data" 500 ;;
    esac
}

# What the library is known to do.
typical() {
    case $1 in
    lmdb) run 0 sqlite3 "$session" "SELECT count(*) > 0 FROM files WHERE path = 'lock.mdb'" ;;
    pmemobj)
        # Persistent memory's own instructions, as on real hardware.
        run 0 "$FLOTSAM" trace "$session" --events 50000..60000
        prints 'flush +pool line [0-9]+ \([0-9+]+\) clwb'
        prints 'store +pool [0-9+]+ nt'
        prints 'fence +sfence'
        prints 'marker +"transaction begins"'
        prints 'marker +"transaction ends"'
        prints 'marker +pool [0-9]+\+8 "added to the transaction" +change .*pmemobj[.]c'
        ;;
    pmemobj-msync) has_events 100+ '.call == "msync"' ;;
    esac
}

if [ $# -eq 0 ]; then
    set -- lmdb gdbm pmemobj pmemobj-msync
fi
for name; do
    rm -rf "$data"
    mkdir "$data"
    read -ra command < <(workload "$name")
    for start in empty filled; do
        record_and_compare "${command[@]}"
        [ "$(sqlite3 "$session" "SELECT value FROM meta WHERE key = 'events'")" -gt 5000 ] ||
            fail "$name: hardly any events"
        echo "$name, $start directory: the same"
    done
    typical "$name"
done
