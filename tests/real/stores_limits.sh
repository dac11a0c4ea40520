#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What the store tracer cannot do, or might be thought not to: each has a clear end.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq sqlite3
need_store_tracer

stores=$O/tests/real/stores

# trace_stores PROGRAM MODE
trace_stores() {
    rm -rf "$data"
    mkdir "$data"
    run 0 "$FLOTSAM" record --backend valgrind -o "$session" --dir "$data" -- "$1" "$data" "$2"
}

# Instructions that Valgrind does not know: which, where, and the way out.
trace_stores "$stores" avx512
says 'cannot run an AVX-512 instruction .*at 0x[0-9a-f]+'
says 'without -march=native'
says 'killed by signal 4'
run 0 "$FLOTSAM" trace "$session"
cat "$err" >>"$out"
prints 'instruction that the store tracer cannot run.*AVX-512'
trace_stores "$stores" movdir64b
says 'cannot run MOVDIR64B'

# A program without a dynamic linker.
trace_stores "$stores-static" instructions
says 'exited with status 0'
has_events 7 '.call == "store" and (.words | index("nt"))'
has_events 1 '.call == "store" and .offset == 0 and .size == 1 and .function == "plain"'
same_tree

# And one without debug information: addresses, but no lines.
trace_stores "$stores-bare" instructions
has_events 7 '.call == "store" and (.words | index("nt"))'
has_events 0 '.call == "store" and .path == "instructions" and (.stack | length == 0)'
has_events 0 '.call == "store" and .line > 0'
same_tree

# The DWARF 5 of clang, which Valgrind 3.19 cannot read by itself.
if command -v clang >/dev/null; then
    run 0 clang -std=c11 -D_GNU_SOURCE -gdwarf-5 -O1 -pthread -o "$scratch/stores-clang" \
        "$top/tests/real/stores.c" "$top/tests/real/stores_instructions.c"
    trace_stores "$scratch/stores-clang" instructions
    says 'exited with status 0'
    has_events 1 '.call == "store" and .offset == 0 and .size == 1 and .function == "plain" and
        .line > 0'
    same_tree
fi

# A mapping larger than memory: only what is stored costs anything.
trace_stores "$stores" huge
says 'exited with status 0'
has_events 17 '.call == "store"'
[ "$(stat -c %s "$session")" -lt 1000000 ] || fail "a hole went into the session"
same_tree
# And one larger than what Valgrind has.
trace_stores "$stores" refused
says 'no room for a mapping of [0-9]+ bytes'

# Code in a mapping, which was stored there.
trace_stores "$stores" code
says 'exited with status 0'
has_events 1 '.call == "mmap" and (.words | index("exec"))'
has_events 1+ '.call == "store" and .path == "code"'
same_tree

# Private mappings, and shared ones of files elsewhere, are not the data.
trace_stores "$stores" private
has_events 0 '.call == "store"'
has_events 0 '.call == "mmap"'
same_tree
