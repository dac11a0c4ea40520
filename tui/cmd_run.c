/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flotsam run: a target from its config, all the way: build, set up, record, check.
 */
#include <inttypes.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/config.h"
#include "engine/datadir.h"
#include "engine/pool_command.h"
#include "engine/mem.h"
#include "engine/storetool.h"
#include "tracer/record.h"
#include "tui/check.h"
#include "tui/commands.h"
#include "tui/loop.h"
#include "tui/options.h"
#include "tui/settings.h"

enum { OPTION_BATCH = OPTION_LONG };

static const struct command_option options[] = {
    {'o', "output", "S", "the session to write (default: NAME.flotsam in the working directory)"},
    {OPTION_BATCH, "batch", NULL, "never open the debugger, print what it would show"},
    {0},
};

/* The session's name when none is given: in the working directory, where the other commands look
 * for the newest, called after the config, or after its folder when it is a flotsam.ini. */
static char *default_session(const struct config *c)
{
    const char *name = strrchr(c->file, '/') + 1;
    size_t n = strlen(name);
    if (!strcmp(name, "flotsam.ini") && strcmp(c->folder, "/")) {
        name = strrchr(c->folder, '/') + 1;
        n = strlen(name);
    } else if (n > 4 && !strcmp(name + n - 4, ".ini"))
        n -= 4;
    return xasprintf("%.*s.flotsam", (int)n, name);
}

/* A command of the config that is not recorded. What it prints is no result of ours. */
static bool run_step(const char *step, const char *command, struct error *e)
{
    char *argv[] = {"sh", "-c", (char *)command, NULL};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    pid_t pid;
    int failed = posix_spawn(&pid, "/bin/sh", &actions, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed)
        return error_set(e, "cannot run %s: %s", step, strerror(failed));
    int status;
    if (waitpid(pid, &status, 0) != pid)
        return error_errno(e, "cannot wait for %s", step);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
        return true;
    char how[256];
    record_status_text(status, how, sizeof how);
    return error_set(e, "%s %s: %s", step, how, command);
}

/* Records with the program's standard output on our standard error, so that results alone go to
 * ours; the trace knows it as its output all the same. */
static bool record_aside(const struct record_options *r, struct record_result *result,
                         struct error *e)
{
    fflush(stdout);
    int saved = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    if (saved < 0 || dup2(STDERR_FILENO, STDOUT_FILENO) < 0) {
        error_errno(e, "cannot redirect the program's output");
        if (saved >= 0)
            close(saved);
        return false;
    }
    bool ok = record_run(r, result, e);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    return ok;
}

static void say(const char *text)
{
    message("%s", text);
}

/* What a shell says of a command that is not there, or is no program. */
static bool could_not_run(int status)
{
    return WIFEXITED(status) && (WEXITSTATUS(status) == 126 || WEXITSTATUS(status) == 127);
}

static bool record_workload(const struct config *c, const char *session, const char *dir,
                            const char *backend, struct record_result *result, struct error *e)
{
    char *workload = config_command(c->workload, dir);
    char *argv[] = {"/bin/sh", "-c", workload, NULL};
    struct record_options r = {
        .session = session, .dir = dir, .backend = backend, .argv = argv, .say = say};
    message("recording %s", workload);
    bool ok = record_aside(&r, result, e);
    if (ok) {
        char how[256];
        record_status_text(result->status, how, sizeof how);
        message("the workload %s; %llu events", how, (unsigned long long)result->events);
        ok = !could_not_run(result->status) ||
             error_set(e, "the workload could not be run: %s %s", workload, how);
    }
    free(workload);
    return ok;
}

/* From the data directory to the recording. */
static bool record_once(const struct config *c, const char *session, const char *dir,
                        const char *backend, struct record_result *result, struct error *e)
{
    enum datadir_was was;
    bool ok = datadir_prepare(dir, &was, e);
    if (ok && was == DATADIR_FOREIGN)
        message("%s was not made by flotsam: its contents stay, and the run starts from them", dir);
    if (ok && c->setup) {
        char *setup = config_command(c->setup, dir);
        ok = run_step("setup", setup, e);
        free(setup);
    }
    return ok && record_workload(c, session, dir, backend, result, e);
}

/* Stores to mapped files are missing: whether they are to be recorded after all. */
static bool wants_stores(const struct config *c, const struct record_result *result)
{
    struct storetool tool;
    struct error why;
    if (!result->stores_missing || result->interrupted)
        return false;
    if (strcmp(c->backend, "auto")) {
        message("backend = auto or valgrind under [record] would record the stores too");
        return false;
    }
    if (storetool_find(&tool, &why))
        return true;
    message("the store tracer would see them, but %s", why.text);
    return false;
}

/* Known before a long workload runs for nothing. */
static bool checker_is_there(const struct config *c, const char *dir, struct error *e)
{
    struct pool_command command;
    bool there = !c->checker || pool_command_make(&command, c->checker, dir, c->folder, e);

    if (c->checker)
        pool_command_free(&command);
    return there;
}

/* Everything up to the recording, in the config's folder. */
static bool record_target(const struct config *c, const char *session, struct record_result *result,
                          struct error *e)
{
    if (chdir(c->folder) != 0)
        return error_errno(e, "cannot enter %s", c->folder);
    if (c->build && !run_step("build", c->build, e))
        return false;
    char *dir = config_data_dir(c);
    bool ok = checker_is_there(c, dir, e) && record_once(c, session, dir, c->backend, result, e);
    if (ok && wants_stores(c, result)) {
        message("recording once more, with the store tracer (backend = valgrind does so at once)");
        ok = record_once(c, session, dir, "valgrind", result, e);
    }
    if (ok && result->carried)
        message("kept what was said of %zu bug%s", result->carried,
                result->carried == 1 ? "" : "s");
    free(dir);
    return ok;
}

/* What `flotsam check` needs to go on without the config. */
static bool keep_settings(const struct config *c, const struct model *model, const char *session,
                          struct error *e)
{
    struct session *s;
    if (!session_open(&s, session, e))
        return false;
    const struct {
        const char *key;
        uint64_t value;
    } numbers[] = {
        {"behaviour_max", c->behaviour_max},
        {"gap", c->gap},
        {"budget", c->budget},
        {"timeout", c->timeout},
        {"jobs", c->jobs},
    };
    char *name = model_text(model);
    bool done = session_set_meta(s, "checker", c->checker, e) &&
                session_set_meta(s, "folder", c->folder, e) &&
                session_set_meta(s, "acknowledgements", c->acknowledgements ? "yes" : "no", e) &&
                session_set_meta(s, "model", name, e) &&
                session_set_meta(s, "strategy", c->strategy, e);
    for (size_t i = 0; done && i < sizeof numbers / sizeof *numbers; i++) {
        char *text = xasprintf("%" PRIu64, numbers[i].value);
        done = session_set_meta(s, numbers[i].key, text, e);
        free(text);
    }
    free(name);
    session_close(s);
    return done;
}

/* The status is what the run has to say. */
static int open_debugger(const char *session, int status)
{
    struct error e;
    const char *theme = getenv("FLOTSAM_THEME");

    return loop_run(session, theme && *theme ? theme : NULL, &e) ? status : command_failed(&e);
}

static int check_target(const struct config *c, const char *session, bool batch)
{
    struct error e;
    struct check_options check = {.explore = {.checker = c->checker,
                                              .cwd = c->folder,
                                              .budget = c->budget,
                                              .jobs = (int)c->jobs,
                                              .timeout = (double)c->timeout,
                                              .acknowledgements = c->acknowledgements,
                                              .seed = 1},
                                  .verify = true};
    if (!settings_model(c, &check.model, &e) || !keep_settings(c, &check.model, session, &e) ||
        !strategy_find(c->strategy, &check.explore.strategy, &e))
        return command_failed(&e);
    if (batch)
        return check_session(session, &check, CHECK_TELLS_ALL);
    int status = check_session(session, &check, CHECK_TELLS_NOTHING);
    if (status == STATUS_FAILED || (status == STATUS_INTERRUPTED && !check_ended_by_person()))
        return status;
    return open_debugger(session, status);
}

/* Without a checker there is only the trace to look at, and nothing is tested. */
static int show(char *session)
{
    char *argv[] = {(char *)command_trace.name, session, NULL};
    command_trace.run(2, argv);
    return STATUS_FAILED;
}

/* The session's place must not change when we enter the config's folder. */
static char *absolute(const char *path, struct error *e)
{
    if (*path == '/')
        return xstrdup(path);
    char *here = getcwd(NULL, 0);
    if (!here) {
        error_errno(e, "no working directory to write the session to");
        return NULL;
    }
    char *all = xasprintf("%s/%s", here, path);
    free(here);
    return all;
}

static int run_target(const struct config *c, const char *output, bool batch)
{
    struct error e;
    struct record_result result = {0};
    int status = STATUS_FAILED;
    char *name = output ? xstrdup(output) : default_session(c);
    char *session = absolute(name, &e);
    int here = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (!session || !record_target(c, session, &result, &e))
        status = command_failed(&e);
    else if (result.interrupted)
        status = STATUS_INTERRUPTED;
    else {
        bool back = here >= 0 && fchdir(here) == 0;
        char *shown = back ? name : session;
        status = c->checker ? check_target(c, shown, batch)
                 : batch    ? show(shown)
                            : open_debugger(shown, STATUS_FAILED);
        if (!c->checker)
            message("nothing was tested: the config has no checker under [target]");
    }
    if (here >= 0)
        close(here);
    free(session);
    free(name);
    return status;
}

static int run_run(int argc, char **argv)
{
    struct options o;
    const char *output = NULL;
    bool batch = !isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO);
    options_begin(&o, &command_run, argc, argv);
    while (options_next(&o)) {
        switch (o.id) {
        case 'o':
            output = o.value;
            break;
        case OPTION_BATCH:
            batch = true;
            break;
        }
    }
    if (!options_count(&o, 1, 1))
        return o.status;

    struct config c;
    struct error e;
    config_begin(&c, settings_switches());
    struct model model; /* a mistake in it is told before a long workload runs for nothing */
    int status = config_load(&c, o.argv[0], &e) && settings_model(&c, &model, &e)
                     ? run_target(&c, output, batch)
                     : command_failed(&e);
    config_free(&c);
    return status;
}

const struct command command_run = {
    .name = "run",
    .run = run_run,
    .takes = TAKES_CONFIG,
    .usage = "CONFIG|FOLDER [-o S] [--batch]",
    .summary = "build, record and check a target from its config",
    .details =
        "CONFIG is an INI file, FOLDER one that holds flotsam.ini. Its [target] says what to\n"
        "run: build, dir, setup, workload, checker; {dir} in a command is the data\n"
        "directory. Commands run in the config's folder. The data directory is made if it\n"
        "is missing, and emptied before the run only if flotsam made it.\n\n"
        "Settings come from /etc/xdg/flotsam/config, ~/.config/flotsam/config, the config\n"
        "itself and FLOTSAM_SECTION_KEY in the environment; later ones win.\n\n"
        "Exit status 0 when all states are consistent, 1 when some are not, 2 when it could not\n"
        "run, has no checker or the program changed nothing, 130 when it was interrupted.",
    .options = options,
};
