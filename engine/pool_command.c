/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/pool_command.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/buf.h"
#include "engine/config.h"
#include "engine/mem.h"
#include "engine/vec.h"

extern char **environ;

static const char SHELL[] = "/bin/sh";
static const char DIR_PLACE[] = "{dir}";
enum { DIR_PLACE_SIZE = sizeof DIR_PLACE - 1 };

/* The length of the word at s when it means itself to a shell, {dir} apart; 0 when it does not. */
static size_t plain_word(const char *s)
{
    size_t n = 0;
    while (s[n] && s[n] != ' ' && s[n] != '\t') {
        if (!strncmp(s + n, DIR_PLACE, DIR_PLACE_SIZE))
            n += DIR_PLACE_SIZE;
        else if (isalnum((unsigned char)s[n]) || strchr("_./:=,@%+-", s[n]))
            n++;
        else
            return 0;
    }
    return n;
}

static const char *skip_blanks(const char *s)
{
    return s + strspn(s, " \t");
}

static char *with_dir(const char *word, size_t n, const char *dir)
{
    struct buf b = {0};
    for (size_t i = 0; i < n;) {
        if (!strncmp(word + i, DIR_PLACE, DIR_PLACE_SIZE)) {
            buf_text(&b, dir);
            i += DIR_PLACE_SIZE;
        } else {
            buf_char(&b, word[i++]);
        }
    }
    return b.at;
}

/* ---- is the program there ---- */

static char *in_folder(const char *folder, const char *path)
{
    return *path == '/' ? xstrdup(path) : xasprintf("%s/%s", folder, path);
}

/* 0 when path can be executed, else why not. */
static int why_not(const char *path)
{
    struct stat st;
    if (stat(path, &st) != 0)
        return errno;
    if (S_ISDIR(st.st_mode))
        return EISDIR;
    return access(path, X_OK) == 0 ? 0 : errno;
}

char *pool_command_find(const char *name, const char *folder)
{
    const char *at = getenv("PATH");
    if (!at)
        at = "/usr/bin:/bin";
    for (;;) {
        size_t n = strcspn(at, ":");
        char *below = xasprintf("%.*s/%s", n ? (int)n : 1, n ? at : ".", name);
        char *full = in_folder(folder, below);
        free(below);
        if (why_not(full) == 0)
            return full;
        free(full);
        if (!at[n])
            return NULL;
        at += n + 1;
    }
}

/* Whether the shell knows the name: a builtin or a word of its grammar. */
static bool shell_knows(const char *name)
{
    char *argv[] = {"sh", "-c", "command -v \"$1\" >/dev/null 2>&1", "sh", xstrdup(name), NULL};
    pid_t pid;
    int status = -1;
    bool known = true;
    if (posix_spawn(&pid, SHELL, NULL, NULL, argv, environ) == 0) {
        while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
            ;
        known = status == 0;
    }
    free(argv[4]);
    return known;
}

/* The kernel executes it without a shell's help. */
static bool has_format(const char *path)
{
    char head[4] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, head, sizeof head) : 0;
    if (fd >= 0)
        close(fd);
    return n >= 2 && (!memcmp(head, "#!", 2) || (n == 4 && !memcmp(head, "\177ELF", 4)));
}

/* A script whose interpreter is missing would fail as if it were missing itself. */
static bool has_interpreter(const char *path, const char *word, struct error *e)
{
    char line[256] = "";
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? read(fd, line, sizeof line - 1) : 0;
    if (fd >= 0)
        close(fd);
    if (n < 2 || memcmp(line, "#!", 2) != 0)
        return true;
    char *name = line + 2 + strspn(line + 2, " \t");
    name[strcspn(name, " \t\n")] = '\0';
    size_t length = strlen(name);
    if (length && name[length - 1] == '\r')
        return error_set(e,
                         "checker %s: its first line ends in a carriage return, which would be a "
                         "part of its interpreter's name; save it with Unix line ends",
                         word);
    int why = *name == '/' ? why_not(name) : 0;
    return !why || error_set(e, "checker %s: its interpreter %s: %s", word, name, strerror(why));
}

/* What the command's first word leads to, in *out when it is a program that can be executed as it
 * stands, NULL when only the shell can. */
static bool find_program(const char *word, const char *folder, char **out, struct error *e)
{
    char *full;
    *out = NULL;
    if (strchr(word, '/')) {
        full = in_folder(folder, word);
        errno = why_not(full);
        if (errno) {
            error_errno(e,
                        errno == EACCES ? "checker %s may not be executed; chmod +x allows it"
                                        : "checker not found, give one with --checker: %s",
                        word);
            free(full);
            return false;
        }
    } else {
        full = pool_command_find(word, folder);
        if (!full)
            return shell_knows(word) ||
                   error_set(e, "checker not found: %s is not in PATH; give one with --checker",
                             word);
    }
    bool can = has_interpreter(full, word, e);
    if (can && has_format(full))
        *out = full;
    else
        free(full);
    return can;
}

/* ---- making ---- */

static void split(struct pool_command *c, const char *command, const char *dir)
{
    vec_of(char *) words = {0};
    for (const char *at = skip_blanks(command); *at; at = skip_blanks(at)) {
        size_t n = plain_word(at);
        vec_push(&words, with_dir(at, n, dir));
        at += n;
    }
    vec_push(&words, NULL);
    c->argv = words.at;
}

static bool all_plain(const char *command)
{
    const char *at = skip_blanks(command);
    while (*at) {
        size_t n = plain_word(at);
        if (n == 0)
            return false;
        at = skip_blanks(at + n);
    }
    return true;
}

bool pool_command_make(struct pool_command *c, const char *command, const char *dir,
                       const char *folder, struct error *e)
{
    *c = (struct pool_command){0};
    const char *first = skip_blanks(command);
    if (!*first)
        return error_set(e, "the checker's command is empty; give one with --checker");
    if (!config_command_sound(command, e))
        return error_prefix(e, "the checker's command");
    size_t n = plain_word(first);
    char *word = xstrndup(first, n);
    char *program = NULL;
    bool found = true;
    if (n > 0 && !strchr(word, '=') && !strstr(word, DIR_PLACE))
        found = find_program(word, folder, &program, e);
    free(word);
    if (!found)
        return false;
    if (program && all_plain(command)) {
        c->path = program;
        split(c, command, dir);
        return true;
    }
    free(program);
    c->path = xstrdup(SHELL);
    c->argv = xcalloc(4, sizeof *c->argv);
    c->argv[0] = xstrdup("sh");
    c->argv[1] = xstrdup("-c");
    c->argv[2] = config_command(command, dir);
    return true;
}

void pool_command_free(struct pool_command *c)
{
    free(c->path);
    for (char **word = c->argv; word && *word; word++)
        free(*word);
    free(c->argv);
    *c = (struct pool_command){0};
}
