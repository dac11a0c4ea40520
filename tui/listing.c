/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tui/listing.h"

#include <stdlib.h>
#include <string.h>

#include "tui/print.h"

bool listing_open(struct findings *f, const char *given, const struct listing_model *model,
                  struct error *e)
{
    struct findings_options options = {.model = model->posix, .stores = model->stores};
    char *path = command_session(given, e);
    bool ok = path && findings_open_as(f, path, &options, e);

    free(path);
    return ok;
}

bool listing_text(struct view *v, bool details, const char *nothing, struct error *e)
{
    struct print p;

    if (!print_begin(&p, stdout, e))
        return false;
    p.details = details;
    bool ok = print_view(&p, v, e);
    fflush(stdout); /* before any message, where both go to one terminal */
    if (ok && !p.rows)
        message("%s", v->ops->count(v) ? "nothing passes the filters" : nothing);
    return ok;
}

/* jansson escapes all controls but the delete character, which can only be inside a string. */
static int write_piece(const char *piece, size_t n, void *data)
{
    const char *del;

    while ((del = memchr(piece, '\x7f', n))) {
        fwrite(piece, 1, (size_t)(del - piece), data);
        fputs("\\u007f", data);
        n -= (size_t)(del - piece) + 1;
        piece = del + 1;
    }
    fwrite(piece, 1, n, data);
    return 0;
}

bool listing_json(struct view *v, listing_json_fn *object, struct error *e)
{
    bool ok = true, any = false;

    putchar('[');
    for (uint64_t at = 1; ok && !ferror(stdout); at++) {
        ok = v->ops->seek(v, &at, 1, e);
        if (!ok || !at)
            break;
        json_t *row = object(v, at, e);
        ok = row != NULL;
        if (!ok)
            break;
        fputs(any ? ",\n" : "\n", stdout);
        any = true;
        json_dump_callback(row, write_piece, stdout, JSON_COMPACT | JSON_ENSURE_ASCII);
        json_decref(row);
    }
    fputs("\n]\n", stdout);
    return ok;
}
