/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists, arrays, nested structs, unions, bit-fields, pointers to pointers, copies. */
#include "truth.h"

typedef struct link_t {
    struct link_t *next, *previous;
} link_t;

typedef struct item {
    uint32_t id;
    char name[12];
    uint64_t weight;
} item;

typedef struct node {
    uint64_t key;
    struct node *next;
    item first;
    item items[4];
    link_t link;
    int count;
} node;

typedef struct shape {
    uint8_t kind;
    union {
        struct {
            int32_t x, y;
        } point;
        double radius;
    } as;
    float scale;
} shape;

typedef struct flags {
    unsigned dirty : 1, level : 5, color : 10;
    unsigned after;
    uint16_t mode;
} flags;

/* 33 bytes, so that an index is 32 i + i. */
typedef struct odd {
    char tag;
    char text[32];
} odd;

typedef struct row {
    uint16_t cells[6];
    item pair[2];
} row;

typedef struct grid {
    uint64_t n;
    row rows[5];
    int32_t numbers[3][4];
} grid;

typedef struct open_node {
    uint32_t n;
    item items[];
} open_node;

static void describe(void)
{
    TYPE(link_t), FIELD(link_t, next), FIELD(link_t, previous);
    TYPE(item), FIELD(item, id), ARRAY(item, name), FIELD(item, weight);
    TYPE(node), FIELD(node, key), FIELD(node, next), OBJECT(node, first, item);
    OBJECTS(node, items, item), OBJECT(node, link, link_t), FIELD(node, count);
    TYPE(shape), FIELD(shape, kind), FIELD(shape, scale);
    truth_say("F shape as 8 8 8 shape.as\n"
              "T shape.as 8\nF shape.as point 0 8 8 shape.as.point\nF shape.as radius 0 8 8 -\n"
              "T shape.as.point 8\nF shape.as.point x 0 4 4 -\nF shape.as.point y 4 4 4 -\n");
    TYPE(odd), FIELD(odd, tag), ARRAY(odd, text);
    TYPE(row), ARRAY(row, cells), OBJECTS(row, pair, item);
    TYPE(grid), FIELD(grid, n), OBJECTS(grid, rows, row);
    TRUTH_FIELD(grid, numbers, sizeof(int32_t), "-");
    TYPE(flags), FIELD(flags, after), FIELD(flags, mode);
    truth_say("F flags dirty 0 2 2 -\n");
    TYPE(open_node), FIELD(open_node, n);
    truth_say("F open_node items %lx 0 %lx item\n", (unsigned long)offsetof(open_node, items),
              (unsigned long)sizeof(item));
}

static node *head;
static struct {
    node *first, *last;
    node *table[8];
} all;

NOINLINE static void set_word(uint64_t *p, uint64_t v)
{
    *p = v;
}

NOINLINE static void set_item(item *it, uint32_t id, const char *name)
{
    it->id = id;
    it->weight = id * 3;
    memcpy(it->name, name, sizeof it->name);
}

NOINLINE static node *push(node **where, uint64_t key)
{
    node *n = NEW(node);

    memset(n, 0, sizeof *n);
    n->key = key;
    n->next = *where;
    *where = n;
    return n;
}

NOINLINE static void link_in(link_t *at, link_t *l)
{
    l->next = at->next;
    l->previous = at;
    if (at->next)
        at->next->previous = l;
    at->next = l;
}

#define container_of(p, type, member) ((type *)((char *)(p)-offsetof(type, member)))

NOINLINE static void walk_links(link_t *l)
{
    for (; l; l = l->next) {
        node *n = container_of(l, node, link);
        n->count += 7;
        n->items[n->count & 3].id = (uint32_t)n->count;
    }
}

NOINLINE static void fill_items(node *n, int from)
{
    for (int i = from; i < 4; i++) {
        n->items[i].id = (uint32_t)i;
        n->items[i].weight = n->key + (uint64_t)i;
        n->items[i].name[i] = 'a';
    }
    n->first = n->items[from];
    n->count = from;
}

NOINLINE static void shift_items(node *n, int at)
{
    for (int i = 3; i > at; i--)
        n->items[i] = n->items[i - 1];
    n->items[at].id = 99;
    for (int i = at + 1; i < 3; i++)
        n->items[i - 1].weight = n->items[i + 1].weight;
}

NOINLINE static uint64_t lengths(node *n)
{
    uint64_t sum = 0;

    for (; n; n = n->next) {
        n->count++;
        sum += n->key;
        all.table[sum & 7] = n;
    }
    return sum;
}

NOINLINE static node **find(node **at, uint64_t key)
{
    while (*at && (*at)->key != key)
        at = &(*at)->next;
    return at;
}

NOINLINE static void remove_key(node **list, uint64_t key)
{
    node **at = find(list, key);

    if (*at)
        *at = (*at)->next;
}

NOINLINE static void shapes(shape *s, int n)
{
    for (int i = 0; i < n; i++) {
        s[i].kind = (uint8_t)(i & 1);
        if (i & 1) {
            s[i].as.point.x = i;
            s[i].as.point.y = -i;
        } else {
            s[i].as.radius = i * 0.5;
        }
        s[i].scale = 2.0f * (float)i;
    }
}

NOINLINE static void bits(flags *f, unsigned level)
{
    f->dirty = 1;
    f->level = level;
    f->color = level * 3;
    f->after = level;
    f->mode |= 4;
}

NOINLINE static void odds(odd *o, size_t i, char c)
{
    o[i].tag = c;
    o[i].text[i] = c;
    o[i].text[5] = (char)(c + 1);
}

NOINLINE static void rows(grid *g, unsigned r, unsigned c)
{
    g->n++;
    g->rows[r].cells[c] = (uint16_t)(r * c);
    g->rows[r].pair[c & 1].weight = r;
    g->rows[2].pair[1].id = c;
    g->numbers[c % 3][r % 4] = (int32_t)r;
    g->numbers[1][2] = 5;
    for (unsigned i = 0; i < 5; i++)
        g->rows[i].cells[2] = (uint16_t)i;
}

NOINLINE static void open_end(open_node *n, uint32_t count)
{
    n->n = count;
    for (uint32_t i = 0; i < count; i++) {
        n->items[i].id = i;
        n->items[i].weight = 0;
    }
    n->items[1].id = 8;
}

NOINLINE static item make_item(uint32_t id)
{
    item it = {.id = id, .weight = id + 1, .name = "made"};
    return it;
}

NOINLINE static void by_value(node *n, item it, int i)
{
    n->items[i] = it;
    n->items[(i + 1) & 3] = make_item(5);
    n->first = (item){.id = 3};
}

NOINLINE static void through_void(void *p)
{
    node *n = p;
    item *it = &n->items[2];

    it->id = 44;
    set_word(&it->weight, 12);
    set_word(&n->key, n->key + 1);
}

NOINLINE static void copies(item *to, const item *from, int n)
{
    memcpy(to, from, sizeof *to);
    memcpy(&to[1], from, sizeof *to * 2);
    memmove(to[3].name, from[0].name + 1, 5);
    for (int i = 0; i < n; i++)
        memcpy(&to[i], &from[i], sizeof *to);
    memset(&to[2], 1, sizeof *to);
    strcpy(to[2].name, "hello");
}

NOINLINE static void choose(node *a, node *b, int which)
{
    node *n = which ? a : b;
    node *m = a && a->next ? a->next : b;

    n->key ^= 5;
    m->count = which;
    if (n->next)
        n->next->key = 0;
    switch (which) {
    case 0: n->count = 10; break;
    case 1: m->key = 11; break;
    case 2: a->first.id = 12; break;
    case 3: b->items[1].id = 13; break;
    case 4: a->link.next = NULL; break;
    case 5: b->link.previous = NULL; break;
    default: b->next = a->next; break;
    }
}

int main(int argc, char **argv)
{
    if (argc < 2)
        return 2;
    truth_begin(argv[1]);
    describe();
    link_t *links = NEW(link_t);
    node **root = (node **)truth_allocate("-", sizeof *root);
    for (uint64_t i = 0; i < 6; i++) {
        node *n = push(i & 1 ? &head : root, i);
        fill_items(n, (int)(i & 1));
        shift_items(n, 1);
        link_in(links, &n->link);
        all.first = n;
        set_item(&n->items[i & 3], 7, "twelve bytes");
        set_item(&n->first, 8, "other bytes!");
    }
    all.first->first.id = 77;
    walk_links(links->next);
    lengths(head);
    remove_key(root, 2);
    remove_key(&head, 3);
    shapes(NEW_ARRAY(shape, 5), 5);
    bits(NEW(flags), 9);
    odd *o = NEW_ARRAY(odd, 7);
    for (size_t i = 0; i < 7; i++)
        odds(o, i, 'a');
    grid *g = NEW(grid);
    for (unsigned i = 0; i < 5; i++)
        rows(g, i, i);
    open_end(NEW_OPEN(open_node, 6 * sizeof(item)), 6);
    for (int i = 0; i < 4; i++)
        by_value(head, make_item(9), i);
    through_void(head);
    item from[6] = {{.id = 1, .name = "one"}, {.id = 2, .name = "two"}};
    copies(NEW_ARRAY(item, 6), from, argc + 2);
    for (int i = 0; i < 7; i++)
        choose(head, *root, i);
    return 0;
}
