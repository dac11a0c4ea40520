/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/keymap.h"

#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "tui/keys.h"

const char *keymap_get(const struct keymap *k, uint32_t key)
{
    const uint64_t *command = map_get(&k->commands, &key, sizeof key);

    return command && *command ? (const char *)(uintptr_t)*command : NULL;
}

void keymap_set(struct keymap *k, uint32_t key, const char *command)
{
    uint64_t *place = map_put(&k->commands, &key, sizeof key, NULL);

    free((char *)(uintptr_t)*place);
    *place = *command ? (uint64_t)(uintptr_t)xstrdup(command) : 0;
}

void keymap_init(struct keymap *k)
{
    *k = (struct keymap){0};
    for (int r = 0; r < REQUEST_COUNT; r++) {
        const struct request_info *info = request_info((enum request)r);
        for (const char *at = info->keys; *(at += strspn(at, " "));) {
            size_t n = strcspn(at, " ");
            keymap_set(k, key_find(at, n), info->name);
            at += n;
        }
    }
}

void keymap_free(struct keymap *k)
{
    map_free_owned(&k->commands);
}

struct asked {
    const char *name, *defaults;
    struct buf *out;
};

static bool is_default(const char *defaults, uint32_t key)
{
    for (const char *at = defaults; *(at += strspn(at, " "));) {
        size_t n = strcspn(at, " ");
        if (key_find(at, n) == key)
            return true;
        at += n;
    }
    return false;
}

static void add_bound(const void *key, size_t size, uint64_t value, void *data)
{
    struct asked *a = data;
    uint32_t code;

    memcpy(&code, key, size);
    if (!value || strcmp((const char *)(uintptr_t)value, a->name) != 0 ||
        is_default(a->defaults, code))
        return;
    if (a->out->n)
        buf_char(a->out, ' ');
    key_add_name(code, a->out);
}

void keymap_keys(const struct keymap *k, enum request r, struct buf *out)
{
    const struct request_info *info = request_info(r);
    struct asked a = {info->name, info->keys, out};

    for (const char *at = info->keys; *(at += strspn(at, " "));) {
        size_t n = strcspn(at, " ");
        const char *command = keymap_get(k, key_find(at, n));
        if (command && strcmp(command, info->name) == 0)
            buf_printf(out, "%s%.*s", out->n ? " " : "", (int)n, at);
        at += n;
    }
    map_each(&k->commands, add_bound, &a);
}
