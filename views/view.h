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
    X(FIELD, "field") /* of an object that a store wrote, with its value */                        \
    X(SOURCE_FUNCTION, "source.function")                                                          \
    X(SOURCE_LINE, "source.line")                                                                  \
    X(ACK, "ack") /* what the program told the world */                                            \
    X(MARKER, "marker")                                                                            \
    X(WARNING, "warning")                                                                          \
    X(OP_PERSISTED, "op.persisted") /* of a schedule in hand: it survived */                       \
    X(OP_LOST, "op.lost")           /* issued before the last survivor, and not there */           \
    X(OP_FLIGHT, "op.flight")       /* issued after it, before the crash */                        \
    X(OP_UNISSUED, "op.unissued")   /* the crash came first */                                     \
    X(VERDICT_GOOD, "verdict.good")                                                                \
    X(VERDICT_BAD, "verdict.bad")                                                                  \
    X(VERDICT_NONE, "verdict.none") /* not run yet, or running */                                  \
    X(EDGE, "edge")                                                                                \
    X(EDGE_MISSING, "edge.missing") /* one side of a comparison has it, the other not */           \
    X(EDGE_BEFORE, "edge.before")   /* leads to what is selected */                                \
    X(EDGE_AFTER, "edge.after")     /* leads from it */                                            \
    X(FILE_1, "file.1")             /* files told apart by colour, where a view has many */        \
    X(FILE_2, "file.2")                                                                            \
    X(FILE_3, "file.3")                                                                            \
    X(FILE_4, "file.4")                                                                            \
    X(FILE_5, "file.5")                                                                            \
    X(FILE_6, "file.6")                                                                            \
    X(RULE, "rule") /* why one op must persist before another */                                   \
    X(MATCHED, "match")                                                                            \
    X(UNMATCHED, "match.none")                                                                     \
    X(DATA_SAME, "data.same")       /* bytes or text as in the run without a crash */              \
    X(DATA_MISSING, "data.missing") /* there without a crash, gone in the state */                 \
    X(DATA_OTHER, "data.other")     /* in the state only, or changed */                            \
    X(SOURCE_TEXT, "source.text")                                                                  \
    X(PRETEND, "pretend")             /* a sync that was never made, to try a fix */               \
    X(TITLE, "title")                 /* the line above a pane */                                  \
    X(TITLE_ACTIVE, "title.active")   /* above the pane that keys go to */                         \
    X(SELECTED, "selected")           /* the row that keys act on */                               \
    X(SELECTED_IDLE, "selected.idle") /* the same in a pane that keys do not go to */              \
    X(FOUND, "found")                 /* what a search found */                                    \
    X(BAR, "bar")                     /* the lines at the top and at the bottom */                 \
    X(BAR_KEY, "bar.key")             /* a key named there; can be clicked */                      \
    X(PROMPT, "prompt")                                                                            \
    X(MESSAGE, "message")                                                                          \
    X(MESSAGE_ERROR, "message.error")                                                              \
    X(PROGRESS, "progress") /* the part of a bar that is done */

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
#define GLYPHS(X)                                                                                  \
    X(ARROW, "→", "->")                                                                            \
    X(PERSISTED, "●", "*")                                                                         \
    X(LOST, "○", "o")                                                                              \
    X(FLIGHT, "◌", "~")                                                                            \
    X(UNISSUED, "·", ".")                                                                          \
    X(SYNC, "═", "=")                                                                              \
    X(PRETEND, "≈", "+")                                                                           \
    X(GOOD, "✓", "v")                                                                              \
    X(BAD, "✗", "x")                                                                               \
    X(POINTER, "▸", ">")                                                                           \
    X(POINTER_IDLE, "▹", "-") /* where keys do not go */                                           \
    X(DOT, "·", "-")                                                                               \
    X(DASH, "–", "-")                                                                              \
    X(HORIZONTAL, "─", "-")                                                                        \
    X(VERTICAL, "│", "|")                                                                          \
    X(CORNER_TOP_LEFT, "┌", "+")                                                                   \
    X(CORNER_TOP_RIGHT, "┐", "+")                                                                  \
    X(CORNER_BOTTOM_LEFT, "└", "+")                                                                \
    X(CORNER_BOTTOM_RIGHT, "┘", "+")                                                               \
    X(TEE_LEFT, "├", "+")                                                                          \
    X(TEE_RIGHT, "┤", "+")                                                                         \
    X(TEE_TOP, "┬", "+")                                                                           \
    X(TEE_BOTTOM, "┴", "+")                                                                        \
    X(CROSS, "┼", "+")                                                                             \
    X(CROSSING, "┼", "|") /* of two lines that have nothing to do with each other */               \
    X(BROKEN_HORIZONTAL, "╌", "~")                                                                 \
    X(BROKEN_VERTICAL, "╎", ":")                                                                   \
    X(DOUBLE_HORIZONTAL, "═", "=")                                                                 \
    X(DOUBLE_VERTICAL, "║", "#")                                                                   \
    X(DOUBLE_TOP_LEFT, "╔", "#")                                                                   \
    X(DOUBLE_TOP_RIGHT, "╗", "#")                                                                  \
    X(DOUBLE_BOTTOM_LEFT, "╚", "#")                                                                \
    X(DOUBLE_BOTTOM_RIGHT, "╝", "#")                                                               \
    X(FULL, "█", "#")                                                                              \
    X(EMPTY, "░", ".")

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
/* The same for n bytes that are safe to show. */
void cell_text(struct cell *c, enum style style, const char *safe, size_t n);
/* In STYLE_PATH spaces at the ends of names are made visible. */
void cell_escape(struct cell *c, enum style style, const char *bytes, size_t n);

/* Appends another cell with its styles. */
void cell_copy(struct cell *c, const struct cell *from);

/* A space, when there is something before it. */
void cell_gap(struct cell *c);
void cell_clear(struct cell *c);
void cell_free(struct cell *c);

/* --- What rows are about ------------------------------------------------------------------- */

/* Something that several views can show, so that one leads to another. Numbers are those that
 * people are shown: events, bugs and states count from 1, ops, behaviours, groups and objects from
 * 0. */
enum subject_kind {
    SUBJECT_NONE,
    SUBJECT_EVENT,
    SUBJECT_OP,
    SUBJECT_BEHAVIOUR,
    SUBJECT_GROUP,
    SUBJECT_BUG,
    SUBJECT_STATE,
    SUBJECT_FILE,   /* an inode of the trace */
    SUBJECT_OBJECT, /* that stores changed, from 0 (engine/stored_objects.h) */
    SUBJECT_LINE,   /* of a source file */
};

struct subject {
    enum subject_kind kind;
    uint64_t number;
    const char *path; /* SUBJECT_LINE: the file, as a struct location has it; else NULL */
};

/* --- Views --------------------------------------------------------------------------------- */

enum { VIEW_COLUMNS_MAX = 12 };

struct column {
    const char *title;
    int least;  /* columns of the terminal that it should have at the least */
    int most;   /* and at the most, when its neighbours want room; 0: no limit */
    bool right; /* numbers: aligned to the right */
    int yields; /* who gives up room first when there is too little: the highest; 0 never does;
                   equal ones share it */
};

struct row {
    struct cell cells[VIEW_COLUMNS_MAX];
};

void row_clear(struct row *r);
void row_free(struct row *r);

struct view;

/* Those that are more than this table, for who has to tell them apart. */
enum view_kind { VIEW_PLAIN, VIEW_SOURCE, VIEW_STATE, VIEW_DIFFERENCE, VIEW_OBJECT };

struct view_ops {
    const char *name; /* as people type it */
    enum view_kind kind;

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

    /* What a row is about; SUBJECT_NONE when it is nothing that other views know. A path is valid
     * as long as the view is. */
    bool (*subject)(struct view *v, uint64_t row, struct subject *out, struct error *e);

    /* The row that shows a subject, 0 when there is none. Cheap: no walk over rows. */
    uint64_t (*find)(struct view *v, const struct subject *s);

    void (*close)(struct view *v);
};

/* What views have for the members that mean nothing to them: they hide nothing, have nothing more
 * to say of a row, and their rows are nothing that other views know. */
bool view_seek_all(struct view *v, uint64_t *row, int step, struct error *e);
bool view_no_detail(struct view *v, uint64_t row, size_t n, struct cell *out, bool *more,
                    struct error *e);
bool view_no_subject(struct view *v, uint64_t row, struct subject *out, struct error *e);
uint64_t view_find_nothing(struct view *v, const struct subject *s);
/* For views that own nothing but themselves. */
void view_close_plain(struct view *v);

/* The head of every view. */
struct view {
    const struct view_ops *ops;
};

/* Whether there is a view, and of that kind. */
bool view_is(const struct view *v, enum view_kind kind);

#endif
