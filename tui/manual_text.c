/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/manual_text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

/* ---- words ---- */

static const struct {
    const char *text, *roff;
} specials[] = {
    {"\\", "\\e"},  {"-", "\\-"},    {"'", "\\(aq"}, {"`", "\\(ga"}, {"^", "\\(ha"},
    {"~", "\\(ti"}, {"\"", "\\(dq"}, {"…", "..."},   {"—", "\\(em"}, {"→", "\\(\\->"},
};

/* The special at the beginning, or NULL. */
static const char *find_special(const char *text, size_t n, size_t *length)
{
    for (size_t i = 0; i < sizeof specials / sizeof *specials; i++) {
        *length = strlen(specials[i].text);
        if (*length <= n && !strncmp(text, specials[i].text, *length))
            return specials[i].roff;
    }
    *length = 1;
    return NULL;
}

void manual_add_word(struct buf *out, const char *text, size_t n)
{
    /* A dot at a line's beginning is a request. */
    if (n && *text == '.' && out->n && out->at[out->n - 1] == '\n')
        buf_text(out, "\\&");
    for (size_t length; n > 0; text += length, n -= length) {
        const char *special = find_special(text, n, &length);
        if (special)
            buf_text(out, special);
        else
            buf_char(out, *text);
    }
}

/* ---- texts ---- */

/* Bytes up to the end of the sentence, or of the line. */
static size_t sentence_length(const char *line, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++)
        if (strchr(".?!", line[i]) && line[i + 1] == ' ')
            return i + 1;
    return n;
}

static void add_sentences(struct buf *out, const char *line, size_t n)
{
    while (n) {
        size_t length = sentence_length(line, n);
        manual_add_word(out, line, length);
        buf_char(out, '\n');
        line += length;
        n -= length;
        while (n && *line == ' ') {
            line++;
            n--;
        }
    }
}

void manual_add_text(struct buf *out, const char *text)
{
    bool literal = false;

    while (*text) {
        size_t n = strcspn(text, "\n");
        bool indented = n > 1 && text[0] == ' ' && text[1] == ' ';
        if (indented != literal)
            buf_text(out, indented ? ".Bd -literal -offset indent\n" : ".Ed\n.Pp\n");
        literal = indented;
        if (literal) {
            manual_add_word(out, text + 2, n - 2);
            buf_char(out, '\n');
        } else if (n)
            add_sentences(out, text, n);
        else
            buf_text(out, ".Pp\n");
        text += n + (text[n] == '\n');
    }
    if (literal)
        buf_text(out, ".Ed\n");
}

void manual_add_sentence(struct buf *out, const char *text)
{
    buf_char(out, (char)toupper((unsigned char)*text));
    manual_add_word(out, text + 1, strlen(text + 1));
    buf_text(out, ".\n");
}

/* ---- usage ---- */

static bool in_name(char c)
{
    return isalnum((unsigned char)c) || c == '-' || c == '_';
}

void manual_add_usage(struct buf *out, const char *usage)
{
    while (*usage) {
        size_t n = 0;
        while (in_name(usage[n]))
            n++;
        if (n) {
            buf_text(out, isupper((unsigned char)*usage) ? "\\fI" : "\\fB");
            manual_add_word(out, usage, n);
            buf_text(out, "\\fR");
        } else if (isspace((unsigned char)*usage)) {
            buf_char(out, ' ');
            n = strspn(usage, " \n");
        } else {
            manual_add_word(out, usage, 1);
            n = 1;
        }
        usage += n;
    }
}
