#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Sessions that are damaged, cut short, from a newer version or no sessions at all: a message that
# names the file and status 2, or what can be read; never a crash.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need sqlite3

# readable FILE: trace and replay may refuse it, but only in an orderly way.
readable() {
    local status=0 what=$1 command
    for command in "trace $2" "trace $2 --json" "replay $2 end $scratch/copy"; do
        rm -rf "$scratch/copy"
        status=0
        # shellcheck disable=SC2086 # the words of the command
        timeout -k 5 60 "$FLOTSAM" $command >"$out" 2>"$err" </dev/null || status=$?
        case $status in
        0) ;;
        2) says "$(basename "$2")" ;;
        *) fail "status $status after damage ($what): ${command%% *}" ;;
        esac
    done
}

# refused PATTERN FILE: by every command that reads sessions.
refused() {
    run 2 "$FLOTSAM" trace "$2"
    says "$(basename "$2").*"
    says "$1"
    run 2 "$FLOTSAM" replay "$2" end "$scratch/copy"
    says "$1"
    [ ! -e "$scratch/copy" ] || rmdir "$scratch/copy" || fail "replay left something"
}

record "$act" write 3000
copy=$scratch/damaged.flotsam
size=$(stat -c %s "$session")

# The same few places, spread over the file, get other bytes; so does everything but the header.
for ((i = 0; i < 24; i++)); do
    cp "$session" "$copy"
    at=$((i < 4 ? i * 40 : (i - 3) * size / 22))
    printf '\377\000\125\252damage\001\002\003\004\377\377' |
        dd of="$copy" bs=1 seek="$at" conv=notrunc status=none
    readable "bytes at $at" "$copy"
done
cp "$session" "$copy"
head -c $((size - 4096)) /dev/zero | tr '\000' '\245' |
    dd of="$copy" bs=4096 seek=1 conv=notrunc status=none
readable "all but the first page" "$copy"

for length in 1 15 16 99 100 512 4095 4096 4097 8192 $((size / 2)) $((size - 4096)) \
    $((size - 1)); do
    head -c "$length" "$session" >"$copy"
    readable "cut to $length" "$copy"
done

# Tables that are there, with contents that lie.
for lie in "DELETE FROM strings" "DELETE FROM packs" "DELETE FROM files" "DROP TABLE stacks" \
    "UPDATE events SET count = 1000000000" "UPDATE events SET records = zeroblob(10)" \
    "UPDATE packs SET bytes = randomblob(100)" "UPDATE packs SET size = -1" \
    "UPDATE events SET first = first + 5" "DELETE FROM meta" "UPDATE stacks SET frames = x'01'" \
    "UPDATE image_files SET kind = 77"; do
    cp "$session" "$copy"
    sqlite3 "$copy" "$lie"
    readable "$lie" "$copy"
done

cp "$session" "$copy"
sqlite3 "$copy" "PRAGMA user_version = 99"
refused 'newer|version' "$copy"

: >"$scratch/empty.flotsam"
refused 'not a (flotsam )?session|empty' "$scratch/empty.flotsam"
echo "no session at all" >"$scratch/text.flotsam"
refused 'not a (flotsam )?session' "$scratch/text.flotsam"
sqlite3 "$scratch/other.flotsam" "CREATE TABLE t(x)"
refused 'not a (flotsam )?session' "$scratch/other.flotsam"
refused 'No such file' "$scratch/missing.flotsam"
mkdir "$scratch/folder.flotsam"
refused 'directory|not a (flotsam )?session' "$scratch/folder.flotsam"

# The original was never touched by any of this.
run 0 "$FLOTSAM" trace "$session"
