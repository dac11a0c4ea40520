#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Stores to mapped files, recorded with the store tracer and replayed: the replayed folder must
# equal the real one, byte for byte. And what is told of the instructions is right.
#
#     stores.sh [MODE...]
# timeout: 300
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq sqlite3
need_store_tracer
record_options=(--backend valgrind)

stores=$O/tests/real/stores

# Of stores.c's instructions, as the comments there say.
instructions() {
    has_events 7 '.call == "store" and (.words | index("nt"))'
    has_events 8 '.call == "store" and (.words | index("locked"))'
    local kind
    for kind in clflush clflushopt clwb; do
        has_events 2 ".call == \"flush\" and (.words | index(\"$kind\"))"
    done
    has_events 3 '.call == "fence" and (.words | index("sfence"))'
    has_events 1 '.call == "fence" and (.words | index("mfence"))'
    has_events 0 '.call == "fence" and (.words | index("lfence"))'
    has_events 0 '.call == "load"'
    # The right first frame, line and value.
    has_events 1 '.call == "store" and .offset == 0 and .size == 1 and .function == "plain"'
    has_events 0 '.call == "store" and (.stack | length == 0)'
    has_events 0 '.call == "store" and .stack[-1].function != "_start"'
    run 0 "$FLOTSAM" trace "$session"
    prints 'store +instructions 8\+8 = 0x1122334455667788 +plain'
    prints 'store +instructions [0-9]+\+32 nt +nontemporal'
    prints 'flush +instructions line [0-9]+ \([0-9]+\+64\) clwb +flushes'
    prints 'fence +mfence +flushes'
    # The flush of an address is that of its line.
    has_events 0 '.call == "flush" and (.offset % 64 != 0 or .size != 64)'
}

if [ $# -eq 0 ]; then
    set -- instructions mremap kernel alias threads fork exec stack code end both
fi
for mode; do
    rm -rf "$data"
    mkdir "$data"
    record_and_compare "$stores" "$data" "$mode"
    case $mode in
    instructions) instructions ;;
    mremap) has_events 3 '.call == "mremap"' ;;
    kernel)
        has_events 4+ '.call == "store" and (.words | index("by-kernel"))'
        has_events 3 '.call == "write"'
        has_events 1 '.call == "msync" and (.words | index("sync"))'
        ;;
    threads)
        for thread in 2 3 4 5; do
            has_events 4000+ ".call == \"store\" and .thread == $thread"
        done
        has_events 80 '.call == "write" and .path == "log"'
        ;;
    fork) has_events 500+ '.call == "store" and .thread == 5' ;;
    exec)
        has_events 3+ '.call == "exec"'
        has_events 7 '.call == "store" and (.words | index("nt"))'
        has_events 1 '.call == "rename" and .other_path == "moved"'
        ;;
    both)
        has_events 1000 '.call == "store" and .path == "index"'
        has_events 500 '.call == "write" and .path == "log"'
        has_events 10 '.call == "msync"'
        # One order: an entry of the log is written before the index is told of it.
        [ "$("$FLOTSAM" trace "$session" --json | jq -c '[.[] | select(.function == "mode_both" and
                (.call == "store" or .call == "write")) | .call] | .[:6]')" = \
            '["write","store","store","write","store","store"]' ] || fail "not in one order"
        ;;
    esac
    echo "$mode: the same"
done

# Loads are told when they are asked for, and stacks can be left out.
rm -rf "$data"
mkdir "$data"
record_options=(--backend valgrind --loads --no-stacks)
record_and_compare "$stores" "$data" instructions
has_events 10+ '.call == "load" and .path == "instructions"'
has_events 0 '.call == "store" and (.stack | length > 0)'
has_events 1 '.call == "mmap" and .function == "map_open"'

# All that was stored before it died.
record_options=()
rm -rf "$data"
mkdir "$data"
run 0 "$FLOTSAM" record --backend valgrind -o "$session" --dir "$data" -- "$stores" "$data" killed
says 'killed by signal 9'
has_events 1000 '.call == "store"'
same_tree
