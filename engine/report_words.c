/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/report_words.h"

#include <signal.h>
#include <string.h>

#include "engine/escape.h"

/* ---- members ---- */

bool report_has(const json_t *o, const char *key)
{
    return json_string_length(json_object_get(o, key)) > 0;
}

void report_add(struct buf *out, const json_t *o, const char *key, int flags)
{
    const json_t *text = json_object_get(o, key);
    if (json_is_string(text))
        escape_add(out, json_string_value(text), json_string_length(text), flags);
}

json_int_t report_number(const json_t *o, const char *key)
{
    return json_integer_value(json_object_get(o, key));
}

double report_real(const json_t *o, const char *key)
{
    return json_number_value(json_object_get(o, key));
}

void report_count(struct buf *out, json_int_t n, const char *thing)
{
    buf_printf(out, "%" JSON_INTEGER_FORMAT " %s%s", n, thing, n == 1 ? "" : "s");
}

static bool is(const json_t *o, const char *key, const char *value)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text && !strcmp(text, value);
}

/* ---- ops ---- */

/* What of its call an op is, for people who have not read about ops. */
static void add_part(struct buf *out, const json_t *op)
{
    json_int_t offset = report_number(op, "offset"), size = report_number(op, "size");
    if (is(op, "kind", "size")) {
        buf_printf(out, ": length %" JSON_INTEGER_FORMAT, size);
        return;
    }
    if (is(op, "kind", "name") || !report_has(op, "kind"))
        return;
    buf_printf(out, " %" JSON_INTEGER_FORMAT "+%" JSON_INTEGER_FORMAT, offset, size);
    if (is(op, "kind", "data"))
        buf_text(out, ": data");
    else if (is(op, "kind", "alloc"))
        buf_text(out, ": new block, which reads as zeros");
    else if (is(op, "kind", "zero"))
        buf_text(out, ": zeroing of what was cut off");
}

void report_add_op(struct buf *out, const json_t *op, int flags)
{
    report_add(out, op, "call", flags);
    if (report_has(op, "stored")) { /* what it means, then where it is */
        buf_char(out, ' ');
        report_add(out, op, "stored", flags);
        buf_text(out, " (");
        report_add(out, op, "path", flags | ESCAPE_NAME);
        add_part(out, op);
        buf_char(out, ')');
        return;
    }
    if (is(op, "call", "print") || is(op, "call", "marker")) {
        buf_text(out, " \"");
        report_add(out, op, "text", flags);
        buf_char(out, '"');
        return;
    }
    if (report_has(op, "path"))
        buf_char(out, ' ');
    report_add(out, op, "path", flags | ESCAPE_NAME);
    if (report_has(op, "other_path")) {
        buf_text(out, " to ");
        report_add(out, op, "other_path", flags | ESCAPE_NAME);
    }
    add_part(out, op);
}

void report_add_place(struct buf *out, const json_t *at, bool whole_path, int flags)
{
    report_add(out, at, "function", flags);
    if (!report_has(at, "file") || report_number(at, "line") <= 0)
        return;
    const char *file = json_string_value(json_object_get(at, "file"));
    const char *slash = whole_path ? NULL : strrchr(file, '/');
    file = slash ? slash + 1 : file;
    if (report_has(at, "function"))
        buf_char(out, ' ');
    escape_add(out, file, strlen(file), flags);
    buf_printf(out, ":%" JSON_INTEGER_FORMAT, report_number(at, "line"));
}

const json_t *report_culprit(const json_t *bug)
{
    const json_t *survived = json_array_get(json_object_get(bug, "survived"), 0);
    const json_t *lost = json_object_get(bug, "lost"), *op;
    size_t i;
    if (report_number(survived, "line") > 0)
        return survived;
    json_array_foreach(lost, i, op) if (report_number(op, "line") > 0) return op;
    return survived ? survived : json_array_get(lost, 0);
}

/* ---- bugs ---- */

static void add_ending(struct buf *out, const json_t *bug)
{
    enum { RECOVERY_FAILED = 99 }; /* what a checker says with this status is in the contract */
    const json_t *checker = json_object_get(bug, "checker");
    const json_t *number = json_object_get(checker, "signal");
    if (json_is_true(json_object_get(checker, "timed_out"))) {
        buf_text(out, "not done within the time limit (timeout)");
        return;
    }
    if (json_is_integer(number)) {
        json_int_t n = json_integer_value(number);
        const char *name = n > 0 && n < NSIG ? sigabbrev_np((int)n) : NULL;
        buf_text(out, "killed by ");
        if (name)
            buf_printf(out, "SIG%s", name);
        else
            buf_printf(out, "signal %" JSON_INTEGER_FORMAT, n);
        return;
    }
    json_int_t status = report_number(checker, "exit");
    buf_printf(out, "exit status %" JSON_INTEGER_FORMAT "%s", status,
               status == RECOVERY_FAILED ? ", recovery itself failed" : "");
}

void report_add_verdict(struct buf *out, const json_t *bug)
{
    add_ending(out, bug);
    if (json_is_false(json_object_get(bug, "repeats")))
        buf_text(out, ", but not when it was run on the same state again");
}

/* As a shell reads it back. Control characters would not survive being shown, so they go by
 * $'…', which bash, zsh and ksh know. */
static void add_quoted(struct buf *out, const char *text)
{
    static const char safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                               "_-+=./:,@%";
    struct buf shown = {0};
    escape_add(&shown, text, strlen(text), escape_locale());
    if (*text && !text[strspn(text, safe)]) {
        buf_text(out, text);
    } else if (strcmp(buf_string(&shown), text) != 0) {
        buf_clear(&shown);
        escape_add(&shown, text, strlen(text), escape_locale() | ESCAPE_REVERSIBLE);
        buf_text(out, "$'");
        for (const char *c = buf_string(&shown); *c; c++)
            buf_printf(out, "%s%c", *c == '\'' ? "\\" : "", *c);
        buf_char(out, '\'');
    } else {
        buf_char(out, '\'');
        for (const char *c = text; *c; c++) {
            if (*c == '\'')
                buf_text(out, "'\\''");
            else
                buf_char(out, *c);
        }
        buf_char(out, '\'');
    }
    buf_free(&shown);
}

bool report_has_fix(const json_t *bug)
{
    return report_has(bug, "fix") || report_has(json_object_get(bug, "fix"), "text");
}

void report_add_fix(struct buf *out, const json_t *bug, int flags)
{
    const json_t *fix = json_object_get(bug, "fix");
    if (!json_is_object(fix)) {
        report_add(out, bug, "fix", flags);
        return;
    }
    report_add(out, fix, "text", flags);
    if (!json_is_boolean(json_object_get(fix, "verified")))
        return;
    buf_printf(out, " (tried: it rules out %" JSON_INTEGER_FORMAT " of its ",
               report_number(fix, "gone"));
    report_count(out, report_number(fix, "states"), "state");
    buf_text(out, ")");
}

void report_add_replay(struct buf *out, const json_t *report, const json_t *bug)
{
    const char *session = json_string_value(json_object_get(report, "session"));
    buf_text(out, "flotsam replay ");
    if (session && *session == '-')
        buf_text(out, "./"); /* not an option */
    add_quoted(out, session ? session : "");
    buf_printf(out, " bug:%" JSON_INTEGER_FORMAT " DIR", report_number(bug, "id"));
}

const char *report_caveat(const json_t *report)
{
    const json_t *states = json_object_get(report, "states");
    if (json_array_size(json_object_get(report, "bugs")))
        return NULL;
    if (report_number(states, "inconsistent") > 0 &&
        json_is_true(json_object_get(report, "interrupted")))
        return "The check was interrupted before the cause of the inconsistent states was found.";
    if (report_number(states, "inconsistent") > 0)
        return "No cause was found for the inconsistent states: they did not fail again when they "
               "were looked into. A checker must say the same of the same state each time.";
    if (report_number(states, "tested") == 0)
        return "No state was tested, so nothing is known.";
    if (json_is_integer(json_object_get(report, "ops")) && !report_number(report, "ops"))
        return "The run changed nothing in its data directory, so only its beginning was tested: "
               "the program did nothing, or has its data elsewhere.";
    return NULL;
}

bool report_set_aside(const json_t *bug)
{
    return is(bug, "status", "ignored") || is(bug, "status", "duplicate");
}

/* ---- JSON ---- */

/* jansson escapes all controls but the delete character, which can only be inside a string. */
static int add_piece(const char *piece, size_t n, void *out)
{
    for (size_t i = 0; i < n; i++) {
        if (piece[i] == '\x7f')
            buf_text(out, "\\u007f");
        else
            buf_char(out, piece[i]);
    }
    return 0;
}

void report_dump(struct buf *out, const json_t *value)
{
    enum { INDENT = 2, DIGITS = 9 }; /* times are no better than nanoseconds */
    json_dump_callback(value, add_piece, out,
                       JSON_INDENT(INDENT) | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(DIGITS));
    buf_char(out, '\n');
}
