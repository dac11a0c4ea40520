/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flotsam report: what a check found, for people and for other programs.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/mem.h"
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

static bool write_all(int fd, const struct buf *text)
{
    for (size_t done = 0; done < text->n;) {
        ssize_t n = write(fd, text->at + done, text->n - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

/* Readers see the old file or the new one, also after a crash. */
static bool replace_file(const char *path, const struct buf *text, struct error *e)
{
    char *temporary = xasprintf("%s.XXXXXX", path);
    mode_t mask = umask(0);
    umask(mask);
    int fd = mkstemp(temporary), reason = 0;
    if (fd < 0 || !write_all(fd, text) || fchmod(fd, 0666 & ~mask) != 0 || fsync(fd) != 0)
        reason = errno;
    if (fd >= 0 && close(fd) != 0 && !reason)
        reason = errno;
    if (!reason && rename(temporary, path) != 0)
        reason = errno;
    if (fd >= 0 && reason)
        unlink(temporary);
    free(temporary);
    errno = reason;
    return !reason || error_errno(e, "cannot write the report to %s", path);
}

/* A device or a pipe is written to, never replaced. */
static bool write_file(const char *path, const struct buf *text, struct error *e)
{
    struct stat st;
    if (stat(path, &st) != 0 || S_ISREG(st.st_mode))
        return replace_file(path, text, e);
    FILE *f = fopen(path, "we");
    bool ok = f && fwrite(buf_string(text), 1, text->n, f) == text->n;
    if (f)
        ok = fclose(f) == 0 && ok;
    return ok || error_errno(e, "cannot write the report to %s", path);
}

static bool print_report(struct session *s, const struct report_format *format, const char *output,
                         struct error *e)
{
    struct buf text = {0};
    json_t *report = report_load(s, e);
    bool ok = report != NULL;
    if (ok)
        format->print(report, &text);
    if (ok && output)
        ok = write_file(output, &text, e);
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
