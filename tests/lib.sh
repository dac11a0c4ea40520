# SPDX-License-Identifier: GPL-3.0-or-later
# shellcheck shell=bash
#
# What the tests written in shell share. A test is a script that sources this file, and ends with
# 0 when it passed, 77 when it cannot run here (and says why), anything else when it failed.
#
# From the environment: O, the build folder; FLOTSAM, the program under test.
# For the test: $scratch, a private folder that is removed at the end; $data and $session in it, a
# data directory and the name of a session file; $out and $err, what the last `run` printed; $act,
# the helper program of tests/cli/act.c.

set -euo pipefail

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
O=${O:-build}
case $O in
/*) ;;
*) O=$top/$O ;;
esac
FLOTSAM=${FLOTSAM:-$O/flotsam}

scratch=$(mktemp -d "${TMPDIR:-/tmp}/flotsam-test.XXXXXX")
data=$scratch/data
session=$scratch/session.flotsam
out=$scratch/out
err=$scratch/err
act=$scratch/act
mkdir "$data"
: >"$out"
: >"$err"
if [ -x "$O/tests/cli/act" ]; then
    cp "$O/tests/cli/act" "$act"
fi

# Nothing of the person who runs the tests is read or written.
export XDG_CONFIG_HOME=$scratch/config XDG_STATE_HOME=$scratch/state XDG_CACHE_HOME=$scratch/cache
export LC_ALL=C.UTF-8
unset FLOTSAM_MARK NO_COLOR

fail() {
    echo "$(basename "$0"): $*" >&2
    if [ -s "$out" ]; then
        echo "--- its standard output:" >&2
        head -c 2000 "$out" >&2
    fi
    if [ -s "$err" ]; then
        echo "--- its standard error:" >&2
        head -c 2000 "$err" >&2
    fi
    exit 1
}

skip() {
    echo "$(basename "$0"): skipped: $*"
    exit 77
}

need() {
    local tool
    for tool; do
        command -v "$tool" >/dev/null || skip "$tool is not installed"
    done
}

# poll SECONDS COMMAND...: until the command succeeds.
poll() {
    local end=$((SECONDS + $1))
    shift
    until "$@"; do
        if [ "$SECONDS" -ge "$end" ]; then
            return 1
        fi
        sleep 0.05
    done
}

# run STATUS COMMAND...: must end with that status, within two minutes.
run() {
    local want=$1 got=0
    shift
    timeout --foreground -k 5 120 "$@" >"$out" 2>"$err" </dev/null || got=$?
    [ "$got" = "$want" ] || fail "status $got, not $want: $*"
}

# Both want an extended regular expression, which may match any line.
says() {
    grep -qE -e "$1" "$err" || fail "standard error does not say: $1"
}

prints() {
    grep -qE -e "$1" "$out" || fail "standard output does not say: $1"
}

# record COMMAND...: runs it in $data under the recorder, which must succeed.
record() {
    (cd "$data" && run 0 "$FLOTSAM" record -o "$session" --dir "$data" -- "$@") || exit 1
}

# events [JQ-CONDITION]: how many events of the session meet it.
events() {
    "$FLOTSAM" trace "$session" --json | jq "[.[] | select(${1:-true})] | length"
}

# has_events NUMBER CONDITION: that many, or in the form "4+" at least as many.
has_events() {
    local n
    n=$(events "$2") || fail "no readable trace of $session"
    case $1 in
    *+) [ "$n" -ge "${1%+}" ] ;;
    *) [ "$n" -eq "$1" ] ;;
    esac || fail "$n events with $2, not $1"
}

# same_tree [OPTION...]: what replay lays out equals what the recorded program left. The options
# are treecmp's.
same_tree() {
    local copy
    copy=$(mktemp -d "$scratch/replayed.XXXXXX")
    run 0 "$FLOTSAM" replay "$session" end "$copy"
    run 0 "$O/tests/treecmp" "$@" "$data" "$copy"
    rm -rf "$copy"
}

# Options of `flotsam record` besides, for what follows.
read -ra record_options <<<"${RECORD_OPTIONS:-}"

# The store tracer is built only where Valgrind is installed.
has_store_tracer() {
    [ -x "$O/valgrind/flotsam-amd64-linux" ]
}

need_store_tracer() {
    has_store_tracer || skip "the store tracer is not built"
}

# ---- the sample targets, in folders as under tests/targets ----

# setting FOLDER KEY: what the sample's config says of it.
setting() {
    sed -n "s/^$2 *= *//p" "$1/flotsam.ini"
}

# set_up FOLDER DIR: makes the sample's starting contents in DIR.
set_up() {
    local command
    command=$(setting "$1" setup)
    [ -z "$command" ] || (cd "$1" && sh -c "${command//'{dir}'/"$2"}")
}

# Samples whose stores are recorded; the others are recorded by their system calls alone.
is_store_sample() {
    [ "$(setting "$1" backend)" = valgrind ]
}

# record_and_compare COMMAND...: the two together, with the program's own success.
record_and_compare() {
    rm -f "$session"
    run 0 "$FLOTSAM" record -o "$session" --dir "$data" "${record_options[@]}" -- "$@"
    cp "$out" "$scratch/printed"
    cp "$err" "$scratch/said"
    run 0 "$FLOTSAM" trace "$session" --events 1..1000
    [ "$(sqlite3 "$session" "SELECT value FROM meta WHERE key = 'exit'")" = 0 ] ||
        fail "the recorded program failed: $* ($(cat "$scratch/printed" "$scratch/said"))"
    same_tree
}

# The processes whose program lies in $scratch: the helper, wherever it was left.
leftovers() {
    find /proc/[0-9]*/exe -maxdepth 0 -lname "$scratch/*" 2>/dev/null | cut -d / -f 3 || true
}

no_leftovers() {
    [ -z "$(leftovers)" ]
}

nothing_left_running() {
    poll 10 no_leftovers || fail "still running: $(leftovers)"
}

clean_up() {
    local pid
    for pid in $(leftovers); do
        kill -9 "$pid" 2>/dev/null || true
    done
    if mountpoint -q "$scratch/small" 2>/dev/null; then
        umount -l "$scratch/small" || true
    fi
    rm -rf "$scratch"
}
trap clean_up EXIT
