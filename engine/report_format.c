/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The ways to print a report, and the plainest of them: the document as it is.
 */
#include <string.h>

#include "engine/report.h"
#include "engine/report_words.h"

static const struct report_format *const formats[] = {
    &report_text,
    &report_json,
    &report_sarif,
    &report_junit,
};

const struct report_format *report_format_find(const char *name, struct error *e)
{
    struct buf known = {0};
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (!strcmp(formats[i]->name, name)) {
            buf_free(&known);
            return formats[i];
        }
        buf_printf(&known, "%s%s", i ? ", " : "", formats[i]->name);
    }
    error_set(e, "no report format is called %s; there are %s", name, buf_string(&known));
    buf_free(&known);
    return NULL;
}

static void print(const json_t *report, struct buf *out)
{
    report_dump(out, report);
}

const struct report_format report_json = {.name = "json", .print = print};
