/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/output.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/mem.h"

enum { NUMBER, TEXT, COLUMNS };

struct output {
    struct view view;
    vec_of(char *) lines; /* safe to show, without newlines */
    struct buf line;      /* the one that has begun, as it came */
    uint64_t left_out;    /* lines beyond the limit */
    char *ending;         /* how it ended, or what is said until then; NULL: nothing */
    bool ended, good;
};

static void end_line(struct output *o)
{
    if (o->lines.n < OUTPUT_LINES_MAX) {
        struct buf safe = {0};
        escape_add(&safe, o->line.n ? o->line.at : "", o->line.n,
                   escape_locale() | ESCAPE_KEEP_NEWLINES);
        vec_push(&o->lines, xstrdup(buf_string(&safe)));
        buf_free(&safe);
    } else
        o->left_out++;
    buf_clear(&o->line);
}

void output_add(struct view *v, const char *bytes, size_t n)
{
    struct output *o = (struct output *)v;

    while (n) {
        const char *newline = memchr(bytes, '\n', n);
        size_t piece = newline ? (size_t)(newline - bytes) : n;
        size_t room = OUTPUT_LINE_MAX - o->line.n;
        buf_add(&o->line, bytes, piece < room ? piece : room);
        if (newline || piece > room)
            end_line(o);
        piece = piece <= room ? piece + (newline != NULL) : room;
        bytes += piece;
        n -= piece;
    }
}

void output_note(struct view *v, const char *note)
{
    struct output *o = (struct output *)v;

    free(o->ending);
    o->ending = xstrdup(note);
}

void output_end(struct view *v, const struct verdict *verdict)
{
    struct output *o = (struct output *)v;
    struct buf how = {0};
    const char *signal = verdict->signal ? sigabbrev_np(verdict->signal) : NULL;
    const char *kind = verdict_name(verdict->kind);

    if (o->line.n)
        end_line(o);
    o->ended = true;
    o->good = !verdict_is_bad(verdict);
    buf_text(&how, kind);
    if (verdict->kind == VERDICT_HUNG)
        buf_text(&how, ": not done within the time limit (timeout)");
    else if (verdict->signal)
        buf_printf(&how, ": killed by SIG%s", signal ? signal : "?");
    else if (verdict->exit != OUTPUT_UNTOLD)
        buf_printf(&how, ": exit status %d", verdict->exit);
    if (verdict->kind != VERDICT_HUNG && verdict->seconds >= 0)
        buf_printf(&how, " after %.2fs", verdict->seconds);
    else if (verdict->seconds < 0)
        buf_text(&how, verdict->exit == OUTPUT_UNTOLD
                           ? ", by the last check, which keeps no more; x runs it again"
                           : ", in the last check");
    output_note(v, buf_string(&how));
    buf_free(&how);
}

/* --- The view ------------------------------------------------------------------------------ */

static const struct column *columns(struct view *v, size_t *n)
{
    static const struct column all[COLUMNS] = {
        [NUMBER] = {.title = "", .least = 4, .right = true},
        [TEXT] = {.title = "", .least = 20, .yields = 1},
    };
    (void)v;
    *n = COLUMNS;
    return all;
}

/* A line that has begun counts; then one for what was left out, and one for the end. */
static size_t whole_lines(const struct output *o)
{
    return o->lines.n + (o->line.n > 0);
}

static uint64_t count(struct view *v)
{
    const struct output *o = (struct output *)v;

    return whole_lines(o) + (o->left_out > 0) + (o->ending != NULL);
}

static bool draw(struct view *v, uint64_t row, struct row *out, struct error *e)
{
    const struct output *o = (struct output *)v;
    struct cell *c = &out->cells[TEXT];
    size_t at = (size_t)row - 1;

    (void)e;
    if (at < whole_lines(o))
        cell_add(&out->cells[NUMBER], STYLE_DIM, "%zu", at + 1);
    if (at < o->lines.n)
        cell_text(c, STYLE_PLAIN, o->lines.at[at], strlen(o->lines.at[at]));
    else if (at < whole_lines(o)) {
        struct buf safe = {0};
        escape_add(&safe, o->line.at, o->line.n, escape_locale() | ESCAPE_KEEP_NEWLINES);
        cell_text(c, STYLE_PLAIN, buf_string(&safe), safe.n);
        buf_free(&safe);
    } else if (o->left_out && at == whole_lines(o))
        cell_add(c, STYLE_DIM, "and %" PRIu64 " lines more", o->left_out);
    else if (!o->ended)
        cell_text(c, STYLE_DIM, o->ending, strlen(o->ending));
    else
        cell_add(c, o->good ? STYLE_VERDICT_GOOD : STYLE_VERDICT_BAD, "%s %s",
                 glyph(o->good ? GLYPH_GOOD : GLYPH_BAD), o->ending);
    return true;
}

static void close_view(struct view *v)
{
    struct output *o = (struct output *)v;

    for (size_t i = 0; i < o->lines.n; i++)
        free(o->lines.at[i]);
    free(o->ending);
    vec_free(&o->lines);
    buf_free(&o->line);
    free(o);
}

struct view *output_view(void)
{
    static const struct view_ops ops = {
        .name = "output",
        .columns = columns,
        .count = count,
        .seek = view_seek_all,
        .draw = draw,
        .detail = view_no_detail,
        .subject = view_no_subject,
        .find = view_find_nothing,
        .close = close_view,
    };
    struct output *o = xcalloc(1, sizeof *o);

    o->view.ops = &ops;
    return &o->view;
}
