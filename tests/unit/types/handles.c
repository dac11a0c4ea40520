/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Typed handles as PMDK has them: unions of an id and a pointer that is never used. */
#include "truth.h"

typedef struct pmemoid {
    uint64_t pool_uuid_lo;
    uint64_t off;
} PMEMoid;

#define TOID(t) union t##_toid
#define TOID_DECLARE(t)                                                                            \
    TOID(t)                                                                                        \
    {                                                                                              \
        PMEMoid oid;                                                                               \
        struct t *_type;                                                                           \
    }

struct thing;
struct root;
TOID_DECLARE(thing);
TOID_DECLARE(root);

typedef struct thing {
    TOID(thing) next;
    uint64_t value;
    TOID(thing) child[3];
    char name[8];
} thing;

typedef struct root {
    TOID(thing) first;
    uint64_t count;
    struct {
        uint64_t a, b;
    } pair;
} root;

static void describe(void)
{
    truth_say("T thing_toid 10\nF thing_toid oid 0 10 10 pmemoid\nF thing_toid _type 0 8 8 -\n"
              "T pmemoid 10\nF pmemoid pool_uuid_lo 0 8 8 -\nF pmemoid off 8 8 8 -\n"
              "T root.pair 10\nF root.pair a 0 8 8 -\nF root.pair b 8 8 8 -\n");
    TYPE(thing), FIELD(thing, value), ARRAY(thing, name);
    TRUTH_FIELD(thing, next, 16, "thing_toid"), TRUTH_FIELD(thing, child, 16, "thing_toid");
    TYPE(root), FIELD(root, count), TRUTH_FIELD(root, first, 16, "thing_toid");
    TRUTH_FIELD(root, pair, 16, "root.pair");
}

static char *pool_base;
static uint64_t pool_id = 42;

#if INLINE_DIRECT
static inline
#else
NOINLINE
#endif
void *pmemobj_direct_inline(PMEMoid oid);

#if INLINE_DIRECT
static inline
#else
NOINLINE
#endif
void *pmemobj_direct_inline(PMEMoid oid)
{
    if (oid.off == 0 || oid.pool_uuid_lo == 0)
        return NULL;
    return (void *)((uintptr_t)pool_base + oid.off);
}

#define D_RW(o) ((__typeof__((o)._type))(pmemobj_direct_inline((o).oid)))

NOINLINE static TOID(thing) thing_new(void)
{
    TOID(thing) t;

    t.oid.pool_uuid_lo = pool_id;
    t.oid.off = (uint64_t)((char *)NEW(thing) - pool_base);
    return t;
}

NOINLINE static void push(TOID(root) r, uint64_t value)
{
    TOID(thing) t = thing_new();

    D_RW(t)->value = value;
    D_RW(t)->next = D_RW(r)->first;
    memcpy(D_RW(t)->name, "handle", 7);
    D_RW(r)->first = t;
    D_RW(r)->count += 1;
    D_RW(r)->pair.b = value;
}

NOINLINE static void walk(TOID(root) r)
{
    TOID(thing) t = D_RW(r)->first;

    while (t.oid.off) {
        D_RW(t)->value *= 2;
        D_RW(t)->child[1] = D_RW(t)->next;
        for (int i = 0; i < 3; i++)
            D_RW(t)->child[i].oid.off = 0;
        t = D_RW(t)->next;
    }
}

NOINLINE static void inside(thing *t)
{
    struct thing *n = D_RW(t->next);

    if (n)
        n->value = 1;
    t->value = 3;
}

int main(int argc, char **argv)
{
    TOID(root) r;

    if (argc < 2)
        return 2;
    truth_begin(argv[1]);
    describe();
    pool_base = truth_region - 4096;
    truth_say("P %lx\n", (unsigned long)(uintptr_t)pool_base);
    r.oid.pool_uuid_lo = pool_id;
    r.oid.off = (uint64_t)((char *)NEW(root) - pool_base);
    for (uint64_t i = 0; i < 5; i++)
        push(r, i);
    walk(r);
    inside(D_RW(D_RW(r)->first));
    return 0;
}
