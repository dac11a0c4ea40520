/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/model.h"

#include <string.h>

#include "engine/buf.h"

static const struct model ext4 = {
    .name = "ext4",
    .summary = "ext4 with default mount options, as measured",
    .names = NAMES_JOURNAL,
    .sync = SYNC_JOURNAL,
    .alloc_shows = true,
    .size_shows = true,
    .new_in_order = true,
    .tail_shows = true,
    .rename_allocates = true,
};

static const struct model xfs = {
    .name = "xfs",
    .summary = "xfs, as measured: holes, but no zeros before data",
    .names = NAMES_JOURNAL,
    .sync = SYNC_JOURNAL,
    .size_after_data = true,
    .tail_shows = true,
};

static const struct model btrfs = {
    .name = "btrfs",
    .summary = "btrfs, as measured: fsync of a file carries its own name only",
    .names = NAMES_JOURNAL,
    .sync = SYNC_OWN_NAME,
    .whole_calls = true,
    .first_write_holes = true,
    .file_in_order = true,
};

static const struct model posix = {
    .name = "posix",
    .summary = "what the standard and the manual pages promise, and no more",
    .names = NAMES_FREE,
    .sync = SYNC_OWN_ENTRIES,
    .alloc_shows = true,
    .size_shows = true,
    .tail_shows = true,
};

static const struct model ext4_paper = {
    .name = "ext4-paper",
    .summary = "the published model of ext4, to compare results with the paper's",
    .names = NAMES_SAME_FILE,
    .sync = SYNC_OWN_ENTRIES,
    .whole_calls = true,
    .new_in_order = true,
};

static const struct model strict = {
    .name = "strict",
    .summary = "every call persists in program order",
    .names = NAMES_JOURNAL,
    .sync = SYNC_EVERYTHING,
    .whole_calls = true,
    .program_order = true,
};

static const struct model *const models[] = {&ext4, &xfs, &btrfs, &posix, &ext4_paper, &strict,
                                             NULL};

const struct model *const *model_table(void)
{
    return models;
}

static const struct {
    const char *name, *reason;
} rules[] = {
#define X(id, name, reason) [RULE_##id] = {name, reason},
    MODEL_RULES(X)
#undef X
};

const char *model_rule_name(enum model_rule rule)
{
    return rules[rule].name;
}

const char *model_rule_reason(enum model_rule rule)
{
    return rules[rule].reason;
}

bool model_find(const char *name, struct model *out, struct error *e)
{
    struct buf known = {0};
    for (const struct model *const *m = models; *m; m++) {
        if (strcmp((*m)->name, name) == 0) {
            *out = **m;
            buf_free(&known);
            return true;
        }
        buf_printf(&known, "%s%s", m == models ? "" : ", ", (*m)->name);
    }
    error_set(e, "there is no model %s; there are %s", name, buf_string(&known));
    buf_free(&known);
    return false;
}

static const struct model_switch switches[] = {
    {"auto_da_alloc", true, "ext4: a rename over a file first allocates the new file's blocks"},
    {"dioread_lock", false, "ext4: data is written before its block is allocated, so no zeros"},
    {NULL, false, NULL},
};

const struct model_switch *model_switches(void)
{
    return switches;
}

bool model_set(struct model *model, const char *name, bool on, struct error *e)
{
    if (strcmp(name, "auto_da_alloc") == 0)
        model->rename_allocates = on;
    else if (strcmp(name, "dioread_lock") == 0)
        model->alloc_shows = !on;
    else
        return error_set(e, "model %s has no switch %s", model->name, name);
    return true;
}
