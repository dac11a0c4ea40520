/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A report for people: what was done, and each bug as one would file it with a program's
 * maintainers. Sentences are wrapped; commands, names and stack frames are never broken, so that
 * they can be copied.
 */
#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/report.h"
#include "engine/report_words.h"
#include "engine/vec.h"

enum {
    WIDTH = 100,     /* columns */
    INDENT = 2,      /* of a bug's sections; what is in them has twice as much */
    QUOTE_FIRST = 6, /* lines of an output that are always shown: how it began … */
    QUOTE_LAST = 14, /* … and how it ended, which says more */
    LOST_SHOWN = 20, /* ops; a bug has few, unless one call of many blocks was lost whole */
};

/* ---- paragraphs ---- */

/* Appends safe text from column `column` on, wrapped at spaces; further lines are indented. A word
 * that is longer than a line stays whole. */
static void wrap(struct buf *out, int column, int indent, const char *safe)
{
    bool first = true;
    while (*safe) {
        size_t n = strcspn(safe, " ");
        char *word = xstrndup(safe, n);
        int width = escape_width(word);
        if (!first && column + 1 + width > WIDTH) {
            buf_printf(out, "\n%*s", indent, "");
            column = indent;
        } else if (!first) {
            buf_char(out, ' ');
            column++;
        }
        buf_text(out, word);
        column += width;
        first = false;
        free(word);
        safe += n + (safe[n] == ' ');
    }
    buf_char(out, '\n');
}

static void paragraph(struct buf *out, int indent, int hanging, struct buf *text)
{
    buf_printf(out, "%*s", indent, "");
    wrap(out, indent, indent + hanging, buf_string(text));
    buf_free(text);
}

/* "  Why it is legal: no sync of …" */
static void section(struct buf *out, const char *title, const json_t *o, const char *key)
{
    struct buf text = {0};
    buf_printf(&text, "%s: ", title);
    report_add(&text, o, key, escape_locale());
    paragraph(out, INDENT, INDENT, &text);
    buf_char(out, '\n');
}

/* ---- quotations ---- */

struct lines {
    vec_of(char *) at;
};

/* Long lines are folded: what a checker prints has to be read to its end. */
static void add_lines(struct lines *lines, const char *safe, int width)
{
    while (*safe) {
        size_t n = strcspn(safe, "\n");
        char *line = xstrndup(safe, n);
        const char *rest = line;
        do {
            size_t fits = escape_fitting(rest, width);
            if (!fits)
                fits = strlen(rest);
            vec_push(&lines->at, xstrndup(rest, fits));
            rest += fits;
        } while (*rest);
        free(line);
        safe += n + (safe[n] == '\n');
    }
}

/* Somebody's text, each line marked as such; the middle of a long one is left out. */
static void quote(struct buf *out, const json_t *o, const char *key)
{
    static const char mark[] = "    | ";
    struct buf safe = {0};
    struct lines lines = {0};
    report_add(&safe, o, key, escape_locale() | ESCAPE_KEEP_NEWLINES);
    add_lines(&lines, buf_string(&safe), WIDTH - (int)strlen(mark));
    size_t skipped =
        lines.at.n > QUOTE_FIRST + QUOTE_LAST + 1 ? lines.at.n - QUOTE_FIRST - QUOTE_LAST : 0;
    for (size_t i = 0; i < lines.at.n; i++) {
        if (skipped && i == QUOTE_FIRST)
            buf_printf(out, "    (%zu lines left out)\n", skipped);
        if (!skipped || i < QUOTE_FIRST || i >= QUOTE_FIRST + skipped)
            buf_printf(out, "%s%s\n", mark, lines.at.at[i]);
        free(lines.at.at[i]);
    }
    vec_free(&lines.at);
    buf_free(&safe);
}

/* ---- one bug ---- */

static void add_stack(struct buf *out, const json_t *op)
{
    const json_t *stack = json_object_get(op, "stack"), *frame;
    size_t i;
    if (json_array_size(stack) == 0)
        buf_text(out, "      (no stack was recorded)\n");
    json_array_foreach(stack, i, frame)
    {
        size_t before;
        buf_printf(out, "      #%-2zu ", i);
        before = out->n;
        report_add_place(out, frame, true, escape_locale());
        buf_text(out, out->n == before ? "(unknown)\n" : "\n");
    }
}

/* Ops of one call stand together, its stack below the last of them. */
static void add_ops(struct buf *out, const json_t *ops)
{
    const json_t *op;
    size_t i;
    json_array_foreach(ops, i, op)
    {
        struct buf text = {0}, place = {0};
        if (i == LOST_SHOWN) {
            buf_printf(out, "    (%zu more; the report as JSON has all)\n",
                       json_array_size(ops) - i);
            break;
        }
        buf_printf(&text, "event %" JSON_INTEGER_FORMAT ": ", report_number(op, "event"));
        report_add_op(&text, op, escape_locale());
        report_add_place(&place, op, false, escape_locale());
        if (place.n)
            buf_printf(&text, ", in %s", buf_string(&place));
        if (json_is_integer(json_object_get(op, "op")))
            buf_printf(&text, " (op %" JSON_INTEGER_FORMAT ")", report_number(op, "op"));
        paragraph(out, 2 * INDENT, INDENT, &text);
        buf_free(&place);
        const json_t *next = i + 1 < LOST_SHOWN ? json_array_get(ops, i + 1) : NULL;
        if (!next || report_number(next, "event") != report_number(op, "event"))
            add_stack(out, op);
    }
    buf_char(out, '\n');
}

static void add_headline(struct buf *out, const json_t *bug)
{
    struct buf text = {0};
    buf_printf(&text, "Bug %" JSON_INTEGER_FORMAT ": ", report_number(bug, "id"));
    report_add(&text, bug, "kind", escape_locale());
    buf_text(&text, escape_locale() == ESCAPE_UTF8 ? " — " : " - ");
    report_add(&text, bug, "summary", escape_locale());
    paragraph(out, 0, INDENT, &text);
    buf_char(out, '\n');
}

static void add_checker(struct buf *out, const json_t *bug)
{
    const json_t *checker = json_object_get(bug, "checker");
    bool printed = report_has(checker, "output");
    buf_text(out, "  What the checker said: ");
    report_add_verdict(out, bug);
    buf_text(out, printed ? ", and it printed\n" : "; it printed nothing\n");
    quote(out, checker, "output");
    buf_char(out, '\n');
}

static void add_crash_event(struct buf *text, const json_t *bug)
{
    if (json_is_integer(json_object_get(bug, "crash_event")))
        buf_printf(text, " (the last event that had begun is %" JSON_INTEGER_FORMAT ")",
                   report_number(bug, "crash_event"));
}

/* What has been told, and after how many bytes more than are shown. */
static void add_told(struct buf *out, struct buf *text, const json_t *bug, const char *key,
                     const char *key_before)
{
    if (report_number(bug, key_before) > 0)
        buf_printf(text, ", after %" JSON_INTEGER_FORMAT " bytes more",
                   report_number(bug, key_before));
    paragraph(out, INDENT, INDENT, text);
    quote(out, bug, key);
}

static void add_acknowledged(struct buf *out, const json_t *bug)
{
    struct buf text = {0};
    bool printed = report_has(bug, "told"), marked = report_has(bug, "markers");
    buf_printf(&text, "What had been acknowledged: %s",
               printed  ? "by then the program had printed"
               : marked ? "by then the program had passed these markers"
                        : "nothing, the program had not printed anything yet");
    add_crash_event(&text, bug);
    add_told(out, &text, bug, printed ? "told" : "markers",
             printed ? "told_before" : "markers_before");
    if (printed && marked) {
        buf_text(&text, "It had also passed these markers");
        add_told(out, &text, bug, "markers", "markers_before");
    }
    buf_char(out, '\n');
}

/* Whose work a behaviour is: a function's, or all that was done to an object. */
static void add_work(struct buf *out, const json_t *behaviour)
{
    const char *kind = json_string_value(json_object_get(behaviour, "kind"));
    if (report_has(behaviour, "name"))
        buf_text(out, kind && !strcmp(kind, "type") ? ", changes of a " : ", the work of ");
    report_add(out, behaviour, "name", escape_locale());
    if (!report_has(behaviour, "path"))
        return;
    buf_text(out, " at ");
    report_add(out, behaviour, "path", escape_locale());
    buf_printf(out, " %" JSON_INTEGER_FORMAT, report_number(behaviour, "instance"));
}

static void add_seen(struct buf *out, const json_t *bug)
{
    const json_t *behaviour = json_object_get(bug, "behaviour");
    struct buf text = {0};
    buf_text(&text, "Seen in: ");
    report_count(&text, report_number(bug, "states"), "inconsistent state");
    if (json_is_object(behaviour)) {
        buf_printf(&text, "; first in behaviour %" JSON_INTEGER_FORMAT,
                   report_number(behaviour, "id"));
        add_work(&text, behaviour);
        if (json_is_integer(json_object_get(behaviour, "group")))
            buf_printf(&text, " (group %" JSON_INTEGER_FORMAT ")",
                       report_number(behaviour, "group"));
    }
    if (report_has(bug, "status")) {
        buf_text(&text, "; status: ");
        report_add(&text, bug, "status", escape_locale());
        if (json_is_integer(json_object_get(bug, "duplicate_of")))
            buf_printf(&text, " of bug %" JSON_INTEGER_FORMAT, report_number(bug, "duplicate_of"));
    }
    paragraph(out, INDENT, INDENT, &text);
    buf_char(out, '\n');
    if (report_has(bug, "note"))
        section(out, "Note", bug, "note");
}

static void add_fix(struct buf *out, const json_t *bug)
{
    struct buf text = {0};
    buf_text(&text, "Proposed fix: ");
    report_add_fix(&text, bug, escape_locale());
    paragraph(out, INDENT, INDENT, &text);
    buf_char(out, '\n');
}

void report_bug_text(const json_t *report, const json_t *bug, struct buf *out)
{
    const json_t *survived = json_object_get(bug, "survived"), *lost = json_object_get(bug, "lost");
    add_headline(out, bug);
    if (json_array_size(survived)) {
        buf_text(out, "  What survived:\n");
        add_ops(out, survived);
    } else
        buf_text(out, "  What survived: nothing of the run\n\n");
    if (json_array_size(lost)) {
        buf_text(out, "  What was lost:\n");
        add_ops(out, lost);
    } else
        buf_text(out, "  What was lost: nothing that had been done before it\n\n");
    section(out, "Why it is legal", bug, "rule");
    add_checker(out, bug);
    add_acknowledged(out, bug);
    if (report_has_fix(bug))
        add_fix(out, bug);
    add_seen(out, bug);
    buf_text(out, "  How to reproduce: ");
    report_add_replay(out, report, bug);
    buf_char(out, '\n');
}

/* ---- the whole ---- */

static void add_scope(struct buf *text, const json_t *report)
{
    int flags = escape_locale();
    report_add(text, report, "program", flags);
    buf_text(text,
             report_has(report, "program") ? " was recorded in " : "A program was recorded in ");
    report_add(text, report, "session", flags);
    buf_text(text, " (");
    report_count(text, report_number(report, "events"), "event");
    buf_text(text, ") and checked under the model ");
    report_add(text, report, "model", flags);
    if (report_has(report, "stores")) {
        buf_text(text, ", for stores ");
        report_add(text, report, "stores", flags);
    }
    buf_text(text, ", with the strategy ");
    report_add(text, report, "strategy", flags);
    buf_text(text, ": ");
    report_count(text, report_number(report, "ops"), "op");
    buf_text(text, " in ");
    report_count(text, report_number(report, "behaviours"), "behaviour");
    if (report_number(report, "groups") > 0) {
        buf_text(text, ", which form ");
        report_count(text, report_number(report, "groups"), "group");
    }
    buf_text(text, ". ");
}

static void add_states(struct buf *text, const json_t *report)
{
    const json_t *states = json_object_get(report, "states");
    const json_t *possible = json_object_get(report, "possible");
    json_int_t enumerated = report_number(states, "enumerated");
    json_int_t distinct = report_number(states, "distinct");
    json_int_t tested = report_number(states, "tested");
    if (json_is_number(possible))
        buf_printf(text, "A crash could leave %.15g different set%s of ops. ",
                   json_number_value(possible), json_number_value(possible) == 1 ? "" : "s");
    else
        buf_text(text, "How many sets of ops a crash could leave was not counted. ");
    report_count(text, enumerated, "state");
    buf_printf(text,
               " %s enumerated, repetitions included, of which %" JSON_INTEGER_FORMAT
               " %s distinct, and %" JSON_INTEGER_FORMAT " %s tested",
               enumerated == 1 ? "was" : "were", distinct, distinct == 1 ? "is" : "are", tested,
               tested == 1 ? "was" : "were");
    if (report_has(report, "checker")) {
        buf_text(text, " with ");
        report_add(text, report, "checker", escape_locale());
    }
    json_int_t bad = report_number(states, "inconsistent");
    buf_printf(text, "; %" JSON_INTEGER_FORMAT " %s inconsistent", bad, bad == 1 ? "is" : "are");
    size_t bugs = json_array_size(json_object_get(report, "bugs"));
    if (bugs) {
        buf_text(text, ", with ");
        report_count(text, (json_int_t)bugs, "cause");
    }
    if (bugs && report_number(report, "shrinking") > 0) {
        buf_text(text, " (found by looking at ");
        report_count(text, report_number(report, "shrinking"), "more state");
        buf_char(text, ')');
    }
    buf_text(text, ". ");
}

static bool complete(const json_t *report)
{
    return json_is_true(json_object_get(json_object_get(report, "states"), "complete"));
}

static void add_summary(struct buf *out, const json_t *report)
{
    const json_t *seconds = json_object_get(report, "seconds");
    struct buf text = {0};
    add_scope(&text, report);
    add_states(&text, report);
    buf_printf(&text,
               "Recording took %.2fs, the analysis %.2fs, checking %.2fs; all checkers together "
               "%.2fs. ",
               report_real(seconds, "record"), report_real(seconds, "analyse"),
               report_real(seconds, "check"), report_real(seconds, "checker"));
    if (complete(report))
        buf_text(&text, "Nothing that the strategy asks for was left out.");
    else {
        buf_text(&text, "This is not complete: ");
        if (report_has(report, "cut"))
            report_add(&text, report, "cut", escape_locale());
        else
            buf_text(&text, "it was cut short");
        buf_char(&text, '.');
    }
    paragraph(out, 0, 0, &text);
}

/* What a clean result means, and what it does not. */
static void add_no_bugs(struct buf *out, const json_t *report)
{
    struct buf text = {0};
    if (report_caveat(report)) {
        buf_text(&text, report_caveat(report));
        paragraph(out, 0, 0, &text);
        return;
    }
    buf_text(&text, "No inconsistent state was found. ");
    buf_text(&text, "This is no proof: it holds for the one run that was recorded, for losses that "
                    "the model ");
    report_add(&text, report, "model", escape_locale());
    buf_text(&text, " allows, for the states that the strategy ");
    report_add(&text, report, "strategy", escape_locale());
    buf_text(&text, " chooses, and for what the checker looks at.");
    if (!complete(report))
        buf_text(&text, " States that were left out may be inconsistent; a larger budget reaches "
                        "more of them.");
    paragraph(out, 0, 0, &text);
}

static void add_notices(struct buf *out, const json_t *report)
{
    const json_t *notices = json_object_get(report, "notices"), *notice;
    size_t i;
    if (json_array_size(notices))
        buf_text(out, "\nTo be known:\n");
    json_array_foreach(notices, i, notice)
    {
        struct buf text = {0};
        buf_text(&text, "- ");
        if (json_is_string(notice))
            escape_add(&text, json_string_value(notice), json_string_length(notice),
                       escape_locale());
        paragraph(out, INDENT, INDENT, &text);
    }
}

static void print(const json_t *report, struct buf *out)
{
    const json_t *bugs = json_object_get(report, "bugs"), *bug;
    size_t i;
    add_summary(out, report);
    add_notices(out, report);
    if (json_array_size(bugs) == 0) {
        buf_char(out, '\n');
        add_no_bugs(out, report);
    }
    json_array_foreach(bugs, i, bug)
    {
        buf_text(out, "\n\n");
        report_bug_text(report, bug, out);
    }
}

const struct report_format report_text = {.name = "text", .print = print};
