#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Descriptors that travel: by exec, spawn, fork, a socket; files that are moved, unlinked while
# open, larger than 4 GiB. One recording a mode, replayed and compared.
#
#     descriptors.sh [MODE...]
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need sqlite3 jq

if [ $# -eq 0 ]; then
    set -- exec spawn fork stdout-dup stdout-file passed sparse append unlinked moves links-in \
        exchange overtaken interrupted unshared exec-thread modes
fi
for mode; do
    rm -rf "$data"
    mkdir "$data"
    record_and_compare "$O/tests/real/descriptors" "$data" "$mode"
    case $mode in
    stdout-dup) has_events 3 '.call == "print"' ;;
    stdout-file)
        has_events 1 '.call == "print"'
        has_events 1 '.call == "write" and .path == "output"'
        ;;
    links-in)
        has_events 1 '.call == "link" and .path == "folder/second"'
        has_events 1 '.call == "link" and .path == "fifth" and .other_path == "fourth"'
        run 0 "$FLOTSAM" trace "$session"
        prints 'link +fifth = fourth'
        ;;
    overtaken)
        has_events 3 '.words | index("overlapped")'
        has_events 0 '.path == "after" and (.words | index("overlapped"))'
        ;;
    interrupted) has_events 50 '.call == "write" and .path == "counted"' ;;
    esac
    echo "$mode: the same"
done
