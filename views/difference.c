/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/difference.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/clock.h"
#include "engine/escape.h"
#include "engine/mem.h"
#include "views/difference_inside.h"

/* Larger files are compared as bytes. Runs of bytes beyond the limit are not compared. */
enum { TEXT_MAX = 256 << 10, RUNS_MAX = 1 << 20 };

enum { BYTES_A_ROW = 8, PIECE = 4096, PIECES_A_SLICE = 16 };

enum side { WHOLE, HAND, SIDES };

/* Bytes that differ, or do not, in rows of BYTES_A_ROW. */
struct run {
    uint64_t offset, length;
    uint64_t first_row; /* from 0 */
    bool same;
};

struct found_file {
    bool there;
    uint32_t file;
    enum file_kind kind;
    uint64_t size;
};

struct difference_table {
    struct view view;
    struct walk_states *states;
    char *path;
    bool wide;
    uint64_t version; /* of the walk that is compared, or being compared */
    bool done, text;
    struct found_file files[SIDES];
    struct text_side lines[SIDES];
    struct text_rows text_rows;
    vec_of(struct run) runs;
    uint64_t next; /* the byte to be compared next */
};

static struct state *side_state(struct difference_table *t, enum side side)
{
    return side == HAND ? walk_states_hand(t->states) : walk_states_whole(t->states);
}

/* --- Comparing ----------------------------------------------------------------------------- */

static uint64_t longest(const struct difference_table *t)
{
    return t->files[HAND].size > t->files[WHOLE].size ? t->files[HAND].size : t->files[WHOLE].size;
}

static bool regular(const struct found_file *f)
{
    return f->there && f->kind == FILE_REGULAR;
}

/* Adds a row's worth of bytes to the last run, or begins another. */
static void add_bytes(struct difference_table *t, uint64_t offset, uint64_t n, bool same)
{
    struct run *last = t->runs.n ? &vec_last(&t->runs) : NULL;

    if (last && last->same == same) {
        last->length += n;
        return;
    }
    uint64_t rows = !last ? 0 : last->same ? 1 : (last->length + BYTES_A_ROW - 1) / BYTES_A_ROW;
    vec_push(&t->runs, (struct run){offset, n, last ? last->first_row + rows : 0, same});
}

/* Bytes of a side; what is beyond its end is marked in `there`. */
static bool read_side(struct difference_table *t, enum side side, uint64_t offset, size_t n,
                      unsigned char *out, size_t *there, struct error *e)
{
    const struct found_file *f = &t->files[side];

    *there = regular(f) && offset < f->size
                 ? (f->size - offset < n ? (size_t)(f->size - offset) : n)
                 : 0;
    memset(out, 0, n);
    return !*there || state_read(side_state(t, side), f->file, offset, out, *there, e);
}

static bool compare_piece(struct difference_table *t, struct error *e)
{
    unsigned char bytes[SIDES][PIECE];
    size_t there[SIDES], n = longest(t) - t->next < PIECE ? (size_t)(longest(t) - t->next) : PIECE;

    for (int side = 0; side < SIDES; side++)
        if (!read_side(t, side, t->next, n, bytes[side], &there[side], e))
            return false;
    size_t both = there[HAND] < there[WHOLE] ? there[HAND] : there[WHOLE];
    if (both == n && !memcmp(bytes[HAND], bytes[WHOLE], n))
        add_bytes(t, t->next, n, true);
    else
        for (size_t at = 0; at < n; at += BYTES_A_ROW) {
            size_t row = n - at < BYTES_A_ROW ? n - at : BYTES_A_ROW;
            bool same = at + row <= both && !memcmp(bytes[HAND] + at, bytes[WHOLE] + at, row);
            add_bytes(t, t->next + at, row, same);
        }
    t->next += n;
    return true;
}

static bool read_text(struct difference_table *t, enum side side, struct error *e)
{
    struct text_side *text = &t->lines[side];
    const struct found_file *f = &t->files[side];

    text->n = regular(f) ? (size_t)f->size : 0;
    text->bytes = xrealloc(text->bytes, text->n + 1);
    return !text->n || state_read(side_state(t, side), f->file, 0, text->bytes, text->n, e);
}

static bool begin(struct difference_table *t, struct error *e)
{
    for (int side = 0; side < SIDES; side++) {
        struct state_name name;
        t->files[side] = (struct found_file){0};
        if (state_find(side_state(t, side), t->path, &name))
            t->files[side] = (struct found_file){true, name.file, name.kind, name.size};
    }
    t->next = 0;
    t->runs.n = 0;
    t->text = longest(t) <= TEXT_MAX;
    for (int side = 0; side < SIDES && t->text; side++) {
        if (!read_text(t, side, e))
            return false;
        t->text = text_looks(t->lines[side].bytes, t->lines[side].n);
    }
    if (!t->text)
        return true;
    for (int side = 0; side < SIDES; side++)
        text_split(&t->lines[side]);
    text_compare(&t->lines[WHOLE], &t->lines[HAND], t->wide, &t->text_rows);
    t->next = longest(t);
    return true;
}

bool difference_view_settle(struct view *v, uint64_t deadline, bool *done, struct error *e)
{
    struct difference_table *t = (struct difference_table *)v;

    if (!walk_states_settle(t->states, deadline, done, e))
        return false;
    if (!*done) {
        t->done = false;
        return true;
    }
    if (t->version != walk_states_version(t->states)) {
        t->done = false;
        if (!begin(t, e))
            return false;
        t->version = walk_states_version(t->states);
    }
    while (t->next < longest(t) && t->runs.n < RUNS_MAX) {
        for (int i = 0; i < PIECES_A_SLICE && t->next < longest(t); i++)
            if (!compare_piece(t, e))
                return false;
        if (clock_now() >= deadline)
            break;
    }
    *done = t->done = t->next >= longest(t) || t->runs.n >= RUNS_MAX;
    return true;
}

bool difference_view_width(struct view *v, int width)
{
    struct difference_table *t = (struct difference_table *)v;
    bool wide = width >= DIFFERENCE_WIDE;

    if (wide == t->wide)
        return false;
    t->wide = wide;
    if (t->done && t->text)
        text_compare(&t->lines[WHOLE], &t->lines[HAND], t->wide, &t->text_rows);
    return true;
}

/* --- Rows ---------------------------------------------------------------------------------- */

enum { PLACE, LEFT, RIGHT, COLUMNS };

static const struct column *columns(struct view *v, size_t *n)
{
    static const struct column side_by_side[COLUMNS] = {
        [PLACE] = {.title = "", .least = 5, .right = true},
        [LEFT] = {.title = "uncrashed", .least = 20, .yields = 1},
        [RIGHT] = {.title = "this state", .least = 20, .yields = 1},
    };
    static const struct column unified[COLUMNS - 1] = {
        [PLACE] = {.title = "", .least = 5, .right = true},
        [LEFT] = {.title = "- uncrashed, + this state", .least = 20, .yields = 1},
    };
    bool wide = ((struct difference_table *)v)->wide;

    *n = wide ? COLUMNS : COLUMNS - 1;
    return wide ? side_by_side : unified;
}

static bool settled(const struct difference_table *t)
{
    return t->done && t->version && t->version == walk_states_version(t->states);
}

/* Whether there is something to compare, or only a sentence to say. */
static bool comparable(const struct difference_table *t)
{
    return settled(t) && (regular(&t->files[HAND]) || regular(&t->files[WHOLE])) && longest(t);
}

/* Rows of bytes, if each took one: a row that differs takes two when they stand one below the
 * other. */
static uint64_t run_rows(const struct difference_table *t, const struct run *r)
{
    uint64_t rows = r->same ? 1 : (r->length + BYTES_A_ROW - 1) / BYTES_A_ROW;
    return !r->same && !t->wide ? 2 * rows : rows;
}

/* Same runs and different ones take turns, so what lies before a run follows from its first row. */
static uint64_t row_of_run(const struct difference_table *t, size_t i)
{
    uint64_t first = t->runs.at[i].first_row;
    uint64_t same_before = i / 2 + (i % 2 && t->runs.at[0].same);

    return t->wide ? first : 2 * first - same_before;
}

static uint64_t count(struct view *v)
{
    const struct difference_table *t = (struct difference_table *)v;

    if (!comparable(t))
        return 1;
    if (t->text)
        return t->text_rows.at.n;
    size_t last = t->runs.n - 1;
    return row_of_run(t, last) + run_rows(t, &t->runs.at[last]) + (t->runs.n >= RUNS_MAX);
}

static void draw_nothing(const struct difference_table *t, struct cell *c)
{
    const struct found_file *hand = &t->files[HAND], *whole = &t->files[WHOLE];

    if (!settled(t))
        cell_add(c, STYLE_VERDICT_NONE, "comparing, %d %%", walk_states_percent(t->states));
    else if (!hand->there && !whole->there)
        cell_add(c, STYLE_DIM, "not there, and not expected");
    else if (hand->there && whole->there && (regular(hand) || regular(whole)))
        cell_add(c, STYLE_DIM, "empty, as expected");
    else if (hand->there && whole->there)
        cell_add(c, STYLE_DIM, "nothing that has contents");
    else
        cell_add(c, hand->there ? STYLE_DATA_OTHER : STYLE_DATA_MISSING,
                 hand->there ? "not expected" : "missing");
}

/* --- Lines --------------------------------------------------------------------------------- */

static void add_line(const struct difference_table *t, enum side side, uint32_t line,
                     enum style style, struct cell *c)
{
    size_t n;
    const char *bytes = text_line(&t->lines[side], line, &n);
    struct buf safe = {0};

    escape_add(&safe, bytes, n, escape_locale() | ESCAPE_KEEP_NEWLINES);
    cell_text(c, style, buf_string(&safe), safe.n);
    buf_free(&safe);
}

static void draw_text(const struct difference_table *t, uint64_t row, struct row *out)
{
    const struct text_row *r = &t->text_rows.at.at[row - 1];
    struct cell *left = &out->cells[LEFT], *right = &out->cells[t->wide ? RIGHT : LEFT];

    if (r->skipped) {
        cell_add(left, STYLE_DIM, "%" PRIu32 " line%s the same", r->skipped,
                 r->skipped == 1 ? "" : "s");
        return;
    }
    size_t n = 0, m = 0;
    const char *a = r->whole == NO_TEXT ? NULL : text_line(&t->lines[WHOLE], r->whole, &n);
    const char *b = r->hand == NO_TEXT ? NULL : text_line(&t->lines[HAND], r->hand, &m);
    bool same = a && b && n == m && !memcmp(a, b, n);
    cell_add(&out->cells[PLACE], STYLE_DIM, "%" PRIu32, (a ? r->whole : r->hand) + 1);
    if (!t->wide)
        cell_add(left,
                 same ? STYLE_DIM
                 : a  ? STYLE_DATA_MISSING
                      : STYLE_DATA_OTHER,
                 "%s ",
                 same ? " "
                 : a  ? "-"
                      : "+");
    if (a)
        add_line(t, WHOLE, r->whole, same ? STYLE_DATA_SAME : STYLE_DATA_MISSING, left);
    if (b && (t->wide || !same))
        add_line(t, HAND, r->hand, same ? STYLE_DATA_SAME : STYLE_DATA_OTHER, right);
}

/* --- Bytes --------------------------------------------------------------------------------- */

static size_t find_run(const struct difference_table *t, uint64_t row)
{
    size_t low = 0, high = t->runs.n;

    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (row_of_run(t, middle) <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

struct byte_row {
    unsigned char bytes[SIDES][BYTES_A_ROW];
    size_t there[SIDES];
};

static enum style byte_style(const struct byte_row *r, enum side side, size_t i)
{
    bool both = i < r->there[WHOLE] && i < r->there[HAND];

    if (both && r->bytes[WHOLE][i] == r->bytes[HAND][i])
        return STYLE_DATA_SAME;
    return side == WHOLE ? STYLE_DATA_MISSING : STYLE_DATA_OTHER;
}

/* "95 7c b9  .|." */
static void add_side(const struct byte_row *r, enum side side, struct cell *c)
{
    for (size_t i = 0; i < BYTES_A_ROW; i++) {
        if (i < r->there[side])
            cell_add(c, byte_style(r, side, i), "%02x", r->bytes[side][i]);
        else
            cell_add(c, STYLE_PLAIN, "  ");
        cell_add(c, STYLE_PLAIN, " ");
    }
    cell_add(c, STYLE_PLAIN, " ");
    for (size_t i = 0; i < r->there[side]; i++) {
        unsigned char b = r->bytes[side][i];
        cell_add(c, byte_style(r, side, i), "%c", b >= ' ' && b < 0x7f ? b : '.');
    }
}

static void add_same(struct cell *c, uint64_t length)
{
    if (length % PIECE == 0)
        cell_add(c, STYLE_DIM, "%" PRIu64 " block%s the same", length / PIECE,
                 length == PIECE ? "" : "s");
    else
        cell_add(c, STYLE_DIM, "%" PRIu64 " byte%s the same", length, length == 1 ? "" : "s");
}

static bool draw_bytes(struct difference_table *t, uint64_t row, struct row *out, struct error *e)
{
    size_t i = find_run(t, row - 1);
    const struct run *r = &t->runs.at[i];
    uint64_t in = row - 1 - row_of_run(t, i), unit = t->wide ? in : in / 2;
    struct byte_row bytes;

    if (in >= run_rows(t, r)) {
        cell_add(&out->cells[LEFT], STYLE_DIM, "and more, which was not compared");
        return true;
    }
    cell_add(&out->cells[PLACE], STYLE_NUMBER, "%" PRIu64, r->offset + unit * BYTES_A_ROW);
    if (r->same) {
        add_same(&out->cells[LEFT], r->length);
        return true;
    }
    uint64_t left = r->length - unit * BYTES_A_ROW;
    size_t n = left < BYTES_A_ROW ? (size_t)left : BYTES_A_ROW;
    for (int side = 0; side < SIDES; side++)
        if (!read_side(t, side, r->offset + unit * BYTES_A_ROW, n, bytes.bytes[side],
                       &bytes.there[side], e))
            return false;
    if (t->wide) {
        add_side(&bytes, WHOLE, &out->cells[LEFT]);
        add_side(&bytes, HAND, &out->cells[RIGHT]);
        return true;
    }
    enum side side = in % 2 ? HAND : WHOLE;
    cell_add(&out->cells[LEFT], side == HAND ? STYLE_DATA_OTHER : STYLE_DATA_MISSING,
             side == HAND ? "+ " : "- ");
    add_side(&bytes, side, &out->cells[LEFT]);
    return true;
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    struct difference_table *t = (struct difference_table *)v;

    if (!comparable(t)) {
        draw_nothing(t, &out->cells[LEFT]);
        return true;
    }
    if (!t->text)
        return draw_bytes(t, row, out, e);
    draw_text(t, row, out);
    return true;
}

static void close_view(struct view *v)
{
    struct difference_table *t = (struct difference_table *)v;

    for (int side = 0; side < SIDES; side++) {
        free(t->lines[side].bytes);
        vec_free(&t->lines[side].lines);
    }
    vec_free(&t->text_rows.at);
    vec_free(&t->runs);
    free(t->path);
    free(t);
}

const char *difference_view_path(struct view *v)
{
    return ((struct difference_table *)v)->path;
}

struct view *difference_view(struct walk_states *states, const char *path)
{
    static const struct view_ops ops = {
        .name = "difference",
        .kind = VIEW_DIFFERENCE,
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = view_no_detail,
        .subject = view_no_subject,
        .find = view_find_nothing,
        .close = close_view,
    };
    struct difference_table *t = xcalloc(1, sizeof *t);

    t->view.ops = &ops;
    t->states = states;
    t->path = xstrdup(path);
    t->wide = true;
    return &t->view;
}
