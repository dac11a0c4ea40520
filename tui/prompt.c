/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/prompt.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <wchar.h>

#include <readline/history.h>
#include <readline/readline.h>

#include "engine/escape.h"
#include "engine/mem.h"
#include "tui/complete.h"
#include "tui/keys.h"

enum { HISTORY_MAX = 1000 };

struct prompt {
    struct debugger *debugger;
    char *history_file;
    enum prompt_kind kind;
    bool open, finished;
    char *line; /* the last one finished */
    struct buf choices;
    struct buf typed; /* bytes that readline is to read */
    size_t read;
    char *begin; /* what the line begins with */
};

/* readline's callbacks get no argument. */
static struct prompt *current;

/* ---- readline without a terminal ---- */

static int next_byte(FILE *f)
{
    (void)f;
    return current->read < current->typed.n ? (unsigned char)current->typed.at[current->read++]
                                            : EOF;
}

/* Not what waits at the terminal: that comes to us key by key. */
static int has_bytes(void)
{
    return current->read < current->typed.n;
}

static void nothing(void)
{
}

static void no_preparation(int meta)
{
    (void)meta;
}

static void take_line(char *line)
{
    free(current->line);
    current->line = line;
    current->finished = true;
    /* Before the next line is begun. */
    rl_callback_handler_remove();
}

static int insert_beginning(void)
{
    if (current->begin)
        rl_insert_text(current->begin);
    return 0;
}

/* ---- completion ---- */

static struct choices found;
static size_t given;

static char *next_choice(const char *text, int state)
{
    (void)text;
    if (!state)
        given = 0;
    return given < found.at.n ? strdup(found.at.at[given++]) : NULL;
}

static char **find_choices(const char *text, int start, int end)
{
    (void)start;
    choices_free(&found);
    found = (struct choices){0};
    rl_attempted_completion_over = 1;
    if (current->kind != PROMPT_COMMAND)
        return NULL;
    complete(current->debugger, rl_line_buffer, (size_t)end, &found);
    rl_attempted_completion_over = !found.files;
    /* What ends in : or = is gone on with. */
    bool goes_on = found.at.n == 1 && strchr(":=", found.at.at[0][strlen(found.at.at[0]) - 1]);
    rl_completion_suppress_append = goes_on;
    return found.files ? NULL : rl_completion_matches(text, next_choice);
}

static void show_choices(char **matches, int n, int longest)
{
    (void)longest;
    buf_clear(&current->choices);
    for (int i = 1; i <= n; i++) {
        const char *slash = strrchr(matches[i], '/');
        const char *name = slash && slash[1] ? slash + 1 : matches[i];
        buf_text(&current->choices, i > 1 ? "  " : "");
        escape_add(&current->choices, name, strlen(name), escape_locale());
    }
}

/* ---- one prompt ---- */

static void set_up_readline(void)
{
    rl_terminal_name = "dumb";
    rl_readline_name = "flotsam";
    rl_instream = stdin;
    rl_outstream = fopen("/dev/null", "we");
    rl_catch_signals = 0;
    rl_catch_sigwinch = 0;
    rl_change_environment = 0;
    rl_getc_function = next_byte;
    rl_input_available_hook = has_bytes;
    rl_redisplay_function = nothing;
    rl_prep_term_function = no_preparation;
    rl_deprep_term_function = nothing;
    rl_startup_hook = insert_beginning;
    rl_attempted_completion_function = find_choices;
    rl_completion_display_matches_hook = show_choices;
    rl_completer_word_break_characters = " ";
    rl_variable_bind("bell-style", "none");
    rl_variable_bind("enable-bracketed-paste", "off");
    rl_variable_bind("show-all-if-ambiguous", "on");
}

struct prompt *prompt_new(struct debugger *d, const char *history_file)
{
    struct prompt *p = xcalloc(1, sizeof *p);

    p->debugger = d;
    p->history_file = history_file ? xstrdup(history_file) : NULL;
    current = p;
    set_up_readline();
    using_history();
    stifle_history(HISTORY_MAX);
    if (history_file)
        read_history(history_file);
    return p;
}

/* Makes the folders of a file. */
static void make_folders(const char *file)
{
    char *path = xstrdup(file);

    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(path, 0700);
        *slash = '/';
    }
    free(path);
}

void prompt_free(struct prompt *p)
{
    if (!p)
        return;
    if (p->open)
        rl_callback_handler_remove();
    if (p->history_file) {
        make_folders(p->history_file);
        write_history(p->history_file);
    }
    clear_history();
    if (rl_outstream)
        fclose(rl_outstream);
    rl_outstream = NULL;
    choices_free(&found);
    buf_free(&p->choices);
    buf_free(&p->typed);
    free(p->line);
    free(p->begin);
    free(p->history_file);
    free(p);
    current = NULL;
}

void prompt_open(struct prompt *p, enum prompt_kind kind, const char *text)
{
    p->kind = kind;
    p->open = true;
    p->finished = false;
    free(p->line);
    p->line = NULL;
    free(p->begin);
    p->begin = xstrdup(text);
    buf_clear(&p->choices);
    rl_callback_handler_install("", take_line);
}

bool prompt_is_open(const struct prompt *p)
{
    return p->open;
}

enum prompt_kind prompt_kind(const struct prompt *p)
{
    return p->kind;
}

const char *prompt_line(const struct prompt *p)
{
    return p->line;
}

void prompt_remember(struct prompt *p, const char *command)
{
    (void)p; /* readline has one history */
    add_history(command);
}

const char *prompt_choices(const struct prompt *p)
{
    return buf_string(&p->choices);
}

/* ---- keys ---- */

/* The bytes that a terminal would send. */
static void add_bytes(struct buf *out, uint32_t key)
{
    static const struct {
        uint32_t key;
        const char *bytes;
    } special[] = {
        {TYPED_UP, "\x1b[A"},      {TYPED_DOWN, "\x1b[B"},    {TYPED_RIGHT, "\x1b[C"},
        {TYPED_LEFT, "\x1b[D"},    {TYPED_HOME, "\x1b[H"},    {TYPED_END, "\x1b[F"},
        {TYPED_DELETE, "\x1b[3~"}, {TYPED_BACKSPACE, "\x7f"}, {TYPED_BACK_TAB, "\t"},
    };
    char text[16];
    mbstate_t state = {0};

    for (size_t i = 0; i < sizeof special / sizeof *special; i++) {
        if (special[i].key == key) {
            buf_text(out, special[i].bytes);
            return;
        }
    }
    size_t n = key < TYPED_BEYOND ? wcrtomb(text, (wchar_t)key, &state) : (size_t)-1;
    if (n != (size_t)-1)
        buf_add(out, text, n);
}

static void give_up(struct prompt *p)
{
    rl_callback_handler_remove();
    free(p->line);
    p->line = NULL;
    p->open = false;
}

bool prompt_key(struct prompt *p, uint32_t key)
{
    bool erases = key == TYPED_BACKSPACE || key == 127 || key == 8;

    if (key == TYPED_ESCAPE || key == 3 || key == 7 || (erases && rl_end == 0)) {
        give_up(p);
        return true;
    }
    buf_clear(&p->choices);
    buf_clear(&p->typed);
    p->read = 0;
    add_bytes(&p->typed, key);
    while (p->read < p->typed.n && !p->finished)
        rl_callback_read_char();
    if (!p->finished)
        return false;
    p->open = false;
    if (p->line && *p->line && p->kind == PROMPT_COMMAND)
        add_history(p->line);
    return true;
}

/* ---- showing ---- */

const char *prompt_sign(const struct prompt *p)
{
    static const char *const signs[] = {
        [PROMPT_COMMAND] = ":",
        [PROMPT_SEARCH] = "/",
        [PROMPT_FILTER] = "\\",
        [PROMPT_NOTE] = "note: ",
    };
    return signs[p->kind];
}

void prompt_text(const struct prompt *p, struct buf *safe, int *cursor)
{
    (void)p;
    escape_add(safe, rl_line_buffer, (size_t)rl_point, escape_locale());
    *cursor = escape_width(buf_string(safe));
    escape_add(safe, rl_line_buffer + rl_point, (size_t)(rl_end - rl_point), escape_locale());
}
