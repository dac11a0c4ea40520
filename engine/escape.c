/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/escape.h"

#include <langinfo.h>
#include <stdint.h>
#include <string.h>
#include <wchar.h>

enum { TAB_COLUMNS = 4, CODE_POINT_MAX = 0x10ffff };

int escape_locale(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") ? ESCAPE_ASCII : ESCAPE_UTF8;
}

/* Decodes one UTF-8 sequence of at most n bytes; returns its length, 0 when it is not valid. The
 * decoder is our own because mbrtowc reads the locale's encoding, and because overlong forms and
 * surrogates must be refused wherever we run. */
static size_t decode(const unsigned char *s, size_t n, uint32_t *code)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t length = s[0] < 0x80             ? 1
                    : (s[0] & 0xe0) == 0xc0 ? 2
                    : (s[0] & 0xf0) == 0xe0 ? 3
                    : (s[0] & 0xf8) == 0xf0 ? 4
                                            : 0;
    if (length == 0 || length > n)
        return 0;
    uint32_t c = length == 1 ? s[0] : s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    if (c < smallest[length] || c > CODE_POINT_MAX || (c >= 0xd800 && c <= 0xdfff))
        return 0;
    *code = c;
    return length;
}

/* Characters that are valid but cannot be seen, or that change how their neighbours are shown. */
static bool invisible(uint32_t c)
{
    static const struct {
        uint32_t first, last;
    } ranges[] = {
        {0x0000, 0x001f},   /* C0 controls */
        {0x007f, 0x009f},   /* delete, C1 controls */
        {0x00a0, 0x00a0},   /* no-break space looks like a space */
        {0x00ad, 0x00ad},   /* soft hyphen */
        {0x034f, 0x034f},   /* grapheme joiner */
        {0x061c, 0x061c},   /* Arabic letter mark */
        {0x115f, 0x1160},   /* Hangul fillers */
        {0x17b4, 0x17b5},   /* Khmer inherent vowels */
        {0x180b, 0x180f},   /* Mongolian selectors */
        {0x2000, 0x200f},   /* spaces of odd widths, zero-width characters, direction marks */
        {0x2028, 0x202f},   /* line and paragraph separators, bidirectional embeddings, overrides */
        {0x205f, 0x206f},   /* joiners, invisible operators, bidirectional isolates */
        {0x3164, 0x3164},   /* Hangul filler */
        {0xfdd0, 0xfdef},   /* noncharacters */
        {0xfe00, 0xfe0f},   /* variation selectors */
        {0xfeff, 0xfeff},   /* byte order mark */
        {0xffa0, 0xffa0},   /* half-width Hangul filler */
        {0xfff0, 0xfffb},   /* interlinear annotation */
        {0x1bca0, 0x1bca3}, /* shorthand format controls */
        {0x1d173, 0x1d17a}, /* musical format controls */
        {0xe0000, 0xe0fff}, /* tags, more variation selectors */
    };
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (c >= ranges[i].first && c <= ranges[i].last)
            return true;
    return (c & 0xfffe) == 0xfffe; /* the last two of every plane are noncharacters */
}

static void add_escaped(struct buf *b, uint32_t c)
{
    if (c == '\n')
        buf_text(b, "\\n");
    else if (c == '\t')
        buf_text(b, "\\t");
    else if (c == '\r')
        buf_text(b, "\\r");
    else if (c < 0x80)
        buf_printf(b, "\\x%02x", (unsigned)c);
    else
        buf_printf(b, c <= 0xffff ? "\\u%04x" : "\\U%08x", (unsigned)c);
}

static void add_ascii(struct buf *b, unsigned char c, int flags)
{
    if (c == '\n' && flags & ESCAPE_KEEP_NEWLINES)
        buf_char(b, '\n');
    else if (c == '\t' && flags & ESCAPE_KEEP_NEWLINES)
        buf_printf(b, "%*s", TAB_COLUMNS, "");
    else if (c == '\\' && flags & ESCAPE_REVERSIBLE)
        buf_text(b, "\\\\");
    else if (c < 0x20 || c == 0x7f)
        add_escaped(b, c);
    else
        buf_char(b, (char)c);
}

/* Adds the spaces that bytes + at begins with, and returns how many there are. Where a name of a
 * path begins or ends with them, nobody would see them. */
static size_t add_spaces(struct buf *b, const char *bytes, size_t at, size_t n)
{
    size_t end = at;
    while (end < n && bytes[end] == ' ')
        end++;
    bool is_edge = at == 0 || bytes[at - 1] == '/' || end == n || bytes[end] == '/';
    for (size_t i = at; i < end; i++)
        buf_text(b, is_edge ? "\\x20" : " ");
    return end - at;
}

void escape_add(struct buf *b, const char *bytes, size_t n, int flags)
{
    const unsigned char *s = (const unsigned char *)bytes;
    for (size_t i = 0; i < n;) {
        uint32_t c;
        size_t length = decode(s + i, n - i, &c);
        if (length == 0)
            buf_printf(b, "\\x%02x", s[i++]);
        else if (c == ' ' && flags & ESCAPE_NAME)
            i += add_spaces(b, bytes, i, n);
        else if (length == 1)
            add_ascii(b, s[i++], flags);
        else {
            /* A character that the locale does not know has no width that we could count on. */
            bool shown = flags & ESCAPE_UTF8 && !invisible(c) && wcwidth((wchar_t)c) >= 0;
            if (shown)
                buf_add(b, bytes + i, length);
            else
                add_escaped(b, c);
            i += length;
        }
    }
}

char *escape_text(const char *text)
{
    struct buf b = {0};
    buf_text(&b, "");
    escape_add(&b, text, strlen(text), escape_locale());
    return b.at;
}

char *escape_zeros(const char *bytes, size_t n)
{
    enum { FEW = 3 };
    struct buf b = {0};
    buf_text(&b, "");
    for (size_t i = 0; i < n;) {
        size_t from = i;
        while (i < n && bytes[i])
            i++;
        buf_add(&b, bytes + from, i - from);
        from = i;
        while (i < n && !bytes[i])
            i++;
        if (i - from > FEW)
            buf_printf(&b, "[%zu zero bytes]", i - from);
        for (; i - from <= FEW && from < i; from++)
            buf_text(&b, "\\0");
    }
    return b.at;
}

static int width_of(uint32_t c)
{
    int width = c < 0x80 ? 1 : wcwidth((wchar_t)c);
    return width < 0 ? 1 : width;
}

int escape_width(const char *safe)
{
    const unsigned char *s = (const unsigned char *)safe;
    size_t n = strlen(safe);
    int width = 0;
    for (size_t i = 0; i < n;) {
        uint32_t c = ' ';
        size_t length = decode(s + i, n - i, &c);
        width += width_of(c);
        i += length ? length : 1;
    }
    return width;
}

size_t escape_fitting(const char *safe, int width)
{
    enum { SEQUENCE_MAX = 4 }; /* bytes of one character */
    size_t i = 0;
    while (safe[i]) {
        uint32_t c = ' ';
        const unsigned char *s = (const unsigned char *)safe + i;
        size_t length = decode(s, strnlen(safe + i, SEQUENCE_MAX), &c);
        width -= width_of(c);
        if (width < 0)
            break;
        i += length ? length : 1;
    }
    return i;
}

void escape_cut(struct buf *b, const char *safe, int width, int flags)
{
    const char *ellipsis = flags & ESCAPE_UTF8 ? "…" : "..";
    int room = width - (flags & ESCAPE_UTF8 ? 1 : 2);
    size_t all = escape_fitting(safe, width);
    if (safe[all] == '\0')
        buf_text(b, safe);
    else if (room < 0)
        buf_add(b, safe, all);
    else {
        buf_add(b, safe, escape_fitting(safe, room));
        buf_text(b, ellipsis);
    }
}

void escape_cut_middle(struct buf *b, const char *safe, int width, int flags)
{
    const char *ellipsis = flags & ESCAPE_UTF8 ? "…" : "..";
    int room = width - (flags & ESCAPE_UTF8 ? 1 : 2);

    if (safe[escape_fitting(safe, width)] == '\0' || room < 2) {
        escape_cut(b, safe, width, flags);
        return;
    }
    int head = room / 2, tail = room - head;
    const char *end = safe + escape_fitting(safe, escape_width(safe) - tail);
    if (escape_width(end) > tail) /* a wide character lies across the cut */
        end += escape_fitting(end, 2);
    buf_add(b, safe, escape_fitting(safe, head));
    buf_text(b, ellipsis);
    buf_text(b, end);
}

void escape_xml(struct buf *b, const char *safe)
{
    for (; *safe; safe++) {
        switch (*safe) {
        case '&':
            buf_text(b, "&amp;");
            break;
        case '<':
            buf_text(b, "&lt;");
            break;
        case '>':
            buf_text(b, "&gt;");
            break;
        case '"':
            buf_text(b, "&quot;");
            break;
        default:
            buf_char(b, *safe);
        }
    }
}
