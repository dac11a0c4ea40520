/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * keys: what was typed or clicked, as numbers and as names that people write ("s", "C-l", "PgDn",
 * "Space"), whatever the terminal.
 */
#ifndef TUI_KEYS_H
#define TUI_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/buf.h"

/* A key is a Unicode character, a control character (1 … 31, 127), or one of these. */
#define KEYS_NAMED(X)                                                                              \
    X(UP, "Up")                                                                                    \
    X(DOWN, "Down")                                                                                \
    X(LEFT, "Left")                                                                                \
    X(RIGHT, "Right")                                                                              \
    X(HOME, "Home")                                                                                \
    X(END, "End")                                                                                  \
    X(PAGE_UP, "PgUp")                                                                             \
    X(PAGE_DOWN, "PgDn")                                                                           \
    X(INSERT, "Ins")                                                                               \
    X(DELETE, "Del")                                                                               \
    X(BACKSPACE, "Backspace")                                                                      \
    X(BACK_TAB, "BackTab")                                                                         \
    X(F1, "F1")                                                                                    \
    X(F2, "F2")                                                                                    \
    X(F3, "F3")                                                                                    \
    X(F4, "F4")                                                                                    \
    X(F5, "F5")                                                                                    \
    X(F6, "F6")                                                                                    \
    X(F7, "F7")                                                                                    \
    X(F8, "F8")                                                                                    \
    X(F9, "F9")                                                                                    \
    X(F10, "F10")                                                                                  \
    X(F11, "F11")                                                                                  \
    X(F12, "F12")

enum key {
    TYPED_NOTHING = 0,
    TYPED_TAB = '\t',
    TYPED_ENTER = '\r',
    TYPED_ESCAPE = 27,
    TYPED_SPACE = ' ',
    TYPED_BEYOND = 0x110000, /* behind the last Unicode character */
#define X(id, name) TYPED_##id,
    KEYS_NAMED(X)
#undef X
        TYPED_LAST
};

/* A key by its name, TYPED_NOTHING when there is none. */
uint32_t key_find(const char *name, size_t n);

/* Appends its name. */
void key_add_name(uint32_t key, struct buf *out);

/* What happened at the terminal. */
enum input_kind { INPUT_NONE, INPUT_KEY, INPUT_CLICK, INPUT_SCROLL, INPUT_RESIZE, INPUT_CLOSED };

struct input {
    enum input_kind kind;
    uint32_t key;
    int column, row; /* of a click or a scroll; of a resize: the new size */
    int amount;      /* of a scroll: −1 up, 1 down; of a click: how many, 2 for a double one */
};

#endif
