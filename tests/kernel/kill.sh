#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Killed at any moment, the runner leaves no mount, no loop device, no process and no setting of the
# machine changed: neither when it alone is killed, nor one of its processes, nor all of them, nor
# when it is asked to end.
# timeout: 240
# serial
# What others mount meanwhile is not looked at.
if [ "${1:-}" != apart ] && unshare --mount --propagation private true 2>/dev/null; then
    exec unshare --mount --propagation private "$0" apart
fi
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

truth=$O/tests/kernel/truth
[ -x "$truth" ] || skip "libfuse3-dev is not installed"
cp "$truth" "$scratch/truth" # so that its processes are known by where they lie
truth=$scratch/truth
status=0
"$truth" --fs ext4 --seeds 1 --images 4 "$top/tests/litmus/names.litmus" --quick >"$out" 2>"$err" ||
    status=$?
if [ "$status" = 77 ]; then
    skip "$(cat "$err")"
fi
[ "$status" = 0 ] || fail "status $status"

# Loop devices in use that no process holds open or has mounted: those of another run are not ours to
# judge.
loops() {
    local loop
    {
        find /proc/[0-9]*/fd -lname '/dev/loop*' -printf '%l\n' 2>/dev/null
        grep -hos '^/dev/loop[0-9]*' /proc/[0-9]*/mounts
    } | sort -u >"$scratch/held" || true
    for loop in /sys/block/loop*/loop; do
        [ -d "$loop" ] || continue
        loop=/dev/$(basename "${loop%/loop}")
        grep -qxF "$loop" "$scratch/held" || echo "$loop"
    done
}
shopt -s nullglob
settings=(/proc/sys/vm/* /proc/sys/fs/xfs/* /sys/class/bdi/7:*/{read_ahead_kb,*_ratio})
remains() {
    loops
    cat /proc/self/mounts
    grep -s . "${settings[@]}" || true
}
remains >"$scratch/before"
as_before() {
    remains | cmp -s - "$scratch/before"
}

pause() { # up to 0.8 s
    sleep "0.$(printf '%03d' $((RANDOM % 800)))"
}

kill_one() { # FILE-SYSTEM HOW
    local fs=$1 how=$2 pid pids
    "$truth" --fs "$fs" --seeds 100 --random 100 "$top"/tests/litmus/a*.litmus \
        >"$out" 2>"$err" </dev/null &
    pid=$!
    pause
    mapfile -t pids < <(leftovers)
    case $how in
    runner) kill -9 $pid ;;
    one) kill -9 "${pids[RANDOM % ${#pids[@]}]}" ;;
    all) kill -9 "${pids[@]}" ;;
    asked) kill $pid ;;
    esac 2>/dev/null || true
    wait $pid 2>/dev/null || true
    poll 20 no_leftovers || fail "still running after $how on $fs: $(leftovers)"
    # The kernel lets go of a device when the file system on it has given up, which may take a while
    # where the process behind the device is dead.
    poll 90 as_before || fail "changed after $how on $fs: $(remains | diff "$scratch/before" -)"
}

# Each once, and again while there is time.
ROUNDS=3 ENOUGH=60 # seconds
for ((round = 1; round <= ROUNDS; round++)); do
    for fs in ext4 xfs btrfs; do
        for how in runner one all asked; do
            [ $round = 1 ] || [ $SECONDS -lt $ENOUGH ] || exit 0
            kill_one $fs $how
        done
    done
done
