#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# litmus shows every state that a few calls may leave, when, and why; mistakes are told with their
# line.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"

cat >"$scratch/replace.litmus" <<'end'
# Replacing a file without an fsync.
file f 4096 'O'
create tmp
append tmp 4096 'a'
rename tmp f
fsync .
print saved
end
run 0 "$FLOTSAM" litmus "$scratch/replace.litmus" --model ext4 --model xfs
diff "$top/tests/cli/litmus.golden" "$out" || fail "the output differs from litmus.golden"

run 0 "$FLOTSAM" litmus "$scratch/replace.litmus"
prints '^ext4: '
run 0 "$FLOTSAM" litmus --model=all "$scratch/replace.litmus"
for model in ext4 xfs btrfs posix ext4-paper strict; do
    prints "^$model: "
done

run 2 "$FLOTSAM" litmus
says 'see flotsam litmus --help'
run 2 "$FLOTSAM" litmus "$scratch/gone.litmus"
says 'gone.litmus: No such file'
run 2 "$FLOTSAM" litmus "$scratch/replace.litmus" --model ext5
says 'no model ext5; there are ext4, xfs'
printf 'create a\n\npwrte a 0 1 x\n' >"$scratch/wrong.litmus"
run 2 "$FLOTSAM" litmus "$scratch/wrong.litmus"
says 'wrong.litmus:3: there is no call pwrte; is it pwrite\?'
printf 'create a\nappend a 1000000 %s\n' "'x'" >"$scratch/large.litmus"
run 2 "$FLOTSAM" litmus "$scratch/large.litmus"
says 'too many for a litmus program'

# It may come from elsewhere.
run 0 sh -c "printf \"create a\nappend a 1 'x'\n\" | $FLOTSAM litmus -"
prints '^  a=x1 +nothing$'
run 2 sh -c "echo nonsense | $FLOTSAM litmus -"
says 'standard input:1: '

# What is in the program cannot steer the terminal.
printf "create a\nappend a 1 '\e'\n" >"$scratch/evil.litmus"
run 0 "$FLOTSAM" litmus "$scratch/evil.litmus"
prints '\\x1b'
