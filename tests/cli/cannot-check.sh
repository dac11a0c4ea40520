#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A checker that cannot be run finds no bugs: status 2, a message that names the way out, and the
# session as it was.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq sqlite3

# shellcheck disable=SC2016
record bash -c 'echo one >a; echo two >b; sync a; mv b c; rm a'
cd "$scratch"
run 0 "$FLOTSAM" check "$session" --checker 'test -d {dir}'
"$FLOTSAM" report "$session" --format json >before
kept() {
    sqlite3 "$session" "SELECT value FROM meta WHERE key = 'checker'"
}
verdicts() {
    sqlite3 "$session" 'SELECT count(*) FROM verdicts'
}
n=$(verdicts)

refused() {
    run 2 "$FLOTSAM" check "$session" "${@:2}" --checker "$1"
    [ ! -s "$out" ] || fail "bugs were told"
    "$FLOTSAM" report "$session" --format json | cmp -s - before || fail "the report was replaced"
    [ "$(kept)" = 'test -d {dir}' ] || fail "the checker was replaced"
    [ "$(verdicts)" = "$n" ] || fail "verdicts were kept"
}

for strategy in representative exhaustive sync; do
    refused 'cd / && nosuchprog {dir}' --strategy "$strategy"
    says '^flotsam: the checker cannot be run: it exited with status 127 \(.*nosuchprog.*not found\); give another with --checker$'
done
echo 'not a program' >text
refused "true && $scratch/text {dir}" --jobs 1
says 'status 126 \(.*Permission denied\)'
refused 'exit 127 # {dir}'
says 'it exited with status 127; give another'
refused './check {dri}'
says "the checker's command: \{dri\} stands for nothing; did you mean \{dir\}"

# Once its program is there, nothing of that is left.
# shellcheck disable=SC2016
printf '%s\n' '#!/bin/sh' 'PATH=$PATH:. && recoverer "$1"' >check.sh
chmod +x check.sh
refused './check.sh {dir}'
says 'status 127'
# shellcheck disable=SC2016
printf '%s\n' '#!/bin/sh' 'test -d "$1"' >recoverer
chmod +x recoverer
run 0 "$FLOTSAM" check "$session" --checker './check.sh {dir}'
prints ' 0 inconsistent'
[ "$(kept)" = './check.sh {dir}' ] || fail "the checker is not kept"

# It may well exit so on some states.
run 1 "$FLOTSAM" check "$session" --checker 'test ! -e {dir}/c || exit 127'
prints '^bug 1: '
# shellcheck disable=SC2016
run 1 "$FLOTSAM" check "$session" --checker 'test -e {dir}/c || test -z "$(ls -A {dir})" || exit 127'
prints '^bug 1: '
run 1 "$FLOTSAM" check "$session"
prints '^bug 1: '

# In a config, too.
mkdir target
printf '%s\n' '[target]' 'workload = echo one >{dir}/a' 'checker = cd / && nosuchprog' >target/flotsam.ini
run 2 "$FLOTSAM" run target --batch
says 'the checker cannot be run: it exited with status 127'
printf '%s\n' '[target]' 'workload = echo one >{directory}/a' 'checker = true' >target/flotsam.ini
run 2 "$FLOTSAM" run target --batch
says 'target/flotsam.ini:2: workload: \{directory\} stands for nothing; did you mean \{dir\}'
