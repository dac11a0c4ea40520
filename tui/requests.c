/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/requests.h"

#include <stdlib.h>
#include <string.h>

#include "engine/mem.h"
#include "engine/nearest.h"

static const struct request_info table[] = {
#define X(id, name, keys, arguments, section, help)                                                \
    [REQUEST_##id] = {name, keys, arguments, help, SECTION_##section, do_##id},
    REQUESTS(X)
#undef X
};

const struct request_info *request_info(enum request r)
{
    return &table[r];
}

const char *request_section_title(enum request_section s)
{
    static const char *const titles[] = {
#define X(id, title) [SECTION_##id] = title,
        REQUEST_SECTIONS(X)
#undef X
    };
    return titles[s];
}

static enum request unknown(const char *name, size_t n, struct error *e)
{
    char *given = xstrndup(name, n);
    struct nearest near = {.name = given};

    for (int r = 0; r < REQUEST_COUNT; r++)
        nearest_offer(&near, table[r].name);
    if (near.best)
        error_set(e, "no command is called %s; did you mean %s?", given, near.best);
    else
        error_set(e, "no command is called %s; help lists them", given);
    free(given);
    return REQUEST_COUNT;
}

enum request request_find(const char *name, size_t n, struct error *e)
{
    enum request begins = REQUEST_COUNT;
    int fitting = 0;

    for (int r = 0; r < REQUEST_COUNT; r++) {
        if (strncmp(table[r].name, name, n) != 0)
            continue;
        if (!table[r].name[n])
            return (enum request)r;
        begins = (enum request)r;
        fitting++;
    }
    if (n && fitting == 1)
        return begins;
    if (n && fitting > 1) {
        error_set(e, "%.*s could be %d commands; Tab lists them", (int)n, name, fitting);
        return REQUEST_COUNT;
    }
    return unknown(name, n, e);
}
