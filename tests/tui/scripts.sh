#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Scripts that go wrong, and sessions that have little to show: one that was never checked, one of a
# run that did nothing, damaged ones. Whatever it is, there is a message, and no crash.
# shellcheck source=tests/tui/tui.bash
. "$(dirname "$0")/tui.bash"

open_with() { # STATUS SESSION LINE...
    local status=$1 file=$2
    shift 2
    printf '%s\n' "$@" >"$scratch/lines"
    run "$status" "$FLOTSAM" open "$file" --script "$scratch/lines" --size 80x24
}

# ---- a command that is none ----

checked_sample wal
wal=$scratch/wal.flotsam
open_with 2 "$wal" bugs '# a remark' '' '  down' 'frobnicate now' 'dump screen -'
says 'lines:5: .*frobnicate'
[ ! -s "$out" ] || fail "it went on after the wrong line"
open_with 2 "$wal" 'trac' 'bgus'
says 'lines:2: .*bgus'
says 'bugs' # the nearest
for wrong in 'go bug:99' 'go op:99999999' 'step many' 'size 0x0' 'size 80' \
    'theme nonesuch' 'model nonesuch' 'sort nonesuch' 'dump' 'dump everything -' 'press Hyper-x' \
    'click here' 'bind Hyper-x quit' 'bind x frobnicate' 'why 1' 'why 1 99999' 'graph nothing:1' \
    'status maybe' 'check budget=many' 'check colour=red' 'toggle 99999999' \
    'unfix' 'try' 'pause' 'stop' 'top 3' 'export' 'fix frobsync' 'schedule behaviour:1'; do
    open_with 2 "$wal" bugs "$wrong"
    says 'lines:2: '
done
# A beginning that fits one command only is that command; standard input is a script too.
open_with 0 "$wal" 'behav' 'dump screen -'
prints '─ Behaviours ─'
echo 'dump screen -' | "$FLOTSAM" open "$wal" --script - --size 80x24 >"$out"
prints '─ Bugs ─'
echo 'quit' >"$scratch/lines"
echo 'frobnicate' >>"$scratch/lines"
run 0 "$FLOTSAM" open "$wal" --script "$scratch/lines"
# One that was written elsewhere ends its lines otherwise.
printf '%s\r\n' bugs '' 'dump screen -' quit frobnicate >"$scratch/lines"
run 0 "$FLOTSAM" open "$wal" --script "$scratch/lines" --size 80x24
prints '─ Bugs ─'
run 2 "$FLOTSAM" open "$wal" --script "$scratch/missing"
says 'missing'
run 2 "$FLOTSAM" open "$wal" --script "$scratch/lines" --size 80
run 2 "$FLOTSAM" open "$wal"
says 'terminal'

# ---- all requests of views, on a session ----

views=(overview bugs trace ops graph behaviours groups states schedule state output fixes
    bookmarks lint help)
on_all_views() { # SESSION: every view at every size, whatever there is in it
    local lines=() view size
    for size in 80x24 40x10 200x50 20x5 10x3 9x2 1x1; do
        lines+=("size $size")
        for view in "${views[@]}"; do
            lines+=("$view" bottom focus top focus-back 'dump screen -' 'dump styles -')
            [ "$view" = graph ] || lines+=('dump view -')
            [ "$view" = help ] && lines+=("help")
        done
    done
    open_with 0 "$1" "${lines[@]}"
}
on_all_views "$wal"

# ---- never checked ----

sample current
current=$scratch/current.flotsam
on_all_views "$current"
prints 'not been checked|not checked'
open_with 2 "$current" 'go bug:1'
says 'checked|no bug'
open_with 2 "$current" failing
says 'not been checked'
open_with 0 "$current" step step 'dump screen -'
prints 'Schedule of the run'

# ---- nothing was done ----

run 0 "$FLOTSAM" record -o "$session" --dir "$data" -- true
on_all_views "$session"
open_with 0 "$session" ops 'dump screen -'
prints 'the run changed nothing'
run 0 "$FLOTSAM" check "$session" --checker true
on_all_views "$session"
open_with 0 "$session" bugs 'dump screen -'
prints 'no bugs'

# ---- damaged ----

copy=$scratch/damaged.flotsam
in_order() { # WHAT: opened and looked at, it shows something or is refused, and does not crash
    local status=0
    timeout -k 5 60 "$FLOTSAM" open "$copy" --script "$scratch/lines" --size 80x24 \
        >"$out" 2>"$err" </dev/null || status=$?
    case $status in
    0) ;;
    2) says 'damaged.flotsam|lines:[0-9]+:' ;;
    *) fail "status $status after damage: $1" ;;
    esac
}
{
    for view in "${views[@]}"; do
        printf '%s\n' "$view" bottom 'dump view -'
        [ "$view" = help ] && echo help
    done
} | sed '/^graph$/,/^dump/{/^dump/d}' >"$scratch/lines"
size=$(stat -c %s "$wal")
for ((i = 0; i < 16; i++)); do
    cp "$wal" "$copy"
    printf '\377\000\125\252damage\001\002\003\004\377\377' |
        dd of="$copy" bs=1 seek=$((100 + i * (size - 200) / 16)) conv=notrunc status=none
    in_order "bytes at $((100 + i * (size - 200) / 16))"
done
for lie in "DELETE FROM strings" "DELETE FROM packs" "DELETE FROM files" "DROP TABLE stacks" \
    "UPDATE events SET count = 1000000000" "UPDATE stacks SET frames = x'01'" \
    "UPDATE report SET json = '{}'" "UPDATE report SET json = '[1,2'" "UPDATE report SET json = \
        '{\"bugs\":[{\"id\":1},{\"id\":\"x\",\"lost\":7,\"survived\":[{\"op\":-1}]},7]}'" \
    "DELETE FROM states" "UPDATE sources SET text = x'ff'" "DELETE FROM verdicts" \
    "DELETE FROM meta WHERE key <> 'complete'" "DELETE FROM bugs" "DROP TABLE states"; do
    cp "$wal" "$copy"
    sqlite3 "$copy" "$lie" 2>/dev/null || continue
    in_order "$lie"
done
