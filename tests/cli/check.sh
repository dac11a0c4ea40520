#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# flotsam check: exit statuses; the same report whatever happened on the way to it (other jobs, an
# interruption, a kill); what a budget cuts; states laid out again; checkers that behave badly.
# timeout: 300
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need cc make jq sqlite3 flock

cp -r "$top/tests/targets" "$scratch/targets"
sample=$scratch/targets/wal
checker="$sample/check {dir}"
recorded=$scratch/recorded.flotsam
run 0 make -s -C "$sample" clean
run 0 make -s -C "$sample"
run 0 "$FLOTSAM" record -o "$recorded" --dir "$data" -- "$sample/workload" "$data"
cp -r "$data" "$scratch/data-before"
touch "$scratch/begin"

# A copy in the scratch folder, so that none of its processes can hide from leftovers.
cp "$FLOTSAM" "$scratch/flotsam"
FLOTSAM=$scratch/flotsam

fresh() {
    rm -f "$session"*
    cp "$recorded" "$session"
}

report() {
    "$FLOTSAM" report "$session" --format json
}

# What must not depend on when and where it was found.
findings() {
    report | jq -S 'del(.seconds, .effort, .session)'
}

# is JQ-CONDITION: of the report.
is() {
    report | jq -e "$1" >/dev/null || fail "the report lacks $1: $(report | jq -c 'del(.bugs)')"
}

verdicts() {
    sqlite3 "$session" 'SELECT count(*) FROM verdicts' 2>/dev/null || echo 0
}

has_verdicts() {
    [ "$(verdicts)" -ge "$1" ]
}

# Folders of crash states that nobody uses any more; every running flotsam locks its own.
abandoned() {
    local folder
    for folder in /dev/shm/flotsam-pool-* "${TMPDIR:-/tmp}"/flotsam-pool-*; do
        if [ "$folder" -nt "$scratch/begin" ] && flock -n "$folder" true 2>/dev/null; then
            echo "$folder"
        fi
    done
}

none_abandoned() {
    [ -z "$(abandoned)" ]
}

nothing_left() {
    nothing_left_running
    poll 10 none_abandoned || fail "still there: $(abandoned)"
    ! grep -F "$scratch" /proc/self/mounts || fail "still mounted"
    diff -r "$data" "$scratch/data-before" || fail "the data directory has changed"
}

# ---- exit statuses ----

fresh
run 2 "$FLOTSAM" check "$session"
says 'no checker'
run 2 "$FLOTSAM" check "$session" --checker "$scratch/no-such-checker {dir}"
says 'no-such-checker'
run 2 "$FLOTSAM" check "$session" --checker "$checker" --model ext5
says 'ext5.*ext4'
run 2 "$FLOTSAM" check "$session" --checker "$checker" --strategy all
says 'strategy all.*exhaustive'
run 2 "$FLOTSAM" report "$session"
says 'has not been checked'
run 2 "$FLOTSAM" check "$scratch/none.flotsam" --checker "$checker"
head -c 10000 "$recorded" >"$scratch/damaged.flotsam"
run 2 "$FLOTSAM" check "$scratch/damaged.flotsam" --checker "$checker"
run 0 "$FLOTSAM" check "$session" --checker true
is '.bugs == [] and .states.inconsistent == 0 and .states.complete'
run 1 "$FLOTSAM" check "$session" --checker false
is '(.bugs | length) == 1 and .states.inconsistent == .states.distinct'

# Whether what was printed counts: a checker that wants it all fails, or gets nothing to want. States
# that differ in nothing else are one then.
wants="test ! -s \"\$FLOTSAM_STDOUT\""
run 2 "$FLOTSAM" check "$session" --checker "$wants" --acknowledgements maybe
run 1 "$FLOTSAM" check "$session" --checker "$wants" --acknowledgements yes
told_apart=$(report | jq .states.distinct)
run 0 "$FLOTSAM" check "$session" --checker "$wants" --acknowledgements no
is ".states.distinct < $told_apart and .effort.memory_peak > 100000 and .effort.own_cpu > 0 and .effort.checker_cpu > 0"
sqlite3 "$session" "INSERT OR REPLACE INTO meta VALUES('acknowledgements', 'no')"
run 0 "$FLOTSAM" check "$session" --checker "$wants"
run 1 "$FLOTSAM" check "$session" --checker "$wants" --acknowledgements yes
is '.effort.reused > 0'

# ---- always the same ----

fresh
run 1 "$FLOTSAM" check "$session" --checker "$checker" --jobs 1
findings >"$scratch/reference"
is '(.bugs | length) == 1 and .bugs[0].survived[0].function == "cut_log"'
sqlite3 "$session" 'SELECT hex(key), kind, exit, signal FROM verdicts' >"$scratch/verdicts"

same_findings() {
    findings | diff "$scratch/reference" - || fail "$1: not the same report"
    sqlite3 "$session" 'SELECT hex(key), kind, exit, signal FROM verdicts' |
        diff "$scratch/verdicts" - || fail "$1: not the same verdicts"
}

run 1 "$FLOTSAM" check "$session" --checker "$checker"
same_findings 'with all verdicts known'
fresh
run 1 "$FLOTSAM" check "$session" --checker "$checker" --jobs 3
same_findings 'with three jobs'
nothing_left

# ---- interrupted, killed ----

# The same verdicts, but slowly, and more so when there are nearly all of them; each run leaves a
# line. The command is the same all along, because verdicts are of a checker.
echo 1000 >"$scratch/distinct"
cat >"$scratch/slow" <<EOF
#!/bin/sh
echo run >>"$scratch/runs"
pace=0.2
[ "\$(wc -l <"$scratch/runs")" -le "\$(cat "$scratch/distinct")" ] || pace=2
[ -e "$scratch/fast" ] || sleep "\$pace"
exec "$sample/check" "\$1"
EOF
chmod +x "$scratch/slow"
slow="$scratch/slow {dir}"
fresh
touch "$scratch/fast"
run 1 "$FLOTSAM" check "$session" --checker "$slow"
findings >"$scratch/reference"
sqlite3 "$session" 'SELECT hex(key), kind, exit, signal FROM verdicts' >"$scratch/verdicts"
jq .states.distinct "$scratch/reference" >"$scratch/distinct"

# end_by SIGNAL STATUS VERDICTS: ends a check by it when it has that many; they are kept.
end_by() {
    local pid status=0
    fresh
    rm -f "$scratch/fast" "$scratch/runs"
    "$FLOTSAM" check "$session" --checker "$slow" --jobs 2 >"$out" 2>"$err" &
    pid=$!
    poll 60 has_verdicts "$3" || fail "no verdicts yet"
    kill "-$1" "$pid"
    wait "$pid" || status=$?
    kept=$(verdicts)
    [ "$kept" -ge "$3" ] || fail "verdicts are gone after SIG$1"
    [ "$kept" -lt "$(wc -l <"$scratch/verdicts")" ] || fail "SIG$1 came too late to test anything"
    [ "$status" = "$2" ] || fail "status $status after SIG$1, not $2"
    nothing_left
}

# Runs that were under way are done again, others are not; and that of each bug's state once more.
goes_on() {
    touch "$scratch/fast"
    : >"$scratch/runs"
    run 1 "$FLOTSAM" check "$session" --checker "$slow"
    same_findings "after SIG$1"
    [ "$(wc -l <"$scratch/runs")" = $(($(wc -l <"$scratch/verdicts") - kept + 1)) ] ||
        fail "$(wc -l <"$scratch/runs") runs though $kept verdicts were kept"
}

end_by INT 130 3
is '.states.complete == false and (.cut | test("interrupted"))'
goes_on INT
end_by TERM 130 3
is '.states.complete == false and (.cut | test("interrupted"))'
goes_on TERM
end_by HUP 130 3
is '.states.complete == false and (.cut | test("interrupted"))'
goes_on HUP
end_by KILL 137 3
goes_on KILL

# The same near the end; causes are looked for on the way, and those found are told.
end_by INT 130 "$(cat "$scratch/distinct")"
is '.states.complete == false and (.cut | test("interrupted"))'
is '(.bugs | length) >= 1'
goes_on INT

# A checker that never ends does not keep anybody waiting.
fresh
begin=$SECONDS
"$FLOTSAM" check "$session" --checker 'sleep 1000' >"$out" 2>"$err" &
pid=$!
sleep 1
status=0
kill -INT "$pid"
wait "$pid" || status=$?
[ "$status" = 130 ] || fail "status $status, not 130"
[ $((SECONDS - begin)) -lt 20 ] || fail "it waited for the checker"
nothing_left

# ---- budgets ----

fresh
run 0 "$FLOTSAM" check "$session" --checker "$checker" --budget 40
is '.states.enumerated == 40 and .states.complete == false and (.cut | test("budget of 40"))'
all=$(jq .states.enumerated "$scratch/reference")
run 1 "$FLOTSAM" check "$session" --checker "$checker" --budget "$((all - 1))"
is '.states.complete == false'
prints 'budget of'
run 1 "$FLOTSAM" check "$session" --checker "$checker" --budget "$all"
is '.states.complete and (has("cut") | not)'

# The bug takes a lost write, which prefixes have none of.
for strategy in prefix sync; do
    run 0 "$FLOTSAM" check "$session" --checker "$checker" --strategy "$strategy"
    is ".strategy == \"$strategy\" and .states.complete and .states.enumerated > 5"
done
for strategy in all-behaviours random; do
    run 1 "$FLOTSAM" check "$session" --checker "$checker" --strategy "$strategy" --budget 2000
    is '(.bugs | length) == 1 and .bugs[0].survived[0].function == "cut_log"'
done

# A write that syncs itself is a sync; the end is visited besides.
mkdir "$scratch/synced"
run 0 "$FLOTSAM" record -o "$scratch/synced.flotsam" --dir "$scratch/synced" -- \
    dd if=/dev/zero of="$scratch/synced/file" bs=512 count=4 oflag=dsync status=none
run 0 "$FLOTSAM" check "$scratch/synced.flotsam" --checker true --strategy sync
prints '^5 states went through, 4 distinct'

# ---- states laid out again ----

# Each bug's checker says of the state what the report has, with what had been printed by then.
lays_out_bugs() {
    local n bug dir command
    for n in $(report | jq '.bugs[].id'); do
        dir=$scratch/state-$n
        bug=$(report | jq ".bugs[] | select(.id == $n)")
        run 0 "$FLOTSAM" replay "$session" "bug:$n" "$dir"
        command=$(cat "$out")
        jq -j .told <<<"$bug" >"$scratch/told"
        run "$(jq .checker.exit <<<"$bug")" env FLOTSAM_STDOUT="$scratch/told" sh -c "$command"
        [ "$(jq -r .checker.output <<<"$bug" | sed "s,$data,$dir,")" = "$(cat "$out" "$err")" ] ||
            fail "bug $n: the checker says something else of its state"
        rm -rf "$dir" "$dir".*
    done
}

fresh
run 1 "$FLOTSAM" check "$session" --checker "$checker"
lays_out_bugs
run 2 "$FLOTSAM" replay "$session" bug:99 "$scratch/none"
says 'no bug 99'
sample=$scratch/targets/current
run 0 make -s -C "$sample" clean
run 0 make -s -C "$sample"
rm -rf "$data" "$scratch/data-before"
mkdir "$data"
run 0 "$FLOTSAM" record -o "$recorded" --dir "$data" -- "$sample/workload" "$data"
cp -r "$data" "$scratch/data-before"
fresh
run 1 "$FLOTSAM" check "$session" --checker "$sample/check {dir}" --model posix
is '(.bugs | length) == 4'
lays_out_bugs

# ---- checkers that behave badly ----

# bad STATUS SECONDS CHECKER JQ-CONDITION: a few states are enough.
bad() {
    fresh
    run "$1" "$FLOTSAM" check "$session" --strategy prefix --budget 2 --timeout "$2" --checker "$3"
    is "$4"
    nothing_left
}

bad 1 1 'sleep 1000' '.bugs[0].kind == "recovery" and .bugs[0].checker.timed_out'
bad 1 30 'kill -SEGV $$' '.bugs[0].kind == "recovery" and .bugs[0].checker.signal == 11'
cp "$(command -v sleep)" "$scratch/daemon"
bad 0 30 "setsid $scratch/daemon 1000 & $scratch/daemon 1000 & true" '.bugs == []'
bad 1 30 'head -c 300000000 /dev/zero; exit 1' '(.bugs[0].checker.output | length) < 1000000'
bad 0 30 'rm -rf {dir}; true' '.bugs == []'
bad 1 30 'head -c 100000000000 /dev/zero >{dir}/filler' '.bugs[0].checker.exit == 1'

# None of them did anything to the states of others.
fresh
run 1 "$FLOTSAM" check "$session" --checker "$sample/check {dir}"
is '(.bugs | length) == 2'
nothing_left
