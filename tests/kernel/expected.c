/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernel/expected.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/buf.h"

bool expected_read_text(const char *path, char **out, struct error *e)
{
    struct buf b = {0};
    FILE *f = fopen(path, "r");
    if (!f)
        return error_errno(e, "cannot read %s", path);
    for (int c; (c = fgetc(f)) != EOF;)
        buf_char(&b, (char)c);
    fclose(f);
    *out = xstrdup(buf_string(&b));
    buf_free(&b);
    return true;
}

static char *trimmed(char *s)
{
    s += strspn(s, " ");
    for (size_t n = strlen(s); n && s[n - 1] == ' ';)
        s[--n] = '\0';
    return s;
}

static void add(struct expected *x, const char *model, const char *state, const char *reason)
{
    struct expected_state s = {.model = xstrdup(model), .state = state ? xstrdup(state) : NULL};
    s.reason = reason ? xstrdup(reason) : NULL;
    vec_push(&x->states, s);
}

static bool take_line(struct expected *x, char *line, const char *path, struct error *e)
{
    char *rest, *model = strtok_r(line, " ", &rest);
    if (model && strcmp(model, "files") == 0) {
        x->files = xstrdup(rest);
        return true;
    }
    char *what = strtok_r(NULL, " ", &rest);
    if (what && strcmp(what, "extra") == 0) {
        char *colon = strchr(rest, ':');
        if (!colon || !*trimmed(colon + 1))
            return error_set(e, "%s: an extra state without a reason: %s", path, rest);
        *colon = '\0';
        add(x, model, trimmed(rest), trimmed(colon + 1));
        return true;
    }
    if (what && strcmp(what, "before:") == 0 && *trimmed(rest)) {
        add(x, model, NULL, trimmed(rest));
        return true;
    }
    if (!what || strcmp(what, "seen") != 0)
        return error_set(e, "%s: seen, extra or before: is wanted after #! %s", path,
                         model ? model : "");
    for (char *state; (state = strsep(&rest, "|"));)
        add(x, model, trimmed(state), NULL);
    return true;
}

bool expected_read(struct expected *x, const char *text, const char *path, struct error *e)
{
    *x = (struct expected){0};
    char *copy = xstrdup(text), *rest = copy;
    bool ok = true;
    for (char *line; ok && (line = strsep(&rest, "\n"));)
        if (strncmp(line, "#! ", 3) == 0)
            ok = take_line(x, line + 3, path, e);
    free(copy);
    return ok;
}

void expected_free(struct expected *x)
{
    for (size_t i = 0; i < x->states.n; i++) {
        free(x->states.at[i].model);
        free(x->states.at[i].state);
        free(x->states.at[i].reason);
    }
    vec_free(&x->states);
    free(x->files);
}

bool expected_speaks_of(const struct expected *x, const char *model)
{
    bool does = false;
    for (size_t i = 0; i < x->states.n; i++)
        does |= strcmp(x->states.at[i].model, model) == 0;
    return does;
}

char *expected_files(const struct expected *x, const char *state)
{
    if (!x->files)
        return xstrdup(state);
    struct buf out = {0};
    char *copy = xstrdup(state), *rest = copy;
    for (char *word; (word = strsep(&rest, " "));) {
        size_t n = strcspn(word, "=/-");
        for (const char *at = x->files; *at; at += strcspn(at, " "), at += strspn(at, " "))
            if (strcspn(at, " ") == n && memcmp(at, word, n) == 0)
                buf_printf(&out, "%s%s", out.n ? " " : "", word);
    }
    free(copy);
    char *text = xstrdup(out.n ? buf_string(&out) : "(nothing)");
    buf_free(&out);
    return text;
}

bool expected_model(const char *words, struct model *out, struct error *e)
{
    char *text = xstrdup(words);
    for (char *comma; (comma = strchr(text, ','));)
        *comma = ' ';
    bool ok = model_find(text, out, e);
    free(text);
    return ok;
}
