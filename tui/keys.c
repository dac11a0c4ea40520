/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/keys.h"

#include <string.h>
#include <strings.h>
#include <wchar.h>

#include "engine/escape.h"

enum { CONTROL = 0x1f, DELETE_CHARACTER = 0x7f };

static const struct {
    uint32_t key;
    const char *name;
} names[] = {{TYPED_TAB, "Tab"},
             {TYPED_ENTER, "Enter"},
             {TYPED_ESCAPE, "Escape"},
             {TYPED_SPACE, "Space"},
#define X(id, text) {TYPED_##id, text},
             KEYS_NAMED(X)
#undef X
};

uint32_t key_find(const char *name, size_t n)
{
    wchar_t c;
    mbstate_t state = {0};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strlen(names[i].name) == n && strncasecmp(names[i].name, name, n) == 0)
            return names[i].key;
    if (n == 3 && name[0] == 'C' && name[1] == '-' && name[2] >= '@' && name[2] <= 'z')
        return (uint32_t)(name[2] & CONTROL);
    if (n && mbrtowc(&c, name, n, &state) == n)
        return (uint32_t)c;
    return TYPED_NOTHING;
}

void key_add_name(uint32_t key, struct buf *out)
{
    char text[16] = {0};
    mbstate_t state = {0};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (names[i].key == key) {
            buf_text(out, names[i].name);
            return;
        }
    }
    if (key <= CONTROL) {
        buf_printf(out, "C-%c", (char)(key < 27 ? key + 'a' - 1 : key + '@'));
        return;
    }
    size_t n = key < TYPED_BEYOND ? wcrtomb(text, (wchar_t)key, &state) : (size_t)-1;
    if (n == (size_t)-1 || key == DELETE_CHARACTER)
        buf_printf(out, "U+%04X", key);
    else
        escape_add(out, text, n, escape_locale());
}
