/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/theme_files.h"

#include <stddef.h>
#include <string.h>

#include "tui/embed.h"

/* Each theme's file as a string. */
#define THEMES(X)                                                                                  \
    X(dark, "dark")                                                                                \
    X(light, "light")                                                                              \
    X(high_contrast, "high-contrast")                                                              \
    X(monochrome, "monochrome")

#define X(id, name) EMBED_TEXT(theme_text_##id, "themes/" name ".theme")
THEMES(X)
#undef X

const char *const *theme_names(void)
{
    static const char *const names[] = {
#define X(id, name) name,
        THEMES(X)
#undef X
            NULL,
    };

    return names;
}

const char *theme_text(const char *name)
{
#define X(id, known)                                                                               \
    if (strcmp(name, known) == 0)                                                                  \
        return theme_text_##id;
    THEMES(X)
#undef X
    return NULL;
}
