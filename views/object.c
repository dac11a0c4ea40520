/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/object.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "engine/type_info.h"
#include "engine/vec.h"
#include "views/objects.h"
#include "views/schedule.h"

enum { FIELD, WHOLE_VALUE, HAND_VALUE, NOTE, COLUMNS };

enum side { WHOLE, HAND, SIDES };

/* Of a long field, a text or what is not known any better, as much is read. */
enum { VALUE_BYTES = 256 };

/* Whether the file is there, and how long. */
struct presence {
    uint32_t file;
    bool there;
    uint64_t size;
};

/* A field, and the ops that touch it, ascending. */
struct part {
    struct field_leaf leaf;
    vec_of(uint32_t) ops;
};

struct object_table {
    struct view view;
    struct analysis *analysis;
    const struct stored_objects *objects;
    uint32_t number;
    struct walk *walk;
    struct walk_states *states;
    vec_of(struct part) parts; /* by offset */
    uint64_t version;          /* of the states that files are of */
    struct presence files[SIDES];
};

static const struct stored_object *object_of(const struct object_table *t)
{
    return &t->objects->at[t->number];
}

/* --- Which ops touch which field ----------------------------------------------------------- */

/* The first part that ends behind an offset of the object. */
static size_t part_at(const struct object_table *t, uint64_t offset)
{
    size_t low = 0, high = t->parts.n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        const struct field_leaf *leaf = &t->parts.at[middle].leaf;
        if (leaf->offset + leaf->size <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void add_op(struct object_table *t, uint32_t number, uint64_t from, uint64_t to)
{
    for (size_t i = part_at(t, from); i < t->parts.n && t->parts.at[i].leaf.offset < to; i++)
        vec_push(&t->parts.at[i].ops, number);
}

static void find_ops(struct object_table *t)
{
    const struct graph *g = t->analysis->graph;
    const struct stored_object *o = object_of(t);
    uint64_t end = o->offset + o->size;

    for (uint32_t i = 0; i < g->n; i++) {
        const struct op *op = &g->ops[i];
        bool writes = op->kind == OP_STORE || op->kind == OP_DATA || op->kind == OP_ZERO;
        if (op->file != o->file || !writes || op->offset >= end ||
            op->offset + op->length <= o->offset)
            continue;
        uint64_t from = op->offset > o->offset ? op->offset - o->offset : 0;
        uint64_t to = op->offset + op->length < end ? op->offset + op->length : end;
        add_op(t, i, from, to - o->offset);
    }
}

/* Padding says nothing, and bytes that no type tells of are one field. */
static void find_parts(struct object_table *t)
{
    const struct field_leaf *leaves = NULL;
    size_t n = fields_leaves(t->analysis->fields, object_of(t)->type, &leaves);

    for (size_t i = 0; i < n; i++)
        if (leaves[i].kind != TYPE_VOID && leaves[i].size)
            vec_push(&t->parts, (struct part){.leaf = leaves[i]});
    if (!t->parts.n && object_of(t)->size)
        vec_push(&t->parts, (struct part){.leaf = {.size = object_of(t)->size, .kind = TYPE_VOID}});
}

/* The last op that was issued of those that touch a field; NO_OP when none was. */
static uint32_t last_issued(const struct object_table *t, const struct part *p)
{
    uint32_t end = walk_issued(t->walk);
    size_t low = 0, high = p->ops.n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (p->ops.at[middle] < end)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? p->ops.at[low - 1] : NO_OP;
}

/* --- Values -------------------------------------------------------------------------------- */

static bool settled(const struct object_table *t)
{
    return walk_states_version(t->states) == walk_version(t->walk);
}

bool object_view_settle(struct view *v, uint64_t deadline, bool *done, struct error *e)
{
    return walk_states_settle(((struct object_table *)v)->states, deadline, done, e);
}

static struct state *side_state(struct object_table *t, enum side side)
{
    return side == HAND ? walk_states_hand(t->states) : walk_states_whole(t->states);
}

/* Once for each state. */
static void find_files(struct object_table *t)
{
    struct buf path = {0};

    if (t->version == walk_states_version(t->states))
        return;
    for (int side = 0; side < SIDES; side++) {
        struct state_name name;
        uint32_t file = object_of(t)->file;
        bool there = state_find_file(side_state(t, (enum side)side), file, &path, &name) &&
                     name.kind == FILE_REGULAR;
        t->files[side] = (struct presence){file, there, there ? name.size : 0};
    }
    buf_free(&path);
    t->version = walk_states_version(t->states);
}

struct value {
    unsigned char bytes[VALUE_BYTES];
    size_t n;   /* of them that were read */
    bool there; /* the file is, and reaches as far */
};

static bool read_value(struct object_table *t, enum side side, const struct field_leaf *leaf,
                       struct value *out, struct error *e)
{
    const struct presence *p = &t->files[side];
    uint64_t offset = object_of(t)->offset + leaf->offset;

    *out = (struct value){.n = leaf->size < VALUE_BYTES ? (size_t)leaf->size : VALUE_BYTES};
    out->there = p->there && offset < p->size;
    return !out->there || state_read(side_state(t, side), p->file, offset, out->bytes, out->n, e);
}

static void value_words(struct buf *out, const struct field_leaf *leaf, const struct value *v)
{
    struct field_leaf here = *leaf;

    here.offset = 0;
    here.size = v->n;
    if (v->there)
        field_leaf_words(out, &here, v->bytes);
    else
        buf_text(out, glyph(GLYPH_DASH));
}

static void add_value(struct cell *c, const struct field_leaf *leaf, const struct value *v,
                      enum style style)
{
    struct buf words = {0};

    value_words(&words, leaf, v);
    cell_escape(c, style, buf_string(&words), words.n);
    if (v->there && v->n < leaf->size)
        cell_add(c, STYLE_DIM, " ..");
    buf_free(&words);
}

/* Bit-fields share their bytes with others. */
static bool same_value(const struct field_leaf *leaf, const struct value *a, const struct value *b)
{
    struct buf one = {0}, other = {0};

    if (!leaf->bits || a->there != b->there)
        return a->there == b->there && !memcmp(a->bytes, b->bytes, a->n);
    value_words(&one, leaf, a);
    value_words(&other, leaf, b);
    bool same = !strcmp(buf_string(&one), buf_string(&other));
    buf_free(&one);
    buf_free(&other);
    return same;
}

/* --- Rows ---------------------------------------------------------------------------------- */

static const struct column *columns(struct view *v, size_t *n)
{
    static const struct column all[COLUMNS] = {
        [FIELD] = {.title = "field", .least = 12, .most = 48, .yields = 1},
        [WHOLE_VALUE] = {.title = "uncrashed", .least = 9, .most = 40, .yields = 2},
        [HAND_VALUE] = {.title = "this state", .least = 10, .most = 40, .yields = 2},
        [NOTE] = {.title = "stored by", .least = 9, .yields = 3},
    };
    (void)v;
    *n = COLUMNS;
    return all;
}

static uint64_t count(struct view *v)
{
    return ((struct object_table *)v)->parts.n;
}

/* What became of the field's last store, as a sign before it and in words behind it. */
static void add_fate(const struct object_table *t, const struct part *p, struct row *out)
{
    static const char *const words[] = {[WALK_PERSISTED] = "persisted",
                                        [WALK_LOST] = "lost",
                                        [WALK_FLIGHT] = "in flight",
                                        [WALK_UNISSUED] = "not yet"};
    static const enum style styles[] = {[WALK_PERSISTED] = STYLE_OP_PERSISTED,
                                        [WALK_LOST] = STYLE_OP_LOST,
                                        [WALK_FLIGHT] = STYLE_OP_FLIGHT,
                                        [WALK_UNISSUED] = STYLE_OP_UNISSUED};
    uint32_t op = last_issued(t, p);
    enum walk_mark mark = op == NO_OP ? WALK_UNISSUED : walk_mark(t->walk, op);

    if (!p->ops.n) {
        cell_add(&out->cells[FIELD], STYLE_PLAIN, "  ");
        return;
    }
    schedule_mark(&out->cells[FIELD], mark);
    if (op == NO_OP)
        op = p->ops.at[0];
    cell_add(&out->cells[NOTE], STYLE_NUMBER, "%" PRIu64 " ", t->analysis->graph->ops[op].event);
    cell_add(&out->cells[NOTE], styles[mark], "%s", words[mark]);
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct object_table *t = (struct object_table *)v;
    const struct part *p = &t->parts.at[row - 1];
    const char *path = p->leaf.path ? fields_text(t->analysis->fields, p->leaf.path) : "bytes";
    struct value values[SIDES];

    add_fate(t, p, out);
    cell_escape(&out->cells[FIELD], STYLE_FIELD, path, strlen(path));
    if (!settled(t)) {
        cell_add(&out->cells[HAND_VALUE], STYLE_VERDICT_NONE, "working out the state, %d %%",
                 walk_states_percent(t->states));
        return true;
    }
    find_files(t);
    for (int side = 0; side < SIDES; side++)
        if (!read_value(t, (enum side)side, &p->leaf, &values[side], e))
            return false;
    bool same = same_value(&p->leaf, &values[WHOLE], &values[HAND]);
    add_value(&out->cells[WHOLE_VALUE], &p->leaf, &values[WHOLE],
              same ? STYLE_DATA_SAME : STYLE_DATA_MISSING);
    add_value(&out->cells[HAND_VALUE], &p->leaf, &values[HAND],
              same ? STYLE_DATA_SAME : STYLE_DATA_OTHER);
    return true;
}

static bool subject(struct view *v, uint64_t row, struct subject *out, struct error *e)
{
    struct object_table *t = (struct object_table *)v;
    const struct part *p = &t->parts.at[row - 1];
    uint32_t op = last_issued(t, p);

    if (!p->ops.n)
        return view_no_subject(v, row, out, e);
    *out = (struct subject){SUBJECT_OP, op == NO_OP ? p->ops.at[0] : op, NULL};
    return true;
}

/* The field that an op writes, the first of several. */
static uint64_t find(struct view *v, const struct subject *s)
{
    const struct object_table *t = (struct object_table *)v;
    const struct stored_object *o = object_of(t);

    if (s->kind != SUBJECT_OP || s->number >= t->analysis->graph->n)
        return 0;
    const struct op *op = &t->analysis->graph->ops[s->number];
    if (op->file != o->file || op->offset + op->length <= o->offset ||
        op->offset >= o->offset + o->size)
        return 0;
    size_t i = part_at(t, op->offset > o->offset ? op->offset - o->offset : 0);
    return i < t->parts.n ? i + 1 : 0;
}

static void close_view(struct view *v)
{
    struct object_table *t = (struct object_table *)v;

    for (size_t i = 0; i < t->parts.n; i++)
        vec_free(&t->parts.at[i].ops);
    vec_free(&t->parts);
    free(t);
}

uint32_t object_view_number(struct view *v)
{
    return ((struct object_table *)v)->number;
}

void object_view_title(struct view *v, struct cell *c)
{
    struct object_table *t = (struct object_table *)v;

    object_words(c, t->analysis, object_of(t));
    cell_add(c, STYLE_PLAIN, ": without a crash, and in this state");
}

struct view *object_view(struct analysis *a, const struct stored_objects *objects, uint32_t object,
                         struct walk *walk, struct walk_states *states)
{
    static const struct view_ops ops = {
        .kind = VIEW_OBJECT,
        .name = "object",
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = view_no_detail,
        .subject = subject,
        .find = find,
        .close = close_view,
    };
    struct object_table *t = xcalloc(1, sizeof *t);

    t->view.ops = &ops;
    t->analysis = a;
    t->objects = objects;
    t->number = object;
    t->walk = walk;
    t->states = states;
    find_parts(t);
    find_ops(t);
    return &t->view;
}
