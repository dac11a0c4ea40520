/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What could lead to a wrong answer: casts, headers before slots, jumps instead of calls, memory used
 * anew, arrays with elements of one size next to each other. */
#include "truth.h"

/* A header and slots of its size behind it. */
typedef struct header {
    uint64_t magic, count;
} header;

typedef struct slot {
    uint64_t key, value;
} slot;

/* Twice its size. */
typedef struct wide {
    uint64_t a, b, c, d;
} wide;

/* Two that begin alike, told apart by kind. */
typedef struct inner_node {
    uint32_t kind, n;
    uint64_t keys[3];
    void *child[4];
} inner_node;

typedef struct leaf_node {
    uint32_t type, used;
    slot slots[3];
    struct leaf_node *next;
} leaf_node;

/* Elements of one size, side by side. */
typedef struct sides {
    uint64_t left[4];
    uint64_t right[4];
    uint64_t last;
} sides;

/* Three and three: the remainder of i + 3 leaves a constant that leads to the next array. */
typedef struct thirds {
    uint16_t first[3];
    uint16_t second[3];
    uint64_t third[3];
    uint64_t fourth[3];
} thirds;

typedef struct many_thirds {
    uint64_t n;
    thirds all[3];
} many_thirds;

typedef struct arena {
    uint64_t used;
    char bytes[512];
} arena;

typedef struct visitor {
    void (*visit)(void *object, uint64_t argument);
    uint64_t total;
} visitor;

static void describe(void)
{
    TYPE(header), FIELD(header, magic), FIELD(header, count);
    TYPE(slot), FIELD(slot, key), FIELD(slot, value);
    TYPE(wide), FIELD(wide, a), FIELD(wide, b), FIELD(wide, c), FIELD(wide, d);
    TYPE(inner_node), FIELD(inner_node, kind), FIELD(inner_node, n), ARRAY(inner_node, keys);
    ARRAY(inner_node, child);
    TYPE(leaf_node), FIELD(leaf_node, type), FIELD(leaf_node, used);
    OBJECTS(leaf_node, slots, slot), FIELD(leaf_node, next);
    TYPE(sides), ARRAY(sides, left), ARRAY(sides, right), FIELD(sides, last);
    TYPE(thirds), ARRAY(thirds, first), ARRAY(thirds, second), ARRAY(thirds, third);
    ARRAY(thirds, fourth);
    TYPE(many_thirds), FIELD(many_thirds, n), OBJECTS(many_thirds, all, thirds);
    TYPE(arena), FIELD(arena, used), ARRAY(arena, bytes);
    TYPE(visitor), FIELD(visitor, visit), FIELD(visitor, total);
}

/* The slots are told as an allocation of their own. */
static header *new_table(const char *slot_type, size_t slot_size, size_t n)
{
    char *at = truth_allocate("-", sizeof(header) + slot_size * n);

    truth_say("A %lx %lx header\n", (unsigned long)(uintptr_t)at, (unsigned long)sizeof(header));
    truth_say("A %lx %lx %s\n", (unsigned long)(uintptr_t)(at + sizeof(header)),
              (unsigned long)(slot_size * n), slot_type);
    return (header *)at;
}

NOINLINE static void fill_slots(header *h, int n)
{
    slot *s = (slot *)(h + 1);

    h->count = (uint64_t)n;
    for (int i = 0; i < n; i++) {
        s[i].key = (uint64_t)i;
        s[i].value = h->magic;
    }
    s[1].key = 5;
}

NOINLINE static void fill_wide(header *h, int n)
{
    wide *w = (wide *)(h + 1);

    for (int i = 0; i < n; i++) {
        w[i].a = (uint64_t)i;
        w[i].d = 7;
    }
    h->magic = 3;
}

NOINLINE static void first_slot(header *h)
{
    slot *s = (slot *)(h + 1);
    h->magic = 9;
    s->key = 1;
    s->value = 2;
    h->count++;
}

NOINLINE static void fill_node(void *node, uint64_t v)
{
    inner_node *in = node;

    if (in->kind == 1) {
        in->n = 2;
        in->keys[1] = v;
        for (int i = 0; i < 3; i++)
            in->child[i] = node;
    } else {
        leaf_node *leaf = (leaf_node *)in;
        leaf->used = 1;
        leaf->slots[v % 3].value = v;
        leaf->slots[1].key = v;
        leaf->next = leaf;
    }
}

NOINLINE static void node_or_leaf(inner_node *in, leaf_node *leaf, int which)
{
    void *p = which ? (void *)in : (void *)leaf;

    *(uint32_t *)p = which ? 1 : 2; /* kind of one, type of the other */
    if (which)
        ((inner_node *)p)->n = 3;
    else
        ((leaf_node *)p)->used = 3;
}

NOINLINE static void shift(sides *s, int at)
{
    for (int i = 3; i > at; i--)
        s->right[i] = s->right[i - 1];
    for (int i = at; i < 3; i++)
        s->right[i - at] = s->left[i + 1];
    for (int i = 1; i <= 4; i++)
        s->right[i - 1] = (uint64_t)i;
    for (int i = 1; i <= 4; i++)
        s->left[i - 1] = (uint64_t)i;
    for (int i = 0; i < 3; i++)
        s->left[i + 1] = (uint64_t)i;
    s->last = 1;
    *(&s->last - 1 - at) = 5;
}

NOINLINE static void both(sides *s, size_t i, size_t j)
{
    uint64_t *p = i < 4 ? s->left : s->right;

    p[j] = 3;
    s->left[j] = s->right[i & 3];
    s->right[j] = 4;
}

NOINLINE static void remainders(thirds *t, unsigned i, uint64_t j)
{
    t->first[(i + 3) % 3u] = 1;
    t->third[(j + 3) % 3u] = 2;
    t->fourth[(j + 6) % 3u] = 3;
    t->second[(i + j) % 3u] = 4;
}

NOINLINE static void more_remainders(many_thirds *m, unsigned i, uint64_t j)
{
    m->all[(i + 3) % 3u].first[(j + 3) % 3u] = 1;
    m->all[i % 3u].third[(i + 3) % 3u] = 2;
    m->all[(j + 1) % 3u].fourth[j % 3u] = 3;
}

NOINLINE static void *take(arena *a, size_t n, const char *type)
{
    void *p = a->bytes + a->used;

    truth_say("A %lx %lx %s\n", (unsigned long)(uintptr_t)p, (unsigned long)n, type);
    a->used += n;
    return p;
}

NOINLINE static void in_arena(arena *a)
{
    slot *s = take(a, sizeof *s, "slot");
    wide *w = take(a, sizeof *w, "wide");

    s->key = 1;
    w->c = 2;
    s->value = 3;
    *w = (wide){.a = 1, .b = 2};
    a->bytes[sizeof *s + sizeof *w + 3] = 'x';
    memset(s, 0, sizeof *s);
}

/* Left by a jump: the frame that called is not the one that passed the arguments. */
NOINLINE static void set_two(uint64_t *p, uint64_t v)
{
    p[0] = v;
    p[1] = v + 1;
}

NOINLINE static void by_jump(slot *s, wide *w)
{
    s->key = 1;
    set_two(&w->c, 7);
}

NOINLINE static void copy_by_jump(slot *s, wide *w, const wide *from)
{
    s->value = 2;
    memcpy(w, from, sizeof *w);
}

static void add_to_slot(void *object, uint64_t v)
{
    ((slot *)object)->value += v;
}

static void add_to_wide(void *object, uint64_t v)
{
    wide *w = object;
    w->d += v;
}

NOINLINE static void visit(visitor *v, void *object)
{
    v->visit(object, 3);
    v->total++;
}

NOINLINE static void turns(slot *s, wide *w, int n)
{
    void *p = s;

    for (int i = 0; i < n; i++) {
        *(uint64_t *)p = (uint64_t)i;
        p = i & 1 ? (void *)s : (void *)w;
    }
    for (int i = 0; i < n; i++) {
        if (i & 1) {
            slot *x = s;
            x->key = 1;
            x[0].value = 2;
        } else {
            wide *x = w;
            x->a = 1;
            x->b = 2;
        }
    }
}

NOINLINE static void backwards(slot *from, slot *to)
{
    while (to-- > from)
        to->key = to->value = 0;
    to = from + 3;
    to[-1].key = 8;
    to[-2] = to[-3];
}

NOINLINE static void reuse(void *memory)
{
    truth_say("A %lx %lx slot\n", (unsigned long)(uintptr_t)memory, (unsigned long)sizeof(slot));
    slot *s = memory;
    s->key = 1;
    s->value = 2;
    truth_release(s, sizeof *s);
    truth_say("A %lx %lx wide\n", (unsigned long)(uintptr_t)memory, (unsigned long)sizeof(wide));
    wide *w = memory;
    memset(w, 0, sizeof *w);
    w->b = 3;
}

NOINLINE static void assign(wide *to, slot *other, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        to[i] = (wide){i, i, i, i};
        other[i] = (slot){i, i};
        ((uint64_t *)&to[i])[2] = 8;
    }
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    truth_begin(argv[1]);
    describe();
    fill_slots(new_table("slot", sizeof(slot), 6), 6);
    fill_wide(new_table("wide", sizeof(wide), 5), 5);
    first_slot(new_table("slot", sizeof(slot), 6));
    inner_node *in = NEW(inner_node);
    leaf_node *leaf = NEW(leaf_node);
    for (int i = 0; i < 2; i++)
        node_or_leaf(in, leaf, i);
    fill_node(in, 4);
    fill_node(leaf, 5);
    sides *s = NEW(sides);
    for (size_t i = 0; i < 4; i++) {
        shift(s, (int)i);
        both(s, i, 3 - i);
        both(s, i + 4, i);
    }
    thirds *t = NEW(thirds);
    many_thirds *m = NEW(many_thirds);
    for (unsigned i = 0; i < 4; i++) {
        remainders(t, i, 5 - i);
        more_remainders(m, i, 7 - i);
    }
    in_arena(NEW(arena));
    slot *slots = NEW_ARRAY(slot, 6);
    wide *wides = NEW_ARRAY(wide, 6), from = {.a = 1, .d = 4};
    by_jump(&slots[1], &wides[2]);
    copy_by_jump(&slots[2], &wides[3], &from);
    visitor *v = NEW(visitor);
    v->visit = add_to_slot;
    visit(v, &slots[3]);
    v->visit = add_to_wide;
    visit(v, &wides[1]);
    turns(slots, wides, 6);
    backwards(slots, slots + 6);
    reuse(truth_allocate("-", 256));
    assign(wides, slots, 6);
    return 0;
}
