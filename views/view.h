/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * view: what a screen shows, as data. A view is a table: rows of cells, cells of spans, each span
 * with a meaning (a style), never a colour. The same view is printed as text, drawn by the
 * debugger and compared in tests. Views know the engine; they know nothing of terminals.
 *
 * Rows are asked for one at a time, so a view of a million events costs what is looked at. A row
 * goes by its number, from 1 to count(); a filter hides rows without renumbering them, and seek()
 * steps over the hidden ones, so no view ever has to read all its rows to show one.
 */
#ifndef VIEWS_VIEW_H
#define VIEWS_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/buf.h"
#include "engine/error.h"
#include "engine/vec.h"

/* What a piece of text means. Themes give each a look, by these names. */
#define STYLES(X)                                                                                  \
    X(PLAIN, "plain")                                                                              \
    X(HEADING, "heading")                                                                          \
    X(DIM, "dim")                                                                                  \
    X(NUMBER, "number")                                                                            \
    X(PATH, "path")                                                                                \
    X(FLAG, "flag")             /* a word that says how a call was made: create, append */         \
    X(CALL_WRITE, "call.write") /* changes a file's contents or size */                            \
    X(CALL_SYNC, "call.sync")   /* makes something durable */                                      \
    X(CALL_NAME, "call.name")   /* changes names: rename, unlink, mkdir */                         \
    X(CALL_OTHER, "call.other")                                                                    \
    X(RESULT_GOOD, "result.good")                                                                  \
    X(RESULT_BAD, "result.bad")                                                                    \
    X(SOURCE_FUNCTION, "source.function")                                                          \
    X(SOURCE_LINE, "source.line")                                                                  \
    X(ACK, "ack") /* what the program told the world */                                            \
    X(MARKER, "marker")                                                                            \
    X(WARNING, "warning")

enum style {
#define X(id, name) STYLE_##id,
    STYLES(X)
#undef X
        STYLE_COUNT
};

/* The dotted name, as themes and `dump styles` have it. */
const char *style_name(enum style style);

/* STYLE_COUNT when there is no such name. */
enum style style_find(const char *name, size_t n);

/* Signs beyond letters, with what stands for each where the locale is not UTF-8. */
#define GLYPHS(X) X(ARROW, "→", "->")

enum glyph {
#define X(id, utf8, ascii) GLYPH_##id,
    GLYPHS(X)
#undef X
        GLYPH_COUNT
};

const char *glyph(enum glyph g);

/* --- Cells --------------------------------------------------------------------------------- */

struct span {
    size_t begin, end; /* bytes of the cell's text */
    enum style style;
};

/* Text that is safe to show (engine/escape.h). The spans follow one another and cover all of it. */
struct cell {
    struct buf text;
    vec_of(struct span) spans;
};

/* Text of our own; names, data and anything else from outside goes by cell_escape(). */
void cell_add(struct cell *c, enum style style, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void cell_escape(struct cell *c, enum style style, const char *bytes, size_t n);

/* A space, when there is something before it. */
void cell_gap(struct cell *c);
void cell_clear(struct cell *c);
void cell_free(struct cell *c);

/* --- Views --------------------------------------------------------------------------------- */

enum { VIEW_COLUMNS_MAX = 12 };

struct column {
    const char *title;
    int least;  /* columns of the terminal that it should have at the least */
    int most;   /* and at the most, when its neighbours want room; 0: no limit */
    bool right; /* numbers: aligned to the right */
    int yields; /* who gives up room first when there is too little: the highest; 0 never does */
};

struct row {
    struct cell cells[VIEW_COLUMNS_MAX];
};

void row_clear(struct row *r);
void row_free(struct row *r);

struct view;

struct view_ops {
    const char *name; /* as people type it */

    /* The columns, in order; *n is how many. They may depend on the session, never on reading all
     * of it. */
    const struct column *(*columns)(struct view *v, size_t *n);

    /* Rows there are, hidden ones included. */
    uint64_t (*count)(struct view *v);

    /* The nearest row that is not hidden: *row itself or, by step, one after (+1) or before it
     * (−1). *row is 0 when there is none. False when the session cannot be read. */
    bool (*seek)(struct view *v, uint64_t *row, int step, struct error *e);

    /* Fills the cells of one row, which are empty. */
    bool (*draw)(struct view *v, uint64_t row, struct row *out, struct error *e);

    /* Line n (from 0) of what there is to say about a row beyond its cells, such as its stack.
     * *more is false, and the cell untouched, when there is no such line. */
    bool (*detail)(struct view *v, uint64_t row, size_t n, struct cell *out, bool *more,
                   struct error *e);

    void (*close)(struct view *v);
};

/* seek and detail of views that hide nothing, and that have nothing more to say of a row. */
bool view_seek_all(struct view *v, uint64_t *row, int step, struct error *e);
bool view_no_detail(struct view *v, uint64_t row, size_t n, struct cell *out, bool *more,
                    struct error *e);
/* For views that own nothing but themselves. */
void view_close_plain(struct view *v);

/* The head of every view. */
struct view {
    const struct view_ops *ops;
};

#endif
