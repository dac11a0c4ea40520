/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/settings.h"

#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"

enum { SWITCHES_MAX = 16 };

const struct config_switch *settings_switches(void)
{
    static struct config_switch table[SWITCHES_MAX + 1]; /* ended by its zeros */
    const struct model_switch *from = model_switches();
    for (size_t i = 0; i < SWITCHES_MAX && from[i].name; i++)
        table[i] = (struct config_switch){from[i].name, from[i].on, from[i].help};
    return table;
}

bool settings_model(const struct config *c, struct model *out, struct error *e)
{
    bool ok = model_find(c->model, out, e) && model_stores_find(c->stores, &out->stores, e);
    for (const struct config_switch *s = c->switches; ok && s && s->name; s++) {
        bool on = config_switch_value(c, s->name);
        /* At its default it leaves the model as it is: it may be one of another model. */
        if (on != s->value && (model_has(out, s->name) || !config_switch_is_older(c, s->name)))
            ok = model_set(out, s->name, on, e);
    }
    return ok;
}

/* Those of " auto_da_alloc=no stores=px86". */
static bool take_words(struct config *c, char *words, const char *origin, struct error *e)
{
    char *word;
    bool ok = true;
    while (ok && (word = strsep(&words, " "))) {
        char *name = strsep(&word, "=");
        ok = !word || config_set(c, "model", name, word, origin, e);
    }
    return ok;
}

bool settings_take_model(struct config *c, const char *text, const char *origin, struct error *e)
{
    struct model model;
    char *words = xstrdup(text);
    words[strcspn(text, " ")] = '\0';
    bool ok = model_find(text, &model, e) &&
              config_set(c, "model", "name", model.name, origin, e) &&
              (!text[strlen(words)] || take_words(c, words + strlen(words) + 1, origin, e));
    free(words);
    return ok;
}

/* ---- what a session has ---- */

/* A model that was kept says all of itself: what was set elsewhere does not count. */
static bool read_model(struct config *c, struct session *s, struct error *e)
{
    const char *text = session_meta(s, "model");
    if (!text || !*text)
        return true;
    bool ok = config_set(c, "model", "stores", "auto", session_path(s), e);
    for (const struct config_switch *w = c->switches; ok && w->name; w++)
        ok = config_set(c, "model", w->name, w->value ? "yes" : "no", session_path(s), e);
    return ok && settings_take_model(c, text, session_path(s), e);
}

static bool read_session(struct config *c, struct session *s, struct error *e)
{
    bool ok = true;
    for (const struct config_key *key = config_keys(); key->name && ok; key++) {
        const char *value = strcmp(key->section, "explore") ? NULL : session_meta(s, key->name);
        ok = !value || config_set(c, key->section, key->name, value, session_path(s), e);
    }
    return ok;
}

bool settings_of_session(struct config *c, struct session *s, bool with_model, struct error *e)
{
    config_begin(c, settings_switches());
    if (!config_read_user(c, e))
        return false;
    config_next_layer(c);
    return read_session(c, s, e) && (!with_model || read_model(c, s, e)) &&
           config_read_environment(c, e);
}
