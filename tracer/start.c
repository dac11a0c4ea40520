/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/start.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/buf.h"
#include "engine/mem.h"

bool start_is_native(const char *path)
{
    Elf64_Ehdr header;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? pread(fd, &header, sizeof header, 0) : -1;
    if (fd >= 0)
        close(fd);
    if (n < (ssize_t)sizeof(Elf32_Ehdr) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0)
        return true; /* a script: its interpreter decides */
    return header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_X86_64;
}

static char *search_path(const char *name)
{
    const char *path = getenv("PATH");
    for (const char *at = path ? path : "/usr/local/bin:/usr/bin:/bin"; at;) {
        const char *colon = strchrnul(at, ':');
        int n = (int)(colon - at);
        char *candidate = n ? xasprintf("%.*s/%s", n, at, name) : xasprintf("./%s", name);
        struct stat st;
        if (access(candidate, X_OK) == 0 && stat(candidate, &st) == 0 && S_ISREG(st.st_mode))
            return candidate;
        free(candidate);
        at = *colon ? colon + 1 : NULL;
    }
    return NULL;
}

char *start_find_program(const char *name, struct error *e)
{
    char *path = strchr(name, '/') ? xstrdup(name) : search_path(name);
    struct stat st;
    if (!path) {
        error_set(e, "program not found: %s: it is in no folder of PATH; give its path", name);
        return NULL;
    }
    if (stat(path, &st) != 0)
        error_errno(e, "program not found: %s", name);
    else if (!S_ISREG(st.st_mode))
        error_set(e, "%s is not a program file", name);
    else if (access(path, X_OK) != 0)
        error_errno(e, "%s cannot be executed (chmod +x makes it a program)", name);
    else if (!start_is_native(path))
        error_set(e,
                  "%s is not a 64-bit x86 program: only those can be recorded; build it for x86-64",
                  name);
    else
        return path;
    free(path);
    return NULL;
}

/* The environment with FLOTSAM_MARK in it; made before the fork, as the child must not allocate. */
static char **environment_with_mark(const char *mark, char **entry)
{
    size_t n = 0, kept = 0;
    while (environ[n])
        n++;
    char **env = xcalloc(n + 2, sizeof *env);
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "FLOTSAM_MARK=", strlen("FLOTSAM_MARK=")) != 0)
            env[kept++] = environ[i];
    *entry = xasprintf("FLOTSAM_MARK=%s", mark);
    env[kept] = *entry;
    return env;
}

struct child {
    const char *path;
    char **argv, **env;
    const struct filter *filter;
    int go, failure;
    struct sigaction interrupt, quit; /* as they were before the recorder set its own */
};

/* Between fork and exec: system calls only, as other threads of ours held locks. */
static _Noreturn void run_child(const struct child *c)
{
    char byte;
    int why = 0;
    sigaction(SIGINT, &c->interrupt, NULL);
    sigaction(SIGQUIT, &c->quit, NULL);
    if (read(c->go, &byte, 1) != 1)
        _exit(EXIT_FAILURE); /* the recorder gave up */
    why = filter_install(c->filter);
    if (!why) {
        execve(c->path, c->argv, c->env);
        why = errno;
        if (why == ENOEXEC) { /* a script without #!: what execvp() does */
            c->argv[-1] = (char *)(uintptr_t) "/bin/sh";
            c->argv[0] = (char *)(uintptr_t)c->path;
            execve("/bin/sh", c->argv - 1, c->env);
            why = errno;
        }
    }
    ssize_t n = write(c->failure, &why, sizeof why);
    _exit(n == sizeof why ? EXIT_FAILURE : EXIT_FAILURE + 1);
}

/* Whoever traces us may trace what we start as well. */
static bool is_traced(pid_t pid)
{
    char name[64], line[128];
    int tracer = 0;
    snprintf(name, sizeof name, "/proc/%d/status", (int)pid);
    FILE *status = fopen(name, "re");
    while (status && !tracer && fgets(line, sizeof line, status))
        sscanf(line, "TracerPid: %d", &tracer);
    if (status)
        fclose(status);
    return tracer != 0;
}

static bool seize(pid_t pid, int go, long options, struct error *e)
{
    bool seized = ptrace(PTRACE_SEIZE, pid, NULL, options) == 0;
    if (!seized && errno == EPERM && is_traced(pid))
        return error_set(e, "cannot trace the program: another tracer (flotsam, strace, gdb) "
                            "follows flotsam itself, and a program can have only one");
    if (!seized)
        return error_errno(e, "cannot trace the program: ptrace is not permitted (see `flotsam "
                              "doctor`)");
    return write(go, "g", 1) == 1 || error_errno(e, "cannot start the program");
}

bool start_program(char **argv, const char *mark, const struct filter *filter, long options,
                   struct started *out, struct error *e)
{
    char *path = start_find_program(argv[0], e);
    if (!path)
        return false;
    size_t n = 0;
    while (argv[n])
        n++;
    char **copy = xcalloc(n + 2, sizeof *copy); /* with room before the first for a shell */
    memcpy(copy + 1, argv, n * sizeof *copy);
    char *entry;
    char **env = environment_with_mark(mark, &entry);
    int go[2] = {-1, -1}, failure[2] = {-1, -1};
    bool done = false;
    if (pipe2(go, O_CLOEXEC) != 0 || pipe2(failure, O_CLOEXEC) != 0) {
        error_errno(e, "cannot start %s", argv[0]);
        goto out;
    }
    struct child child = {.path = path,
                          .argv = copy + 1,
                          .env = env,
                          .filter = filter,
                          .go = go[0],
                          .failure = failure[1]};
    struct sigaction ignore = {.sa_handler = SIG_IGN};
    /* Ctrl-C is for the program; we live until it ends. */
    sigaction(SIGINT, &ignore, &child.interrupt);
    sigaction(SIGQUIT, &ignore, &child.quit);
    out->pid = fork();
    if (out->pid == 0)
        run_child(&child);
    if (out->pid < 0)
        error_errno(e, "cannot start %s", argv[0]);
    else {
        done = seize(out->pid, go[1], options, e);
        if (!done) {
            kill(out->pid, SIGKILL);
            waitpid(out->pid, NULL, __WALL);
        }
    }
    out->failure_fd = failure[0];
    failure[0] = done ? -1 : failure[0];
out:
    for (int i = 0; i < 2; i++) {
        if (go[i] >= 0)
            close(go[i]);
        if (failure[i] >= 0)
            close(failure[i]);
    }
    free(path);
    free(copy);
    free(env);
    free(entry);
    return done;
}

int start_failure(const struct started *started)
{
    int why = 0;
    ssize_t n = read(started->failure_fd, &why, sizeof why);
    return n == (ssize_t)sizeof why ? why : 0;
}
