#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Modes that change without a chmod: by an access control list, which is how cp -a sets them; by a
# new owner and by an ordinary user's writing, which take set-ID bits away.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq

record bash -c 'mkdir -p a/b && echo x >a/file && chmod 0640 a/file && chmod 0711 a/b && cp -a a c'
same_tree
# cp makes a folder private until it is complete.
has_events 1 '.call == "chmod" and .path == "c/b" and .mode == 457'

rm -rf "${data:?}"/*
# shellcheck disable=SC2016
record bash -c 'echo x >file && chmod 6755 file && chown "$(id -u)" file && [ ! -u file ] &&
    chmod 6755 file && ln -s file link && chown -h "$(id -u)" link && chown "$(id -u)" link'
same_tree
has_events 2+ '.call == "chmod" and .syscall == "fchownat" and .path == "file"'

# With nobody's rights where we are root; without root they are ordinary anyway.
ordinary=()
if [ "$(id -u)" = 0 ]; then
    need setpriv
    ordinary=(setpriv --reuid=65534 --regid=65534 --clear-groups)
    chmod a+rx "$scratch"
    chown 65534 "$data"
fi
rm -rf "${data:?}"/*
# shellcheck disable=SC2016
record "${ordinary[@]}" bash -c '
    for how in write cut append copy; do
        echo "$how" >$how && chmod 6755 $how && echo more >>other
    done
    printf x | dd of=write conv=notrunc status=none
    truncate -s 1 cut
    echo x >>append
    cp other copy
    [ ! -u write ] && [ ! -u cut ] && [ ! -u append ] && [ ! -u copy ]'
[ "$(sqlite3 "$session" "SELECT value FROM meta WHERE key = 'exit'")" = 0 ] ||
    fail "the bits are still there"
same_tree
