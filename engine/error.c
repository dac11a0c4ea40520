/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool error_set(struct error *e, const char *format, ...)
{
    if (!e)
        return false;
    va_list args;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    return false;
}

bool error_errno(struct error *e, const char *format, ...)
{
    int saved = errno;
    if (!e)
        return false;
    va_list args;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    size_t n = strlen(e->text);
    snprintf(e->text + n, sizeof e->text - n, ": %s", strerror(saved));
    errno = saved;
    return false;
}

bool error_prefix(struct error *e, const char *format, ...)
{
    if (!e)
        return false;
    struct error inner = *e;
    va_list args;
    va_start(args, format);
    vsnprintf(e->text, sizeof e->text, format, args);
    va_end(args);
    size_t n = strlen(e->text);
    snprintf(e->text + n, sizeof e->text - n, ": %.*s", (int)(sizeof e->text - n - 3), inner.text);
    return false;
}
