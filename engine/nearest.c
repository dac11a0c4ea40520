/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/nearest.h"

#include <ctype.h>
#include <string.h>

/* Longer input is no name that somebody mistyped; the table of distances stays small. */
enum { NAME_MAX_LENGTH = 64 };

static int lower(char c)
{
    return tolower((unsigned char)c);
}

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

size_t nearest_distance(const char *a, const char *b)
{
    size_t an = strnlen(a, NAME_MAX_LENGTH), bn = strnlen(b, NAME_MAX_LENGTH);
    size_t d[NAME_MAX_LENGTH + 1][NAME_MAX_LENGTH + 1];
    for (size_t i = 0; i <= an; i++)
        d[i][0] = i;
    for (size_t j = 0; j <= bn; j++)
        d[0][j] = j;
    for (size_t i = 1; i <= an; i++) {
        for (size_t j = 1; j <= bn; j++) {
            size_t changed = lower(a[i - 1]) != lower(b[j - 1]);
            d[i][j] = min(min(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + changed);
            if (i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                lower(a[i - 2]) == lower(b[j - 1]))
                d[i][j] = min(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[an][bn];
}

void nearest_offer(struct nearest *n, const char *candidate)
{
    size_t distance = nearest_distance(n->name, candidate);
    /* A third of the letters wrong is a slip; more is another word. The start of a word counts
     * as near however much is missing: "rep" for "replay". */
    size_t length = strlen(candidate), typed = strlen(n->name);
    size_t limit = length < 3 ? 1 : (length + 2) / 3;
    if (typed >= 2 && !strncasecmp(n->name, candidate, typed))
        distance = 1;
    if (distance > limit || (n->best && distance >= n->distance))
        return;
    n->best = candidate;
    n->distance = distance;
}
