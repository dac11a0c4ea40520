/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/model.h"

#include <stdlib.h>
#include <string.h>

#include "engine/buf.h"
#include "engine/mem.h"

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
    .sync_by_log = true,
};

static const struct model btrfs = {
    .name = "btrfs",
    .summary = "btrfs, as measured: fsync of a file carries its own name only",
    .names = NAMES_JOURNAL,
    .sync = SYNC_OWN_NAME,
    .size_with_any = true,
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

static const struct model *const models[] = {&ext4,       &xfs,    &btrfs, &posix,
                                             &ext4_paper, &strict, NULL};

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

static const struct model_switch switches[] = {
    {"auto_da_alloc", true, "ext4",
     "ext4: a rename over a file first allocates the new file's blocks"},
    {"dioread_lock", false, "ext4",
     "ext4: data is written before its block is allocated, so no zeros"},
    {"stable_pages", true, NULL,
     "pagecache: a page does not change while it is written; without, its 512-byte sectors may "
     "differ"},
    {NULL, false, NULL, NULL},
};

const struct model_switch *model_switches(void)
{
    return switches;
}

static const struct model_switch *find_switch(const char *name)
{
    for (const struct model_switch *s = switches; s->name; s++)
        if (!strcmp(s->name, name))
            return s;
    return NULL;
}

bool model_has(const struct model *model, const char *name)
{
    const struct model_switch *s = find_switch(name);
    return s && (!s->model || !strcmp(s->model, model->name));
}

bool model_set(struct model *model, const char *name, bool on, struct error *e)
{
    const struct model_switch *s = find_switch(name);
    if (s && !model_has(model, name))
        return error_set(e, "%s is a switch of the model %s, not of %s", name, s->model,
                         model->name);
    if (strcmp(name, "auto_da_alloc") == 0)
        model->rename_allocates = on;
    else if (strcmp(name, "dioread_lock") == 0)
        model->alloc_shows = !on;
    else if (strcmp(name, "stable_pages") == 0)
        model->pages_change = !on;
    else
        return error_set(e, "model %s has no switch %s", model->name, name);
    return true;
}

static bool model_get(const struct model *model, const char *name)
{
    if (strcmp(name, "stable_pages") == 0)
        return !model->pages_change;
    return strcmp(name, "auto_da_alloc") == 0 ? model->rename_allocates : !model->alloc_shows;
}

/* ---- stores ---- */

static const char *const stores[STORES_COUNT + 1] = {
    [STORES_AUTO] = "auto",
    [STORES_PX86] = "px86",
    [STORES_EADR] = "eadr",
    [STORES_PAGECACHE] = "pagecache",
};

const char *model_stores_name(enum model_stores s)
{
    return stores[s];
}

bool model_stores_find(const char *name, enum model_stores *out, struct error *e)
{
    for (enum model_stores s = 0; s < STORES_COUNT; s++)
        if (strcmp(name, stores[s]) == 0) {
            *out = s;
            return true;
        }
    return error_set(e, "there is no model %s for stores; there are auto, px86, eadr, pagecache",
                     name);
}

static const struct model *find_name(const char *name, size_t length)
{
    for (const struct model *const *m = models; *m; m++)
        if (strlen((*m)->name) == length && memcmp((*m)->name, name, length) == 0)
            return *m;
    return NULL;
}

/* Sets one of "auto_da_alloc=no", "stores=px86". */
static bool set_word(struct model *model, const char *word, struct error *e)
{
    const char *equals = strchr(word, '=');
    const char *value = equals ? equals + 1 : "";
    char *name = xstrndup(word, equals ? (size_t)(equals - word) : strlen(word));
    bool on = strcmp(value, "yes") == 0, done;
    if (equals && strcmp(name, "stores") == 0)
        done = model_stores_find(value, &model->stores, e);
    else if (on || strcmp(value, "no") == 0)
        done = model_set(model, name, on, e);
    else
        done = error_set(e, "model %s: %s is no switch; they are set like auto_da_alloc=no",
                         model->name, word);
    free(name);
    return done;
}

/* Sets the switches of " auto_da_alloc=no …". */
static bool set_all(struct model *model, const char *text, struct error *e)
{
    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t length = strcspn(text, " ");
        char *word = xstrndup(text, length);
        bool done = set_word(model, word, e);
        free(word);
        if (!done)
            return false;
        text += length;
    }
    return true;
}

bool model_find(const char *name, struct model *out, struct error *e)
{
    size_t length = strcspn(name, " ");
    const struct model *found = find_name(name, length);
    if (found) {
        *out = *found;
        return set_all(out, name + length, e);
    }
    struct buf known = {0};
    for (const struct model *const *m = models; *m; m++)
        buf_printf(&known, "%s%s", m == models ? "" : ", ", (*m)->name);
    error_set(e, "there is no model %s; there are %s", name, buf_string(&known));
    buf_free(&known);
    return false;
}

char *model_text(const struct model *model)
{
    struct buf text = {0};
    const struct model *own = find_name(model->name, strlen(model->name));
    buf_text(&text, model->name);
    for (const struct model_switch *s = switches; own && s->name; s++)
        if (model_get(model, s->name) != model_get(own, s->name))
            buf_printf(&text, " %s=%s", s->name, model_get(model, s->name) ? "yes" : "no");
    if (model->stores != STORES_AUTO)
        buf_printf(&text, " stores=%s", stores[model->stores]);
    char *out = xstrdup(buf_string(&text));
    buf_free(&text);
    return out;
}

bool model_is(const struct model *model, const char *text)
{
    char *own = model_text(model);
    bool is = !strcmp(own, text);
    free(own);
    return is;
}
