/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/bug.h"

#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/mem.h"
#include "engine/report_words.h"
#include "views/lines.h"

/* More lost ops than these are counted, more lines of the checker's as well: other views have all.
 */
enum { OPS_SHOWN = 20, OUTPUT_SHOWN = 4 };

static const struct subject nothing = {SUBJECT_NONE, 0, NULL};

/* The op when it is one, else the event: an acknowledgement. */
static struct subject about_op(const json_t *op, bool fits)
{
    if (fits && json_is_integer(json_object_get(op, "op")) && report_number(op, "op") >= 0)
        return (struct subject){SUBJECT_OP, (uint64_t)report_number(op, "op"), NULL};
    if (report_number(op, "event") > 0)
        return (struct subject){SUBJECT_EVENT, (uint64_t)report_number(op, "event"), NULL};
    return nothing;
}

static void add_place(struct lines *l, const json_t *op, bool fits)
{
    const char *file = json_string_value(json_object_get(op, "file"));
    json_int_t line = report_number(op, "line");
    struct buf text = {0};

    report_add_place(&text, op, false, escape_locale());
    if (text.n)
        cell_text(lines_add(l, "",
                            file && *file && line > 0
                                ? (struct subject){SUBJECT_LINE, (uint64_t)line, file}
                                : about_op(op, fits)),
                  STYLE_SOURCE_LINE, text.at, text.n);
    buf_free(&text);
}

/* Ops of one call stand together, the place below the last of them. */
static void add_ops(struct lines *l, const char *label, const json_t *ops, bool survived, bool fits)
{
    enum style style = survived ? STYLE_OP_PERSISTED : STYLE_OP_LOST;
    const json_t *op;
    size_t i;

    if (!json_array_size(ops))
        cell_add(lines_add(l, label, nothing), STYLE_DIM,
                 survived ? "nothing of the run" : "nothing that had been done before it");
    json_array_foreach(ops, i, op)
    {
        if (i == OPS_SHOWN) {
            cell_add(lines_add(l, "", nothing), STYLE_DIM, "and %zu more",
                     json_array_size(ops) - i);
            break;
        }
        struct cell *c = lines_add(l, i ? "" : label, about_op(op, fits));
        struct buf text = {0};
        report_add_op(&text, op, escape_locale());
        cell_add(c, style, "%s ", glyph(survived ? GLYPH_PERSISTED : GLYPH_LOST));
        cell_text(c, STYLE_PLAIN, buf_string(&text), text.n);
        cell_add(c, STYLE_NUMBER, "  ev %" JSON_INTEGER_FORMAT, report_number(op, "event"));
        buf_free(&text);
        const json_t *next = json_array_get(ops, i + 1);
        if (i + 1 == OPS_SHOWN || report_number(next, "event") != report_number(op, "event"))
            add_place(l, op, fits);
    }
}

static void add_text(struct lines *l, const char *label, enum style style, const json_t *o,
                     const char *key, int flags, int room)
{
    struct buf text = {0};

    report_add(&text, o, key, escape_locale() | flags);
    if (text.n)
        lines_fold(l, label, style, text.at, room, nothing);
    buf_free(&text);
}

/* What it said begins its output, mostly: some lines of that, none longer than a few of ours. */
static void add_output(struct lines *l, const char *output, int room)
{
    for (int i = 0; i < OUTPUT_SHOWN && *output; i++) {
        size_t n = strcspn(output, "\n"), fits = escape_fitting(output, OUTPUT_SHOWN * room);
        char *line = xstrndup(output, n < fits ? n : fits);
        lines_fold(l, "", STYLE_PLAIN, line, room, nothing);
        free(line);
        output += n + (output[n] == '\n');
    }
    if (*output)
        cell_add(lines_add(l, "", nothing), STYLE_DIM, "and more");
}

static void add_checker(struct lines *l, const json_t *bug, int room)
{
    const json_t *checker = json_object_get(bug, "checker");
    struct buf said = {0}, output = {0};

    if (!json_is_object(checker))
        return;
    report_add_verdict(&said, bug);
    cell_text(lines_add(l, "checker", nothing), STYLE_VERDICT_BAD, buf_string(&said), said.n);
    report_add(&output, checker, "output", escape_locale() | ESCAPE_KEEP_NEWLINES);
    add_output(l, buf_string(&output), room);
    buf_free(&said);
    buf_free(&output);
}

static void add_fix(struct lines *l, const json_t *bug, int room)
{
    const json_t *fix = json_object_get(bug, "fix");
    json_int_t after = json_is_object(fix) ? report_number(fix, "after") : 0;
    struct subject about =
        after > 0 ? (struct subject){SUBJECT_EVENT, (uint64_t)after, NULL} : nothing;
    struct buf text = {0};

    if (!report_has_fix(bug))
        return;
    report_add_fix(&text, bug, escape_locale());
    lines_fold(l, "fix", STYLE_PLAIN, buf_string(&text), room, about);
    buf_free(&text);
}

static void add_seen(struct lines *l, const json_t *bug, bool fits)
{
    const json_t *behaviour = json_object_get(bug, "behaviour");
    const json_t *group = json_object_get(behaviour, "group");
    struct buf text = {0};

    report_count(&text, report_number(bug, "states"), "inconsistent state");
    cell_text(lines_add(l, "seen in", nothing), STYLE_PLAIN, buf_string(&text), text.n);
    if (json_is_object(behaviour) && report_number(behaviour, "id") >= 0) {
        uint64_t id = (uint64_t)report_number(behaviour, "id");
        struct cell *c =
            lines_add(l, "", fits ? (struct subject){SUBJECT_BEHAVIOUR, id, NULL} : nothing);
        buf_clear(&text);
        if (report_has(behaviour, "type"))
            buf_text(&text, "type ");
        report_add(&text, behaviour, "name", escape_locale());
        if (report_has(behaviour, "path")) {
            buf_text(&text, " at ");
            report_add(&text, behaviour, "path", escape_locale());
            buf_printf(&text, " %" JSON_INTEGER_FORMAT, report_number(behaviour, "instance"));
        }
        cell_add(c, STYLE_PLAIN, "behaviour ");
        cell_add(c, STYLE_NUMBER, "%llu ", (unsigned long long)id);
        cell_text(c, report_has(behaviour, "type") ? STYLE_FIELD : STYLE_SOURCE_FUNCTION,
                  buf_string(&text), text.n);
    }
    if (json_is_integer(group) && json_integer_value(group) >= 0) {
        uint64_t id = (uint64_t)json_integer_value(group);
        struct cell *c =
            lines_add(l, "", fits ? (struct subject){SUBJECT_GROUP, id, NULL} : nothing);
        cell_add(c, STYLE_PLAIN, "group ");
        cell_add(c, STYLE_NUMBER, "%llu", (unsigned long long)id);
    }
    buf_free(&text);
}

static void add_status(struct lines *l, const json_t *bug)
{
    const json_t *original = json_object_get(bug, "duplicate_of");
    json_int_t id = json_is_integer(original) ? json_integer_value(original) : 0;
    struct subject about = id > 0 ? (struct subject){SUBJECT_BUG, (uint64_t)id, NULL} : nothing;
    struct buf text = {0};

    if (!report_has(bug, "status"))
        return;
    report_add(&text, bug, "status", escape_locale());
    struct cell *c = lines_add(l, "status", about);
    cell_text(c, STYLE_FLAG, buf_string(&text), text.n);
    if (id > 0)
        cell_add(c, STYLE_FLAG, " of bug %" JSON_INTEGER_FORMAT, id);
    buf_free(&text);
}

struct view *bug_view(const json_t *bug, int columns, bool fits)
{
    struct lines *l = lines_new("bug");
    int room = lines_room(columns);

    if (!json_is_object(bug))
        return lines_view(l);
    add_text(l, "what", STYLE_PLAIN, bug, "summary", 0, room);
    add_ops(l, "survived", json_object_get(bug, "survived"), true, fits);
    add_ops(l, "lost", json_object_get(bug, "lost"), false, fits);
    add_text(l, "legal", STYLE_RULE, bug, "rule", 0, room);
    add_checker(l, bug, room);
    add_fix(l, bug, room);
    add_seen(l, bug, fits);
    add_status(l, bug);
    add_text(l, "note", STYLE_MARKER, bug, "note", ESCAPE_KEEP_NEWLINES, room);
    return lines_view(l);
}
