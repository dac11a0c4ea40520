#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Which backend records: record says when stores are missing, and the exact command that records
# them; run does it by itself, once.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq sqlite3
need_store_tracer

backend() {
    sqlite3 "$1" "SELECT value FROM meta WHERE key = 'backend'"
}

# The command that is given works as it stands, whatever has to be quoted in it.
data="$scratch/the data"
mkdir "$data"
cd "$data"
session="$scratch/it's.flotsam"
run 0 "$FLOTSAM" record -o "$session" --dir "$data" -- "$act" map
says 'stores to memory are no system calls and are missing in this trace'
[ "$(backend "$session")" = ptrace ] || fail "auto did not take ptrace"
has_events 0 '.call == "store"'
command=$(sed -n 's/^flotsam: record them with the store tracer: flotsam //p' "$err")
case $command in
"record --backend valgrind -o "*) ;;
*) fail "no command to record stores: $command" ;;
esac
rm "$data"/*
eval "run 0 \"\$FLOTSAM\" $command"
! grep -q 'missing in this trace' "$err" || fail "stores are still missing"
[ "$(backend "$session")" = valgrind ] || fail "not recorded with the store tracer"
has_events 1+ '.call == "store" and .path == "mapped"'
same_tree
! grep -q 'stored through them' "$err" || fail "replay says that stores are missing"

# Nothing is said where nothing is mapped.
run 0 "$FLOTSAM" record -o "$session" --dir "$data" -- "$act" write 3
! grep -q 'store tracer' "$err" || fail "advice without need"

# run: once more by itself, from the same start, and only then.
mkdir "$scratch/target"
cd "$scratch/target"
config() {
    printf '%s\n' '[target]' 'dir = data' "workload = cd {dir} && $act $1 && echo ran" \
        'setup = echo old >{dir}/mapped' '[record]' "backend = $2" >flotsam.ini
}
config map auto
run 2 "$FLOTSAM" run . -o "$scratch/run.flotsam"
says 'recording once more, with the store tracer'
[ "$(grep -c '^ran$' "$err")" = 2 ] || fail "it did not run twice"
[ "$(backend "$scratch/run.flotsam")" = valgrind ] || fail "not recorded with the store tracer"
session=$scratch/run.flotsam data=data
has_events 1+ '.call == "store"'
has_events 0 '.call == "open" and (.words | index("new"))' # setup ran again
same_tree

for pair in 'write auto' 'map ptrace' 'map valgrind'; do
    read -r mode name <<<"$pair"
    config "$mode" "$name"
    run 2 "$FLOTSAM" run . -o "$scratch/run.flotsam"
    ! grep -q 'once more' "$err" || fail "$pair: recorded twice"
    [ "$(grep -c '^ran$' "$err")" = 1 ] || fail "$pair: it did not run once"
done
[ "$(backend "$scratch/run.flotsam")" = valgrind ] || fail "the config's backend was not heeded"
config map ptrace
run 2 "$FLOTSAM" run . -o "$scratch/run.flotsam"
says 'backend = auto or valgrind under \[record\]'

# The rest is built without Valgrind, and says what is missing.
cd "$top"
run 0 make O="$scratch/build" VALGRIND_FOUND=valgrind-3.20.0 store-tool
prints 'no store tracer.*lacks valgrind-3.19.0 itself \(this is valgrind-3.20.0\).*apt install'
run 0 make O="$scratch/build" VALGRIND_FOUND= store-tool
prints 'no store tracer.*apt install valgrind'
