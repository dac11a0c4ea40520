/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flotsam bugs: the bugs that a check found, as a list, or one in full.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/report.h"
#include "engine/report_words.h"
#include "engine/session.h"
#include "tui/commands.h"
#include "tui/options.h"
#include "tui/print.h"
#include "views/bugs.h"

enum { OPTION_JSON = OPTION_LONG };

static const struct command_option options[] = {
    {OPTION_JSON, "json", NULL, "print the report as JSON; with N, that bug alone"},
    {0, NULL, NULL, NULL},
};

static bool is_number(const char *text)
{
    return *text && !text[strspn(text, "0123456789")];
}

/* NULL with how many there are in the error. */
static const json_t *find_bug(const json_t *report, const char *number, struct error *e)
{
    const json_t *bugs = json_object_get(report, "bugs"), *bug;
    size_t i;

    errno = 0;
    unsigned long long id = strtoull(number, NULL, 10);
    json_array_foreach(bugs, i, bug)
    {
        if (!errno && id == (unsigned long long)report_number(bug, "id"))
            return bug;
    }
    if (json_array_size(bugs))
        error_set(e, "there is no bug %s; flotsam bugs lists the %zu there are", number,
                  json_array_size(bugs));
    else
        error_set(e, "there is no bug %s: the check found none", number);
    return NULL;
}

static bool show_list(const json_t *report, struct error *e)
{
    struct print p;

    if (json_array_size(json_object_get(report, "bugs")) == 0) {
        message("no bugs; flotsam report says what was tested");
        return true;
    }
    if (!print_begin(&p, stdout, e))
        return false;
    struct view *v = bugs_view_open(report, true);
    bool ok = print_view(&p, v, e);
    v->ops->close(v);
    return ok;
}

static bool show(struct session *s, const char *number, bool json, struct error *e)
{
    json_t *report = report_load(s, e);
    struct buf text = {0};

    if (!report)
        return false;
    const json_t *bug = number ? find_bug(report, number, e) : NULL;
    bool ok = !number || bug;
    if (ok && json)
        report_dump(&text, bug ? bug : report);
    else if (ok && bug)
        report_bug_text(report, bug, &text);
    else if (ok)
        ok = show_list(report, e);
    fwrite(buf_string(&text), 1, text.n, stdout);
    buf_free(&text);
    json_decref(report);
    return ok;
}

static int run_bugs(int argc, char **argv)
{
    struct options o;
    struct session *s = NULL;
    struct error e;
    bool json = false;

    options_begin(&o, &command_bugs, argc, argv);
    while (options_next(&o))
        json |= o.id == OPTION_JSON;
    if (o.ended || !options_count(&o, 0, 2))
        return o.status;
    /* A number alone is a bug of the newest session. */
    bool alone = o.argc == 1 && is_number(o.argv[0]);
    const char *given = o.argc && !alone ? o.argv[0] : NULL;
    const char *number = alone ? o.argv[0] : o.argc == 2 ? o.argv[1] : NULL;
    if (number && !is_number(number)) {
        options_wrong(&o, "%s is no bug's number", number);
        return o.status;
    }
    char *path = command_session(given, &e);
    bool ok = path && session_open(&s, path, &e) && show(s, number, json, &e);
    session_close(s);
    free(path);
    return ok ? STATUS_DONE : command_failed(&e);
}

const struct command command_bugs = {
    .name = "bugs",
    .run = run_bugs,
    .takes = TAKES_SESSION,
    .usage = "[S] [N] [--json]",
    .summary = "list the bugs that a check found, or show one",
    .details = "Each line is a bug: its number, its kind, what survived without what, where to\n"
               "look, how many inconsistent states it explains, and its status. With N, that\n"
               "bug in full: both stacks, why it is legal, what the checker said, what would\n"
               "mend it and how to reproduce it.",
    .options = options,
};
