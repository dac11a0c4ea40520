/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/report.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "engine/calls.h"
#include "engine/clock.h"
#include "engine/escape.h"
#include "engine/fix.h"
#include "engine/group.h"
#include "engine/told.h"
#include "engine/types.h"

enum { REPORT_VERSION = 1, BYTES_PER_KIB = 1024 };

json_t *report_string(const char *bytes)
{
    json_t *valid = json_string(bytes);
    if (valid)
        return valid;
    struct buf safe = {0};
    escape_add(&safe, bytes, strlen(bytes), ESCAPE_UTF8 | ESCAPE_KEEP_NEWLINES);
    valid = json_string(buf_string(&safe));
    buf_free(&safe);
    return valid ? valid : json_string("");
}

/* ---- ops ---- */

const char *report_op_kind(const struct op *op)
{
    static const char *const names[] = {"",     "name", "size",  "alloc",
                                        "data", "zero", "range", "store"};
    return op->kind < sizeof names / sizeof *names ? names[op->kind] : "";
}

static json_t *stack_json(struct analysis *a, uint32_t stack)
{
    json_t *list = json_array();
    const struct frame *frames;
    size_t n = session_stack(a->session, stack, &frames);
    for (size_t i = 0; i < n; i++) {
        const struct location *at;
        size_t count = symbols_frame(a->symbols, &frames[i], &at);
        for (size_t k = 0; k < count; k++) {
            json_t *frame = json_object();
            json_object_set_new(frame, "function", report_string(at[k].function));
            json_object_set_new(frame, "file", report_string(at[k].file));
            json_object_set_new(frame, "line", json_integer(at[k].line));
            json_array_append_new(list, frame);
        }
    }
    return list;
}

static json_t *event_json(struct analysis *a, const struct event *event, uint64_t number,
                          bool stack)
{
    json_t *out = json_object();
    const struct location *where = symbols_stack(a->symbols, event->stack);
    json_object_set_new(out, "event", json_integer((json_int_t)number));
    json_object_set_new(out, "call", report_string(call_name(event->call)));
    json_object_set_new(out, "path", report_string(session_string(a->session, event->path)));
    if (event->other_path)
        json_object_set_new(out, "other_path",
                            report_string(session_string(a->session, event->other_path)));
    json_object_set_new(out, "offset", json_integer((json_int_t)event->offset));
    json_object_set_new(out, "size", json_integer((json_int_t)event->size));
    json_object_set_new(out, "function", report_string(where ? where->function : ""));
    json_object_set_new(out, "file", report_string(where ? where->file : ""));
    json_object_set_new(out, "line", json_integer(where ? where->line : 0));
    if (stack)
        json_object_set_new(out, "stack", stack_json(a, event->stack));
    return out;
}

void report_field(json_t *out, const struct fields *f, uint64_t event)
{
    const struct stored_field *at = fields_of(f, event);
    if (!at)
        return;
    if (at->field)
        json_object_set_new(out, "field", report_string(fields_text(f, at->field)));
    if (at->type)
        json_object_set_new(out, "type", report_string(fields_type_name(f, at->type)));
    struct buf words = {0};
    fields_add_words(&words, f, at);
    if (words.n)
        json_object_set_new(out, "stored", report_string(buf_string(&words)));
    buf_free(&words);
    if (at->instance)
        json_object_set_new(out, "instance", json_integer((json_int_t)(at->instance - 1)));
    json_object_set_new(out, "confidence", json_string(type_confidence_name(at->confidence)));
}

json_t *report_op(struct analysis *a, uint32_t number, bool stack)
{
    const struct op *op = &a->graph->ops[number];
    struct event event = {0};
    session_event(a->session, op->event, &event, NULL);
    json_t *out = event_json(a, &event, op->event, stack);
    json_object_set_new(out, "op", json_integer(number));
    json_object_set_new(out, "kind", report_string(report_op_kind(op)));
    if (op->kind == OP_DATA || op->kind == OP_ALLOC || op->kind == OP_ZERO ||
        op->kind == OP_STORE) {
        json_object_set_new(out, "offset", json_integer((json_int_t)op->offset));
        json_object_set_new(out, "size", json_integer((json_int_t)op->length));
    } else if (op->kind == OP_SIZE)
        json_object_set_new(out, "size", json_integer((json_int_t)op->size));
    report_field(out, a->fields, op->event);
    return out;
}

json_t *report_event(struct analysis *a, uint64_t number, bool stack)
{
    struct event event = {0};
    session_event(a->session, number, &event, NULL);
    return event_json(a, &event, number, stack);
}

/* Bytes of what a program told. */
enum { MOST_SHOWN = 4096 };

static void set_bytes(json_t *out, const char *key, const char *bytes, size_t n)
{
    char *text = escape_zeros(bytes, n);
    json_object_set_new(out, key, report_string(text));
    free(text);
}

/* An acknowledgement: printed, or a marker. */
static json_t *telling_json(struct analysis *a, uint64_t number)
{
    struct event event = {0};
    session_event(a->session, number, &event, NULL);
    json_t *out = event_json(a, &event, number, true);
    struct buf line = {0};
    if (told_line(a->session, number, MOST_SHOWN, &line, NULL))
        set_bytes(out, "text", buf_string(&line), line.n);
    buf_free(&line);
    return out;
}

/* The last lines of what had been told, and how many bytes there were before: a run may print more
 * than a report can hold, and once for each bug. */
static void set_told(json_t *out, const char *key, const char *key_before, const char *bytes,
                     size_t size)
{
    size_t from = size > MOST_SHOWN ? size - MOST_SHOWN : 0;
    const char *line = from ? memchr(bytes + from, '\n', size - from - 1) : NULL;
    if (line)
        from = (size_t)(line + 1 - bytes);
    set_bytes(out, key, bytes + from, size - from);
    if (from)
        json_object_set_new(out, key_before, json_integer((json_int_t)from));
}

void report_object(json_t *out, struct analysis *a, const struct behaviour *b)
{
    struct analysis_object object;
    struct file_info file;
    if (!analysis_object(a, b, &object))
        return;
    json_object_set_new(out, "type", report_string(fields_type_name(a->fields, object.type)));
    json_object_set_new(out, "instance", json_integer((json_int_t)object.offset));
    if (session_file(a->session, object.file, &file))
        json_object_set_new(out, "path", report_string(file.path));
}

/* ---- bugs ---- */

static json_t *checker_json(const struct verdict *v)
{
    json_t *out = json_object();
    bool exited = !v->signal && v->kind != VERDICT_HUNG;
    json_object_set_new(out, "exit", exited ? json_integer(v->exit) : json_null());
    json_object_set_new(out, "signal", v->signal ? json_integer(v->signal) : json_null());
    json_object_set_new(out, "timed_out", json_boolean(v->kind == VERDICT_HUNG));
    json_object_set_new(out, "output", report_string(v->output ? v->output : ""));
    return out;
}

static json_t *behaviour_json(struct analysis *a, const struct bug *b)
{
    if (b->behaviour == NO_BEHAVIOUR)
        return json_null();
    json_t *out = json_object();
    const struct behaviour *of = &a->behaviours->at[b->behaviour];
    bool type = of->flags & BEHAVIOUR_TYPE;
    json_object_set_new(out, "id", json_integer(b->behaviour));
    json_object_set_new(out, "kind", json_string(type ? "type" : "function"));
    json_object_set_new(out, "name", report_string(analysis_function(a, of)));
    report_object(out, a, of);
    json_object_set_new(out, "group", b->group == NO_OP ? json_null() : json_integer(b->group));
    return out;
}

static json_t *proposal_json(struct analysis *a, const struct bug *b)
{
    const struct bug_fix *p = &b->proposal;
    json_t *out = p->n ? fix_json(a->session, &p->at[0]) : json_object();
    json_object_set_new(out, "text", report_string(b->fix));
    if (!p->n)
        return out;
    json_object_set_new(out, "before", json_integer((json_int_t)p->before));
    json_object_set_new(out, "times", json_integer((json_int_t)p->n));
    /* A mistake of a loop may be made ten thousand times: as many as a person would try. */
    enum { PLACES_MAX = 1000 };
    json_t *places = json_array();
    for (size_t i = 0; i < p->n && i < PLACES_MAX; i++)
        json_array_append_new(places, fix_json(a->session, &p->at[i]));
    json_object_set_new(out, "places", places);
    if (p->verified) {
        json_object_set_new(out, "verified", json_boolean(p->gone == p->states));
        json_object_set_new(out, "states", json_integer((json_int_t)p->states));
        json_object_set_new(out, "gone", json_integer((json_int_t)p->gone));
    }
    return out;
}

json_t *report_bug(struct analysis *a, struct exploration *x, const struct bug *b)
{
    json_t *out = json_object(), *lost = json_array(), *survived = json_array();
    json_object_set_new(out, "id", json_integer(b->id));
    json_object_set_new(out, "kind", report_string(bug_kind_name(b->kind)));
    char cause[sizeof "0123456789abcdef"];
    snprintf(cause, sizeof cause, "%016llx", (unsigned long long)b->cause);
    json_object_set_new(out, "cause", json_string(cause));
    json_object_set_new(out, "summary", report_string(b->summary));
    for (size_t i = 0; i < b->lost_count; i++)
        json_array_append_new(lost, report_op(a, b->lost[i], true));
    if (b->survived != NO_OP)
        json_array_append_new(survived, report_op(a, b->survived, true));
    else if (b->told)
        json_array_append_new(survived, telling_json(a, b->told));
    json_object_set_new(out, "lost", lost);
    json_object_set_new(out, "survived", survived);
    json_object_set_new(out, "rule", report_string(b->rule));
    json_object_set_new(out, "fix", proposal_json(a, b));
    json_object_set_new(out, "behaviour", behaviour_json(a, b));
    json_object_set_new(out, "states", json_integer((json_int_t)b->states));
    json_object_set_new(out, "status", report_string("new"));
    json_object_set_new(out, "checker", checker_json(&b->verdict));
    if (b->repeated)
        json_object_set_new(out, "repeats", json_boolean(!b->differs));
    struct told_until told = told_before(exploration_told(x), b->told_until);
    set_told(out, "told", "told_before", told.printed, told.printed_size);
    set_told(out, "markers", "markers_before", told.markers, told.markers_size);
    return out;
}

/* ---- the whole ---- */

static json_t *states_json(const struct explore_counts *c)
{
    json_t *out = json_object();
    json_object_set_new(out, "enumerated", json_integer((json_int_t)c->enumerated));
    json_object_set_new(out, "distinct", json_integer((json_int_t)c->distinct));
    json_object_set_new(out, "tested", json_integer((json_int_t)(c->tested + c->reused)));
    json_object_set_new(out, "inconsistent", json_integer((json_int_t)c->inconsistent));
    json_object_set_new(out, "complete", json_boolean(c->complete));
    return out;
}

static json_t *seconds_json(struct analysis *a, const struct explore_counts *c,
                            const struct report_times *times)
{
    json_t *out = json_object();
    const char *recorded = session_meta(a->session, "seconds");
    json_object_set_new(out, "record", json_real(recorded ? strtod(recorded, NULL) : 0));
    json_object_set_new(out, "analyse", json_real(times->analyse));
    json_object_set_new(out, "check", json_real(times->check));
    json_object_set_new(out, "checker", json_real(c->checker_seconds));
    return out;
}

static void set_meta(json_t *out, struct analysis *a, const char *key)
{
    const char *value = session_meta(a->session, key);
    json_object_set_new(out, key, report_string(value ? value : ""));
}

/* What this check took besides time: memory of this process, in bytes; what it and its helpers kept
 * processors busy, and what checkers did, in seconds; and how many verdicts were there already. */
static json_t *effort_json(const struct explore_counts *c)
{
    json_t *out = json_object();
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    json_object_set_new(out, "memory_peak",
                        json_integer((json_int_t)used.ru_maxrss * BYTES_PER_KIB));
    json_object_set_new(out, "own_cpu", json_real(clock_busy(RUSAGE_SELF) + c->pool_cpu));
    json_object_set_new(out, "checker_cpu", json_real(c->checker_cpu));
    json_object_set_new(out, "reused", json_integer((json_int_t)c->reused));
    return out;
}

/* The name alone is the contract's; what model_find takes is there besides when it says more. */
static void set_model(json_t *out, const struct graph *g)
{
    char *text = model_text(&g->model);
    json_object_set_new(out, "model", report_string(g->model.name));
    if (strcmp(text, g->model.name) != 0)
        json_object_set_new(out, "model_switches", report_string(text + strlen(g->model.name) + 1));
    free(text);
}

/* What was taken for the stores that there are; null for none. */
static void set_stores(json_t *out, const struct graph *g)
{
    struct buf names = {0};
    for (enum model_stores s = 0; s < STORES_COUNT; s++)
        if (g->stores >> s & 1)
            buf_printf(&names, "%s%s", names.n ? ", " : "", model_stores_name(s));
    json_object_set_new(out, "stores", names.n ? json_string(buf_string(&names)) : json_null());
    buf_free(&names);
}

static void set_fixes(json_t *out, struct analysis *a)
{
    json_t *list = json_array();
    for (size_t i = 0; i < a->graph->fix_count; i++)
        json_array_append_new(list, fix_json(a->session, &a->graph->fixes[i].fix));
    json_object_set_new(out, "fixes", list);
}

static void add_notice(void *data, const char *kind, const char *what, uint64_t count)
{
    struct buf text = {0};
    buf_printf(&text, "%s%s%s", kind, *what ? ": " : "", what);
    if (count > 1)
        buf_printf(&text, " (%" PRIu64 " times)", count);
    json_array_append_new(data, report_string(buf_string(&text)));
    buf_free(&text);
}

/* What whoever reads the report must know of the recording. */
static json_t *notices_json(struct analysis *a)
{
    json_t *list = json_array();
    const char *exit = session_meta(a->session, "exit");
    const char *status = session_meta(a->session, "status");
    if (exit && strcmp(exit, "0") != 0) {
        char *text = xasprintf("the program %s", status ? status : "failed");
        json_array_append_new(list, report_string(text));
        free(text);
    }
    if (!session_meta(a->session, "complete"))
        json_array_append_new(list, json_string("the recording was cut short"));
    struct error ignored; /* what cannot be read has been told by whoever read the events */
    session_notices(a->session, add_notice, list, &ignored);
    return list;
}

/* What it must know of the checker. */
static void add_unsteady(json_t *notices, const struct bugs *bugs)
{
    struct buf text = {0};
    size_t n = 0;
    for (size_t i = 0; i < bugs->n; i++)
        if (bugs->at[i].differs)
            buf_printf(&text, "%s%" PRIu32, n++ ? ", " : "", bugs->at[i].id);
    if (n) {
        char *notice = xasprintf("the checker said otherwise when it was run on the same state "
                                 "again (bug%s %s): it looks at more than the state, such as a "
                                 "file that several checkers share, the time or chance",
                                 n == 1 ? "" : "s", buf_string(&text));
        json_array_append_new(notices, report_string(notice));
        free(notice);
    }
    buf_free(&text);
}

json_t *report_build(struct analysis *a, struct exploration *x, const struct bugs *bugs,
                     const struct explore_options *options, const struct report_times *times)
{
    const struct explore_counts *c = exploration_counts(x);
    const struct groups *groups = exploration_groups(x);
    json_t *out = json_object(), *list = json_array();
    json_object_set_new(out, "version", json_integer(REPORT_VERSION));
    json_object_set_new(out, "session", report_string(session_path(a->session)));
    set_meta(out, a, "program");
    set_meta(out, a, "directory");
    json_object_set_new(out, "checker", report_string(options->checker));
    set_model(out, a->graph);
    set_stores(out, a->graph);
    json_object_set_new(out, "strategy", report_string(strategy_name(options->strategy)));
    json_object_set_new(out, "events", json_integer((json_int_t)session_event_count(a->session)));
    json_object_set_new(out, "ops", json_integer((json_int_t)a->graph->n));
    json_object_set_new(out, "behaviours", json_integer((json_int_t)a->behaviours->n));
    json_object_set_new(out, "groups", json_integer(groups ? (json_int_t)groups->n : 0));
    json_object_set_new(out, "states", states_json(c));
    json_object_set_new(out, "possible",
                        !c->possible              ? json_null()
                        : c->possible > INT64_MAX ? json_real((double)c->possible)
                                                  : json_integer((json_int_t)c->possible));
    json_object_set_new(out, "possible_exact", json_boolean(c->possible_exact));
    json_object_set_new(out, "shrinking", json_integer((json_int_t)c->shrinking));
    json_object_set_new(out, "seconds", seconds_json(a, c, times));
    json_object_set_new(out, "effort", effort_json(c));
    if (!c->complete)
        json_object_set_new(out, "cut", report_string(c->cut));
    if (c->stopped)
        json_object_set_new(out, "interrupted", json_true());
    if (a->graph->fix_count)
        set_fixes(out, a);
    for (size_t i = 0; i < bugs->n; i++)
        json_array_append_new(list, report_bug(a, x, &bugs->at[i]));
    json_object_set_new(out, "bugs", list);
    json_t *notices = notices_json(a);
    add_unsteady(notices, bugs);
    json_object_set_new(out, "notices", notices);
    return out;
}
