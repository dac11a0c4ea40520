#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# flotsam run: the sample from its config to its bugs; what a config can have wrong; whose data
# directory is emptied.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need cc make jq

mkdir "$scratch/sample target"
cp "$top"/tests/targets/current/{Makefile,flotsam.ini,*.[ch]} "$scratch/sample target"
cd "$scratch"
run 1 "$FLOTSAM" run 'sample target' --batch
prints '^Bug [12]: ordering — CURRENT.new renamed to CURRENT, manifest-1 not written'
prints '^Bug [12]: unpersisted — "reset" printed, CURRENT.new not renamed to CURRENT'
[ "$(grep -c '^Bug ' "$out")" = 2 ] || fail "not two bugs"
says '^put 15 19$'
cp "$err" said
[ -f 'sample target.flotsam' ] || fail "no session in the working directory"
session='sample target.flotsam'
has_events "$(grep -cE '^(put|reset)' said)" '.call == "print"'

# The store it leaves keeps all its promises, and not those of another run.
data='sample target/data'
same_tree
grep -E '^(put|reset)' said >promises
run 0 env FLOTSAM_STDOUT=promises 'sample target/check' "$data"
head -n 5 promises >fewer
run 1 env FLOTSAM_STDOUT=fewer 'sample target/check' "$data"
says '[0-9]+ keys are wrong'

# What was said of a bug is said of it still when the run is recorded and checked anew.
printf '%s\n' bugs 'status confirmed' 'note never synced' quit >say.script
run 0 "$FLOTSAM" open "$session" --script say.script
"$FLOTSAM" bugs "$session" --json | jq -c '[.bugs[] | [.status, .note]]' >triage
grep -q '"confirmed","never synced"' triage || fail "nothing was said"
run 1 "$FLOTSAM" run 'sample target' --batch
says '^flotsam: kept what was said of 1 bug$'
"$FLOTSAM" bugs "$session" --json | jq -c '[.bugs[] | [.status, .note]]' | diff triage - ||
    fail "what was said of bugs is lost"
run 0 "$FLOTSAM" record -o "$session" -- true
says '^flotsam: kept what was said of 1 bug$'
run 1 "$FLOTSAM" run 'sample target' --batch
"$FLOTSAM" bugs "$session" --json | jq -c '[.bugs[] | [.status, .note]]' | diff triage - ||
    fail "what was said of bugs is lost"
[ "$(echo ./*.flotsam*)" = "./$session" ] || fail "more files than the session are left"

# Again, by the config's name: the data directory was made by flotsam, so it is emptied.
touch 'sample target/data/left-over'
run 1 "$FLOTSAM" 'sample target/flotsam.ini' -o again.flotsam
[ ! -e 'sample target/data/left-over' ] || fail "the data directory was not emptied"
[ -f again.flotsam ] || fail "-o was not heeded"

# What somebody else made stays as it is.
rm -rf 'sample target/data'
mkdir 'sample target/data'
touch 'sample target/data/precious'
run 1 "$FLOTSAM" run 'sample target' -o foreign.flotsam
says 'was not made by flotsam: its contents stay'
[ -e 'sample target/data/precious' ] || fail "a user's file was deleted"

# The newest session is the one that commands take.
run 0 "$FLOTSAM" trace
cp "$out" newest
run 0 "$FLOTSAM" trace foreign.flotsam
cmp -s "$out" newest || fail "not the newest session was taken"

# Mistakes.
mkdir target
config() {
    printf '%s\n' "$@" >target/flotsam.ini
}
config '[target]' 'workload = true' '' 'chekcer = true'
run 2 "$FLOTSAM" run target
says '^flotsam: target/flotsam.ini:4: \[target\] has no key chekcer; did you mean checker\?'
config '[target]' 'dir = d'
run 2 "$FLOTSAM" run target
says 'flotsam.ini: no workload'
config '[target]' 'workload = true' 'build = echo built; exit 3'
run 2 "$FLOTSAM" run target
says '^built$'
says '^flotsam: build exited with status 3'
config '[target]' 'workload = true' 'setup = false'
run 2 "$FLOTSAM" run target
says '^flotsam: setup exited with status 1'
run 2 "$FLOTSAM" run
says 'run lacks an argument'
run 2 env FLOTSAM_EXPLORE_JOBS=many "$FLOTSAM" run target
says '^flotsam: FLOTSAM_EXPLORE_JOBS: jobs is a whole number'

# Without its mistakes nothing is found. The config's settings are heeded.
rm -rf 'sample target/data'
run 0 make -s -C 'sample target' clean
run 0 make -s -C 'sample target' FIXED=1
run 0 "$FLOTSAM" run 'sample target' -o fixed.flotsam
run 0 env FLOTSAM_MODEL_NAME=posix FLOTSAM_EXPLORE_BUDGET=7 \
    "$FLOTSAM" run 'sample target' -o posix.flotsam
tr '\n' ' ' <"$out" | grep -q 'budget of 7 states' || fail "it does not say that the budget cut it"
[ "$("$FLOTSAM" bugs posix.flotsam --json | jq -r .model)" = posix ] || fail "the model is not posix"
[ "$("$FLOTSAM" bugs posix.flotsam --json | jq -r .model_switches)" = null ] ||
    fail "ext4's switches changed posix"

# A switch of the model stays with the session, for those who look and for the next check.
graph() {
    run 0 "$FLOTSAM" graph "$@" --json
    jq 'length' "$out"
}
run 0 env FLOTSAM_MODEL_DIOREAD_LOCK=yes "$FLOTSAM" run 'sample target' -o locked.flotsam
[ "$(graph locked.flotsam)" -lt "$(graph locked.flotsam --model ext4)" ] ||
    fail "the graph has blocks that are allocated before they are written"
run 0 "$FLOTSAM" check locked.flotsam
[ "$("$FLOTSAM" bugs locked.flotsam --json | jq -r .model_switches)" = dioread_lock=yes ] ||
    fail "the next check forgot the model's switch"
run 0 "$FLOTSAM" check locked.flotsam --model ext4
[ "$("$FLOTSAM" bugs locked.flotsam --json | jq -r .model_switches)" = null ] ||
    fail "a model that is given takes over switches that were not"
[ "$(graph locked.flotsam)" = "$(graph locked.flotsam --model ext4)" ] ||
    fail "what was checked last is not what is shown"

# How behaviours are found stays with the session likewise.
behaviours() {
    run 0 "$FLOTSAM" behaviours "$1" --json
    jq 'length' "$out"
}
run 0 env FLOTSAM_EXPLORE_BEHAVIOUR_MAX=2 FLOTSAM_EXPLORE_GAP=1 \
    "$FLOTSAM" run 'sample target' -o small.flotsam
[ "$(behaviours small.flotsam)" != "$(behaviours fixed.flotsam)" ] ||
    fail "behaviour_max and gap change nothing"
[ "$(behaviours small.flotsam)" = "$("$FLOTSAM" bugs small.flotsam --json | jq .behaviours)" ] ||
    fail "other behaviours are shown than were checked"
run 0 "$FLOTSAM" check small.flotsam
[ "$(behaviours small.flotsam)" = "$("$FLOTSAM" bugs small.flotsam --json | jq .behaviours)" ] ||
    fail "the next check found other behaviours"

# Setup's work is the starting image, not part of the trace; without a checker the trace is shown,
# and nobody takes that for a test that passed.
config '[target]' 'setup = echo before >{dir}/first' 'workload = echo after >{dir}/second'
run 2 "$FLOTSAM" run target -o setup.flotsam
prints ' second '
says 'nothing was tested: the config has no checker'
! grep -q ' first ' "$out" || fail "setup was recorded"
run 0 "$FLOTSAM" replay setup.flotsam end setup-end
[ "$(cat setup-end/first setup-end/second)" = $'before\nafter' ] || fail "setup's file is missing"

# A checker that is not there is known before the workload runs.
config '[target]' 'build = true' "workload = touch $scratch/ran" 'checker = ./nonesuch {dir}'
run 2 "$FLOTSAM" run target
says 'checker not found, give one with --checker: ./nonesuch'
[ ! -e "$scratch/ran" ] || fail "the workload ran for nothing"

# A system-wide and a user's config are read.
mkdir -p "$XDG_CONFIG_HOME/flotsam"
printf '[explore]\njobs = x\n' >"$XDG_CONFIG_HOME/flotsam/config"
run 2 "$FLOTSAM" run target
says "config/flotsam/config:2: jobs is a whole number"

rm "$XDG_CONFIG_HOME/flotsam/config"

# A workload that does nothing, or is not there, is no success; one that failed is told of.
mkdir "$scratch/idle"
target() { # WORKLOAD
    printf '[target]\ndir = data\nworkload = %s\nchecker = true\n[explore]\nbudget = 3\ntimeout = 7\n' \
        "$1" >"$scratch/idle/t.ini"
}
cd "$scratch/idle"
target ./no-such-program
run 2 "$FLOTSAM" run t.ini -o t.flotsam --batch
says 'the workload could not be run: ./no-such-program exited with status 127'
target true
run 2 "$FLOTSAM" run t.ini -o t.flotsam --batch
prints 'The run changed nothing in its data directory'
run 0 "$FLOTSAM" report t.flotsam --format junit
prints 'failures="1"'
# shellcheck disable=SC2016 # the shell that is recorded expands it
target 'echo x >{dir}/f; echo y >{dir}/g; kill -9 $$'
run 0 "$FLOTSAM" run t.ini -o t.flotsam --batch
prints 'the program was killed by signal 9'

# What the config says of exploring goes with the session, until an option says otherwise.
run 0 "$FLOTSAM" check t.flotsam
prints '^3 states went through.*the budget of 3 states'
run 0 "$FLOTSAM" check t.flotsam --budget 0
prints '^[1-9][0-9]* states went through, [0-9]* distinct, 0 inconsistent$'
