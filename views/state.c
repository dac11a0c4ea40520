/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/state.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/clock.h"
#include "engine/mem.h"
#include "views/state_inside.h"

enum { NAME, SIZE, WHAT, COLUMNS };

/* Bytes that are compared to say where a file differs; beyond that it only says that it does. */
enum { COMPARED_MAX = 256 << 10 };

/* How far it is looked ahead for names that come next, and how many of them are listed: enough to
 * see where the run goes on. */
enum { OPS_AHEAD = 1024, LATER_MAX = 20 };

/* Names compared between two looks at the clock. */
enum { NAMES_A_LOOK = 64 };

enum side { HAND, WHOLE, SIDES };

struct pair {
    const struct named *at[SIDES]; /* NULL: not there */
    const struct named *later;     /* it comes after the crash; NULL otherwise */
};

struct state_table {
    struct view view;
    struct walk_states *states;
    struct analysis *analysis;
    const struct walk *walk;
    uint64_t version;   /* of the walk that the rows are of; 0: none */
    uint64_t comparing; /* the version for which names and rows are collected, or were */
    struct names names[SIDES];
    uint32_t whole;     /* how many ops had been issued, for the names of WHOLE */
    size_t next[SIDES]; /* the names to be compared next */
    struct names later;
    vec_of(struct pair) rows; /* by path, then those that come later */
    uint64_t first;           /* row that is not as expected; 0: none */
};

static struct state *side_state(struct state_table *t, enum side side)
{
    return side == HAND ? walk_states_hand(t->states) : walk_states_whole(t->states);
}

/* --- Comparing ----------------------------------------------------------------------------- */

static bool same_contents(struct state_table *t, const struct pair *p)
{
    return state_same_contents(side_state(t, HAND), p->at[HAND]->file, side_state(t, WHOLE),
                               p->at[WHOLE]->file);
}

static bool as_expected(struct state_table *t, const struct pair *p)
{
    const struct named *hand = p->at[HAND], *whole = p->at[WHOLE];

    if (p->later)
        return true;
    if (!hand || !whole || hand->kind != whole->kind || hand->mode != whole->mode)
        return false;
    if (hand->kind == FILE_SYMLINK)
        return !strcmp(hand->target ? hand->target : "", whole->target ? whole->target : "");
    return hand->kind != FILE_REGULAR || same_contents(t, p);
}

/* Everything issued by the crash is the same for one step as for the next, mostly. */
static void begin(struct state_table *t, uint64_t version)
{
    names_clear(&t->names[HAND]);
    if (!t->names[WHOLE].all || t->whole != walk_issued(t->walk))
        names_clear(&t->names[WHOLE]);
    t->whole = walk_issued(t->walk);
    t->rows.n = t->next[HAND] = t->next[WHOLE] = 0;
    t->first = 0;
    t->comparing = version;
}

static void compare_next(struct state_table *t)
{
    const struct names *hand = &t->names[HAND], *whole = &t->names[WHOLE];
    size_t i = t->next[HAND], k = t->next[WHOLE];
    int order = i == hand->at.n    ? 1
                : k == whole->at.n ? -1
                                   : state_compare_paths(hand->at.at[i].path, whole->at.at[k].path);
    struct pair pair = {{order <= 0 ? &hand->at.at[i] : NULL, order >= 0 ? &whole->at.at[k] : NULL},
                        NULL};

    vec_push(&t->rows, pair);
    t->next[HAND] += order <= 0;
    t->next[WHOLE] += order >= 0;
    if (!t->first && !as_expected(t, &pair))
        t->first = t->rows.n;
}

static bool compare(struct state_table *t, uint64_t deadline)
{
    while (t->next[HAND] < t->names[HAND].at.n || t->next[WHOLE] < t->names[WHOLE].at.n) {
        compare_next(t);
        if (t->rows.n % NAMES_A_LOOK == 0 && clock_now() >= deadline)
            return false;
    }
    return true;
}

/* --- What comes after the crash ------------------------------------------------------------ */

/* The name that an event makes; false when it makes none. */
static bool makes_name(struct session *s, const struct event *event, struct named *out)
{
    uint32_t path;

    switch (event->call) {
    case CALL_OPEN:
    case CALL_MKNOD:
    case CALL_LINK:
    case CALL_MKDIR:
    case CALL_SYMLINK:
        path = event->path;
        break;
    case CALL_RENAME:
        path = event->other_path;
        break;
    default:
        return false;
    }
    *out = (struct named){.file = event->file, .path = session_string(s, path)};
    return true;
}

/* Whether a name is not there already, nor listed as one that comes. */
static bool is_new(const struct state_table *t, const char *path)
{
    for (size_t i = 0; i < t->later.at.n; i++)
        if (!strcmp(t->later.at.at[i].path, path))
            return false;
    return !names_have(&t->names[HAND], path) && !names_have(&t->names[WHOLE], path);
}

static bool look_ahead(struct state_table *t, struct error *e)
{
    const struct graph *g = t->analysis->graph;
    uint32_t op = walk_issued(t->walk),
             end = g->n - op < OPS_AHEAD ? (uint32_t)g->n : op + OPS_AHEAD;
    struct named name;
    struct event event;

    names_clear(&t->later);
    for (; op < end && t->later.at.n < LATER_MAX; op++) {
        if (g->ops[op].kind != OP_NAME || g->ops[op].flags & OP_CARRIED)
            continue;
        if (!session_event(t->analysis->session, g->ops[op].event, &event, e))
            return false;
        if (!makes_name(t->analysis->session, &event, &name))
            continue;
        if (is_new(t, name.path))
            names_add(&t->later, name);
    }
    for (size_t i = 0; i < t->later.at.n; i++)
        vec_push(&t->rows, ((struct pair){.later = &t->later.at.at[i]}));
    return true;
}

bool state_view_settle(struct view *v, uint64_t deadline, bool *done, struct error *e)
{
    struct state_table *t = (struct state_table *)v;

    if (!walk_states_settle(t->states, deadline, done, e))
        return false;
    uint64_t version = walk_states_version(t->states);
    if (!*done || t->version == version)
        return true;
    if (t->comparing != version)
        begin(t, version);
    *done = names_collect(&t->names[HAND], side_state(t, HAND), deadline) &&
            names_collect(&t->names[WHOLE], side_state(t, WHOLE), deadline) && compare(t, deadline);
    if (!*done)
        return true;
    if (!look_ahead(t, e))
        return false;
    t->version = version;
    return true;
}

/* --- What differs -------------------------------------------------------------------------- */

static bool settled(const struct state_table *t)
{
    return t->version && t->version == walk_states_version(t->states);
}

/* Where the contents differ: the first byte, and whether there are only zeros from there on that
 * differ. */
struct difference {
    bool any, zeros, cut; /* cut: not all was looked at */
    uint64_t first, last;
};

static bool find_difference(struct state_table *t, const struct pair *p, struct difference *d,
                            struct error *e)
{
    enum { PIECE = 4096 };
    unsigned char bytes[SIDES][PIECE];
    const struct named *hand = p->at[HAND], *whole = p->at[WHOLE];
    uint64_t size = hand->size < whole->size ? hand->size : whole->size;

    *d = (struct difference){.zeros = true, .cut = size > COMPARED_MAX};
    size = size < COMPARED_MAX ? size : COMPARED_MAX;
    for (uint64_t at = 0; at < size; at += PIECE) {
        size_t n = size - at < PIECE ? (size_t)(size - at) : PIECE;
        if (!state_read(side_state(t, HAND), hand->file, at, bytes[HAND], n, e) ||
            !state_read(side_state(t, WHOLE), whole->file, at, bytes[WHOLE], n, e))
            return false;
        if (!memcmp(bytes[HAND], bytes[WHOLE], n))
            continue;
        for (size_t i = 0; i < n; i++) {
            if (bytes[HAND][i] == bytes[WHOLE][i])
                continue;
            d->first = d->any ? d->first : at + i;
            d->last = at + i;
            d->any = true;
            d->zeros = d->zeros && !bytes[HAND][i];
        }
    }
    return true;
}

static void add_one_sided(struct state_table *t, const struct pair *p, struct cell *c)
{
    enum side there = p->at[HAND] ? HAND : WHOLE;
    struct state *beside = side_state(t, there == HAND ? WHOLE : HAND);
    struct buf path = {0};
    struct state_name name;
    bool other = state_find_file(beside, p->at[there]->file, &path, &name);

    if (there == WHOLE) {
        cell_add(c, STYLE_DATA_MISSING, other ? "missing: it is still " : "missing");
    } else
        cell_add(c, STYLE_DATA_OTHER, other ? "should be " : "should be gone");
    if (other)
        cell_escape(c, STYLE_PATH, path.at, path.n);
    buf_free(&path);
}

static bool add_contents(struct state_table *t, const struct pair *p, struct cell *c,
                         struct error *e)
{
    uint64_t hand = p->at[HAND]->size, whole = p->at[WHOLE]->size;
    struct difference d;

    if (!find_difference(t, p, &d, e))
        return false;
    if (hand < whole)
        cell_add(c, STYLE_DATA_MISSING, "%" PRIu64 " B missing", whole - hand);
    else if (hand > whole)
        cell_add(c, STYLE_DATA_OTHER, "%" PRIu64 " B too many", hand - whole);
    if (d.any) {
        cell_add(c, STYLE_PLAIN, "%s", hand != whole ? ", " : "");
        cell_add(c, STYLE_DATA_OTHER, "%s %" PRIu64 "+%" PRIu64, d.zeros ? "zeros" : "other bytes",
                 d.first, d.last - d.first + 1);
        if (d.cut)
            cell_add(c, STYLE_DIM, " or more");
    } else if (hand == whole)
        cell_add(c, STYLE_DATA_OTHER, "other bytes");
    return true;
}

static bool add_what(struct state_table *t, const struct pair *p, struct cell *c, struct error *e)
{
    const struct named *hand = p->at[HAND], *whole = p->at[WHOLE];

    if (p->later) {
        cell_add(c, STYLE_OP_UNISSUED, "not yet");
        return true;
    }
    if (!hand || !whole) {
        add_one_sided(t, p, c);
        return true;
    }
    if (as_expected(t, p)) {
        cell_add(c, STYLE_DATA_SAME, "as expected");
        return true;
    }
    if (hand->file != whole->file)
        cell_add(c, STYLE_DATA_OTHER, "the file before: ");
    if (hand->kind != whole->kind)
        cell_add(c, STYLE_DATA_OTHER, "another kind of file");
    else if (hand->kind == FILE_SYMLINK)
        cell_add(c, STYLE_DATA_OTHER, "another target");
    else if (hand->kind == FILE_REGULAR && !same_contents(t, p))
        return add_contents(t, p, c, e);
    else if (hand->mode != whole->mode)
        cell_add(c, STYLE_DATA_OTHER, "mode %03o instead of %03o", hand->mode, whole->mode);
    return true;
}

/* --- The view ------------------------------------------------------------------------------ */

static const struct column *columns(struct view *v, size_t *n)
{
    static const struct column all[COLUMNS] = {
        [NAME] = {.title = "file", .least = 12, .most = 40, .yields = 2},
        [SIZE] = {.title = "size", .least = 6, .right = true},
        [WHAT] = {.title = "", .least = 12, .yields = 1},
    };
    (void)v;
    *n = COLUMNS;
    return all;
}

/* Whichever there is. */
static const struct named *shown(const struct pair *p)
{
    return p->at[HAND] ? p->at[HAND] : p->at[WHOLE] ? p->at[WHOLE] : p->later;
}

static uint64_t count(struct view *v)
{
    const struct state_table *t = (struct state_table *)v;

    return settled(t) && t->rows.n ? t->rows.n : 1;
}

static void add_name(struct cell *c, const struct named *at)
{
    const char *name = at->path;

    for (const char *slash; (slash = strchr(name, '/')); name = slash + 1)
        cell_add(c, STYLE_PLAIN, "  ");
    cell_escape(c, STYLE_PATH, name, strlen(name));
    if (at->kind == FILE_DIRECTORY)
        cell_add(c, STYLE_DIM, "/");
    if (at->kind == FILE_SYMLINK && at->target) {
        cell_add(c, STYLE_DIM, " %s ", glyph(GLYPH_ARROW));
        cell_escape(c, STYLE_PATH, at->target, strlen(at->target));
    }
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct state_table *t = (struct state_table *)v;

    if (!settled(t)) {
        cell_add(&out->cells[NAME], STYLE_VERDICT_NONE, "working out the state, %d %%",
                 walk_states_percent(t->states));
        return true;
    }
    if (!t->rows.n) {
        cell_add(&out->cells[NAME], STYLE_DIM, "no files, and none were expected");
        return true;
    }
    const struct pair *p = &t->rows.at[row - 1];
    const struct named *hand = p->at[HAND];
    if (p->later) /* not in the tree */
        cell_escape(&out->cells[NAME], STYLE_OP_UNISSUED, p->later->path, strlen(p->later->path));
    else
        add_name(&out->cells[NAME], shown(p));
    if (!hand)
        cell_add(&out->cells[SIZE], STYLE_DIM, "%s", glyph(GLYPH_DASH));
    else if (hand->kind == FILE_REGULAR)
        cell_add(&out->cells[SIZE], STYLE_NUMBER, "%" PRIu64 " B", hand->size);
    return add_what(t, p, &out->cells[WHAT], e);
}

static bool subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    const struct state_table *t = (struct state_table *)v;

    if (!settled(t) || row > t->rows.n)
        return view_no_subject(v, row, out, e);
    const struct pair *p = &t->rows.at[row - 1];
    *out = (struct subject){SUBJECT_FILE, shown(p)->file, NULL};
    return true;
}

/* The row of a path that either state has. */
static uint64_t row_of(const struct state_table *t, const char *path)
{
    size_t low = 0, high = t->rows.n - t->later.at.n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (state_compare_paths(shown(&t->rows.at[middle])->path, path) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low + 1;
}

static uint64_t find(struct view *v, const struct subject *s)
{
    struct state_table *t = (struct state_table *)v;
    struct buf path = {0};
    struct state_name name;
    uint64_t row = 0;

    for (int side = 0; s->kind == SUBJECT_FILE && settled(t) && side < SIDES; side++) {
        if (!state_find_file(side_state(t, (enum side)side), (uint32_t)s->number, &path, &name))
            continue;
        uint64_t of_side = row_of(t, name.path);
        row = !row || of_side < row ? of_side : row;
    }
    buf_free(&path);
    return row;
}

uint64_t state_view_version(const struct view *v)
{
    return ((const struct state_table *)v)->version;
}

const char *state_view_path(struct view *v, uint64_t row)
{
    const struct state_table *t = (struct state_table *)v;

    if (!settled(t) || row < 1 || row > t->rows.n)
        return NULL;
    const struct pair *p = &t->rows.at[row - 1];
    return shown(p)->path;
}

uint64_t state_view_first(struct view *v)
{
    struct state_table *t = (struct state_table *)v;

    return settled(t) ? t->first : 0;
}

static void close_view(struct view *v)
{
    struct state_table *t = (struct state_table *)v;

    for (int side = 0; side < SIDES; side++)
        names_free(&t->names[side]);
    names_free(&t->later);
    vec_free(&t->rows);
    free(t);
}

struct view *state_view(struct walk_states *states, struct analysis *a, const struct walk *w)
{
    static const struct view_ops ops = {
        .name = "state",
        .kind = VIEW_STATE,
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = view_no_detail,
        .subject = subject,
        .find = find,
        .close = close_view,
    };
    struct state_table *t = xcalloc(1, sizeof *t);

    t->view.ops = &ops;
    t->states = states;
    t->analysis = a;
    t->walk = w;
    return &t->view;
}
