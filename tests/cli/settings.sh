#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# Who has a say in a check: options, the environment, what the session has of its target, the user's
# config, the system's; and mistakes in each of them.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq sqlite3

export XDG_CONFIG_DIRS=$scratch/system
user=$XDG_CONFIG_HOME/flotsam/config system=$XDG_CONFIG_DIRS/flotsam/config
mkdir -p "${user%/*}" "${system%/*}"
# shellcheck disable=SC2016
record bash -c 'for i in a b c d; do echo $i >$i; mv $i x; done'

# check [NAME=VALUE...] [OPTION...]: what its report says of model, strategy and states.
check() {
    run 0 env "${@:1:vars}" "$FLOTSAM" check "$session" --checker 'test -d {dir}' "${@:vars+1}"
    "$FLOTSAM" report "$session" --format json |
        jq -r '[.model, .model_switches, .strategy, .states.enumerated] | map(. // "-" | tostring) | join(" ")'
}

# expect WANTED [ARGUMENT...]: of check; $vars of them are variables.
expect() {
    local wanted=$1 found
    shift
    found=$(check "$@") || fail "$found"
    # shellcheck disable=SC2053
    [[ $found = $wanted ]] || fail "$found, not $wanted: $*"
}
vars=0
expect 'ext4 - representative *'
printf '%s\n' '[explore]' 'strategy = prefix' 'budget = 5' '[model]' 'name = btrfs' >"$system"
expect 'btrfs - prefix 5'
printf '%s\n' '[explore]' 'budget = 4' '[model]' 'name = ext4' 'dioread_lock = yes' >"$user"
expect 'ext4 dioread_lock=yes prefix 4'
expect 'xfs - prefix 6' --model xfs --budget 6
vars=1
expect 'ext4 dioread_lock=yes prefix 3' FLOTSAM_EXPLORE_BUDGET=3
expect 'ext4 dioread_lock=yes prefix 2' FLOTSAM_EXPLORE_BUDGET=3 --budget 2
expect 'xfs - prefix 4' FLOTSAM_MODEL_NAME=xfs
expect 'ext4 - prefix 4' FLOTSAM_MODEL_DIOREAD_LOCK=no

# What a target's config said stays with its session, before what the user has.
mkdir "$scratch/target"
cd "$scratch"
# shellcheck disable=SC2016
printf '%s\n' '[target]' 'workload = for i in a b c d; do echo $i >{dir}/$i; done' \
    'checker = test -d {dir}' '[explore]' 'budget = 7' 'strategy = sync' \
    '[model]' 'name = ext4' 'dioread_lock = no' 'auto_da_alloc = no' >target/flotsam.ini
run 0 "$FLOTSAM" run target --batch -o "$session"
vars=0
expect 'ext4 auto_da_alloc=no sync *'
expect 'ext4 dioread_lock=yes sync *' --model ext4
vars=1
expect 'xfs - sync *' FLOTSAM_MODEL_NAME=xfs
expect 'ext4 auto_da_alloc=no prefix 7' FLOTSAM_EXPLORE_STRATEGY=prefix

# How behaviours are found is found so by all who look.
behaviours() {
    "$FLOTSAM" behaviours "$session" --json | jq length
}
before=$(behaviours)
expect '* sync *' FLOTSAM_EXPLORE_GAP=1
vars=2
expect '* representative *' FLOTSAM_EXPLORE_BEHAVIOUR_MAX=2 FLOTSAM_EXPLORE_STRATEGY=representative
[ "$("$FLOTSAM" report "$session" --format json | jq .behaviours)" = "$(behaviours)" ] ||
    fail "other behaviours are shown than were checked"
[ "$(behaviours)" != "$before" ] || fail "behaviour_max changes nothing"

# The debugger's check, likewise.
printf '%s\n' 'check' 'quit' >check.script
run 0 env FLOTSAM_EXPLORE_BUDGET=2 FLOTSAM_EXPLORE_STRATEGY=prefix \
    "$FLOTSAM" open "$session" --script check.script
[ "$("$FLOTSAM" report "$session" --format json | jq .states.enumerated)" = 2 ] ||
    fail "the debugger's check has another budget"

# Mistakes.
run 2 env FLOTSAM_EXPLORE_JOBZ=2 "$FLOTSAM" check "$session"
says '^flotsam: FLOTSAM_EXPLORE_JOBZ: \[explore\] has no key jobz; did you mean jobs\?'
run 2 env FLOTSAM_MODEL_AUTO_DA_ALOC=no "$FLOTSAM" run target --batch
says '^flotsam: FLOTSAM_MODEL_AUTO_DA_ALOC: .*did you mean auto_da_alloc\?'
run 2 env FLOTSAM_TARGET_CHECKER=true "$FLOTSAM" check "$session"
says '^flotsam: FLOTSAM_TARGET_CHECKER: \[target\] belongs to'
run 2 env FLOTSAM_MODEL_NAME=xfs FLOTSAM_MODEL_AUTO_DA_ALLOC=no "$FLOTSAM" check "$session"
says '^flotsam: auto_da_alloc is a switch of the model ext4, not of xfs'
run 2 "$FLOTSAM" check "$session" --model 'xfs auto_da_alloc=no'
says 'auto_da_alloc is a switch of the model ext4, not of xfs'
printf '%s\n' '[target]' 'workload = touch ran' '[model]' 'name = xfs' 'auto_da_alloc = no' \
    >target/flotsam.ini
run 2 "$FLOTSAM" run target --batch
says 'auto_da_alloc is a switch of the model ext4, not of xfs'
[ ! -e target/ran ] || fail "the mistake was told when it was too late"
printf '%s\n' '[explore]' 'budgett = 4' >"$user"
run 2 "$FLOTSAM" check "$session"
says "$user:2: \[explore\] has no key budgett; did you mean budget\?"
rm "$user" "$system"

# A time of 0 is no limit, wherever it stands: the checker takes longer than the shortest one.
record touch a
slow='sleep 1.2; true'
run 1 env FLOTSAM_EXPLORE_TIMEOUT=1 "$FLOTSAM" check "$session" --checker "$slow"
run 0 env FLOTSAM_EXPLORE_TIMEOUT=0 "$FLOTSAM" check "$session" --checker "$slow"
run 0 env FLOTSAM_EXPLORE_TIMEOUT=1 "$FLOTSAM" check "$session" --checker "$slow;" --timeout 0
printf '%s\n' "check timeout=0 checker=$slow; :" 'quit' >check.script
run 0 env FLOTSAM_EXPLORE_TIMEOUT=1 "$FLOTSAM" open "$session" --script check.script
[ "$("$FLOTSAM" report "$session" --format json | jq .states.inconsistent)" = 0 ] ||
    fail "the debugger takes a time of 0 for another"
