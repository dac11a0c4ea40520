/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/sentence.h"

#include <string.h>

#include "engine/escape.h"

/* With the indent of details this fits 80 columns. */
enum { LINE_COLUMNS = 72 };

void sentences_add(struct sentences *s, const char *safe)
{
    struct buf line = {0}, word = {0};
    int columns = 0;

    while (*safe) {
        size_t n = strcspn(safe, " ");
        buf_clear(&word);
        buf_add(&word, safe, n);
        int width = escape_width(buf_string(&word));
        if (columns && columns + 1 + width > LINE_COLUMNS) {
            vec_push(&s->lines, xstrdup(buf_string(&line)));
            buf_clear(&line);
            columns = 0;
        }
        if (columns)
            buf_char(&line, ' ');
        buf_text(&line, buf_string(&word));
        columns += width + (columns ? 1 : 0);
        safe += n;
        safe += strspn(safe, " ");
    }
    vec_push(&s->lines, xstrdup(buf_string(&line)));
    buf_free(&line);
    buf_free(&word);
}

void sentences_free(struct sentences *s)
{
    for (size_t i = 0; i < s->lines.n; i++)
        free(s->lines.at[i]);
    vec_free(&s->lines);
}

bool sentences_detail(const struct sentences *s, size_t n, struct cell *out, bool *more)
{
    *more = n < s->lines.n;
    if (*more)
        cell_add(out, STYLE_PLAIN, "%s", s->lines.at[n]);
    return true;
}
