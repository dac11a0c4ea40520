/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/words.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"

char *words_next(const char **words)
{
    *words += strspn(*words, " \t");
    size_t n = strcspn(*words, " \t");
    if (!n)
        return NULL;
    char *word = xstrndup(*words, n);
    *words += n + strspn(*words + n, " \t");
    return word;
}

static bool read_number(const char *text, uint64_t *out)
{
    char *end;

    if (!isdigit((unsigned char)*text))
        return false;
    errno = 0;
    *out = strtoull(text, &end, 10);
    return !*end && !errno;
}

bool words_number(const char *words, uint64_t otherwise, const char *what, uint64_t *out,
                  struct error *e)
{
    if (!*words) {
        *out = otherwise;
        return true;
    }
    return read_number(words, out) || error_set(e, "%s is not %s", words, what);
}

static const char *const kinds[] = {
    [SUBJECT_EVENT] = "event", [SUBJECT_OP] = "op",   [SUBJECT_BEHAVIOUR] = "behaviour",
    [SUBJECT_GROUP] = "group", [SUBJECT_BUG] = "bug", [SUBJECT_STATE] = "state",
    [SUBJECT_FILE] = "inode",  [SUBJECT_LINE] = NULL, [SUBJECT_OBJECT] = "object",
};

const char *subject_kind_name(enum subject_kind kind)
{
    return kinds[kind];
}

bool words_subject(const char *word, enum subject_kind alone, struct subject *out)
{
    const char *colon = strchr(word, ':');

    *out = (struct subject){.kind = alone};
    if (!colon)
        return alone != SUBJECT_NONE && read_number(word, &out->number);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t n = (size_t)(colon - word);
        if (!kinds[i] || strlen(kinds[i]) != n || strncmp(kinds[i], word, n) != 0)
            continue;
        out->kind = (enum subject_kind)i;
        return read_number(colon + 1, &out->number);
    }
    return false;
}

const char *words_editor(void)
{
    const char *visual = getenv("VISUAL"), *editor = getenv("EDITOR");

    if (visual && *visual)
        return visual;
    return editor && *editor ? editor : NULL;
}
