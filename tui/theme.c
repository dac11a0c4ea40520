/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/theme.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/mem.h"
#include "engine/nearest.h"
#include "tui/theme_files.h"

enum { COLOUR_MAX = 255, COLOUR_BRIGHT = 8, THEME_FILE_MAX = 64 << 10 };

static const char *const colours[] = {"black", "red",     "green", "yellow",
                                      "blue",  "magenta", "cyan",  "white"};

static const struct {
    const char *word;
    unsigned attribute;
    int code; /* of the terminal */
} attributes[] = {
    {"bold", LOOK_BOLD, 1},           {"dim", LOOK_DIM, 2},         {"italic", LOOK_ITALIC, 3},
    {"underline", LOOK_UNDERLINE, 4}, {"reverse", LOOK_REVERSE, 7},
};

/* --- Reading ------------------------------------------------------------------------------- */

static bool read_colour(const char *word, int *colour)
{
    char *end;
    static const char bright[] = "bright-";
    int base = 0;

    if (isdigit((unsigned char)word[0])) {
        long n = strtol(word, &end, 10);
        *colour = (int)n;
        return *end == 0 && n <= COLOUR_MAX;
    }
    if (strcmp(word, "default") == 0) {
        *colour = COLOUR_DEFAULT;
        return true;
    }
    if (strncmp(word, bright, sizeof bright - 1) == 0) {
        base = COLOUR_BRIGHT;
        word += sizeof bright - 1;
    }
    for (int i = 0; i < (int)(sizeof colours / sizeof *colours); i++) {
        if (strcmp(word, colours[i]) == 0) {
            *colour = base + i;
            return true;
        }
    }
    return false;
}

static bool read_attribute(const char *word, unsigned *attribute)
{
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if (strcmp(word, attributes[i].word) == 0) {
            *attribute |= attributes[i].attribute;
            return true;
        }
    }
    return false;
}

static bool read_look(char *text, struct look *look, struct error *e)
{
    char *rest = text, *word;
    bool on = false;

    *look = (struct look){COLOUR_DEFAULT, COLOUR_DEFAULT, 0};
    while ((word = strsep(&rest, " \t\r"))) {
        if (!*word)
            continue;
        if (!on && strcmp(word, "on") == 0) {
            on = true;
            continue;
        }
        bool known =
            on ? read_colour(word, &look->background)
               : read_colour(word, &look->colour) || read_attribute(word, &look->attributes);
        if (!known)
            return error_set(e, "neither a colour nor an attribute: %s", word);
        on = false;
    }
    return on ? error_set(e, "a colour is missing after on") : true;
}

static bool read_line(struct theme *t, char *line, struct error *e)
{
    line += strspn(line, " \t\r");
    if (!*line || *line == '#')
        return true;
    char *equals = strchr(line, '=');
    if (!equals)
        return error_set(e, "write it as MEANING = LOOK");
    size_t n = (size_t)(equals - line);
    while (n && strchr(" \t", line[n - 1]))
        n--;
    enum style style = style_find(line, n);
    if (style == STYLE_COUNT) {
        line[n] = 0;
        struct nearest near = {.name = line};
        for (int i = 0; i < STYLE_COUNT; i++)
            nearest_offer(&near, style_name((enum style)i));
        return near.best ? error_set(e, "nothing is called %s; did you mean %s?", line, near.best)
                         : error_set(e, "nothing is called %s", line);
    }
    return read_look(equals + 1, &t->looks[style], e);
}

bool theme_parse(struct theme *t, const char *where, const char *text, struct error *e)
{
    char *copy = xstrdup(text), *rest = copy, *line;
    bool ok = true;

    for (int i = 0; i < STYLE_COUNT; i++)
        t->looks[i] = (struct look){COLOUR_DEFAULT, COLOUR_DEFAULT, 0};
    for (int number = 1; ok && (line = strsep(&rest, "\n")); number++) {
        ok = read_line(t, line, e);
        if (!ok)
            error_prefix(e, "%s:%d", where, number);
    }
    free(copy);
    return ok;
}

/* --- Finding ------------------------------------------------------------------------------- */

/* The user's own file of that name; NULL without a folder to look in. The caller frees. */
static char *user_file(const char *name)
{
    const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (strchr(name, '/'))
        return NULL;
    if (config && config[0] == '/')
        return xasprintf("%s/flotsam/themes/%s.theme", config, name);
    return home ? xasprintf("%s/.config/flotsam/themes/%s.theme", home, name) : NULL;
}

static bool read_text(const char *path, struct buf *out)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (fd < 0)
        return false;
    ssize_t n = read(fd, buf_room(out, THEME_FILE_MAX), THEME_FILE_MAX);
    close(fd);
    out->n = n > 0 ? (size_t)n : 0;
    out->at[out->n] = 0;
    return n >= 0;
}

static bool unknown_theme(const char *name, struct error *e)
{
    struct buf known = {0};

    for (const char *const *n = theme_names(); *n; n++)
        buf_printf(&known, "%s%s", known.n ? ", " : "", *n);
    error_set(e, "no theme is called %s; there are %s", name, known.at);
    buf_free(&known);
    return false;
}

bool theme_load(struct theme *t, const char *name, struct error *e)
{
    char *path = user_file(name);
    struct buf text = {0};
    bool ok;

    if (path && read_text(path, &text))
        ok = theme_parse(t, path, text.at, e);
    else if (theme_text(name))
        ok = theme_parse(t, name, theme_text(name), e);
    else
        ok = unknown_theme(name, e);
    buf_free(&text);
    free(path);
    return ok;
}

/* --- Using --------------------------------------------------------------------------------- */

static void add_code(struct buf *out, bool *any, const char *format, int n)
{
    buf_text(out, *any ? ";" : "\x1b[");
    *any = true;
    if (format)
        buf_text(out, format);
    buf_printf(out, "%d", n);
}

/* The sixteen that every colour terminal has go by their own codes. */
static void add_colour(struct buf *out, bool *any, int colour, bool background)
{
    enum { NORMAL = 30, BRIGHT = 90, BACKGROUND = 10 };
    int more = background ? BACKGROUND : 0;

    if (colour == COLOUR_DEFAULT)
        return;
    if (colour < COLOUR_BRIGHT)
        add_code(out, any, NULL, NORMAL + more + colour);
    else if (colour < 2 * COLOUR_BRIGHT)
        add_code(out, any, NULL, BRIGHT + more + colour - COLOUR_BRIGHT);
    else
        add_code(out, any, background ? "48;5;" : "38;5;", colour);
}

static bool is_plain(const struct look *l)
{
    return l->colour == COLOUR_DEFAULT && l->background == COLOUR_DEFAULT && !l->attributes;
}

void theme_on(const struct theme *t, enum style style, struct buf *out)
{
    const struct look *l = &t->looks[style];
    bool any = false;

    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if (l->attributes & attributes[i].attribute)
            add_code(out, &any, NULL, attributes[i].code);
    }
    add_colour(out, &any, l->colour, false);
    add_colour(out, &any, l->background, true);
    if (any)
        buf_char(out, 'm');
}

void theme_off(const struct theme *t, enum style style, struct buf *out)
{
    if (!is_plain(&t->looks[style]))
        buf_text(out, "\x1b[0m");
}
