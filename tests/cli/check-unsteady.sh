#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A checker that answers differently for the same state is told of: its bugs may be none. One that
# is steady is not. Temporary files are each run's own.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq python3

cat >"$scratch/program.py" <<'END'
import os, sys
for i in range(4):
    f = os.open(sys.argv[1] + "/f", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
    os.write(f, b"x" * 5000)
    os.close(f)
END
run 0 "$FLOTSAM" record -o "$session" --dir "$data" -- python3 "$scratch/program.py" "$data"

# It fails once for each state.
cat >"$scratch/unsteady" <<END
#!/bin/sh
cd "\$1" && mkdir "$scratch/seen/\$(cat f | md5sum | cut -c1-32)" 2>/dev/null && exit 1
exit 0
END
chmod +x "$scratch/unsteady"
mkdir "$scratch/seen"
run 1 "$FLOTSAM" check "$session" --checker "$scratch/unsteady {dir}"
prints 'said otherwise when it was run on the same state again'
run 0 "$FLOTSAM" report "$session"
prints 'but not when it was run on the same state again'
prints 'it looks at more'
run 0 "$FLOTSAM" report "$session" --format json
[ "$(jq '[.bugs[].repeats] | all(. == false) and length > 0' "$out")" = true ] ||
    fail "the bugs do not say that they do not repeat"

run 1 "$FLOTSAM" check "$session" --checker '[ ! -s {dir}/f ]'
grep -q 'otherwise' "$out" && fail "a steady checker is called unsteady"
run 0 "$FLOTSAM" report "$session" --format json
[ "$(jq '[.bugs[].repeats] | all and length > 0' "$out")" = true ] ||
    fail "the bugs do not say that they repeat"

# What one checker did says nothing of another, of which all verdicts are known.
rm -rf "$scratch/seen" && mkdir "$scratch/seen"
cp "$scratch/unsteady" "$scratch/again"
run 1 "$FLOTSAM" check "$session" --checker "$scratch/again {dir}"
run 1 "$FLOTSAM" check "$session" --checker '[ ! -s {dir}/f ]'
run 0 "$FLOTSAM" report "$session" --format json
[ "$(jq '[.bugs[].repeats] | all and length > 0' "$out")" = true ] ||
    fail "a steady checker has another one's name"

# What checkers keep in TMPDIR does not meet.
# shellcheck disable=SC2016 # for the checker's shell
run 0 "$FLOTSAM" check "$session" --jobs 4 --checker \
    'set -e; [ -z "$(ls "$TMPDIR")" ]; echo $$ >"$TMPDIR/own"; sleep 0.01; [ "$(cat "$TMPDIR/own")" = $$ ]'
