#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A recorded program's stacks name its functions and lines however it was built, and go on doing so
# when the program and its sources have changed or are gone.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need jq cc c++ strip sqlite3

mkdir "$scratch/src"
cat >"$scratch/src/prog.c" <<'END'
#include <fcntl.h>
#include <unistd.h>
static inline __attribute__((always_inline)) void put(int fd)
{
    if (write(fd, "hello", 5) != 5) /* line 5 */
        _exit(1);
}
__attribute__((noinline)) void save(const char *name)
{
    int fd = open(name, O_CREAT | O_WRONLY, 0644);
    put(fd); /* line 11 */
    fsync(fd); /* line 12 */
    close(fd);
}
int main(void)
{
    save("file");
    return 0;
}
END

# build COMPILER OPTION...: makes $scratch/prog.
build() {
    (cd "$scratch/src" && rm -f ../prog && "$@" -o ../prog prog.c) || fail "cannot build: $*"
}

# stack_is EXPECTED: of the program's own part of the write's stack.
stack_is() {
    local got
    got=$("$FLOTSAM" trace "$session" --json --call write 2>"$err" |
        jq -r '[.[0].stack[] | select(.file | endswith("prog.c")) | "\(.function):\(.line)"] |
               join(" ")') || fail "no JSON"
    [ "$got" = "$1" ] || fail "the write's stack is '$got', not '$1'"
}

# function_is EXPECTED CALL
function_is() {
    local got
    got=$("$FLOTSAM" trace "$session" --json --call "$2" 2>"$err" | jq -r '.[0].function')
    # shellcheck disable=SC2053 # a pattern
    [[ $got == $1 ]] || fail "the $2 is of '$got', not '$1'"
}

whole='put:5 save:11 main:17'
for how in "cc -g -O0" "cc -g -O2" "cc -g -O2 -no-pie" "cc -g -O2 -static" \
    "cc -g -O2 -gsplit-dwarf" "clang -g -O2"; do
    # shellcheck disable=SC2086 # options are words
    set -- $how
    command -v "$1" >/dev/null || continue
    build "$@" -fno-optimize-sibling-calls
    record "$scratch/prog"
    stack_is "$whole"
done

# Without debug info there are functions, and a word on how to get lines; stripped, offsets.
build cc -O2
record "$scratch/prog"
function_is save fsync
run 0 "$FLOTSAM" trace "$session" --call fsync
says 'build the program with -g'
build cc -O2 -s
record "$scratch/prog"
function_is 'prog+0x*' fsync

# The session has all it needs: other sources, another program, none at all.
build cc -g -O2 -fno-optimize-sibling-calls
record "$scratch/prog"
[ "$(sqlite3 "$session" "SELECT count(*) FROM sources WHERE path LIKE '%prog.c'
                         AND CAST(text AS TEXT) LIKE '%line 11%'")" = 1 ] || fail "the source was not kept"
cp "$session" "$scratch/whole.flotsam"
build cc -g -O0
stack_is "$whole"
rm -r "$scratch/src" "$scratch/prog"
chmod 444 "$session"
stack_is "$whole"

# Where the session lacks them and the program is another now, that is said once, not guessed.
mkdir "$scratch/src"
printf 'int main(void) { return 0; }\n' >"$scratch/src/prog.c"
build cc -g -O2
chmod 644 "$session"
sqlite3 "$session" 'DELETE FROM symbols'
function_is 'prog+0x*' fsync
[ "$(grep -c "no names from $scratch/prog: changed since the recording" "$err")" = 1 ] ||
    fail "a changed program is not told, or told twice"
rm "$scratch/prog"
function_is 'prog+0x*' fsync
says "no names from $scratch/prog: no longer there"

# Reading never copies this machine's files into somebody's session.
sqlite3 "$scratch/whole.flotsam" "UPDATE symbols SET file = '/etc/hostname'"
run 0 "$FLOTSAM" trace "$scratch/whole.flotsam" --stacks
[ "$(sqlite3 "$scratch/whole.flotsam" "SELECT count(*) FROM sources WHERE path = '/etc/hostname'")" = 0 ] ||
    fail "a file of this machine went into the session"
