/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A report as SARIF 2.1.0, for code scanning: a rule for each kind of bug, a result for each bug.
 * The location of a result is the line that did what survived; the lost ops are related locations;
 * the code flow has all of them in the order in which the program did them, with their stacks.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "engine/escape.h"
#include "engine/map.h"
#include "engine/report.h"
#include "engine/report_words.h"
#include "engine/vec.h"

static const struct rule {
    const char *id, *name, *brief, *full;
} rules[] = {
    {"ordering", "PersistedOutOfOrder", "A change can survive a crash without one that it needs.",
     "The program relies on one change reaching the disk before another, and nothing in between "
     "makes sure of it. After a power failure the later one can be there without the earlier."},
    {"atomicity", "PersistedInPart", "A change can survive a crash in part.",
     "The program relies on a change being made as a whole, and a power failure can leave a part "
     "of it."},
    {"unpersisted", "AcknowledgedButLost", "What was acknowledged can be lost in a crash.",
     "The program told the world that something was done before it was durable. After a power "
     "failure it can be missing."},
    {"recovery", "RecoveryFails", "Recovery fails on a state that a crash can leave.",
     "Recovery crashed, did not end, or gave up on a state that a power failure can leave."},
};

/* ---- texts ---- */

/* Messages have a syntax: braces are placeholders unless doubled, and [text](target) is a link,
 * which no file name may make. Takes the text. */
static json_t *message(struct buf *text)
{
    struct buf out = {0};
    const char *at = buf_string(text);
    for (size_t i = 0; i < text->n; i++) {
        buf_char(&out, at[i]);
        if (at[i] == '{' || at[i] == '}')
            buf_char(&out, at[i]);
        else if (at[i] == ']' && at[i + 1] == '(')
            buf_char(&out, ' ');
    }
    json_t *object = json_pack("{s:s}", "text", buf_string(&out));
    buf_free(&out);
    buf_free(text);
    return object;
}

static json_t *plain(const char *text)
{
    return json_pack("{s:s}", "text", text);
}

/* A path as a URI: absolute ones with a scheme, relative ones without. */
static json_t *uri(const char *path)
{
    struct buf out = {0};
    if (*path == '/')
        buf_text(&out, "file://");
    for (const char *c = path; *c; c++) {
        unsigned char byte = (unsigned char)*c;
        if (byte < 0x80 && (isalnum(byte) || strchr("-._~/", byte)))
            buf_char(&out, *c);
        else
            buf_printf(&out, "%%%02X", byte);
    }
    json_t *text = json_string(buf_string(&out));
    buf_free(&out);
    return text;
}

/* ---- locations ---- */

/* Of an op or a frame. */
static json_t *location(const json_t *at)
{
    json_t *out = json_object();
    const char *file = json_string_value(json_object_get(at, "file"));
    json_int_t line = report_number(at, "line");
    if (file && *file && line > 0)
        json_object_set_new(out, "physicalLocation",
                            json_pack("{s:{s:o}, s:{s:I}}", "artifactLocation", "uri", uri(file),
                                      "region", "startLine", line));
    if (report_has(at, "function")) {
        struct buf name = {0};
        report_add(&name, at, "function", ESCAPE_UTF8);
        json_object_set_new(
            out, "logicalLocations",
            json_pack("[{s:s, s:s}]", "fullyQualifiedName", buf_string(&name), "kind", "function"));
        buf_free(&name);
    }
    return out;
}

static json_t *op_message(const json_t *op, const char *fate)
{
    struct buf text = {0};
    buf_printf(&text, "%s: ", fate);
    report_add_op(&text, op, ESCAPE_UTF8);
    buf_printf(&text, " (event %" JSON_INTEGER_FORMAT ")", report_number(op, "event"));
    return message(&text);
}

static json_t *op_location(const json_t *op, const char *fate)
{
    json_t *out = location(op);
    json_object_set_new(out, "message", op_message(op, fate));
    return out;
}

static json_t *stack(const json_t *op)
{
    json_t *frames = json_array();
    const json_t *frame;
    size_t i;
    json_array_foreach(json_object_get(op, "stack"), i, frame)
        json_array_append_new(frames, json_pack("{s:o}", "location", location(frame)));
    return json_pack("{s:o}", "frames", frames);
}

/* ---- the flow ---- */

struct step {
    const json_t *op;
    const char *fate;
    size_t place; /* ops of one event keep their order */
};

struct steps {
    vec_of(struct step) at;
};

static int by_event(const void *a, const void *b)
{
    const struct step *x = a, *y = b;
    json_int_t m = report_number(x->op, "event"), n = report_number(y->op, "event");
    if (m != n)
        return m < n ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static void add_steps(struct steps *steps, const json_t *ops, const char *fate)
{
    const json_t *op;
    size_t i;
    json_array_foreach(ops, i, op)
        vec_push(&steps->at, (struct step){.op = op, .fate = fate, .place = steps->at.n});
}

static void set_flow(json_t *result, const json_t *bug)
{
    struct steps steps = {0};
    json_t *locations = json_array();
    add_steps(&steps, json_object_get(bug, "lost"), "lost");
    add_steps(&steps, json_object_get(bug, "survived"), "survived");
    if (steps.at.n)
        qsort(steps.at.at, steps.at.n, sizeof *steps.at.at, by_event);
    for (size_t i = 0; i < steps.at.n; i++) {
        const struct step *s = &steps.at.at[i];
        json_array_append_new(locations, json_pack("{s:o, s:o, s:s, s:I}", "location",
                                                   op_location(s->op, s->fate), "stack",
                                                   stack(s->op), "importance", "essential",
                                                   "executionOrder", (json_int_t)i + 1));
    }
    if (steps.at.n)
        json_object_set_new(result, "codeFlows",
                            json_pack("[{s:[{s:o}]}]", "threadFlows", "locations", locations));
    else
        json_decref(locations);
    vec_free(&steps.at);
}

/* ---- fingerprints ---- */

static int compare_hashes(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

/* An op by its call and the functions that led to it: lines move when a file is edited, numbers
 * and names of files change from run to run, and frames without source from system to system. */
static uint64_t op_hash(const json_t *op)
{
    const json_t *frame;
    struct buf text = {0};
    size_t i, known = 0;
    report_add(&text, op, "call", ESCAPE_REVERSIBLE);
    json_array_foreach(json_object_get(op, "stack"), i, frame)
    {
        if (report_number(frame, "line") <= 0)
            continue;
        buf_char(&text, '\n');
        report_add(&text, frame, "function", ESCAPE_REVERSIBLE);
        known++;
    }
    if (!known) {
        buf_char(&text, '\n');
        report_add(&text, op, "path", ESCAPE_REVERSIBLE);
    }
    uint64_t hash = XXH64(buf_string(&text), text.n, 0);
    buf_free(&text);
    return hash;
}

static uint64_t bug_hash(const json_t *bug)
{
    const json_t *op;
    struct buf kind = {0};
    vec_of(uint64_t) hashes = {0};
    size_t i, kept = 0;
    report_add(&kind, bug, "kind", ESCAPE_REVERSIBLE);
    json_array_foreach(json_object_get(bug, "lost"), i, op) vec_push(&hashes, op_hash(op));
    if (hashes.n)
        qsort(hashes.at, hashes.n, sizeof *hashes.at, compare_hashes);
    /* How often one loop's op is among the lost is chance. */
    for (i = 0; i < hashes.n; i++)
        if (!i || hashes.at[i] != hashes.at[i - 1])
            hashes.at[kept++] = hashes.at[i];
    hashes.n = kept;
    json_array_foreach(json_object_get(bug, "survived"), i, op) vec_push(&hashes, op_hash(op));
    uint64_t hash = XXH64(buf_string(&kind), kind.n, 0);
    for (i = 0; i < hashes.n; i++)
        hash = XXH64(&hashes.at[i], sizeof hashes.at[i], hash);
    vec_free(&hashes);
    buf_free(&kind);
    return hash;
}

/* Bugs that cannot be told apart by their functions are numbered, in the report's order. */
static void set_fingerprint(json_t *result, const json_t *bug, struct map *seen)
{
    uint64_t hash = bug_hash(bug);
    bool added;
    uint64_t *same = map_put(seen, &hash, sizeof hash, &added);
    char text[64];
    *same = added ? 1 : *same + 1;
    snprintf(text, sizeof text, "%016" PRIx64 ":%" PRIu64, hash, *same);
    json_object_set_new(result, "partialFingerprints",
                        json_pack("{s:s}", "flotsamCulprit/v1", text));
}

/* ---- results ---- */

static json_t *bug_message(const json_t *report, const json_t *bug)
{
    struct buf text = {0};
    report_add(&text, bug, "summary", ESCAPE_UTF8);
    buf_text(&text, ".\nWhy it is legal: ");
    report_add(&text, bug, "rule", ESCAPE_UTF8);
    buf_text(&text, ".\nChecker: ");
    report_add_verdict(&text, bug);
    if (report_has_fix(bug)) {
        buf_text(&text, ".\nProposed fix: ");
        report_add_fix(&text, bug, ESCAPE_UTF8);
    }
    buf_text(&text, ".\nTo reproduce: ");
    report_add_replay(&text, report, bug);
    return message(&text);
}

static void copy(json_t *to, const json_t *from, const char *const *keys)
{
    for (; *keys; keys++) {
        const json_t *value = json_object_get(from, *keys);
        if (value)
            json_object_set_new(to, *keys, json_deep_copy(value));
    }
}

static void set_rule(json_t *result, const json_t *bug)
{
    const char *kind = json_string_value(json_object_get(bug, "kind"));
    json_object_set_new(result, "ruleId", json_string(kind ? kind : "unknown"));
    for (size_t i = 0; kind && i < sizeof rules / sizeof *rules; i++)
        if (!strcmp(kind, rules[i].id))
            json_object_set_new(result, "ruleIndex", json_integer((json_int_t)i));
}

static void set_locations(json_t *result, const json_t *bug)
{
    const json_t *main = report_culprit(bug), *op;
    const json_t *survived = json_array_get(json_object_get(bug, "survived"), 0);
    json_t *related = json_array();
    size_t i;
    json_object_set_new(result, "locations", json_array());
    if (main)
        json_array_append_new(json_object_get(result, "locations"),
                              op_location(main, main == survived ? "survived" : "lost"));
    json_array_foreach(json_object_get(bug, "lost"), i, op)
    {
        json_t *at = op_location(op, "lost");
        json_object_set_new(at, "id", json_integer((json_int_t)i + 1));
        json_array_append_new(related, at);
    }
    json_object_set_new(result, "relatedLocations", related);
}

static json_t *result_of(const json_t *report, const json_t *bug, struct map *seen)
{
    static const char *const kept[] = {"id",      "kind",   "rule",    "fix",          "behaviour",
                                       "states",  "status", "checker", "crash_event",  "told",
                                       "markers", "cause",  "note",    "duplicate_of", NULL};
    json_t *out = json_object(), *properties = json_object();
    set_rule(out, bug);
    json_object_set_new(out, "kind", json_string("fail"));
    json_object_set_new(out, "level", json_string("error"));
    json_object_set_new(out, "message", bug_message(report, bug));
    set_locations(out, bug);
    set_flow(out, bug);
    set_fingerprint(out, bug, seen);
    json_object_set_new(
        out, "occurrenceCount",
        json_integer(report_number(bug, "states") > 0 ? report_number(bug, "states") : 1));
    if (report_set_aside(bug)) {
        struct buf status = {0};
        report_add(&status, bug, "status", ESCAPE_UTF8);
        json_object_set_new(out, "suppressions",
                            json_pack("[{s:s, s:s, s:s}]", "kind", "external", "status", "accepted",
                                      "justification", buf_string(&status)));
        buf_free(&status);
    }
    copy(properties, bug, kept);
    json_object_set_new(out, "properties", properties);
    return out;
}

/* ---- the run ---- */

static json_t *driver(void)
{
    json_t *list = json_array();
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:o, s:o, s:{s:s}}", "id", rules[i].id, "name",
                                        rules[i].name, "shortDescription", plain(rules[i].brief),
                                        "fullDescription", plain(rules[i].full),
                                        "defaultConfiguration", "level", "error"));
    return json_pack("{s:s, s:s, s:o}", "name", "flotsam", "version", FLOTSAM_VERSION, "rules",
                     list);
}

static void add_notification(json_t *list, const json_t *text, const char *level)
{
    struct buf b = {0};
    if (!json_is_string(text))
        return;
    escape_add(&b, json_string_value(text), json_string_length(text), ESCAPE_UTF8);
    json_array_append_new(list, json_pack("{s:s, s:o}", "level", level, "message", message(&b)));
}

static json_t *invocation(const json_t *report)
{
    json_t *notifications = json_array();
    const json_t *notice;
    size_t i;
    if (report_caveat(report))
        json_array_append_new(notifications, json_pack("{s:s, s:o}", "level", "error", "message",
                                                       plain(report_caveat(report))));
    add_notification(notifications, json_object_get(report, "cut"), "warning");
    json_array_foreach(json_object_get(report, "notices"), i, notice)
        add_notification(notifications, notice, "note");
    return json_pack("{s:b, s:o}", "executionSuccessful", 1, "toolExecutionNotifications",
                     notifications);
}

static void print(const json_t *report, struct buf *out)
{
    static const char *const kept[] = {
        "session",  "program", "directory", "checker",    "model",  "stores",
        "strategy", "events",  "ops",       "groups",     "states", "possible",
        "cut",      "seconds", "shrinking", "behaviours", NULL};
    json_t *results = json_array(), *properties = json_object();
    const json_t *bug;
    struct map seen = {0};
    size_t i;
    json_array_foreach(json_object_get(report, "bugs"), i, bug)
        json_array_append_new(results, result_of(report, bug, &seen));
    map_free(&seen);
    copy(properties, report, kept);
    json_t *log =
        json_pack("{s:s, s:s, s:[{s:{s:o}, s:[o], s:o, s:s, s:o}]}", "$schema",
                  "https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs",
                  "tool", "driver", driver(), "invocations", invocation(report), "results", results,
                  "columnKind", "unicodeCodePoints", "properties", properties);
    report_dump(out, log);
    json_decref(log);
}

const struct report_format report_sarif = {.name = "sarif", .print = print};
