#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The evaluation on real systems, in short: three of its rows, of which one must come out safe, one
# unsafe in both ways, one unsafe in durability only; what it says of rows that come out otherwise;
# and what README.md shows of the comparison of strategies has the form that `make compare` makes.
# timeout: 240
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq column
export MODELS=ext4 BUDGET=400 JOBS=2

# A copy of the evaluation, so that rows can be changed, with its results in the scratch folder.
mkdir -p "$scratch/build/tests/real" "$scratch/tests/real"
ln -s "$O/tests/real/eval" "$scratch/build/tests/real/eval"
cp -r "$top/tests/real/eval" "$scratch/tests/real/eval"
eval_run() { # STATUS PATTERN...
    run "$1" env O="$scratch/build" FLOTSAM="$FLOTSAM" "$scratch/tests/real/eval/${command:-run}" "${@:2}"
}

eval_run 0 lmdb/default sqlite/MEMORY-FULL leveldb/unsynced
prints '^lmdb +default +ext4 +kept +kept +kept +kept +0[+]0 '
prints '^sqlite +MEMORY-FULL +ext4 +lost +lost +lost +lost +[1-9]'
prints '^leveldb +unsynced +ext4 +kept +kept +lost +lost +0[+][1-9]'
prints '^3 rows, 3 as documented$'

# What differs fails; what was decided against the documentation does not, but is not as documented.
sed -i 's/^\(lmdb default .*\)| kept | kept |/\1| lost | kept!lost |/' "$scratch/tests/real/eval/rows"
eval_run 1 lmdb/default
prints ' lost +kept, WRONG +kept +kept, WRONG '
prints '^1 rows, 0 as documented$'
sed -i 's/^\(lmdb default .*\)| lost | kept!lost |/\1| kept | lost!kept |/' "$scratch/tests/real/eval/rows"
eval_run 0 lmdb/default
prints ' kept +kept +lost +kept [(]decided[)] '
prints '^1 rows, 0 as documented$'
eval_run 2 no-such-row
says 'no row'

# The comparison, and its table between the marks of a document.
printf '%s\n' before '<!-- make compare: begin -->' old '<!-- make compare: end -->' after >"$scratch/page.md"
command=compare eval_run 0 --update "$scratch/page.md" lmdb/NOMETASYNC
sed -n '1p;$p' "$scratch/page.md" | diff - <(printf '%s\n' before after) || fail "more than the table was changed"
! grep -qx old "$scratch/page.md" || fail "the old table is still there"
shape() { # FILE: the table between the marks, figures and names left out
    sed -n '/<!-- make compare: begin/,/<!-- make compare: end/p' "$1" |
        sed -E 's/^\| [a-z]+, [^|]+ \|/| ROW |/; s/ [0-9]+[+]? \|/ N |/g; s/ [0-9]+[+]? \|/ N |/g' | uniq
}
diff <(shape "$scratch/page.md") <(shape "$top/README.md") >&2 ||
    fail "README.md has no table as make compare makes it"

# The worked example of README.md: its config as it stands there, with fewer states, says what is
# quoted of it.
sed -n '/^    \[target\]$/{N;N;/real\/eval/!d;:more;p;n;/^$/!b more}' "$top/README.md" |
    sed 's/^    //' >"$scratch/sqlite.ini"
[ "$(grep -c real/eval "$scratch/sqlite.ini")" = 3 ] || fail "README.md has no config as an example"
cd "$scratch"
run 1 env FLOTSAM_EXPLORE_BUDGET=300 "$FLOTSAM" run sqlite.ini -o sqlite.flotsam --batch
cp "$out" report
quoted=0
while IFS= read -r line; do
    grep -qF -e "$line" report || fail "README.md quotes what the report does not say: $line"
    quoted=$((quoted + 1))
done < <(sed -n '/<!-- example: begin/,/<!-- example: end/s/^    //p' "$top/README.md")
[ $quoted -ge 4 ] || fail "README.md quotes only $quoted lines"
run 0 env FLOTSAM_EXPLORE_BUDGET=300 "$FLOTSAM" check sqlite.flotsam --acknowledgements no --budget 300 \
    --checker 'build/tests/real/eval/sqlite integrity DELETE-FULL 12 {dir}'
