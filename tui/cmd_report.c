/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flotsam report: what a check found, for people and for other programs.
 */
#include <stdio.h>
#include <stdlib.h>

#include "engine/output.h"
#include "engine/report.h"
#include "engine/session.h"
#include "tui/commands.h"
#include "tui/options.h"

enum { OPTION_FORMAT = OPTION_LONG };

static const struct command_option options[] = {
    {OPTION_FORMAT, "format", "text|json|sarif|junit", "how to print it (default: text)"},
    {'o', "output", "FILE", "write it to a file, which is replaced as a whole"},
    {0, NULL, NULL, NULL},
};

static bool print_report(struct session *s, const struct report_format *format, const char *output,
                         struct error *e)
{
    struct buf text = {0};
    json_t *report = report_load(s, e);
    bool ok = report != NULL;
    if (ok)
        format->print(report, &text);
    if (ok && output)
        ok = output_file(output, &text, "the report", e);
    else if (ok)
        fwrite(buf_string(&text), 1, text.n, stdout);
    json_decref(report);
    buf_free(&text);
    return ok;
}

static int run_report(int argc, char **argv)
{
    struct options o;
    struct session *s = NULL;
    struct error e;
    const struct report_format *format = &report_text;
    const char *output = NULL;

    options_begin(&o, &command_report, argc, argv);
    while (options_next(&o)) {
        switch (o.id) {
        case OPTION_FORMAT:
            if (options_choice(&o) >= 0)
                format = report_format_find(o.value, &e);
            break;
        case 'o':
            output = o.value;
            break;
        }
    }
    if (o.ended || !options_count(&o, 0, 1))
        return o.status;
    if (!format)
        return command_failed(&e);
    char *path = command_session(o.argc ? o.argv[0] : NULL, &e);
    bool ok = path && session_open(&s, path, &e) && print_report(s, format, output, &e);
    session_close(s);
    free(path);
    return ok ? STATUS_DONE : command_failed(&e);
}

const struct command command_report = {
    .name = "report",
    .run = run_report,
    .takes = TAKES_SESSION,
    .usage = "[S] [--format text|json|sarif|junit] [-o FILE]",
    .summary = "print what a check found",
    .details = "text is for people, json has everything (flotsam bugs --json is the same), sarif\n"
               "is for code scanning, junit for continuous integration. A session that has not\n"
               "been checked has no report yet.",
    .options = options,
};
