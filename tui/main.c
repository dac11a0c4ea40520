/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The program: finds the command, runs it, and sees to it that what it printed arrived.
 */
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/log.h"
#include "tui/commands.h"

/* A standard descriptor that is closed would be taken by the next file we open, and messages would
 * land in a session. Reading from what stands in for it gives nothing, writing fails and is
 * noticed; a recorded program does not inherit it. */
static void guard_descriptors(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            open("/dev/null", O_CLOEXEC | (fd == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

static int run(int argc, char **argv)
{
    if (argc < 2) {
        command_help_all(stderr);
        return STATUS_FAILED;
    }
    const char *name = argv[1];
    if (!strcmp(name, "--help") || !strcmp(name, "-h")) {
        command_help_all(stdout);
        return STATUS_DONE;
    }
    if (!strcmp(name, "--version")) {
        puts("flotsam " FLOTSAM_VERSION);
        return STATUS_DONE;
    }
    const struct command *c = command_find(name);
    if (c)
        return c->run(argc - 1, argv + 1);
    c = command_for_file(name);
    if (c) {
        /* The program's own name is not needed any more: its place takes the command's. */
        char *copy = strdup(c->name);
        argv[0] = copy;
        int status = copy ? c->run(argc, argv) : STATUS_FAILED;
        free(copy);
        return status;
    }
    const char *near = command_nearest(name);
    if (*name == '-')
        message("no option is called %s; see flotsam --help", name);
    else if (near)
        message("no command is called %s (did you mean %s?); see flotsam --help", name, near);
    else
        message("no command is called %s; see flotsam --help", name);
    return STATUS_FAILED;
}

/* Results that did not arrive (a full disk, a closed descriptor) make the run a failure. A reader
 * that left early is no news: where SIGPIPE did not end us already, we end as quietly. */
static int finish_output(int status)
{
    errno = 0;
    bool failed = ferror(stdout) != 0;
    failed |= fflush(stdout) != 0;
    int reason = errno;
    failed |= close(STDOUT_FILENO) != 0;
    if (!failed)
        return status;
    if (reason != EPIPE)
        message("could not write the results: %s",
                reason ? strerror(reason) : "an earlier write failed");
    return STATUS_FAILED;
}

int main(int argc, char **argv)
{
    guard_descriptors();
    setlocale(LC_ALL, "");
    struct error e;
    if (!log_open(getenv("FLOTSAM_LOG"), getenv("FLOTSAM_LOG_FILE"), &e))
        return command_failed(&e);
    int status = finish_output(run(argc, argv));
    log_close();
    return status;
}
