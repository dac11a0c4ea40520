#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Both backends tell the same of a program's system calls: files, offsets, sizes, and stacks down
# to the line.
# timeout: 300
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq
need_store_tracer

real=$O/tests/real

# calls BACKEND COMMAND...: what is told of them. Mappings lie elsewhere inside Valgrind.
calls() {
    rm -rf "$data"
    mkdir "$data"
    (cd "$data" && run 0 "$FLOTSAM" record --backend "$1" -o "$session" --dir "$data" -- "${@:2}")
    "$FLOTSAM" trace "$session" --json | jq -c '.[] | select(.syscall != null and .call != "exec")
        | [.syscall, .path, .other_path, .offset, .size, (if .call == "mmap" then 0 else .result end), .words,
           [.stack[] | [.function, .line]]]' >"$scratch/$1"
    [ "$1" = ptrace ] || same_tree # which lacks stores
}

compare() {
    local native=$1
    shift
    [ "$(wc -l <"$scratch/ptrace")" -gt "$native" ] || fail "hardly any calls: $*"
    diff "$scratch/ptrace" "$scratch/valgrind" >"$out" || fail "the backends differ: $*"
    echo "$(basename "$1"): $(wc -l <"$scratch/ptrace") calls, the same"
}

for command in "$real/lmdb $data" "$real/sqlite $data wal" "$real/stores $data both" \
    "$top/tests/real/git.bash $data"; do
    read -ra words <<<"$command"
    for backend in ptrace valgrind; do
        calls "$backend" "${words[@]}"
    done
    case ${words[0]} in
    */git.bash) echo "git: recorded by both" ;; # it names files after the time and its process
    *) compare 100 "${words[@]}" ;;
    esac
done
