/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/theme_files.h"

#include <stddef.h>
#include <string.h>

/* Each theme's file as a string; the assembler reads it, by its path from the source tree's top. */
#define THEMES(X)                                                                                  \
    X(dark, "dark")                                                                                \
    X(light, "light")                                                                              \
    X(high_contrast, "high-contrast")                                                              \
    X(monochrome, "monochrome")

#define X(id, name)                                                                                \
    extern const char theme_text_##id[];                                                           \
    __asm__(".pushsection .rodata\n"                                                               \
            ".globl theme_text_" #id "\n"                                                          \
            ".hidden theme_text_" #id "\n"                                                         \
            "theme_text_" #id ":\n"                                                                \
            ".incbin \"themes/" name ".theme\"\n"                                                  \
            ".byte 0\n"                                                                            \
            ".popsection\n");
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
