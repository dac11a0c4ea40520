/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/demangle.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"

/* From the C++ ABI; <cxxabi.h> itself is for C++ only. */
char *__cxa_demangle(const char *mangled, char *out, size_t *size, int *status);

/* A name longer than this is not worth the demangler's time: its output can grow exponentially. */
enum { MANGLED_MAX = 4096 };

static bool ends_with(const char *s, size_t n, const char *suffix)
{
    size_t m = strlen(suffix);

    return n >= m && memcmp(s + n - m, suffix, m) == 0;
}

/* The length without what may follow a parameter list: qualifiers and "[clone .cold]". */
static size_t without_qualifiers(const char *s, size_t n)
{
    static const char *const qualifiers[] = {" const", " volatile", " &&", " &", " noexcept"};
    bool again = true;

    while (again) {
        again = false;
        for (size_t i = 0; i < sizeof qualifiers / sizeof *qualifiers; i++) {
            if (ends_with(s, n, qualifiers[i])) {
                n -= strlen(qualifiers[i]);
                again = true;
            }
        }
        const char *clone = n && s[n - 1] == ']' ? memrchr(s, '[', n) : NULL;
        if (clone && clone > s && strncmp(clone, "[clone ", 7) == 0) {
            n = (size_t)(clone - s) - (clone[-1] == ' ');
            again = true;
        }
    }
    return n;
}

/* Where the parameter list that ends at n begins, or n when there is none. */
static size_t parameters_begin(const char *s, size_t n)
{
    size_t depth = 0;

    if (n == 0 || s[n - 1] != ')')
        return n;
    for (size_t i = n; i-- > 0;) {
        if (s[i] == ')')
            depth++;
        else if (s[i] == '(' && --depth == 0)
            return i;
    }
    return n;
}

static bool is_operator_at(const char *s, size_t i, size_t n)
{
    static const char word[] = "operator";
    size_t m = sizeof word - 1;

    return n - i >= m && memcmp(s + i, word, m) == 0 && (i == 0 || strchr(": ", s[i - 1])) &&
           (i + m == n || !(isalnum((unsigned char)s[i + m]) || s[i + m] == '_'));
}

/* Where the name begins: after the return type that templates show. */
static size_t name_begin(const char *s, size_t n)
{
    size_t depth = 0, begin = 0;

    for (size_t i = 0; i < n; i++) {
        if (depth == 0 && is_operator_at(s, i, n))
            break;
        if (strchr("<({[", s[i]))
            depth++;
        else if (strchr(">)}]", s[i]) && depth)
            depth--;
        else if (s[i] == ' ' && depth == 0)
            begin = i + 1;
    }
    return begin;
}

char *demangle(const char *symbol)
{
    int status = 0;
    char *full = NULL;

    /* Only mangled functions: __cxa_demangle takes "i" for the type int. */
    if (strncmp(symbol, "_Z", 2) == 0 && strlen(symbol) <= MANGLED_MAX)
        full = __cxa_demangle(symbol, NULL, NULL, &status);
    if (!full)
        return xstrdup(symbol);

    size_t n = without_qualifiers(full, strlen(full));
    size_t end = parameters_begin(full, n);
    size_t begin = end < n ? name_begin(full, end) : 0;
    if (end == n || end == begin) { /* not a function, or of a shape that we do not take apart */
        begin = 0;
        end = strlen(full);
    }
    char *name = xstrndup(full + begin, end - begin);
    free(full);
    return name;
}
