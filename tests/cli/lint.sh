#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# flotsam lint on programs whose waste is known: each finding is at a line that says so in a
# comment, /* lint:KIND COUNT */, and each such line has its finding.
# shellcheck source=tests/lib.sh
. "$(dirname "$0")/../lib.sh"
need cc jq
need_store_tracer

cat >"$scratch/lines.c" <<'EOF'
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

struct counters {
    _Alignas(64) uint64_t first;
    _Alignas(64) uint64_t second;
    _Alignas(64) uint64_t scratch;
};

#define flush(p) __asm__ volatile("clflushopt %0" : "+m"(*(volatile char *)(p)))
#define fence() __asm__ volatile("sfence" ::: "memory")

/* Right: no finding has these lines. */
static void persist(const void *p)
{
    flush(p);
    fence();
}

static void count(struct counters *c)
{
    c->scratch++; /* lint:never-durable 4 */
    c->first++;
    flush(&c->first);
    flush(&c->first);  /* lint:flush-twice 4 */
    flush(&c->second); /* lint:flush-clean 4 */
    fence();
    fence(); /* lint:fence-nothing 4 */
}

int main(void)
{
    int fd = open("counters", O_RDWR | O_CREAT, 0644);
    if (fd < 0 || ftruncate(fd, sizeof(struct counters)) != 0 || fsync(fd) != 0)
        return 1;
    fsync(fd); /* lint:sync-clean 1 */
    struct counters *c = mmap(NULL, sizeof *c, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (c == MAP_FAILED)
        return 1;
    for (int i = 0; i < 4; i++)
        count(c);
    c->second = 1;
    persist(&c->second);
    return 0;
}
EOF

cat >"$scratch/pages.c" <<'EOF'
#include <fcntl.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

int main(void)
{
    int fd = open("pages", O_RDWR | O_CREAT, 0644);
    if (fd < 0 || ftruncate(fd, 8192) != 0 || fsync(fd) != 0)
        return 1;
    uint64_t *at = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        return 1;
    for (int i = 0; i < 3; i++) {
        at[i] = 1;
        at[512 + i] = 1; /* lint:never-durable 3 */
        msync(at, 4096, MS_SYNC);
        msync(at, 4096, MS_SYNC); /* lint:sync-clean 3 */
    }
    return 0;
}
EOF

# marked NAME: what the comments say, as "KIND COUNT LINE".
marked() {
    sed -nE 's|.*/[*] lint:([a-z-]+) ([0-9]+) [*]/.*|\1 \2|;T;=;p' "$scratch/$1.c" |
        paste - - | awk '{ print $2, $3, $1 }' | sort
}

found() {
    run 0 "$FLOTSAM" lint "$session" --json "$@"
    jq -r '.[] | "\(.kind) \(.count) \(.line)"' "$out" | sort
}

# recorded NAME BACKEND: from here on $session is of that program.
recorded() {
    session=$scratch/$1-$2.flotsam
    rm -rf "$data"
    mkdir "$data"
    (cd "$data" && run 0 "$FLOTSAM" record -o "$session" --dir "$data" --backend "$2" -- \
        "$scratch/$1") || exit 1
}

for name in lines pages; do
    cc -g -O0 -Wall -o "$scratch/$name" "$scratch/$name.c"
    recorded "$name" valgrind
    marked "$name" >"$scratch/marked"
    [ -s "$scratch/marked" ] || fail "no line is marked"
    found | diff "$scratch/marked" - || fail "$name: other findings (>) than marked (<)"
done

# What is assumed is said, and can be said otherwise.
run 0 "$FLOTSAM" lint "$session"
says 'pagecache'
prints '^ +3  sync with nothing to make durable +[0-9]+  msync pages 0\+4096 sync +main +.*pages[.]c:[0-9]+$'
session=$scratch/lines-valgrind.flotsam
run 0 "$FLOTSAM" lint "$session"
says 'px86'
prints 'fence with nothing to order +[0-9]+  fence sfence +count'
[ "$(found --stores pagecache | awk '$1 == "flush-useless" { n += $2 } END { print n }')" = 13 ] ||
    fail "flushes of an ordinary file are of use"
! found --stores pagecache | grep fence || fail "fences of an ordinary file are looked at"
! found --stores eadr | grep never-durable || fail "not durable with persistent caches"
run 2 "$FLOTSAM" lint "$session" --stores papyrus
says 'papyrus.*pagecache'

# The most frequent first; the stacks when they are wished for.
run 0 "$FLOTSAM" lint "$session" --json
jq -e '[.[].count] | . == (sort | reverse)' "$out" >/dev/null || fail "not sorted by count"
jq -e 'all(.[]; .stores == "px86" and .stack[0].function != null and .event > 0)' "$out" \
    >/dev/null || fail "objects that lack something"
run 0 "$FLOTSAM" lint "$session" --stacks
prints '^ +.*main.*lines[.]c:[0-9]+'

# A trace of system calls only has syncs to look at, and says so.
recorded lines ptrace
found | diff <(marked lines | grep '^sync') - || fail "other findings in a trace of calls"
says 'stores .* are not in this trace'
