/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Code addresses: which function they are in, what that was found to store, and what its callers
 * say of the arguments.
 */
#include "engine/types.h"

#include <stdlib.h>
#include <string.h>

#include "engine/clock.h"
#include "engine/demangle.h"
#include "engine/mem.h"
#include "engine/types_inside.h"

enum {
    CALLERS_MAX = 8, /* frames that are asked for one store */
    LIBRARY = 1,     /* id of all sites in code that is not known: their callers decide */
};

const char *type_confidence_name(enum type_confidence c)
{
    static const char *const names[] = {"unknown", "address", "field", "exact"};

    return names[c];
}

/* --- Opening and closing -------------------------------------------------------------------- */

struct types *types_open(types_binary *binary_of, void *data)
{
    struct types *t = xcalloc(1, sizeof *t);

    t->binary_of = binary_of;
    t->data = data;
    return t;
}

static void close_flow(const void *key, size_t size, uint64_t value, void *data)
{
    struct flow *f = (struct flow *)(uintptr_t)value;

    (void)key;
    (void)size;
    (void)data;
    if (f)
        flow_free(f);
    free(f);
}

static void close_module(const void *key, size_t size, uint64_t value, void *data)
{
    struct module *m = (struct module *)(uintptr_t)value;

    (void)key;
    (void)size;
    (void)data;
    map_each(&m->flows, close_flow, NULL);
    map_free(&m->flows);
    scopes_close(m->scopes);
    type_info_close(m->info);
}

void types_close(struct types *t)
{
    if (!t)
        return;
    map_each(&t->modules, close_module, NULL);
    map_free_owned(&t->modules);
    map_free_owned(&t->sites);
    map_free_owned(&t->paths);
    map_free_owned(&t->known);
    map_free(&t->canonical);
    map_free(&t->names);
    objects_free(&t->objects);
    free(t);
}

struct type_cost types_cost(const struct types *t)
{
    return t->cost;
}

/* --- Names and identity --------------------------------------------------------------------- */

const char *types_intern(struct types *t, const char *text)
{
    bool added;
    uint64_t *value = map_put(&t->paths, text, strlen(text), &added);

    if (added)
        *value = (uint64_t)(uintptr_t)xstrdup(text);
    return (const char *)(uintptr_t)*value;
}

struct type *types_canonical(struct types *t, struct type *type)
{
    bool added;

    if (!type)
        return NULL;
    uint64_t *known = map_put(&t->canonical, &type, sizeof type, &added);
    if (added) {
        struct buf key = {0};
        buf_printf(&key, "%d %llu %s", (int)type->kind, (unsigned long long)type->size,
                   type_name(type));
        bool first;
        uint64_t *stands = map_put(&t->names, key.at, key.n, &first);
        struct type *other = (struct type *)(uintptr_t)*stands;
        if (first)
            *stands = (uint64_t)(uintptr_t)type;
        *known = (uint64_t)(uintptr_t)(!first && type_same(other, type) ? other : type);
        buf_free(&key);
    }
    return (struct type *)(uintptr_t)*known;
}

void types_describe(struct types *t, const struct type_spot *spot, struct type_site *out)
{
    out->type = types_canonical(t, spot->holder);
    out->field = types_canonical(t, spot->field);
    out->outer = types_canonical(t, spot->outer);
    out->offset = spot->offset;
    out->member = spot->member;
    out->type_offset = spot->holder_offset;
    out->instance_known = spot->holder_known;
    out->outer_known = spot->outer_known;
    out->path = types_intern(t, buf_string(&spot->path));
}

/* --- Functions ------------------------------------------------------------------------------ */

static struct module *module_of(struct types *t, uint32_t number)
{
    bool added;
    uint64_t *value = map_put(&t->modules, &number, sizeof number, &added);

    if (added) {
        struct module *m = xcalloc(1, sizeof *m);
        *value = (uint64_t)(uintptr_t)m;
        m->binary = t->binary_of(t->data, number);
        if (m->binary) {
            m->info = type_info_open(m->binary);
            m->scopes = scopes_open(m->info, m->binary);
        }
    }
    return (struct module *)(uintptr_t)*value;
}

/* What was found out about the function at an address; NULL when nothing can be. */
static const struct flow *flow_of(struct types *t, uint32_t module, uint64_t address)
{
    struct module *m = module_of(t, module);
    const void *function = m->binary ? scopes_function(m->scopes, address) : NULL;
    struct scope f;
    bool added;

    if (!function)
        return NULL;
    uint64_t *known = map_put(&m->flows, &function, sizeof function, &added);
    if (added) {
        struct flow *flow = xcalloc(1, sizeof *flow);
        t->cost.functions++;
        *known = (uint64_t)(uintptr_t)flow;
        if (!scopes_find(m->scopes, address, &f) || !flow_run(flow, m->scopes, m->binary, &f)) {
            flow_free(flow);
            *flow = (struct flow){0};
        }
        scope_free(&f);
    }
    return (const struct flow *)(uintptr_t)*known;
}

/* --- Copies --------------------------------------------------------------------------------- */

/* Functions that write to where one argument says, as many bytes as another. */
static bool is_copy(const char *name, int *to, int *length)
{
    static const struct {
        const char *name; /* a beginning, when it ends in * */
        int to, length;   /* arguments; −1 when none says how many bytes */
    } table[] = {
        {"memcpy", 0, 2},          {"memmove", 0, 2},
        {"memset", 0, 2},          {"mempcpy", 0, 2},
        {"__memcpy_chk", 0, 2},    {"__memmove_chk", 0, 2},
        {"__memset_chk", 0, 2},    {"__mempcpy_chk", 0, 2},
        {"bzero", 0, 1},           {"explicit_bzero", 0, 1},
        {"bcopy", 1, 2},           {"strcpy", 0, -1},
        {"stpcpy", 0, -1},         {"strncpy", 0, 2},
        {"stpncpy", 0, 2},         {"__strcpy_chk", 0, -1},
        {"__strncpy_chk", 0, 2},   {"sprintf", 0, -1},
        {"snprintf", 0, -1},       {"__sprintf_chk", 0, -1},
        {"__snprintf_chk", 0, -1}, {"pmem_memcpy*", 0, 2},
        {"pmem_memmove*", 0, 2},   {"pmem_memset*", 0, 2},
        {"pmemobj_memcpy*", 1, 3}, {"pmemobj_memmove*", 1, 3},
        {"pmemobj_memset*", 1, 3}, {"__memcpy_*", 0, 2},
        {"__memmove_*", 0, 2},     {"__memset_*", 0, 2},
    };

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        size_t n = strlen(table[i].name);
        bool open = table[i].name[n - 1] == '*';
        if (open ? strncmp(name, table[i].name, n - 1) != 0 : strcmp(name, table[i].name) != 0)
            continue;
        *to = table[i].to;
        *length = table[i].length;
        return true;
    }
    return false;
}

/* --- Sites ---------------------------------------------------------------------------------- */

static void set_form(struct types *t, struct site *s, struct value to)
{
    struct type_spot spot;
    uint64_t size = s->copy ? 1 : s->is.size;

    s->to = to;
    if (spot_of_value(&to, size, s->copy ? FIT_ANY : s->part ? FIT_PART : FIT_WHOLE, &spot)) {
        types_describe(t, &spot, &s->is);
        spot_free(&spot);
    }
    s->argument = value_argument(&to, &s->rest);
    s->ask_caller = s->argument >= 0;
}

/* Frame 0: the store itself. */
static void find_store(struct types *t, struct site *s, uint32_t module, uint64_t address)
{
    const struct flow *f = flow_of(t, module, address);
    const struct flow_store *store = f ? flow_store_at(f, address) : NULL;

    s->module = module;
    s->entry = f ? f->entry : 0;
    if (!f || f->stores.n + f->calls.n == 0) { /* code without debug info: its caller may know */
        s->copy = s->ask_caller = true;
        s->id = LIBRARY;
        return;
    }
    if (!store)
        return;
    s->is.found = true;
    s->is.size = store->size;
    s->part = store->part;
    s->copy = store->repeated;
    set_form(t, s, store->to);
}

/* The name of the function that a call site calls; an indirect one within a static binary has it
 * only from where the callee really is. */
static char *called(struct types *t, const struct flow_call *call, const struct frame *callee)
{
    struct module *m = module_of(t, callee->module);

    if (call->callee)
        return xstrdup(call->callee);
    return m->binary ? binary_symbol(m->binary, callee->address - 1) : NULL;
}

/* Whether the call is that of the function that the site is in. A function that was left by a jump
 * to another has no frame: its caller's arguments are not those of the other. */
static bool calls_into(struct types *t, const struct flow_call *call, uint32_t module,
                       const struct site *above)
{
    if (!above->entry)
        return false;
    if (call->target == above->entry && module == above->module)
        return true;
    struct module *m = module_of(t, above->module);
    char *name = call->callee ? binary_symbol(m->binary, above->entry) : NULL;
    char *wanted = name ? demangle(call->callee) : NULL;
    bool same = wanted && strcmp(name, wanted) == 0;
    free(name);
    free(wanted);
    return same;
}

/* A caller's frame: what it passes. */
static void find_call(struct types *t, struct site *s, const struct site *above,
                      const struct frame *frame, const struct frame *callee)
{
    const struct flow *f = flow_of(t, frame->module, frame->address - 1);
    const struct flow_call *call = f ? flow_call_before(f, frame->address) : NULL;
    int to = above->argument, length = -1;

    s->is = above->is;
    s->to = above->to;
    s->copy = above->copy;
    s->part = above->part;
    s->length = above->length;
    if (!f && to < 0) { /* a library within a library */
        s->ask_caller = true;
        s->id = LIBRARY;
        return;
    }
    s->module = frame->module;
    s->entry = f ? f->entry : 0;
    if (!call || (to >= 0 && !calls_into(t, call, frame->module, above)))
        return;
    struct value rest = above->rest;
    if (to < 0) {
        char *name = called(t, call, callee);
        bool copy = name && is_copy(name, &to, &length);
        free(name);
        if (!copy)
            return;
        rest = value_number(0);
        int64_t bytes;
        if (length >= 0 && value_is_number(&call->arguments[length], &bytes) && bytes > 0)
            s->length = (uint64_t)bytes;
    }
    for (int i = 0; i < rest.n; i++)
        rest.terms[i].symbol = SYMBOL_ANY; /* the callee's symbols mean nothing here */
    struct type_site before = s->is;
    set_form(t, s, value_add(call->arguments[to], rest, SYMBOL_ANY));
    /* When both say something the caller must agree, and then knows more of what is around. */
    if (before.type && (s->is.type != before.type || s->is.offset != before.offset))
        s->is = before;
}

static struct site *site_below(struct types *t, uint64_t above, const struct frame *frame,
                               bool *added)
{
    struct {
        uint64_t above, module, address;
    } key = {above, frame->module, frame->address};
    uint64_t *value = map_put(&t->sites, &key, sizeof key, added);

    if (*added) {
        struct site *s = xcalloc(1, sizeof *s);
        s->id = LIBRARY + ++t->site_count;
        s->is.path = "";
        s->to = value_symbol(SYMBOL_ANY);
        s->argument = -1;
        *value = (uint64_t)(uintptr_t)s;
    }
    return (struct site *)(uintptr_t)*value;
}

const struct site *types_find_site(struct types *t, const struct frame *frames, size_t n)
{
    static const struct site nowhere = {.is = {.path = ""}, .to = {.argument = -1}};
    const struct site *above = &nowhere;

    for (size_t i = 0; i < n && i < CALLERS_MAX; i++) {
        bool added;
        struct site *s = site_below(t, above->id, &frames[i], &added);
        if (added) {
            uint64_t begin = clock_now();
            if (i == 0)
                find_store(t, s, frames[0].module, frames[0].address);
            else
                find_call(t, s, above, &frames[i], &frames[i - 1]);
            t->cost.addresses++;
            t->cost.nanoseconds += clock_now() - begin;
        }
        above = s;
        if (!s->ask_caller)
            break;
    }
    return above;
}
