/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/graphviz.h"

#include <locale.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/escape.h"
#include "engine/mem.h"

/* The library's state is the process's, and its messages come by a function without an argument: so
 * the lock and what it guards are the process's too. */
static pthread_mutex_t inside = PTHREAD_MUTEX_INITIALIZER;
static struct buf complaints;

/* One context for good: the plugin that measures text remembers a font of the last one, and looks
 * at it in the next, though gvFreeContext() has freed it. */
static GVC_t *context;

enum { COMPLAINTS_MAX = 512 };

static int catch_complaint(char *text)
{
    size_t n = strlen(text);
    if (complaints.n + n <= COMPLAINTS_MAX)
        buf_add(&complaints, text, n);
    return 0;
}

void graphviz_enter(struct graphviz *z)
{
    pthread_mutex_lock(&inside);
    locale_t plain = newlocale(LC_NUMERIC_MASK, "C", duplocale(uselocale((locale_t)0)));
    z->outside = uselocale(plain);
    agseterrf(catch_complaint);
    if (!context)
        context = gvContext();
    z->context = context;
}

void graphviz_leave(struct graphviz *z)
{
    agseterrf(NULL);
    buf_free(&complaints);
    freelocale(uselocale(z->outside));
    pthread_mutex_unlock(&inside);
}

/* Only what it could not do is an error; what it merely mentions is nobody's business. */
static bool failed(const char *what, struct error *e)
{
    while (complaints.n && complaints.at[complaints.n - 1] == '\n')
        complaints.n--;
    return error_set(e, "Graphviz cannot %s: %.*s", what, (int)complaints.n,
                     complaints.n ? complaints.at : "");
}

bool graphviz_lay_out(struct graphviz *z, Agraph_t *g, struct error *e)
{
    buf_clear(&complaints);
    return gvLayout(z->context, g, "dot") == 0 || failed("lay the graph out", e);
}

bool graphviz_render(struct graphviz *z, Agraph_t *g, const char *format, struct buf *out,
                     struct error *e)
{
    char *bytes = NULL;
    unsigned n = 0;

    if (!graphviz_lay_out(z, g, e))
        return false;
    buf_clear(&complaints);
    bool ok = gvRenderData(z->context, g, format, &bytes, &n) == 0 && bytes && n;
    if (ok)
        buf_add(out, bytes, n);
    else
        failed("draw the graph", e);
    if (bytes)
        gvFreeRenderData(bytes);
    gvFreeLayout(z->context, g);
    return ok;
}

void graphviz_set(void *thing, const char *name, const char *value)
{
    /* The library takes char * where it means const char *. */
    agsafeset(thing, (char *)(uintptr_t)name, (char *)(uintptr_t)value, (char *)(uintptr_t) "");
}

void graphviz_setf(void *thing, const char *name, const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    int n = vasprintf(&text, format, args);
    va_end(args);
    if (n < 0)
        return;
    graphviz_set(thing, name, text);
    free(text);
}

void graphviz_add_text(struct buf *out, const char *bytes)
{
    struct buf safe = {0};

    escape_add(&safe, bytes, strlen(bytes), escape_locale());
    for (const char *c = buf_string(&safe); *c; c++) {
        if (*c == '\\')
            buf_char(out, '\\');
        if (*c == '&')
            buf_text(out, "&amp;");
        else
            buf_char(out, *c);
    }
    buf_free(&safe);
}
