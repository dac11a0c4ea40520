/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flotsam replay: lays a state of the data directory out in a folder, for a person or a program to
 * look at.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/config.h"
#include "engine/escape.h"
#include "engine/layout.h"
#include "engine/mem.h"
#include "engine/recording.h"
#include "engine/replay.h"
#include "engine/report.h"
#include "engine/session.h"
#include "tui/commands.h"
#include "tui/options.h"

/* Each thing that makes the folder differ from what the program left. */
static void warn_incomplete(struct session *s, const struct replay_counts *counts)
{
    if (counts->mappings && !session_has_stores(s))
        message("warning: %llu shared writable mappings were made; what was stored through them is "
                "not in this trace, nor in the folder",
                (unsigned long long)counts->mappings);
    if (counts->unfinished)
        message("warning: %llu calls never returned; what they did is not known and is left out",
                (unsigned long long)counts->unfinished);
    if (counts->reordered)
        message("warning: %llu calls ran at the same time as others; their order is a guess",
                (unsigned long long)counts->reordered);
    if (!session_meta(s, "complete"))
        message("warning: the recording was cut short; the folder is as at its last event");
}

/* Whether a notice says nothing about the files. */
static bool harmless(const char *kind)
{
    static const char *const kinds[] = {
        NOTICE_STACK_CUT,
        NOTICE_REFUSED,
        NOTICE_NO_PART,
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(kind, kinds[i]))
            return true;
    return false;
}

static void warn_notice(void *data, const char *kind, const char *what, uint64_t count)
{
    (void)data;
    if (harmless(kind))
        return;
    message("warning: %s: %s (%llu times)", kind, what, (unsigned long long)count);
}

static bool replay_to(struct session *s, const char *dir, struct error *e)
{
    struct replay_counts replayed;
    struct layout_counts laid;
    struct tree *tree;
    if (!replay_end(s, &tree, &replayed, e))
        return false;
    bool ok = tree_lay_out(tree, s, dir, &laid, e);
    tree_free(tree);
    if (!ok || !session_notices(s, warn_notice, NULL, e))
        return false;
    warn_incomplete(s, &replayed);
    if (laid.left_out)
        message("warning: %llu sockets or devices are left out", (unsigned long long)laid.left_out);
    message("replayed %llu events, of which %llu changed files; %llu name%s in %s",
            (unsigned long long)replayed.events, (unsigned long long)replayed.applied,
            (unsigned long long)laid.names, laid.names == 1 ? " is" : "s are", dir);
    return true;
}

static bool read_number(const char *text, uint64_t max, uint64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoull(text, &end, 10);
    return isdigit((unsigned char)*text) && !*end && !errno && *number <= max;
}

static const char *const beside[] = {".stdout", ".markers"};

/* Before anything is written: what lies beside the folder may be somebody's. */
static bool nothing_beside(const char *dir, struct error *e)
{
    char *there = realpath(dir, NULL), *folder = there ? there : xstrdup(dir);
    size_t n = strlen(folder);
    bool ok = true;

    while (n > 1 && folder[n - 1] == '/')
        n--;
    for (size_t i = 0; ok && i < sizeof beside / sizeof *beside; i++) {
        char *path = xasprintf("%.*s%s", (int)n, folder, beside[i]);
        ok = faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0 ||
             error_set(e, "%s is there already; remove it, or name another folder", path);
        free(path);
    }
    free(folder);
    return ok;
}

/* Writes what the checker is to find by its environment beside the folder. */
static bool write_beside(const char *dir, const char *suffix, const char *bytes, size_t size,
                         struct error *e)
{
    char *path = xasprintf("%s%s", dir, suffix);
    FILE *f = fopen(path, "wxe");
    bool ok = f && fwrite(bytes, 1, size, f) == size;
    ok = f && fclose(f) == 0 && ok;
    if (!ok)
        error_errno(e, "cannot write %s", path);
    free(path);
    return ok;
}

/* The checker's command as it was run on the state: in its folder, with what had been told. */
static bool print_checker(struct session *s, const char *checker, const char *dir,
                          uint64_t told_until, struct error *e)
{
    struct told *told;
    char *full = realpath(dir, NULL);
    const char *folder = session_meta(s, "folder");
    if (!full)
        return error_errno(e, "%s", dir);
    bool ok = told_new(&told, s, e);
    if (ok) {
        struct told_until until = told_before(told, told_until);
        ok = write_beside(full, beside[0], until.printed, until.printed_size, e) &&
             write_beside(full, beside[1], until.markers, until.markers_size, e);
        told_free(told);
    }
    if (ok) {
        char *env = config_command("FLOTSAM_DIR={dir} FLOTSAM_STDOUT={dir}.stdout "
                                   "FLOTSAM_MARKERS={dir}.markers",
                                   full);
        char *command = config_command(checker, full);
        char *enter = config_command(folder ? "cd {dir} && " : "", folder ? folder : "");
        char *line = xasprintf("%s%s %s", enter, env, command);
        char *safe = isatty(STDOUT_FILENO) ? escape_text(line) : xstrdup(line);
        puts(safe);
        free(safe);
        free(line);
        free(enter);
        free(env);
        free(command);
    }
    free(full);
    return ok;
}

/* A state of the last check, and how to have it checked; what is it called by. */
static bool lay_out(struct session *s, struct report_state *state, const char *what,
                    const char *dir, struct error *e)
{
    struct layout_counts laid;
    uint64_t told_until = state->told_until;
    bool ok = nothing_beside(dir, e) && report_lay_out(s, state, dir, &laid, e);
    report_state_clear(state);
    if (!ok)
        return false;
    message("%s is in %s (%llu names)", what, dir, (unsigned long long)laid.names);
    json_t *report = report_load(s, e);
    if (!report)
        return false;
    const char *checker = json_string_value(json_object_get(report, "checker"));
    ok = !checker || print_checker(s, checker, dir, told_until, e);
    json_decref(report);
    return ok;
}

static bool replay_bug(struct session *s, const char *text, const char *dir, struct error *e)
{
    uint64_t bug;
    struct report_state state;
    if (!read_number(text, UINT32_MAX, &bug))
        return error_set(e, "bug:%s: a bug has a number; flotsam bugs lists them", text);
    if (!report_bug_state(s, (uint32_t)bug, &state, e))
        return false;
    char *what = xasprintf("the state of bug %u", (unsigned)bug);
    bool ok = lay_out(s, &state, what, dir, e);
    free(what);
    return ok;
}

static bool replay_listed(struct session *s, const char *text, const char *dir, struct error *e)
{
    uint64_t number;
    struct report_listed listed;
    if (!read_number(text, INT64_MAX, &number))
        return error_set(e, "state:%s: a state has a number; flotsam states lists them", text);
    if (!report_listed_state(s, number, &listed, e))
        return false;
    char *what =
        xasprintf("state %llu (%s)", (unsigned long long)number, verdict_name(listed.verdict));
    bool ok = lay_out(s, &listed.state, what, dir, e);
    free(what);
    return ok;
}

static bool replay_state(struct session *s, const char *state, const char *dir, struct error *e)
{
    if (!strcmp(state, "end"))
        return replay_to(s, dir, e);
    if (!strncmp(state, "bug:", strlen("bug:")))
        return replay_bug(s, state + strlen("bug:"), dir, e);
    if (!strncmp(state, "state:", strlen("state:")))
        return replay_listed(s, state + strlen("state:"), dir, e);
    return error_set(e, "%s is no state; say end, bug:N or state:N", state);
}

static int run_replay(int argc, char **argv)
{
    struct options o;
    options_begin(&o, &command_replay, argc, argv);
    while (options_next(&o))
        ;
    if (!options_count(&o, 2, 3))
        return o.status;
    const char *state = o.argv[o.argc - 2], *dir = o.argv[o.argc - 1];
    struct error e;
    struct session *s = NULL;
    char *path = command_session(o.argc == 3 ? o.argv[0] : NULL, &e);
    bool ok = path && session_open(&s, path, &e) && replay_state(s, state, dir, &e);
    session_close(s);
    free(path);
    return ok ? STATUS_DONE : command_failed(&e);
}

const struct command command_replay = {
    .name = "replay",
    .run = run_replay,
    .takes = TAKES_SESSION,
    .usage = "[S] end|bug:N|state:N DIR",
    .summary = "lay a state of the data directory out in a folder",
    .details =
        "DIR is made, or must be empty. end is the state at the end of the run, nothing\n"
        "lost: contents, names, sizes, hard and symbolic links and modes are those that\n"
        "the program left. bug:N is the state that showed bug N of the last check, state:N\n"
        "the one that flotsam states lists as N; the command that checks it is printed, and\n"
        "what had been told lies beside it in DIR.stdout and DIR.markers, which must not be\n"
        "there yet.",
};
