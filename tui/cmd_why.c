/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * flotsam why: why two behaviours are, or are not, in one group. flotsam why-op: why one op must
 * persist before another, or that it need not.
 */
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tui/commands.h"
#include "tui/listing.h"
#include "tui/options.h"
#include "views/why.h"
#include "views/why_op.h"

enum { OPTION_MODEL = OPTION_LONG, OPTION_STORES };

static const struct command_option options[] = {
    LISTING_MODEL_OPTIONS(OPTION_MODEL, OPTION_STORES),
    {0, NULL, NULL, NULL},
};

/* Two things that are numbered from 0, and what they are. */
struct pair {
    const char *thing, *lister;
    size_t count;
    uint32_t a, b;
};

static bool read_one(const struct pair *p, const char *text, uint32_t *number, struct error *e)
{
    char *end;
    errno = 0;
    unsigned long long n = strtoull(text, &end, 10);
    if (!isdigit((unsigned char)*text) || *end || errno)
        return error_set(e, "%s is no number of %s %s; %s lists them", text,
                         *p->thing == 'o' ? "an" : "a", p->thing, p->lister);
    if (n >= p->count)
        return error_set(e, "there is no %s %s; %s lists the %zu there are", p->thing, text,
                         p->lister, p->count);
    *number = (uint32_t)n;
    return true;
}

static bool read_pair(struct pair *p, char **argv, struct error *e)
{
    if (!read_one(p, argv[0], &p->a, e) || !read_one(p, argv[1], &p->b, e))
        return false;
    return p->a != p->b || error_set(e, "%s %s and %s are the same", p->thing, argv[0], argv[1]);
}

/* Of two arguments the first is A: but where it cannot be, it is the session, and B is missing. */
static bool is_complete(const struct command *command, const struct options *o, struct error *e)
{
    if (o->argc != 2 || !o->argv[0][strspn(o->argv[0], "0123456789")])
        return true;
    return error_set(e, "%s takes two numbers, and only %s follows %s; say: flotsam %s [S] A B",
                     command->name, o->argv[1], o->argv[0], command->name);
}

typedef bool open_fn(struct view **out, struct findings *f, char **argv, struct error *e);

static int run(const struct command *command, open_fn *open, int argc, char **argv)
{
    struct options o;
    struct findings f = {0};
    struct error e;
    struct view *v;
    struct listing_model model = {0};

    options_begin(&o, command, argc, argv);
    while (options_next(&o)) {
        if (o.id == OPTION_MODEL)
            model.posix = o.value;
        else if (options_choice(&o) >= 0)
            model.stores = o.value;
    }
    if (o.ended || !options_count(&o, 2, 3))
        return o.status;
    bool ok = is_complete(command, &o, &e) &&
              listing_open(&f, o.argc == 3 ? o.argv[0] : NULL, &model, &e) &&
              open(&v, &f, o.argv + o.argc - 2, &e);
    if (ok) {
        ok = listing_text(v, true, "there is nothing to say", &e);
        v->ops->close(v);
    }
    findings_close(&f);
    return ok ? STATUS_DONE : command_failed(&e);
}

static bool open_why(struct view **out, struct findings *f, char **argv, struct error *e)
{
    struct pair p = {"behaviour", "flotsam behaviours", f->analysis->behaviours->n, 0, 0};
    return read_pair(&p, argv, e) && findings_group(f, e) &&
           why_view(out, f->analysis, f->groups, p.a, p.b, e);
}

static int run_why(int argc, char **argv)
{
    return run(&command_why, open_why, argc, argv);
}

const struct command command_why = {
    .name = "why",
    .run = run_why,
    .takes = TAKES_SESSION,
    .usage = "[S] A B [--model NAME] [--stores NAME]",
    .summary = "say why two behaviours are, or are not, in one group",
    .details = "A and B are numbers that flotsam behaviours lists. Their ops are shown side by\n"
               "side, each by its event, with a = where one matches the other; then the order\n"
               "that each side has, and what follows from it.",
    .options = options,
};

static bool open_why_op(struct view **out, struct findings *f, char **argv, struct error *e)
{
    struct pair p = {"op", "flotsam graph", f->analysis->graph->n, 0, 0};
    return read_pair(&p, argv, e) && why_op_view(out, f->analysis, p.a, p.b, e);
}

static int run_why_op(int argc, char **argv)
{
    return run(&command_why_op, open_why_op, argc, argv);
}

const struct command command_why_op = {
    .name = "why-op",
    .run = run_why_op,
    .takes = TAKES_SESSION,
    .usage = "[S] A B [--model NAME] [--stores NAME]",
    .summary = "say why one op must persist before another, or that it need not",
    .details = "A and B are numbers that flotsam graph lists. When A must persist before B, the\n"
               "ops that lead from one to the other are shown, each with the rule that makes it\n"
               "wait; otherwise why a crash may lose A and keep B.",
    .options = options,
};
