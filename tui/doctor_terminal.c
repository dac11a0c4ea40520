/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/doctor_terminal.h"

#include <errno.h>
#include <langinfo.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <curses.h>
#include <term.h>

#include "engine/escape.h"

enum { COLUMNS_LEAST = 80, ROWS_LEAST = 24, COLOURS_LEAST = 8 };

static void add_safe(struct buf *found, const char *text)
{
    escape_add(found, text, strlen(text), escape_locale());
}

static const char *set_variable(const char *name)
{
    const char *value = getenv(name);

    return value && *value ? value : NULL;
}

/* The description of the terminal that TERM names, as curses finds it. */
static bool know_terminal(struct buf *found)
{
    const char *term = set_variable("TERM");
    int result;

    if (!term) {
        buf_text(found, "TERM is not set");
        return false;
    }
    if (cur_term) /* what another check had described */
        del_curterm(cur_term);
    if (setupterm(term, STDOUT_FILENO, &result) == OK)
        return true;
    add_safe(found, term);
    buf_text(found, result < 0 ? ": no terminal is described here" : " is not known here");
    return false;
}

static bool has(const char *capability)
{
    return capability && capability != (const char *)-1;
}

static bool probe_terminal(struct buf *found)
{
    if (!know_terminal(found))
        return false;
    add_safe(found, getenv("TERM"));
    bool able = has(cursor_address) && has(clear_screen);
    if (!able)
        buf_text(found, " has no screen to write on");
    else if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO))
        buf_text(found, ", but not on this standard input and output");
    return able;
}

/* The debugger works on less, with little to see; a pipe has no size and needs none. */
static bool probe_size(struct buf *found)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || !size.ws_col) {
        buf_text(found, "standard output is no terminal");
        return true;
    }
    buf_printf(found, "%dx%d", size.ws_col, size.ws_row);
    return size.ws_col >= COLUMNS_LEAST && size.ws_row >= ROWS_LEAST;
}

static bool probe_colours(struct buf *found)
{
    if (set_variable("NO_COLOR")) {
        buf_text(found, "NO_COLOR is set");
        return false;
    }
    if (!know_terminal(found))
        return false;
    int n = tigetnum("colors");
    buf_printf(found, "%d", n > 0 ? n : 0);
    return n >= COLOURS_LEAST;
}

static bool probe_locale(struct buf *found)
{
    add_safe(found, nl_langinfo(CODESET));
    return escape_locale() == ESCAPE_UTF8;
}

/* Whether the shell, which the debugger has start it, finds the editor's program. */
static bool can_start(const char *editor)
{
    char script[] = "set -- $1; command -v \"$1\" >/dev/null 2>&1", shell[] = "sh", option[] = "-c";
    char *argv[] = {shell, option, script, shell, (char *)(uintptr_t)editor, NULL};
    pid_t pid;
    int status = -1;

    if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, environ) != 0)
        return false;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static bool probe_editor(struct buf *found)
{
    const char *editor = set_variable("VISUAL");

    if (!editor)
        editor = set_variable("EDITOR");
    if (!editor) {
        buf_text(found, "neither VISUAL nor EDITOR is set");
        return false;
    }
    add_safe(found, editor);
    bool there = can_start(editor);
    if (!there)
        buf_text(found, " is not there");
    return there;
}

static const struct doctor_check checks[] = {
    {"terminal", "the debugger", false, probe_terminal,
     "set TERM to what your terminal is, e.g. xterm-256color; apt install ncurses-term"},
    {"terminal's size", "the debugger's panes", false, probe_size, "80x24 or more"},
    {"colours", "colours; without them: the theme monochrome", false, probe_colours,
     "unset NO_COLOR, set TERM=xterm-256color"},
    {"UTF-8 locale", "lines and names beyond ASCII", false, probe_locale, "export LC_ALL=C.UTF-8"},
    {"editor", "notes on bugs longer than a line", false, probe_editor, "export EDITOR=nano"},
};

struct doctor_table doctor_terminal(void)
{
    return (struct doctor_table){checks, sizeof checks / sizeof *checks};
}
