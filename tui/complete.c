/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/complete.h"

#include <stdlib.h>
#include <string.h>

#include "engine/model.h"
#include "engine/source.h"
#include "tui/debugger.h"
#include "tui/theme_files.h"

/* More choices than these help nobody. */
enum { CHOICES_MAX = 500 };

struct asking {
    struct debugger *d;
    struct choices *out;
    const char *word;
    size_t length;
};

static void offer(struct asking *a, const char *choice)
{
    if (!*choice || strncmp(choice, a->word, a->length) != 0 || a->out->at.n >= CHOICES_MAX)
        return;
    for (size_t i = 0; i < a->out->at.n; i++)
        if (strcmp(a->out->at.at[i], choice) == 0)
            return;
    vec_push(&a->out->at, xstrdup(choice));
}

/* Every word of a list with bars or spaces between them. */
static void offer_list(struct asking *a, const char *list)
{
    for (const char *at = list; *(at += strspn(at, "| "));) {
        size_t n = strcspn(at, "| ");
        char *word = xstrndup(at, n);
        offer(a, word);
        free(word);
        at += n;
    }
}

static void offer_requests(struct asking *a)
{
    for (int r = 0; r < REQUEST_COUNT; r++)
        offer(a, request_info((enum request)r)->name);
}

static void offer_columns(struct asking *a)
{
    struct pane *p = desk_pane(debugger_desk(a->d));
    size_t n = 0;
    const struct column *columns = p->view ? p->view->ops->columns(p->view, &n) : NULL;

    for (size_t i = 0; i < n; i++) {
        char *down = xasprintf("-%s", columns[i].title);
        offer(a, columns[i].title);
        if (columns[i].title[0])
            offer(a, down);
        free(down);
    }
}

static void offer_functions(struct asking *a)
{
    const struct analysis *an = a->d->findings.analysis;

    for (size_t i = 0; a->d->loaded && i < an->behaviours->n && i < CHOICES_MAX * 10; i++)
        offer(a, analysis_function(an, &an->behaviours->at[i]));
}

static void offer_paths(struct asking *a)
{
    struct file_info info;
    uint32_t n = session_file_count(a->d->session);

    for (uint32_t i = 1; i <= n && i < CHOICES_MAX * 10; i++)
        if (session_file(a->d->session, i, &info) && !strchr(info.path, ' '))
            offer(a, info.path);
}

static void offer_subjects(struct asking *a)
{
    offer_list(a, "event: op: bug: state: behaviour: group: object: inode:");
    offer_functions(a);
    offer_paths(a);
}

static void offer_models(struct asking *a)
{
    for (const struct model *const *m = model_table(); *m; m++)
        offer(a, (*m)->name);
}

/* What may follow a model's name. */
static void offer_switches(struct asking *a)
{
    for (enum model_stores s = 0; s < STORES_COUNT; s++) {
        char *text = xasprintf("stores=%s", model_stores_name(s));
        offer(a, text);
        free(text);
    }
    for (const struct model_switch *s = model_switches(); s->name; s++) {
        char *text = xasprintf("%s=%s", s->name, s->on ? "no" : "yes");
        offer(a, text);
        free(text);
    }
}

static void offer_themes(struct asking *a)
{
    for (const char *const *n = theme_names(); *n; n++)
        offer(a, *n);
}

static void offer_files(struct asking *a)
{
    a->out->files = true;
}

static void offer_syncs(struct asking *a)
{
    offer_list(a, "fsync fdatasync dirsync sync flush");
}

static void offer_statuses(struct asking *a)
{
    offer_list(a, "new confirmed duplicate ignored");
}

static void offer_settings(struct asking *a)
{
    offer_list(
        a, "model= stores=auto stores=px86 stores=eadr stores=pagecache "
           "strategy=representative strategy=all-behaviours strategy=exhaustive "
           "strategy=prefix strategy=sync strategy=random budget= jobs= timeout= seed= checker=");
}

/* By the words in capitals of the table of requests. */
static const struct {
    const char *word;
    void (*offer)(struct asking *a);
} sorts[] = {
    {"SUBJECT", offer_subjects},   {"COLUMN", offer_columns},  {"THEME", offer_themes},
    {"MODEL", offer_models},       {"SWITCH", offer_switches}, {"FILE", offer_files},
    {"SYNC", offer_syncs},         {"STATUS", offer_statuses}, {"COMMAND", offer_requests},
    {"KEY=VALUE", offer_settings},
};

/* The n-th word of how the arguments are written, or its last. */
static void nth_argument(const char *arguments, int n, const char **word, size_t *length)
{
    *word = arguments;
    *length = 0;
    for (const char *at = arguments; *(at += strspn(at, " [].")) && n-- >= 0;) {
        *word = at;
        *length = strcspn(at, " [].");
        at += *length;
    }
}

static void offer_arguments(struct asking *a, enum request r, int n)
{
    const char *word;
    size_t length;

    nth_argument(request_info(r)->arguments, n, &word, &length);
    for (size_t i = 0; i < sizeof sorts / sizeof *sorts; i++) {
        if (strlen(sorts[i].word) == length && strncmp(sorts[i].word, word, length) == 0) {
            sorts[i].offer(a);
            return;
        }
    }
    if (memchr(word, '|', length)) {
        char *list = xstrndup(word, length);
        offer_list(a, list);
        free(list);
    }
}

void complete(struct debugger *d, const char *line, size_t n, struct choices *out)
{
    struct asking a = {.d = d, .out = out};
    char *copy = xstrndup(line, n), *last = strrchr(copy, ' ');
    char *first = copy + strspn(copy, " ");
    int words = 0;

    a.word = last ? last + 1 : copy;
    a.length = strlen(a.word);
    for (const char *at = first; last && at < last;) {
        at += strcspn(at, " ");
        words++;
        at += strspn(at, " ");
    }
    if (words == 0) {
        offer_requests(&a);
    } else {
        enum request r = request_find(first, strcspn(first, " "), NULL);
        if (r != REQUEST_COUNT)
            offer_arguments(&a, r, words - 1);
    }
    free(copy);
}

void choices_free(struct choices *c)
{
    for (size_t i = 0; i < c->at.n; i++)
        free(c->at.at[i]);
    vec_free(&c->at);
}
