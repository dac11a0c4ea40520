/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/analysis.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "engine/bits.h"
#include "engine/calls.h"
#include "engine/graph_session.h"
#include "engine/map.h"
#include "engine/vec.h"

/* Call paths of stacks, from the outermost function to the innermost, made when asked for. */
struct path_table {
    struct session *session;
    struct symbols *symbols;
    struct map names; /* function key → place in texts, plus 1 */
    vec_of(const char *) texts;
    vec_of(struct call_frame) frames; /* of the path asked for last */
};

static uint64_t text_key(const char *a, const char *b, uint64_t number)
{
    XXH64_hash_t key = XXH3_64bits(a, strlen(a));
    key = XXH3_64bits_withSeed(b, strlen(b), key);
    key = XXH3_64bits_withSeed(&number, sizeof number, key);
    return key ? key : 1; /* 0 means none */
}

static uint64_t function_key(struct path_table *t, const struct location *l)
{
    uint64_t key = text_key(l->function, l->file, 0);
    bool added;
    uint64_t *place = map_put(&t->names, &key, sizeof key, &added);
    if (added) {
        vec_push(&t->texts, l->function);
        *place = t->texts.n;
    }
    return key;
}

static size_t path_of(void *data, uint32_t stack, const struct call_frame **out)
{
    struct path_table *t = data;
    const struct frame *frames;
    size_t n = session_stack(t->session, stack, &frames);
    t->frames.n = 0;
    for (size_t i = n; i-- > 0;) {
        const struct location *locations;
        size_t count = symbols_frame(t->symbols, &frames[i], &locations);
        for (size_t k = count; k-- > 0;) {
            const struct location *l = &locations[k];
            struct call_frame frame = {.function = function_key(t, l)};
            uint64_t where = l->flags & LOCATION_LINE ? l->line : frames[i].address;
            frame.site = text_key(l->file, l->function, where);
            frame.flags = location_has_source(l) ? CALLTREE_SOURCE : 0;
            frame.flags |= l->flags & LOCATION_SYSTEM ? CALLTREE_SYSTEM : 0;
            vec_push(&t->frames, frame);
        }
    }
    *out = t->frames.at;
    return t->frames.n;
}

static bool find_actions(struct analysis *a, const struct interrupt *interrupt, struct error *e)
{
    vec_of(struct action) actions = {0};
    for (uint64_t n = 1; n <= session_event_count(a->session); n++) {
        struct event event;
        size_t count;
        uint32_t first = graph_event_ops(a->graph, n, &count);
        if (!session_event(a->session, n, &event, e) ||
            (n % INTERRUPT_EVERY == 0 && !interrupt_go_on(interrupt, e))) {
            vec_free(&actions);
            return false;
        }
        if (!count && (!call_is_sync(event.call) || (event.traits & EVENT_FAILED)))
            continue;
        vec_push(&actions, (struct action){n, event.thread, event.stack, first, (uint32_t)count,
                                           event.call, event_syncs(&event)});
    }
    a->actions = actions.at;
    a->action_count = actions.n;
    return true;
}

/* ---- objects ---- */

static uint64_t object_key(uint64_t a, uint64_t b)
{
    uint64_t key[] = {a, b};
    XXH64_hash_t hash = XXH3_64bits(key, sizeof key);
    return hash ? hash : 1;
}

/* A key for a type, under which its name is found like a function's. */
static uint64_t type_key(struct analysis *a, uint32_t type)
{
    const char *name = fields_type_name(a->fields, type);
    uint64_t key = text_key("type", name, fields_type_size(a->fields, type));
    bool added;
    uint64_t *place = map_put(&a->paths->names, &key, sizeof key, &added);
    if (added) {
        vec_push(&a->paths->texts, name);
        *place = a->paths->texts.n;
    }
    return key;
}

/* Stores to objects that are known by type and place; others go by their call paths. */
static bool find_objects(struct analysis *a, const struct interrupt *interrupt, struct error *e)
{
    if (!fields_open(&a->fields, a->session, a->symbols, interrupt, e))
        return false;
    for (size_t i = 0; i < a->action_count; i++)
        a->store_count += a->actions[i].call == CALL_STORE;
    if (!fields_count(a->fields))
        return true;
    a->objects = xcalloc(a->action_count + 1, sizeof *a->objects);
    for (size_t i = 0; i < a->action_count; i++) {
        const struct stored_field *f = fields_of(a->fields, a->actions[i].event);
        a->typed_count += a->actions[i].call == CALL_STORE && f && f->type;
        if (!f || !f->type || !f->instance || !a->actions[i].op_count)
            continue;
        struct action_object *o = &a->objects[i];
        uint32_t file = a->graph->ops[a->actions[i].first_op].file;
        o->type = type_key(a, f->type);
        o->instance = object_key(file, f->instance);
        o->field = object_key(o->type, f->member);
        if (f->outer && f->outer_instance) {
            o->outer_type = type_key(a, f->outer);
            o->outer_instance = object_key(file, f->outer_instance);
        }
    }
    return true;
}

/* ---- directory entries ---- */

/* Keys of the entries that name ops change. Few ops are such, so only theirs are kept: the key of
 * an op has the place that its bit has among those set. */
struct name_entries {
    uint64_t *is_name;
    uint32_t *before; /* bits set before each word of is_name */
    vec_of(uint64_t) keys;
};

static void free_entries(struct name_entries *n)
{
    if (!n)
        return;
    free(n->is_name);
    free(n->before);
    vec_free(&n->keys);
    free(n);
}

static uint64_t entry_key(void *data, uint32_t op)
{
    const struct name_entries *n = ((const struct analysis *)data)->entries;
    uint64_t earlier = n->is_name[op / 64] & ((UINT64_C(1) << (op % 64)) - 1);
    return n->keys.at[n->before[op / 64] + (uint32_t)__builtin_popcountll(earlier)];
}

static bool find_entries(struct analysis *a, struct error *e)
{
    const struct graph *g = a->graph;
    struct name_entries *n = xcalloc(1, sizeof *n);
    n->is_name = xcalloc(bits_words(g->n) + 1, sizeof *n->is_name);
    n->before = xcalloc(bits_words(g->n) + 1, sizeof *n->before);
    for (size_t i = 0; i < g->n; i++) {
        struct event event;
        if (i % 64 == 0)
            n->before[i / 64] = (uint32_t)n->keys.n;
        if (g->ops[i].kind != OP_NAME)
            continue;
        if (!session_event(a->session, g->ops[i].event, &event, e)) {
            free_entries(n);
            return false;
        }
        bool renames = event.call == CALL_RENAME && event.other_dir;
        uint32_t entry[] = {renames ? event.other_dir : event.dir,
                            renames ? event.other_name : event.name};
        bits_add(n->is_name, i);
        vec_push(&n->keys, XXH3_64bits(entry, sizeof entry));
    }
    a->entries = n;
    return true;
}

/* ---- the whole ---- */

static bool build_graph(struct analysis *a, const struct analysis_options *options, struct error *e)
{
    if (!graph_session_open(&a->source, a->session, e))
        return false;
    struct graph_source source = *graph_session_source(a->source);
    source.fixes = options->fixes;
    source.fix_count = options->fix_count;
    source.interrupt = options->interrupt;
    return graph_build(&a->graph, &options->model, &source, e);
}

static uint32_t setting(struct session *s, const char *key, uint32_t otherwise)
{
    const char *text = session_meta(s, key);
    unsigned long long number = text ? strtoull(text, NULL, 10) : 0;
    return number && number <= UINT32_MAX ? (uint32_t)number : otherwise;
}

struct behaviour_options analysis_behaviours(struct session *s)
{
    return (struct behaviour_options){.max = setting(s, "behaviour_max", BEHAVIOUR_MAX),
                                      .gap = setting(s, "gap", BEHAVIOUR_GAP)};
}

static bool find_behaviours(struct analysis *a, const struct analysis_options *options,
                            struct error *e)
{
    struct behaviour_options behaviours = options->behaviours;
    behaviours.interrupt = options->interrupt;
    behaviours.objects = a->objects;
    behaviours.graph = a->graph;
    return behaviours_find(&a->behaviours, a->actions, a->action_count, &a->stacks, &behaviours, e);
}

bool analysis_new(struct analysis **out, struct session *session,
                  const struct analysis_options *options, struct error *e)
{
    struct analysis *a = xcalloc(1, sizeof *a);
    a->session = session;
    a->symbols = symbols_open(session);
    a->paths = xcalloc(1, sizeof *a->paths);
    a->paths->session = session;
    a->paths->symbols = a->symbols;
    a->stacks = (struct call_stacks){a->paths, path_of};
    if (!build_graph(a, options, e) || !find_actions(a, options->interrupt, e) ||
        !find_objects(a, options->interrupt, e) || !find_behaviours(a, options, e)) {
        analysis_free(a);
        return false;
    }
    *out = a;
    return true;
}

void analysis_free(struct analysis *a)
{
    if (!a)
        return;
    behaviours_free(a->behaviours);
    free(a->actions);
    free(a->objects);
    free_entries(a->entries);
    graph_free(a->graph);
    graph_session_close(a->source);
    fields_close(a->fields);
    symbols_close(a->symbols);
    map_free(&a->paths->names);
    vec_free(&a->paths->texts);
    vec_free(&a->paths->frames);
    free(a->paths);
    free(a);
}

bool analysis_environments(struct environments **out, struct analysis *a, struct error *e)
{
    if (!a->entries && !find_entries(a, e))
        return false;
    *out = environments_new(a->graph, entry_key, a);
    return true;
}

const char *analysis_function(const struct analysis *a, const struct behaviour *b)
{
    const uint64_t *place = map_get(&a->paths->names, &b->function, sizeof b->function);
    return place ? a->paths->texts.at[*place - 1] : "(no function)";
}

bool analysis_object(const struct analysis *a, const struct behaviour *b,
                     struct analysis_object *out)
{
    if (!(b->flags & BEHAVIOUR_TYPE) || !a->objects)
        return false;
    for (uint32_t i = b->begin; i < b->end; i++) {
        uint32_t number = a->behaviours->order[i];
        const struct action *action = &a->actions[number];
        const struct action_object *o = &a->objects[number];
        const struct stored_field *f = fields_of(a->fields, action->event);
        bool inner = o->type == b->function && o->instance == b->instance;
        bool outer = o->outer_type == b->function && o->outer_instance == b->instance;
        if (!f || !action->op_count || (!inner && !outer))
            continue;
        *out = (struct analysis_object){.offset = (inner ? f->instance : f->outer_instance) - 1,
                                        .file = a->graph->ops[action->first_op].file,
                                        .type = inner ? f->type : f->outer};
        return true;
    }
    return false;
}

void analysis_add_work(struct buf *out, const struct analysis *a, const struct behaviour *b)
{
    struct analysis_object object;
    struct file_info file;
    bool typed = b->flags & BEHAVIOUR_TYPE;
    buf_printf(out, "%s%s", typed ? "type " : "", analysis_function(a, b));
    if (analysis_object(a, b, &object) && session_file(a->session, object.file, &file))
        buf_printf(out, " at %s %" PRIu64, file.path, object.offset);
}
