/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A report as JUnit's XML, for continuous integration: a test case that failed for each bug, with
 * the bug in full; one that passed when there are none. Bugs that were set aside are skipped.
 */
#include <string.h>

#include "engine/escape.h"
#include "engine/report.h"
#include "engine/report_words.h"

/* Takes the value. */
static void attribute(struct buf *out, const char *name, struct buf *value)
{
    buf_printf(out, " %s=\"", name);
    escape_xml(out, buf_string(value));
    buf_char(out, '"');
    buf_free(value);
}

/* ---- properties ---- */

static void add_property(struct buf *out, const char *name, const json_t *value)
{
    struct buf text = {0};
    if (json_is_string(value))
        escape_add(&text, json_string_value(value), json_string_length(value), ESCAPE_UTF8);
    else if (json_is_integer(value))
        buf_printf(&text, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
    else if (json_is_real(value))
        buf_printf(&text, "%.15g", json_real_value(value));
    else if (json_is_boolean(value))
        buf_text(&text, json_is_true(value) ? "true" : "false");
    else
        return;
    buf_printf(out, "      <property name=\"%s\"", name);
    attribute(out, "value", &text);
    buf_text(out, "/>\n");
}

static void add_properties(struct buf *out, const json_t *report)
{
    static const char *const own[] = {"session", "program",  "directory", "checker", "model",
                                      "stores",  "strategy", "events",    "ops",     "behaviours",
                                      "groups",  "possible", "shrinking", "cut"};
    static const char *const states[] = {"enumerated", "distinct", "tested", "inconsistent",
                                         "complete"};
    buf_text(out, "    <properties>\n");
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        add_property(out, own[i], json_object_get(report, own[i]));
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        char name[32];
        snprintf(name, sizeof name, "states.%s", states[i]);
        add_property(out, name, json_object_get(json_object_get(report, "states"), states[i]));
    }
    buf_text(out, "    </properties>\n");
}

/* ---- cases ---- */

/* The name is the same from run to run as long as the bug is, so that its history can be kept: it
 * has the function, but no numbers. */
static void add_case(struct buf *out, const json_t *report, const json_t *bug)
{
    struct buf class = {0}, name = {0}, brief = {0}, type = {0}, full = {0};
    const json_t *at = report_culprit(bug);
    buf_text(&class, "flotsam.");
    report_add(&class, bug, "kind", ESCAPE_UTF8);
    report_add(&name, at, "function", ESCAPE_UTF8);
    if (name.n)
        buf_text(&name, ": ");
    report_add(&name, bug, "summary", ESCAPE_UTF8);
    buf_text(out, "    <testcase");
    attribute(out, "classname", &class);
    attribute(out, "name", &name);
    buf_text(out, " time=\"0\">\n");
    report_add(&brief, bug, report_set_aside(bug) ? "status" : "summary", ESCAPE_UTF8);
    buf_text(out, report_set_aside(bug) ? "      <skipped" : "      <failure");
    attribute(out, "message", &brief);
    if (report_set_aside(bug)) {
        buf_text(out, "/>\n    </testcase>\n");
        return;
    }
    report_add(&type, bug, "kind", ESCAPE_UTF8);
    attribute(out, "type", &type);
    buf_char(out, '>');
    report_bug_text(report, bug, &full);
    escape_xml(out, buf_string(&full));
    buf_free(&full);
    buf_text(out, "</failure>\n    </testcase>\n");
}

/* A report without bugs passes only when something was tested. */
static void add_only_case(struct buf *out, const char *caveat)
{
    buf_text(out, "    <testcase classname=\"flotsam\" name=\"no inconsistent state\" time=\"0\"");
    if (!caveat) {
        buf_text(out, "/>\n");
        return;
    }
    buf_text(out, ">\n      <failure type=\"unknown\" message=\"");
    escape_xml(out, caveat);
    buf_text(out, "\"/>\n    </testcase>\n");
}

static void print(const json_t *report, struct buf *out)
{
    const json_t *bugs = json_object_get(report, "bugs"), *bug;
    const json_t *seconds = json_object_get(report, "seconds");
    size_t n = json_array_size(bugs), skipped = 0, i;
    struct buf name = {0}, counts = {0};
    json_array_foreach(bugs, i, bug) skipped += report_set_aside(bug);
    buf_printf(&counts,
               " tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" time=\"%.3f\">\n",
               n ? n : 1, n ? n - skipped : report_caveat(report) != NULL, skipped,
               report_real(seconds, "analyse") + report_real(seconds, "check"));
    buf_text(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"flotsam\"");
    buf_printf(out, "%s  <testsuite", buf_string(&counts));
    report_add(&name, report, report_has(report, "program") ? "program" : "session", ESCAPE_UTF8);
    attribute(out, "name", &name);
    buf_text(out, buf_string(&counts));
    add_properties(out, report);
    if (!n)
        add_only_case(out, report_caveat(report));
    json_array_foreach(bugs, i, bug) add_case(out, report, bug);
    buf_text(out, "  </testsuite>\n</testsuites>\n");
    buf_free(&counts);
}

const struct report_format report_junit = {.name = "junit", .print = print};
