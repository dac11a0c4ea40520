#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What a recorder of system calls cannot see is said: stores to shared mappings, with the advice
# that helps, and io_uring, which is refused so that programs fall back.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq

for what in '' code; do
    record "$act" map ${what:+"$what"}
    says 'maps files of the data directory'
    says 'store tracer'
    run 0 "$FLOTSAM" trace "$session"
    cat "$err" >>"$out"
    prints 'mmap +mapped.*writable'
done

rm -f "$data"/*
record "$act" uring
[ "$(cat "$data/data")" = "fell back" ] || fail "io_uring was not refused with ENOSYS"
run 0 "$FLOTSAM" trace "$session"
cat "$err" >>"$out"
prints 'io_uring'
same_tree

# Without root there are programs that may not be looked into, and rights that a traced one lacks.
ordinary=(setpriv --reuid=65534 --regid=65534 --clear-groups)
chmod a+rx "$scratch"
if [ "$(id -u)" = 0 ] && "${ordinary[@]}" test -x "$scratch"; then
    cp "$FLOTSAM" "$scratch/flotsam"
    cp "$act" "$scratch/unreadable"
    cp "$act" "$scratch/set-id"
    chmod 0711 "$scratch/unreadable"
    chmod 4755 "$scratch/set-id"
    chown -R 65534 "$data"
    session=$data/session.flotsam

    cd "$data"
    mv "$scratch/flotsam" .
    chmod a-x "$scratch"
    run 2 "${ordinary[@]}" ./flotsam record -o session.flotsam -- true
    says "cannot reach the data directory $data.*Permission denied"
    chmod a+x "$scratch"
    mv flotsam "$scratch"
    run 0 "${ordinary[@]}" "$scratch/flotsam" record -o "$session" -- "$scratch/unreadable" write 1
    says 'may not be looked into.*missing'
    run 0 "$FLOTSAM" trace "$session"
    says 'may not be looked into.*unreadable'

    run 0 "${ordinary[@]}" "$scratch/flotsam" record -o "$session" -- "$scratch/set-id" write 1
    has_events 1+ '.call == "write" and .path == "data"'
    run 0 "$FLOTSAM" trace "$session"
    says 'set-user-ID.*set-id'
    run 0 "$FLOTSAM" record -o "$session" -- "$scratch/set-id" write 1
    run 0 "$FLOTSAM" trace "$session"
    ! grep -q 'set-user-ID' "$err" || fail "as root it has its rights"
fi
