#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The sample targets: both variants of each build without a warning, run the same way every time
# and keep their promises when nothing is lost; the lines of their expected bugs exist; and their
# checkers reject states that are wrong and accept those of a moment before.
#
#     targets.sh [NAME...]
# timeout: 600
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need cc make jq

kinds=' ordering atomicity unpersisted recovery '
models=' all posix ext4 xfs btrfs ext4-paper strict px86 eadr pagecache '
targets=("$@")
if [ $# -eq 0 ]; then
    for config in "$top"/tests/targets/*/flotsam.ini; do
        targets+=("$(basename "$(dirname "$config")")")
    done
fi

# ---- building and running ----

# enter NAME VARIANT: from here on they are $target and $variant, in $folder; its workload ran in
# $full and printed the lines of $promises.
enter() {
    target=$1 variant=$2
    folder=$scratch/$variant/$target full=$scratch/$variant/$target/full
    promises=$folder/promises
}

build() {
    local fixed=''
    [ "$variant" = buggy ] || fixed=1
    rm -rf "$folder/data"
    run 0 make -s -C "$folder" clean
    run 0 make -s -C "$folder" FIXED="$fixed" "$@"
    [ -z "$(cat "$out" "$err")" ] || fail "$target ($variant) builds with warnings"
}

# check STATUS FILE DIR: what the checker says of a copy of DIR when FILE was printed. It says why.
check() {
    local copy=$scratch/state
    rm -rf "$copy"
    cp -r "$3" "$copy"
    run "$1" env FLOTSAM_STDOUT="$2" FLOTSAM_DIR="$copy" "$folder/check" "$copy"
    [ "$1" = 0 ] || [ -s "$err" ] || fail "$target ($variant): the checker does not say why"
}

work_natively() {
    mkdir "$full"
    set_up "$folder" "$full"
    run 0 "$folder/workload" "$full"
    cp "$out" "$promises"
    [ -s "$promises" ] || fail "$target ($variant) promises nothing"
    check 0 "$promises" "$full"
}

# What happened, without what differs from run to run.
outline() {
    "$FLOTSAM" trace "$session" --json |
        jq -c '.[] | [.call, .path, .offset, .size, .thread, .function, .line]'
}

# The final state as flotsam sees it, and the same events each time.
work_recorded() {
    local copy=$scratch/replayed i backend
    backend=$(setting "$folder" backend)
    for i in 1 2; do
        rm -rf "$data" "$session"
        mkdir "$data"
        set_up "$folder" "$data"
        run 0 "$FLOTSAM" record -o "$session" --dir "$data" --backend "${backend:-auto}" -- \
            "$folder/workload" "$data"
        cmp -s "$out" "$promises" || fail "$target ($variant) prints other lines when recorded"
        outline >"$folder/outline-$i"
    done
    cmp "$folder/outline-1" "$folder/outline-2" || fail "$target ($variant) runs differ"
    same_tree
    rm -rf "$copy"
    run 0 "$FLOTSAM" replay "$session" end "$copy"
    check 0 "$promises" "$copy"
}

# ---- expected bugs ----

# happened CALL FUNCTION MARKER [FIELD]: the trace has such an event at the line with the marker.
happened() {
    local found file line
    [ "$1 $2 $3" != '- - -' ] || return 0
    found=$(cd "$folder" && grep -nF "/* bug:$3 */" -- *.c *.h) ||
        fail "$target: no line has the marker $3"
    [ "$(wc -l <<<"$found")" = 1 ] || fail "$target: several lines have the marker $3"
    file=${found%%:*} line=${found#*:} line=${line%%:*}
    has_events 1+ ".call == \"$1\" and .function == \"$2\" and .line == $line and
        (.file | endswith(\"/$file\"))"
}

# side WORD...: of one side of a bug, how many words it has: a store also has its field.
side() {
    if [ "${1:-}" = store ]; then
        [[ ${4:-} =~ ^(-|[a-z_]+[.][a-z_]+)$ ]] || fail "$target: a store without its field: $*"
        echo 4
    else
        echo 3
    fi
}

# Reads the expected bugs of a buggy variant whose recording is in $session.
expected_happened() {
    local kind shows model n bugs=0 words
    while read -r kind shows words; do
        case $kind in '#'* | '') continue ;; esac
        [[ $kinds == *" $kind "* ]] || fail "$target: there is no kind $kind"
        for model in ${shows//,/ }; do
            [[ $models == *" $model "* ]] || fail "$target: there is no model $model"
        done
        # shellcheck disable=SC2086 # words that are apart
        set -- $words
        [ "${1:-}" != - ] || fail "$target: nothing survived: $words"
        n=$(side "$@")
        happened "${@:1:n}"
        shift "$n"
        [ $# = "$(side "$@")" ] || fail "$target: more or less than two sides: $words"
        happened "$@"
        bugs=$((bugs + 1))
    done <"$folder/expected"
    [ "$bugs" -gt 0 ] || fail "$target: no bug is expected"
}

# ---- states made by hand ----

# state STATUS LINES COMMAND...: changes a copy of the final state by the command, run in it; the
# checker must exit with STATUS when the first LINES lines had been printed.
state() {
    local status=$1 made=$scratch/made
    rm -rf "$made"
    cp -r "$full" "$made"
    head -n "$2" "$promises" >"$scratch/printed"
    (cd "$made" && "${@:3}") || fail "$target: cannot ${*:3}"
    check "$status" "$scratch/printed" "$made"
}

# zeros FILE OFFSET SIZE: as if that part had not reached the disk.
zeros() {
    dd if=/dev/zero of="$1" bs=1 seek="$2" count="$3" conv=notrunc status=none
}

# byte FILE OFFSET VALUE
byte() {
    printf '%b' "\\0$(printf %o "$3")" | dd of="$1" bs=1 seek="$2" conv=notrunc status=none
}

# Gives all of a file the zeros that it has when only its blocks were allocated.
blank() {
    zeros "$1" 0 "$(stat -c %s "$1")"
}

everything_lost() {
    find . -mindepth 1 -delete
    set_up "$folder" "$PWD"
}

# word FILE OFFSET VALUE: a word of eight bytes, as stores write it.
word() {
    zeros "$1" "$2" 8
    byte "$1" "$2" "$3"
}

# Below, $all says that every line was printed, $fewer that the last one was not.
states_of_current() { # generation 3, with 5 puts since the reset
    state 1 "$all" blank manifest-3
    state 1 "$all" truncate -s 0 manifest-3
    state 1 "$all" rm manifest-3
    state 1 "$all" rm CURRENT
    state 0 "$fewer" truncate -s -6 log-3 # its last line
    state 0 "$fewer" truncate -s -3 log-3
    state 1 "$all" truncate -s -3 log-3
}

states_of_wal() { # checkpoints after puts 3 and 6
    state 1 "$all" truncate -s 0 log
    state 1 "$all" blank table
    state 0 "$fewer" truncate -s 16 log
    state 0 "$fewer" truncate -s 24 log
    state 0 "$fewer" zeros log 16 16
    state 1 "$all" zeros log 16 16
}

whole_copy() {
    cp settings settings.copy && truncate -s 0 settings
}

states_of_replace() {
    state 1 "$all" blank notes
    state 1 "$all" truncate -s 0 notes
    state 1 "$all" truncate -s 0 settings
    state 1 "$all" rm settings
    state 0 3 rm settings
    state 0 "$all" whole_copy
}

cut_commits_and_places() {
    truncate -s -32 commits && truncate -s -32 places
}

states_of_commit() {
    state 1 "$all" truncate -s -32 places
    state 1 "$fewer" zeros places 96 32
    state 0 "$fewer" truncate -s -32 commits
    state 0 "$fewer" cut_commits_and_places
    state 1 "$all" cut_commits_and_places
}

states_of_lsm() { # compactions after puts 6 and 10
    state 1 "$all" truncate -s -32 MANIFEST
    state 1 "$all" zeros MANIFEST $((6 * 32)) 32
    state 1 "$all" rm table-7
    state 1 "$all" blank table-7
    state 0 "$fewer" truncate -s 0 log
    state 1 "$all" truncate -s 0 log
}

states_of_links() {
    state 1 "$all" mv new/4 tmp/4
    state 0 "$fewer" mv new/4 tmp/4
    [ ! -e "$scratch/state/tmp/4" ] || fail "links: recovery leaves the temporary message"
    state 1 "$all" blank new/2
    state 1 "$fewer" truncate -s 0 new/4
}

states_of_ack() {
    state 1 "$all" truncate -s -48 queue
    state 0 "$fewer" truncate -s -48 queue
    state 1 "$all" zeros queue 240 48
    state 0 "$fewer" zeros queue 240 48
}

states_of_checksum() { # log-0 is in use; the next compaction would write to log-1
    local torn=99
    [ "$variant" = buggy ] || torn=0
    state "$torn" "$all" byte log-1 4 3
    state "$torn" "$all" zeros log-1 8 4
    state 0 "$all" zeros log-1 0 12
    state 1 "$all" zeros log-0 $((4096 + 64)) 16
    state 0 "$fewer" zeros log-0 $((4096 + 64)) 16
}

states_of_boundary() { # record 4 begins in the first block and ends in the second
    local torn=1
    [ "$variant" = buggy ] || torn=0
    state "$torn" 3 zeros journal 4096 4096
    state 1 4 zeros journal 4096 4096
    state 0 3 zeros journal 3624 $((8192 - 3624))
    state 0 3 zeros journal 4832 $((8192 - 4832))
    state 0 4 zeros journal 4832 $((8192 - 4832))
}

# Of the store that the last operation of a sample begins with, and those that follow.
states_of_levelhash() { # key 3 was moved to slot 1 of its bucket; the token's word is at 384
    state 0 "$fewer" word table 384 1
    state 1 "$all" word table 384 1
    state 1 "$fewer" word table 384 0
    state 1 "$all" word table 384 3 # both slots
    state 1 "$fewer" zeros table $((384 + 64 + 16)) 16
    state 0 "$fewer" lost_with_token
    state 1 "$all" zeros table 0 768
}

lost_with_token() {
    word table 384 1 && zeros table $((384 + 64 + 16)) 16
}

# list_state COUNT HEAD LENGTH: in the last transaction, where both words were logged.
list_state() {
    word list 0 "$1"
    word list 8 64
    word list 16 144
    word list 24 72
    word list 32 2
    word list 64 "$2"
    word list 72 "$3"
}

states_of_list() { # nodes at 128, 144, 160; the last operation pushed the one at 160 again
    state 0 "$fewer" list_state 0 144 2
    state 0 "$fewer" list_state 2 144 2
    state 0 "$fewer" list_state 2 160 2
    state 0 "$fewer" list_state 2 160 3
    state 1 "$fewer" list_state 1 160 3 # without the length
    state 1 "$fewer" list_state 0 160 2
    state 1 "$fewer" list_state 0 144 3
    state 1 "$fewer" word list 160 0
    state 99 "$all" list_state 3 160 3
}

# backup_state VALID PRICE TAXED: in the last update, of item 1, which was 2 and 4 before.
backup_state() {
    word array 0 "$1"
    word array 8 1
    word array 16 2
    word array 24 4
    word array 80 "$2"
    word array 88 "$3"
}

states_of_backup() {
    state 0 "$fewer" backup_state 0 2 4
    state 0 "$fewer" backup_state 1 2 4
    state 0 "$fewer" backup_state 1 4 4
    state 0 "$fewer" backup_state 1 4 8
    state 0 "$fewer" backup_state 0 4 8
    state 1 "$fewer" backup_state 0 4 4
    state 1 "$all" backup_state 1 4 8
    state 99 "$all" strange_backup
    state 1 "$all" word array 88 0
}

strange_backup() {
    word array 0 1 && word array 8 9
}

states_of_child() { # node 5 is the first child of node 2, whose children are at 136
    state 0 "$fewer" word tree 136 0
    state 0 "$fewer" lost_child
    state 1 "$all" word tree 136 0
    state 1 "$fewer" word tree 320 0
    state 1 "$all" word tree 136 64
}

lost_child() {
    word tree 136 0 && word tree 320 0
}

# undo_state COUNT FROM TO: in the last move, of 4 from account 3, which had 3, to account 0, which
# had -1.
undo_state() {
    word accounts 0 "$1"
    word accounts 8 3
    word accounts 16 3
    word accounts 24 0
    negative accounts 32 -1
    negative accounts $((64 + 24)) "$2"
    negative accounts 64 "$3"
}

# negative FILE OFFSET VALUE: a word with a sign.
negative() {
    local i
    for i in 0 1 2 3 4 5 6 7; do
        byte "$1" $(($2 + i)) $(((($3) >> (8 * i)) & 255))
    done
}

states_of_undo() {
    state 0 "$fewer" undo_state 0 3 -1
    state 0 "$fewer" undo_state 2 3 -1
    state 0 "$fewer" undo_state 2 -1 -1
    state 0 "$fewer" undo_state 2 -1 3
    state 0 "$all" undo_state 0 -1 3
    state 1 "$fewer" undo_state 0 -1 -1
    state 1 "$all" undo_state 2 -1 3
    state 99 "$all" undo_state 3 -1 3
}

states_of_lmdb() { # the last transaction is that of the first meta page; its number is at 144
    state 0 "$fewer" word data.mdb 144 0
    state 1 "$all" word data.mdb 144 0
    state 99 "$all" zeros data.mdb 0 8192
}

# The place in the pool of the node with the keys 3, 4 and 5, which follow their number.
last_node() {
    local bytes
    bytes=$(printf '\\x%02x\\x00\\x00\\x00\\x00\\x00\\x00\\x00' 3 3 4 5)
    LC_ALL=C grep -obUaP "$bytes" pool | cut -d: -f1 | tail -n 1
}

# node_state KEYS FIRST: what that node says instead.
node_state() {
    local at
    at=$(last_node)
    [ -n "$at" ] || fail "no node has the last keys"
    word pool "$at" "$1"
    word pool $((at + 8)) "$2"
}

states_of_btree() {
    state 0 "$fewer" node_state 2 3
    state 1 "$all" node_state 2 3
    state 1 "$all" node_state 3 9
    state 1 "$all" node_state 0 3
    state 99 "$all" zeros pool 0 4096
}

states_of_both() { # record 5 ends at 60 and is of key 2
    state 0 "$fewer" word index 16 24
    state 1 "$all" word index 16 24
    state 1 "$fewer" truncate -s 48 log
    state 1 "$fewer" zeros log 48 12
    state 0 "$fewer" lost_log
}

lost_log() {
    word index 16 24 && truncate -s 50 log
}

hand_made() {
    all=$(wc -l <"$promises") fewer=$(($(wc -l <"$promises") - 1))
    state 0 "$all" true
    state 0 "$fewer" true
    state 0 0 everything_lost
    state 1 "$all" everything_lost
    state 1 1 everything_lost
    declare -F "states_of_$target" >/dev/null || fail "no states are made by hand for $target"
    "states_of_$target"
}

# ---- all of them ----

for variant in buggy fixed; do
    cp -r "$top/tests/targets" "$scratch/$variant"
    for target in "${targets[@]}"; do
        enter "$target" "$variant"
        if is_store_sample "$folder" && ! has_store_tracer; then
            echo "$target: not looked at, the store tracer is not built"
            continue
        fi
        if command -v clang >/dev/null; then
            build CC=clang
        fi
        build
        work_natively
        work_recorded
        [ "$variant" = fixed ] || expected_happened
        hand_made
    done
done
echo "${#targets[@]} targets"
