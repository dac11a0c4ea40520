/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernel/options.h"

#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"

/* Options that a model knows as a switch, and those that change no rule. */
static const struct {
    const char *fs, *option; /* an option that ends in = has a value */
    const char *words;
} known[] = {
    {"ext4", "noauto_da_alloc", ",auto_da_alloc=no"},
    {"ext4", "auto_da_alloc", ""},
    {"ext4", "dioread_lock", ",dioread_lock=yes"},
    {"ext4", "dioread_nolock", ""},
    {"ext4", "commit=", ""},
    {"btrfs", "commit=", ""},
};

enum { KNOWN = sizeof known / sizeof *known };

static bool matches(size_t i, const char *fs, const char *option)
{
    size_t n = strlen(known[i].option);
    bool has_value = known[i].option[n - 1] == '=';
    return strcmp(known[i].fs, fs) == 0 && (has_value ? strncmp(option, known[i].option, n) == 0
                                                      : strcmp(option, known[i].option) == 0);
}

static bool add_option(const char *fs, const char *option, struct buf *out, struct error *e)
{
    for (size_t i = 0; i < KNOWN; i++)
        if (matches(i, fs, option)) {
            buf_text(out, known[i].words);
            return true;
        }
    struct buf all = {0};
    for (size_t i = 0; i < KNOWN; i++)
        if (strcmp(known[i].fs, fs) == 0)
            buf_printf(&all, "%s%s", all.n ? ", " : "", known[i].option);
    error_set(e, "there is no model of %s with the mount option %s; there is of: %s", fs, option,
              all.n ? buf_string(&all) : "none");
    buf_free(&all);
    return false;
}

bool options_model(const char *fs, const char *options, struct buf *out, struct error *e)
{
    char *copy = xstrdup(options), *rest = copy, *option;
    bool ok = true;
    buf_text(out, fs);
    while (ok && (option = strsep(&rest, ",")))
        ok = !*option || add_option(fs, option, out, e);
    free(copy);
    return ok;
}
