/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Looking at a state: going through its names, and finding one.
 */
#include "engine/state_inside.h"

#include <stdlib.h>
#include <string.h>

#include "engine/buf.h"
#include "engine/clock.h"
#include "engine/mem.h"

int state_compare_paths(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    int x = *a == '/' ? 1 : *a ? (unsigned char)*a + 1 : 0;
    int y = *b == '/' ? 1 : *b ? (unsigned char)*b + 1 : 0;
    return x - y;
}

static uint32_t names_in_sight(const struct state_file *f)
{
    uint32_t n = 0;
    for (const struct state_entry *name = f->names; name; name = name->after)
        n += directory_in_sight(name->dir);
    return n;
}

static struct state_name describe(const struct state_file *f, const char *path)
{
    return (struct state_name){
        .path = path,
        .file = f->number,
        .kind = f->kind,
        .mode = f->mode,
        .names = names_in_sight(f),
        .size = f->size,
        .target = f->target,
    };
}

/* One name */

bool state_find(struct state *s, const char *path, struct state_name *out)
{
    const struct state_file *f = s->files.at[0];
    for (const char *at = path; f && *at;) {
        size_t n = strcspn(at, "/");
        const uint64_t *place = n ? map_get(&f->index_of, at, n) : NULL;
        f = place ? f->entries.at[*place - 1]->file : NULL;
        at += n;
        if (*at && !*++at) /* nothing is called "name/" */
            f = NULL;
    }
    if (f)
        *out = describe(f, path);
    return f != NULL;
}

static void add_path(struct buf *path, const struct state_entry *entry)
{
    if (entry->dir->number != FILE_ROOT) {
        add_path(path, entry->dir->names);
        buf_char(path, '/');
    }
    buf_text(path, entry->name);
}

bool state_find_file(struct state *s, uint32_t file, struct buf *path, struct state_name *out)
{
    const struct state_file *f = file_find(s, file);
    struct buf other = {0};
    bool found = false;
    buf_clear(path);
    for (const struct state_entry *name = f ? f->names : NULL; name; name = name->after) {
        if (!directory_in_sight(name->dir))
            continue;
        buf_clear(&other);
        add_path(&other, name);
        if (!found || state_compare_paths(other.at, path->at) < 0) {
            buf_clear(path);
            buf_add(path, other.at, other.n);
        }
        found = true;
    }
    buf_free(&other);
    if (found)
        *out = describe(f, buf_string(path));
    return found;
}

/* All of them, in order. The entries of a directory are sorted in pieces, of which the next is
 * whichever's next entry comes first: so there is never much to do at once, however many there are.
 */

enum { PIECE_ENTRIES = 1024, NAMES_A_LOOK = 64 };

struct piece {
    struct state_entry **next, **end;
};

/* A directory on the way to where the walk is, and what is left to visit in it. */
struct level {
    const struct state_file *dir;
    struct state_entry **entries; /* those that stand for a file */
    size_t n, read;               /* how many they are, of so many that were looked at */
    vec_of(struct piece) pieces;  /* a heap */
    size_t path;                  /* how much of the path is its own */
};

struct state_tour {
    const struct state_file *root;
    vec_of(struct level) levels;
    struct buf path;
    bool begun, stopped;
};

static int by_name(const void *a, const void *b)
{
    const struct state_entry *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

static void enter(struct state_tour *t, const struct state_file *dir)
{
    struct level level = {.dir = dir, .path = t->path.n};
    level.entries = xmalloc((dir->entries.n + 1) * sizeof *level.entries);
    vec_push(&t->levels, level);
}

static void leave(struct state_tour *t)
{
    struct level *here = &t->levels.at[--t->levels.n];
    vec_free(&here->pieces);
    free(here->entries);
}

static bool comes_first(const struct level *l, size_t a, size_t b)
{
    return by_name(l->pieces.at[a].next, l->pieces.at[b].next) < 0;
}

static void swap_pieces(struct level *l, size_t a, size_t b)
{
    struct piece piece = l->pieces.at[a];
    l->pieces.at[a] = l->pieces.at[b];
    l->pieces.at[b] = piece;
}

static void rise(struct level *l, size_t i)
{
    for (size_t above; i && comes_first(l, i, above = (i - 1) / 2); i = above)
        swap_pieces(l, i, above);
}

static void sink(struct level *l, size_t i)
{
    for (size_t first = i;; i = first) {
        for (size_t below = 2 * i + 1; below <= 2 * i + 2 && below < l->pieces.n; below++)
            if (comes_first(l, below, first))
                first = below;
        if (first == i)
            return;
        swap_pieces(l, i, first);
    }
}

static void read_piece(struct level *l)
{
    struct state_entry **begin = l->entries + l->n;
    size_t end =
        l->dir->entries.n - l->read < PIECE_ENTRIES ? l->dir->entries.n : l->read + PIECE_ENTRIES;
    for (; l->read < end; l->read++)
        if (l->dir->entries.at[l->read]->file)
            l->entries[l->n++] = l->dir->entries.at[l->read];
    struct piece piece = {begin, l->entries + l->n};
    if (piece.next == piece.end)
        return;
    qsort(begin, (size_t)(piece.end - begin), sizeof *begin, by_name);
    vec_push(&l->pieces, piece);
    rise(l, l->pieces.n - 1);
}

static const struct state_entry *next_entry(struct level *l)
{
    struct piece *first = l->pieces.at;
    const struct state_entry *entry = *first->next++;
    if (first->next == first->end)
        *first = l->pieces.at[--l->pieces.n];
    if (l->pieces.n)
        sink(l, 0);
    return entry;
}

static void visit_file(struct state_tour *t, const struct state_file *f,
                       bool (*visit)(void *, const struct state_name *), void *data)
{
    struct state_name name = describe(f, buf_string(&t->path));
    t->stopped = !visit(data, &name);
    if (!t->stopped && f->kind == FILE_DIRECTORY)
        enter(t, f);
}

static void visit_next(struct state_tour *t, bool (*visit)(void *, const struct state_name *),
                       void *data)
{
    struct level *here = &vec_last(&t->levels);
    const struct state_entry *entry = next_entry(here);
    t->path.n = here->path;
    if (here->path)
        buf_char(&t->path, '/');
    buf_text(&t->path, entry->name);
    visit_file(t, entry->file, visit, data);
}

struct state_tour *state_tour_new(struct state *s)
{
    struct state_tour *t = xcalloc(1, sizeof *t);
    t->root = s->files.at[0];
    return t;
}

void state_tour_free(struct state_tour *t)
{
    if (!t)
        return;
    while (t->levels.n)
        leave(t);
    vec_free(&t->levels);
    buf_free(&t->path);
    free(t);
}

bool state_tour_go_on(struct state_tour *t, uint64_t deadline,
                      bool (*visit)(void *data, const struct state_name *name), void *data,
                      bool *done)
{
    if (!t->begun)
        visit_file(t, t->root, visit, data);
    t->begun = true;
    for (unsigned names = 0; t->levels.n && !t->stopped;) {
        struct level *here = &vec_last(&t->levels);
        bool look = false;
        if (here->read < here->dir->entries.n) {
            read_piece(here);
            look = true;
        } else if (here->pieces.n) {
            visit_next(t, visit, data);
            look = ++names % NAMES_A_LOOK == 0;
        } else {
            leave(t);
        }
        if (look && deadline != UINT64_MAX && clock_now() >= deadline)
            break;
    }
    *done = !t->levels.n;
    return !t->stopped;
}

bool state_walk(struct state *s, bool (*visit)(void *data, const struct state_name *name),
                void *data)
{
    struct state_tour *t = state_tour_new(s);
    bool done, ok = state_tour_go_on(t, UINT64_MAX, visit, data, &done);
    state_tour_free(t);
    return ok;
}
