/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flotsam export: a part of the persistence graph as a picture, for a document, or as data.
 */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/subgraph.h"
#include "tui/commands.h"
#include "tui/listing.h"
#include "tui/options.h"
#include "views/export.h"

enum {
    OPTION_WHAT = OPTION_LONG,
    OPTION_FORMAT,
    OPTION_LIMIT,
    OPTION_TRANSITIVE,
    OPTION_MODEL,
    OPTION_STORES
};

/* A picture of more ops cannot be read on paper either, and takes dot long. */
enum { LIMIT = 300, LIMIT_MAX = 4000 };

static const struct command_option options[] = {
    {OPTION_WHAT, "what", "graph|behaviour:N|group:N|bug:N|op:N", "which part (default: graph)"},
    {OPTION_FORMAT, "format", "dot|svg|png|json",
     "how to write it (default: by FILE's suffix, else dot)"},
    {'o', "output", "FILE", "write it to a file, which is replaced as a whole"},
    {OPTION_LIMIT, "limit", "N", "ops at most (default: 300)"},
    {OPTION_TRANSITIVE, "transitive", NULL, "also the direct edges that others imply"},
    LISTING_MODEL_OPTIONS(OPTION_MODEL, OPTION_STORES),
    {0, NULL, NULL, NULL},
};

struct wish {
    const char *what, *format, *output;
    struct listing_model model;
    struct subgraph_options subgraph;
};

typedef bool part_fn(struct subgraph **out, struct findings *f, uint64_t number,
                     const struct subgraph_options *o, struct error *e);

static bool part_around(struct subgraph **out, struct findings *f, uint64_t op,
                        const struct subgraph_options *o, struct error *e)
{
    return subgraph_around(out, f, op, SUBGRAPH_HOPS, o, e);
}

static bool choose(struct subgraph **out, struct findings *f, const struct wish *w, struct error *e)
{
    static const struct {
        const char *prefix;
        part_fn *part;
    } parts[] = {
        {"behaviour:", subgraph_behaviour},
        {"group:", subgraph_group},
        {"bug:", subgraph_bug},
        {"op:", part_around},
    };

    if (!strcmp(w->what, "graph"))
        return subgraph_all(out, f, &w->subgraph, e);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t n = strlen(parts[i].prefix);
        char *end;
        if (strncmp(w->what, parts[i].prefix, n))
            continue;
        errno = 0;
        uint64_t number = strtoull(w->what + n, &end, 10);
        if (!isdigit((unsigned char)w->what[n]) || *end || errno)
            return error_set(e, "%s: what follows the colon is no number", w->what);
        return parts[i].part(out, f, number, &w->subgraph, e);
    }
    return error_set(e,
                     "--what is graph, behaviour:N, group:N, bug:N or op:N, not %s; flotsam "
                     "behaviours, groups, bugs and graph list them",
                     w->what);
}

static const struct export_format *find_format(const struct wish *w, struct error *e)
{
    if (w->format)
        return export_format_find(w->format, e);
    return w->output ? export_format_of(w->output, e) : export_format_find("dot", e);
}

static bool print(const struct subgraph *s, const struct export_format *format, struct error *e)
{
    struct buf bytes = {0};

    if (format->binary && isatty(STDOUT_FILENO))
        return error_set(e, "%s is nothing for a terminal; give a file with -o", format->name);
    bool ok = format->write(s, &bytes, e);
    if (ok)
        fwrite(buf_string(&bytes), 1, bytes.n, stdout);
    buf_free(&bytes);
    return ok;
}

static bool export(const char *session, const struct wish *w, struct error *e)
{
    const struct export_format *format = find_format(w, e);
    struct findings f = {0};
    struct subgraph *s = NULL;

    if (!format)
        return false;
    bool ok = listing_open(&f, session, &w->model, e) && choose(&s, &f, w, e);
    if (ok)
        ok = w->output ? export_file(s, w->output, format, e) : print(s, format, e);
    if (ok && s->left_out)
        message("%" PRIu64 " ops are left out: more than --limit %zu", s->left_out,
                w->subgraph.limit);
    subgraph_free(s);
    findings_close(&f);
    return ok;
}

static int run_export(int argc, char **argv)
{
    struct wish w = {.what = "graph", .subgraph = {.limit = LIMIT}};
    struct options o;
    struct error e;
    uint64_t limit;

    options_begin(&o, &command_export, argc, argv);
    while (options_next(&o)) {
        switch (o.id) {
        case OPTION_WHAT:
            w.what = o.value;
            break;
        case OPTION_FORMAT:
            if (options_choice(&o) >= 0)
                w.format = o.value;
            break;
        case 'o':
            w.output = o.value;
            break;
        case OPTION_LIMIT:
            if (options_number(&o, 1, LIMIT_MAX, &limit))
                w.subgraph.limit = (size_t)limit;
            break;
        case OPTION_TRANSITIVE:
            w.subgraph.transitive = true;
            break;
        case OPTION_MODEL:
            w.model.posix = o.value;
            break;
        case OPTION_STORES:
            if (options_choice(&o) >= 0)
                w.model.stores = o.value;
            break;
        }
    }
    if (o.ended || !options_count(&o, 0, 1))
        return o.status;
    return export(o.argc ? o.argv[0] : NULL, &w, &e) ? STATUS_DONE : command_failed(&e);
}

const struct command command_export = {
    .name = "export",
    .run = run_export,
    .takes = TAKES_SESSION,
    .usage = "[S] [--what graph|behaviour:N|group:N|bug:N|op:N] [--format dot|svg|png|json]\n"
             "                      [-o FILE]",
    .summary = "write a part of the graph as a picture or as data",
    .details = "A group is shown by its representative, a bug with what lies between what was\n"
               "lost and what survived, an op with what leads to it and from it. Syncs are nodes,\n"
               "behaviours frames; what others imply is left out. Lost ops are red and dashed,\n"
               "those that persisted green and solid.",
    .options = options,
};
