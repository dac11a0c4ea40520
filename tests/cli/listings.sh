#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What lies between the events and the bugs: flotsam graph, behaviours, groups, states, schedules,
# why, why-op and replay state:N agree with each other, with the report and with the checker.
# timeout: 300
# shellcheck disable=SC2016 # they are the variables of jq
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need cc make jq sqlite3

mkdir "$scratch/targets"
cp -r "$top/tests/targets/." "$scratch/targets"
target=$scratch/targets/current
run 0 make -s -C "$target" clean all

# holds MESSAGE JQ-CONDITION FILE...: true of the files' values, which are .[0], .[1], …
holds() {
    local message=$1 condition=$2
    shift 2
    jq -se "$condition" "$@" >/dev/null || fail "$message"
}

# list COMMAND [OPTION...]: the JSON of it, in $scratch/COMMAND.json.
list() {
    "$FLOTSAM" "$1" "$session" --json "${@:2}" >"$scratch/$1.json" || fail "no JSON: $*"
}

# ---- before a check ----

mkdir -p "$target/data"
run 0 "$FLOTSAM" record -o "$session" --dir "$target/data" -- "$target/workload" "$target/data"
for command in states schedules; do
    run 2 "$FLOTSAM" $command "$session"
    says 'not been checked.*flotsam check'
    [ ! -s "$out" ] || fail "$command printed something"
done
run 2 "$FLOTSAM" replay "$session" state:1 "$scratch/none"
list graph --model strict
holds 'strict does not keep the order of calls' \
    '.[0] | .[1:] | all(.predecessors | map(.rule) | index("program-order"))' "$scratch/graph.json"
run 2 "$FLOTSAM" graph "$session" --model ext5
says 'ext5.*ext4'
rm -r "$session" "$target/data"

# ---- the graph ----

(cd "$target" && run 1 "$FLOTSAM" run . -o "$session" --batch) || exit 1
"$FLOTSAM" report "$session" --format json >"$scratch/report.json"
"$FLOTSAM" trace "$session" --json >"$scratch/trace.json"
for command in graph behaviours groups states schedules; do
    list $command
done
holds 'ops are not those of the report, numbered from 0' \
    '(.[0] | map(.op)) == [range(.[1].ops)]' "$scratch/graph.json" "$scratch/report.json"
holds 'an op lacks a member of the contract' \
    '.[0] | all(has("op") and has("event") and has("call") and has("path") and has("offset") and
                has("size") and has("function") and has("file") and has("line") and
                (.kind | IN("name", "size", "alloc", "data", "zero", "range")))' \
    "$scratch/graph.json"
holds 'an edge points backwards' '.[0] | all(. as $o | .predecessors | all(.op < $o.op))' \
    "$scratch/graph.json"
holds 'an op is not of its event' \
    '.[1] as $trace | .[0] | all($trace[.event - 1] as $e | .call == $e.call and
                                 .path == $e.path and .line == $e.line)' \
    "$scratch/graph.json" "$scratch/trace.json"
holds 'what makes an op durable is no later sync' \
    '.[1] as $trace | .[0] | all(.durable == null or (.durable > .event and
        ($trace[.durable - 1].call | IN("fsync", "fdatasync"))))' \
    "$scratch/graph.json" "$scratch/trace.json"
# The first mistake of this sample: no manifest is ever synced. Its log always is.
holds 'manifests and logs are not durable as the source says' \
    '.[0] | (map(select((.path | startswith("manifest")) and .kind == "data")) |
             length == 3 and all(.durable == null)) and
            (map(select((.path | startswith("log")) and .kind == "data")) |
             length > 3 and all(.durable == .event + 1))' "$scratch/graph.json"

list graph --path 'manifest*' --events 1..20
holds 'filters let something else through' \
    '.[0] | length > 0 and all((.path | startswith("manifest")) and .event <= 20)' \
    "$scratch/graph.json"
run 2 "$FLOTSAM" graph "$session" --events 9..x
run 0 "$FLOTSAM" graph "$session" --path no-such-file
says 'nothing passes the filters'
list graph

# ---- behaviours and groups ----

holds 'behaviours or groups are not those of the report' \
    '(.[0] | length) == .[2].behaviours and (.[1] | length) == .[2].groups' \
    "$scratch/behaviours.json" "$scratch/groups.json" "$scratch/report.json"
holds 'a behaviour is in no group' '.[0] | all(.groups | length > 0)' "$scratch/behaviours.json"
holds 'groups and their members do not agree' \
    '.[0] as $behaviours | .[1] | all(. as $g |
        ([$behaviours[] | select(.groups | index($g.group))] | length == $g.members and
         all(.function == $g.function)) and
        ($behaviours[$g.representative] | (.groups | index($g.group)) and .ops == $g.ops))' \
    "$scratch/behaviours.json" "$scratch/groups.json"
holds 'a behaviour of n ops has from n + 1 to 2^n schedules' \
    '.[0] | all(.schedules == null or (.schedules > .ops and .schedules <= pow(2; .ops)))' \
    "$scratch/groups.json"
holds 'main does not do everything' \
    '.[1].ops as $n | .[0] | map(select(.function == "main")) |
     any(.ops == $n and (.flags | index("merged")))' \
    "$scratch/behaviours.json" "$scratch/report.json"

# ---- states and schedules ----

holds 'states are not those of the report' \
    '(.[0] | map(.state)) == [range(1; .[1].states.distinct + 1)] and
     ([.[0][] | select(.verdict == "inconsistent")] | length) == .[1].states.inconsistent' \
    "$scratch/states.json" "$scratch/report.json"
holds 'a state and its schedule do not agree' \
    '.[0] as $states | .[1] | all(. as $s | $states[.state - 1] |
        .verdict == $s.verdict and .last == $s.last and .crash_event == $s.crash_event and
        ((.lost | map(.op)) - ($s.lost | map(.op))) == [] and
        $s.persisted + ($s.lost | length) == (($s.last // -1) + 1))' \
    "$scratch/states.json" "$scratch/schedules.json"
holds 'nothing was ever lost' '.[0] | any(.lost | length > 1)' "$scratch/schedules.json"
# What survives has all that it needs; what is lost is lost for a reason.
holds 'a schedule is not closed' \
    '.[0] as $graph | .[1] as $states | .[2] | all(. as $s | (.lost | map(.op)) as $lost |
        ($states[.state - 1].lost | map(.op)) as $first |
        all(range(($s.last // -1) + 1); . as $op |
            ($graph[$op].predecessors | any(.op as $p | $lost | index($p))) as $needs |
            if ($lost | index($op)) then $needs or ($first | index($op)) else $needs | not end))' \
    "$scratch/graph.json" "$scratch/states.json" "$scratch/schedules.json"
run 0 "$FLOTSAM" states "$session"
[ "$(wc -l <"$out")" = $(($(jq length "$scratch/states.json") + 1)) ] || fail "not a line a state"

# The checker says of a state that is laid out again what it said then.
states=$(jq length "$scratch/states.json")
agreed=0
for ((n = 1; n <= states; n += 11)); do
    jq -j --argjson n "$n" --slurpfile states "$scratch/states.json" '$states[0][$n - 1] as $s |
        .[] | select(.call == "print" and .fd == 1 and
                     (.event < $s.crash_event or $s.at_end)) | .text' \
        "$scratch/trace.json" >"$scratch/printed"
    verdict=$(jq -r ".[$n - 1].verdict" "$scratch/states.json")
    run 0 "$FLOTSAM" replay "$session" "state:$n" "$scratch/state"
    says "state $n \($verdict\)"
    command=$(cat "$out")
    [ -n "$command" ] || fail "no command to check state $n"
    got=inconsistent
    if (cd "$target" && FLOTSAM_STDOUT=$scratch/printed sh -c "$command" >"$out" 2>"$err"); then
        got=consistent
    fi
    [ "$got" = "$verdict" ] || fail "state $n was $verdict and is $got when laid out"
    agreed=$((agreed + 1))
    rm -rf "$scratch/state" "$scratch"/state.*
done
[ "$agreed" -gt 10 ] || fail "only $agreed states were laid out"
# What a lost op takes along is lost, too: a file whose data went with its block is empty.
read -r n path < <(jq -sr '.[0] as $states | [.[1][] | . as $s |
    ($states[.state - 1].lost | map(.op)) as $first | .lost |
    select(all(.path == "manifest-1")) |
    .[] | select(.kind == "data" and (.op as $op | $first | index($op) | not)) |
    "\($s.state) \(.path)"][0]' "$scratch/states.json" "$scratch/schedules.json")
[ -n "${path:-}" ] || fail "no state lost data that needed a block"
run 0 "$FLOTSAM" replay "$session" "state:$n" "$scratch/state"
[ -e "$scratch/state/$path" ] || fail "state $n has no $path"
[ ! -s "$scratch/state/$path" ] || fail "state $n has data of $path, though that was lost"
rm -rf "$scratch/state"
run 2 "$FLOTSAM" replay "$session" "state:$n" "$scratch/state/"
says 'state.stdout is there already; remove it'
[ ! -e "$scratch/state" ] || fail "a state was laid out where what goes with it cannot be"
rm "$scratch"/state.*
mkdir "$scratch/real" && ln -s real "$scratch/state" && ln -s nowhere "$scratch/real.markers"
run 2 "$FLOTSAM" replay "$session" "state:$n" "$scratch/state"
says 'real.markers is there already; remove it'
rmdir "$scratch/real" || fail "a state was laid out behind a link"
rm "$scratch/state" "$scratch/real.markers"
run 2 "$FLOTSAM" replay "$session" "state:$((states + 1))" "$scratch/state"
says 'flotsam states lists them'
run 2 "$FLOTSAM" replay "$session" state:x "$scratch/state"
[ ! -e "$scratch/state" ] || fail "something was made for a state that is not there"

# ---- why-op ----

# op CONDITION: the number of the first op that meets it.
op() {
    jq "[.[] | select($1)][0].op" "$scratch/graph.json"
}
manifest=$(op '.path == "manifest-1" and .kind == "data"')
log=$(op '.path == "log-1" and .kind == "data"')
created=$(op '.path == "manifest-1" and .kind == "name"')
switched=$(op '.call == "rename"')
run 0 "$FLOTSAM" why-op "$session" "$manifest" "$switched"
tr -s '\n ' ' ' <"$out" >"$out.line" && mv "$out.line" "$out"
prints "Op $manifest .* need not persist before op $switched .* no sync ever makes op $manifest dur"
run 0 "$FLOTSAM" why-op "$session" "$switched" "$manifest"
tr -s '\n ' ' ' <"$out" >"$out.line" && mv "$out.line" "$out"
prints "issued earlier\. Nor must op $manifest persist before"
run 0 "$FLOTSAM" why-op "$session" "$created" "$manifest"
prints ' alloc-first '
prints " must persist before op $manifest"
later=$(op '.path == "log-2" and .kind == "data"')
run 0 "$FLOTSAM" why-op "$session" "$log" "$later"
prints ' synced '
prints 'fdatasync log-1'
edges=0
while read -r from to rule; do
    edges=$((edges + 1))
    run 0 "$FLOTSAM" why-op "$session" "$from" "$to"
    prints "^ +$to .* $rule +"
    prints 'must persist before'
done < <(jq -r '.[] | . as $o | .predecessors[0:1][] | "\(.op) \($o.op) \(.rule)"' \
    "$scratch/graph.json" | head -12)
[ "$edges" = 12 ] || fail "only $edges edges to ask after"
run 2 "$FLOTSAM" why-op "$session" 1 1
run 2 "$FLOTSAM" why-op "$session" 1 1000000
says 'flotsam graph lists'
run 2 "$FLOTSAM" why-op "$session" 1
says '^flotsam: why-op takes two numbers, and only 1 follows .*flotsam why-op \[S\] A B$'
run 2 "$FLOTSAM" why "$session" 0
says '^flotsam: why takes two numbers, and only 0 follows '

# ---- why ----

# Of each group with several members: the representative and the last one. And of the others.
pairs=0
while read -r a b; do
    pairs=$((pairs + 1))
    run 0 "$FLOTSAM" why "$session" "$a" "$b"
    prints "Both are in group [0-9]+, which #"
    prints "#$a represents #$b: every op"
    prints "^ +a .* = "
done < <(jq -r --slurpfile b "$scratch/behaviours.json" '.[] | select(.members > 1) | . as $g |
    [$b[0][] | select((.groups | index($g.group)) and .behaviour != $g.representative)] | last |
    "\($g.representative) \(.behaviour)"' "$scratch/groups.json")
[ "$pairs" -gt 0 ] || fail "no group has two members"
a=$(jq '[.[] | select(.function == "main")][0].behaviour' "$scratch/behaviours.json")
b=$(jq '[.[] | select(.function == "store_put")][0].behaviour' "$scratch/behaviours.json")
run 0 "$FLOTSAM" why "$session" "$a" "$b"
prints "#$a and #$b are in no common group"
prints 'they belong to different functions'
run 2 "$FLOTSAM" why "$session" "$a" "$a"
run 2 "$FLOTSAM" why "$session" "$a" x
says 'flotsam behaviours lists'

# ---- a session with states that do not fit ----

sqlite3 "$session" "UPDATE states SET last = 1000000 WHERE id = 2"
run 2 "$FLOTSAM" states "$session"
says 'state 2 does not fit'
run 2 "$FLOTSAM" replay "$session" state:2 "$scratch/state"
says 'damaged'
sqlite3 "$session" "UPDATE states SET last = 1, lost = x'0900000001000000' WHERE id = 2"
run 2 "$FLOTSAM" schedules "$session" --json
says 'state 2 does not fit'
