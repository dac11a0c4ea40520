/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * theme: how each meaning (a style of views/view.h) looks on a terminal. Themes are text files,
 * explained at the top of themes/dark.theme; those of the source tree are compiled in.
 */
#ifndef TUI_THEME_H
#define TUI_THEME_H

#include <stdbool.h>

#include "engine/buf.h"
#include "engine/error.h"
#include "views/view.h"

enum { COLOUR_DEFAULT = -1 };

enum {
    LOOK_BOLD = 1 << 0,
    LOOK_DIM = 1 << 1,
    LOOK_ITALIC = 1 << 2,
    LOOK_UNDERLINE = 1 << 3,
    LOOK_REVERSE = 1 << 4,
};

struct look {
    int colour, background; /* 0 … 255 as terminals number them, or COLOUR_DEFAULT */
    unsigned attributes;
};

struct theme {
    struct look looks[STYLE_COUNT];
};

/* The name of the theme that is used when none was asked for. */
#define THEME_DEFAULT "dark"

/* A theme by its name: from $XDG_CONFIG_HOME/flotsam/themes/NAME.theme (~/.config without it),
 * else one that is compiled in. An unknown name is an error that lists the known ones. */
bool theme_load(struct theme *t, const char *name, struct error *e);

/* Reads a theme's text; `where` names it in errors, which have the line. */
bool theme_parse(struct theme *t, const char *where, const char *text, struct error *e);

/* Appends what turns a look on, and off again: "" when it is the terminal's own. */
void theme_on(const struct theme *t, enum style style, struct buf *out);
void theme_off(const struct theme *t, enum style style, struct buf *out);

#endif
