#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# flotsam report and flotsam bugs: every format of a real check's report, files written as a whole,
# and what a session without a report, or with a hostile one, gets.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq sqlite3

# Not checked yet: both commands say what to do.
record sh -c 'echo 1 >a; echo 2 >b; mv b c; echo done'
for command in report bugs; do
    run 2 "$FLOTSAM" "$command" "$session"
    says 'not been checked yet: run flotsam check'
    [ ! -s "$out" ] || fail "$command printed something"
done

# c without its contents is inconsistent, and so is a done without it.
cat >"$scratch/checker" <<'END'
#!/bin/sh
if [ -e "$1/c" ] && [ "$(cat "$1/c")" != 2 ]; then
    echo 'c is there, and empty'
    exit 1
fi
grep -q done "$FLOTSAM_STDOUT" || exit 0
[ -e "$1/c" ] || { echo 'c is gone'; exit 1; }
END
chmod +x "$scratch/checker"
run 1 "$FLOTSAM" check "$session" --checker "$scratch/checker {dir}"

# JSON, as the contract has it; bugs and report agree.
run 0 "$FLOTSAM" report "$session" --format json
cp "$out" "$scratch/report.json"
jq -e '.version == 1 and (.model | type) == "string" and .states.complete == true and
       .states.inconsistent > 0 and (.bugs | length) > 0 and
       all(.bugs[]; (.kind | IN("ordering", "atomicity", "unpersisted", "recovery")) and
           (.summary | length) > 0 and .states > 0 and .status == "new" and
           (.checker | has("exit") and has("signal") and has("timed_out") and has("output")) and
           all(.lost[], .survived[]; has("event") and has("call") and has("path") and
               has("offset") and has("size") and has("function") and has("file") and
               has("line") and (.stack | type) == "array"))' \
    "$scratch/report.json" >/dev/null || fail "the JSON is not as CLI.md says"
run 0 "$FLOTSAM" bugs "$session" --json
cmp -s "$out" "$scratch/report.json" || fail "bugs --json and report --format json differ"
count=$(jq '.bugs | length' "$out")

# Text: the list has a line for each bug, and each in full is part of the report.
run 0 "$FLOTSAM" bugs "$session"
[ "$(wc -l <"$out")" = $((count + 1)) ] || fail "not a line a bug"
run 0 "$FLOTSAM" report "$session"
cp "$out" "$scratch/report.txt"
[ "$(grep -c '^Bug ' "$out")" = "$count" ] || fail "not every bug is in the report"
for n in $(seq "$count"); do
    run 0 "$FLOTSAM" bugs "$session" "$n"
    prints "^Bug $n: "
    prints "How to reproduce: flotsam replay .* bug:$n DIR"
    prints 'c is (there|gone)'
    while IFS= read -r line; do
        grep -qxF -e "$line" "$scratch/report.txt" || fail "not in the report: $line"
    done <"$out"
    run 0 "$FLOTSAM" bugs "$session" "$n" --json
    jq -e --argjson n "$n" '.id == $n' "$out" >/dev/null || fail "not bug $n alone"
done
run 2 "$FLOTSAM" bugs "$session" $((count + 1))
says "no bug $((count + 1))"
run 2 "$FLOTSAM" bugs "$session" 99999999999999999999
run 2 "$FLOTSAM" bugs "$session" one
(cd "$scratch" && run 0 "$FLOTSAM" bugs 1 && prints '^Bug 1: ') || exit 1

# is_sarif FILE: what the published schema requires of the parts that are used.
is_sarif() {
    jq -e 'def text: type == "string" and length > 0;
           def message: (.text | text);
           def location: (has("physicalLocation") | not) or (.physicalLocation |
               (.artifactLocation.uri | test("^[A-Za-z0-9._~/%:-]+$")) and .region.startLine >= 1);
           .version == "2.1.0" and (.["$schema"] | text) and (.runs | length) == 1 and
           (.runs[0] |
            (.tool.driver | (.name == "flotsam") and ([.rules[].id] ==
                ["ordering", "atomicity", "unpersisted", "recovery"]) and
                all(.rules[]; (.shortDescription | message) and (.fullDescription | message))) and
            all(.invocations[]; .executionSuccessful == true and
                all(.toolExecutionNotifications[]; .message | message)) and
            (.tool.driver.rules as $rules | all(.results[];
                (.message | message) and (.ruleId | text) and .level == "error" and
                ((has("ruleIndex") | not) or $rules[.ruleIndex].id == .ruleId) and
                all(.locations[], .relatedLocations[]; location and (.message | message)) and
                ([.relatedLocations[].id] | length == (unique | length)) and
                all(.codeFlows[]?; (.threadFlows | length) == 1 and
                    all(.threadFlows[]; (.locations | length) > 0 and
                        all(.locations[]; (.location | location) and
                            (.importance == "essential") and
                            all(.stack.frames[]; .location | location)))) and
                (.partialFingerprints | length == 1 and all(.[]; test("^[0-9a-f]{16}:[0-9]+$"))) and
                .occurrenceCount >= 1 and (.properties | type) == "object")))' \
        "$1" >/dev/null || fail "not as SARIF has to be: $1"
}
run 0 "$FLOTSAM" report "$session" --format sarif
is_sarif "$out"
[ "$(jq '.runs[0].results | length' "$out")" = "$count" ] || fail "not a result a bug"
jq '[.runs[0].results[].partialFingerprints]' "$out" >"$scratch/fingerprints"

# is_xml FILE: where there is something to tell.
is_xml() {
    if command -v xmllint >/dev/null; then
        xmllint --noout "$1" 2>"$err" || fail "not well-formed: $1"
    fi
}
run 0 "$FLOTSAM" report "$session" --format junit
is_xml "$out"
prints "<testsuites name=\"flotsam\" tests=\"$count\" failures=\"$count\""
[ "$(grep -c '<failure ' "$out")" = "$count" ] || fail "not a failure a bug"

# Another recording of the same finds the same bugs.
again=$scratch/again.flotsam
rm -rf "${data:?}"/*
(cd "$data" && run 0 "$FLOTSAM" record -o "$again" --dir "$data" -- \
    sh -c 'echo 1 >a; echo 2 >b; mv b c; echo done') || exit 1
run 1 "$FLOTSAM" check "$again" --checker "$scratch/checker {dir}"
"$FLOTSAM" report "$again" --format sarif | jq '[.runs[0].results[].partialFingerprints]' |
    cmp -s - "$scratch/fingerprints" || fail "fingerprints change from run to run"

# Files are replaced as a whole, with the mode that umask leaves; nothing is left of a failure.
mkdir "$scratch/files"
echo old >"$scratch/files/report"
ln "$scratch/files/report" "$scratch/old"
(umask 027 && run 0 "$FLOTSAM" report "$session" -o "$scratch/files/report") || exit 1
cmp -s "$scratch/files/report" "$scratch/report.txt" || fail "the file is not the report"
[ "$(cat "$scratch/old")" = old ] || fail "the old file was written to"
[ "$(stat -c %a "$scratch/files/report")" = 640 ] || fail "the mode is not what umask leaves"
run 0 "$FLOTSAM" report "$session" -o /dev/null
[ -c /dev/null ] || fail "a device was replaced"
run 2 "$FLOTSAM" report "$session" -o "$scratch/no/such"
says 'cannot write the report to .*No such file'
run 2 "$FLOTSAM" report "$session" -o "$scratch/files"
[ "$(ls "$scratch/files")" = report ] || fail "something was left behind"
run 2 "$FLOTSAM" report "$session" --format xml
says 'text.*json.*sarif.*junit'

# A report that somebody made up: nothing of it steers a terminal, all formats stay well-formed.
jq -c '.bugs[0] |= (.summary = "\u001b[2J\u202e]]><b> {0} [x](http://h)" | .status = "ignored" |
       .lost[0].path = "\u0007\u009b" | .lost[0].file = "/a b\u001b.c" | .lost[0].line = 7 |
       .checker.output = "\u001b]0;x\u0007\n]]>&\ufffe\u0001")' \
    "$scratch/report.json" >"$scratch/hostile.json"
sqlite3 "$session" "UPDATE report SET json = CAST(readfile('$scratch/hostile.json') AS TEXT)"
for format in text json sarif junit; do
    run 0 "$FLOTSAM" report "$session" --format "$format"
    if LC_ALL=C grep -q $'[\001-\011\013-\037\177]\|\302[\200-\237]\|\342\200\256' "$out"; then
        fail "control characters came through: $format"
    fi
    case $format in
    sarif) is_sarif "$out" ;;
    junit) is_xml "$out" && prints '<skipped ' ;;
    esac
done
run 0 "$FLOTSAM" bugs "$session"
if grep -q $'\033' "$out"; then
    fail "control characters came through the list"
fi
for damage in '[]' '{"bugs": 1}' 'x'; do
    sqlite3 "$session" "UPDATE report SET json = '$damage'"
    run 2 "$FLOTSAM" report "$session"
    says 'damaged'
    run 2 "$FLOTSAM" bugs "$session"
done

# An acknowledgement without a word has one in the report.
mkdir "$scratch/wordless"
run 0 "$FLOTSAM" record -o "$scratch/wordless.flotsam" --dir "$scratch/wordless" -- \
    sh -c "echo x >$scratch/wordless/f; echo"
# shellcheck disable=SC2016 # the checker expands it
run 1 "$FLOTSAM" check "$scratch/wordless.flotsam" --checker '! test -s "$FLOTSAM_STDOUT" || test -s {dir}/f'
prints 'unpersisted: an empty line printed, f not '
