/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * keymap: which command line a key stands for. It begins with the keys of the table of requests;
 * `bind` changes it.
 */
#ifndef TUI_KEYMAP_H
#define TUI_KEYMAP_H

#include <stdint.h>

#include "engine/buf.h"
#include "engine/map.h"
#include "tui/requests.h"

struct keymap {
    struct map commands; /* a key to a command line that is ours */
};

void keymap_init(struct keymap *k);
void keymap_free(struct keymap *k);

/* The command line, NULL when the key means nothing. */
const char *keymap_get(const struct keymap *k, uint32_t key);

/* An empty command takes the key's meaning away. */
void keymap_set(struct keymap *k, uint32_t key, const char *command);

/* The names of the keys that stand for a request without arguments, separated by spaces, those of
 * the table first. */
void keymap_keys(const struct keymap *k, enum request r, struct buf *out);

#endif
