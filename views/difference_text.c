/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "views/difference_inside.h"

/* Pairs of lines that are looked at to match them in the best way; larger texts are matched from
 * both ends only. Lines of the same text that are shown beside a difference. */
enum { PAIRS_MAX = 1 << 22, CONTEXT = 2 };

bool text_looks(const char *bytes, size_t n)
{
    enum { ODD_SHARE = 32 };
    size_t odd = 0;

    for (size_t i = 0; i < n; i++) {
        unsigned char c = (unsigned char)bytes[i];
        if (!c)
            return false;
        odd += (c < ' ' && c != '\n' && c != '\t' && c != '\r') || c == 0x7f;
    }
    return odd <= n / ODD_SHARE;
}

void text_split(struct text_side *side)
{
    side->lines.n = 0;
    for (size_t at = 0; at < side->n;) {
        const char *newline = memchr(side->bytes + at, '\n', side->n - at);
        vec_push(&side->lines, at);
        at = newline ? (size_t)(newline - side->bytes) + 1 : side->n;
    }
    vec_push(&side->lines, side->n);
}

static uint32_t line_count(const struct text_side *side)
{
    return (uint32_t)side->lines.n - 1;
}

const char *text_line(const struct text_side *side, uint32_t line, size_t *n)
{
    const char *at = side->bytes + side->lines.at[line];

    *n = side->lines.at[line + 1] - side->lines.at[line];
    *n -= *n && at[*n - 1] == '\n';
    return at;
}

/* Newlines count: a last line without one is another. */
static bool same_line(const struct text_side *a, uint32_t i, const struct text_side *b, uint32_t k)
{
    size_t n = a->lines.at[i + 1] - a->lines.at[i], m = b->lines.at[k + 1] - b->lines.at[k];

    return n == m && !memcmp(a->bytes + a->lines.at[i], b->bytes + b->lines.at[k], n);
}

/* --- Matching ------------------------------------------------------------------------------ */

/* For each line of the whole the line in hand that it matches, NO_TEXT: none; in ascending order.
 */
static uint32_t *match(const struct text_side *whole, const struct text_side *hand)
{
    uint32_t n = line_count(whole), m = line_count(hand), first = 0, last = 0;
    uint32_t *to = xcalloc((size_t)n + 1, sizeof *to);

    memset(to, 0xff, n * sizeof *to);
    for (; first < n && first < m && same_line(whole, first, hand, first); first++)
        to[first] = first;
    for (;
         last < n - first && last < m - first && same_line(whole, n - 1 - last, hand, m - 1 - last);
         last++)
        to[n - 1 - last] = m - 1 - last;
    uint32_t rows = n - first - last, columns = m - first - last;
    if (!rows || !columns || (uint64_t)rows * columns > PAIRS_MAX)
        return to;
    /* The longest common subsequence of what is left: length[i][k] of the lines from there on. */
    size_t width = (size_t)columns + 1;
    uint32_t *length = xcalloc((rows + 1) * width, sizeof *length);
    for (uint32_t i = rows; i-- > 0;)
        for (uint32_t k = columns; k-- > 0;) {
            uint32_t down = length[(i + 1) * width + k], right = length[i * width + k + 1];
            bool same = same_line(whole, first + i, hand, first + k);
            length[i * width + k] = same           ? length[(i + 1) * width + k + 1] + 1
                                    : down > right ? down
                                                   : right;
        }
    for (uint32_t i = 0, k = 0; i < rows && k < columns;) {
        if (same_line(whole, first + i, hand, first + k))
            to[first + i++] = first + k++;
        else if (length[(i + 1) * width + k] >= length[i * width + k + 1])
            i++;
        else
            k++;
    }
    free(length);
    return to;
}

/* --- Rows ---------------------------------------------------------------------------------- */

/* Lines that are the same: those beside a difference, and how many lie between. */
static void add_same(struct text_rows *out, uint32_t whole, uint32_t hand, uint32_t n, bool begins,
                     bool ends)
{
    uint32_t before = begins ? 0 : CONTEXT, after = ends ? 0 : CONTEXT;

    if (n <= before + after + 1) {
        before = n;
        after = 0;
    }
    for (uint32_t i = 0; i < before; i++)
        vec_push(&out->at, (struct text_row){whole + i, hand + i, 0});
    if (n > before + after)
        vec_push(&out->at, (struct text_row){NO_TEXT, NO_TEXT, n - before - after});
    for (uint32_t i = n - after; i < n; i++)
        vec_push(&out->at, (struct text_row){whole + i, hand + i, 0});
}

static void add_changed(struct text_rows *out, uint32_t whole, uint32_t wholes, uint32_t hand,
                        uint32_t hands, bool paired)
{
    uint32_t both = paired ? (wholes < hands ? wholes : hands) : 0;

    for (uint32_t i = 0; i < both; i++)
        vec_push(&out->at, (struct text_row){whole + i, hand + i, 0});
    for (uint32_t i = both; i < wholes; i++)
        vec_push(&out->at, (struct text_row){whole + i, NO_TEXT, 0});
    for (uint32_t i = both; i < hands; i++)
        vec_push(&out->at, (struct text_row){NO_TEXT, hand + i, 0});
}

void text_compare(const struct text_side *whole, const struct text_side *hand, bool paired,
                  struct text_rows *out)
{
    uint32_t n = line_count(whole), m = line_count(hand), i = 0, k = 0;
    uint32_t *to = match(whole, hand);

    out->at.n = 0;
    while (i < n || k < m) {
        uint32_t same = 0, gone = 0;
        while (i + same < n && to[i + same] == k + same)
            same++;
        if (same) {
            add_same(out, i, k, same, i == 0, i + same == n && k + same == m);
            i += same;
            k += same;
        }
        while (i + gone < n && to[i + gone] == NO_TEXT)
            gone++;
        uint32_t came = (i + gone < n ? to[i + gone] : m) - k;
        add_changed(out, i, gone, k, came, paired);
        i += gone;
        k += came;
    }
    free(to);
}
