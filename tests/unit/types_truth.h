/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Types against what programs really did: tests/unit/types/truth.h says how that is known. Builds
 * and runs a program, asks for the type of every store, and compares.
 */
#ifndef TESTS_UNIT_TYPES_TRUTH_H
#define TESTS_UNIT_TYPES_TRUTH_H

#include "tests/unit/compile.h"

#include <Zydis/Zydis.h>

#include "engine/binary_inside.h"
#include "engine/clock.h"
#include "engine/map.h"
#include "engine/types.h"
#include "engine/vec.h"

#define SOURCES "tests/unit/types"

/* No masked stores, whose instructions do not say how much they store; tracers do not offer them to
 * programs either. */
#define TUNED "GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX512VL,-AVX512BW"

/* --- What the program says of itself -------------------------------------------------------- */

enum { TRUTH_NAME = 64, FRAMES_MAX = 24, BYTES = 64, MODULES_MAX = 16, CHAINS_MAX = 8, DEPTH = 8 };

struct truth_field {
    char type[TRUTH_NAME], name[TRUTH_NAME], element[TRUTH_NAME];
    uint64_t offset, size, element_size;
};

struct truth_type {
    char name[TRUTH_NAME];
    uint64_t size;
};

struct allocation {
    uint64_t address, size;
    size_t from, until; /* lines of the log's stores and releases between which it was there */
    bool open;          /* one object with an open end */
    char type[TRUTH_NAME];
};

struct event_line {
    bool release; /* else a store */
    uint64_t address, size;
    unsigned char bytes[BYTES];
    struct frame frames[FRAMES_MAX];
    size_t frame_count;
};

struct truth {
    vec_of(struct truth_type) types;
    vec_of(struct truth_field) fields;
    vec_of(struct allocation) allocations;
    vec_of(struct event_line) lines;
    uint64_t pool; /* where the pool begins that handles count from; 0 for none */
    struct binary *binaries[MODULES_MAX + 1];
};

static inline void read_store(struct truth *t, char *text)
{
    struct event_line e = {0};
    char *at = strtok(text, " \n");

    e.address = strtoull(at, NULL, 16);
    at = strtok(NULL, " \n");
    for (int i = 0; i < BYTES; i++) {
        char hex[3] = {at[2 * i], at[2 * i + 1], 0};
        e.bytes[i] = (unsigned char)strtoul(hex, NULL, 16);
    }
    while ((at = strtok(NULL, " \n")) && e.frame_count < FRAMES_MAX) {
        char *plus;
        unsigned long module = strtoul(at, &plus, 10);
        assert_true(module >= 1 && module <= MODULES_MAX);
        e.frames[e.frame_count] = (struct frame){
            .module = (uint32_t)module,
            .flags = e.frame_count ? 0 : FRAME_EXACT,
            .address = strtoull(plus + 1, NULL, 16),
        };
        e.frame_count++;
    }
    vec_push(&t->lines, e);
}

static inline void read_module(struct truth *t, const char *folder, const char *text)
{
    unsigned number;
    char path[4096];
    struct error why;

    assert_int_equal(sscanf(text, "%u %4095s", &number, path), 2);
    assert_true(number <= MODULES_MAX);
    bool ours = strncmp(path, folder, strlen(folder)) == 0;
    t->binaries[number] = binary_open(path, "", 0, ours ? BINARY_LINES : BINARY_NAMES, &why);
    if (!t->binaries[number] && path[0] == '/')
        fail_msg("%s: %s", path, why.text);
}

static inline void add_allocation(struct truth *t, struct allocation a)
{
    char *plus = strchr(a.type, '+');

    a.open = plus != NULL;
    a.from = t->lines.n;
    a.until = SIZE_MAX;
    if (plus)
        *plus = 0;
    vec_push(&t->allocations, a);
}

static inline void add_release(struct truth *t, struct event_line e)
{
    for (size_t i = 0; i < t->allocations.n; i++) {
        struct allocation *a = &t->allocations.at[i];
        if (a->address == e.address && a->until == SIZE_MAX && strcmp(a->type, "-") != 0)
            a->until = t->lines.n;
    }
    vec_push(&t->lines, e);
}

static inline void read_truth(struct truth *t, const char *folder, const char *log)
{
    char line[8192];
    FILE *f = fopen(log, "r");

    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        struct truth_field field;
        struct truth_type type;
        struct allocation a;
        struct event_line e = {.release = true};
        char *rest = line + 2;
        if (line[0] == 'T' && sscanf(rest, "%63s %lx", type.name, &type.size) == 2)
            vec_push(&t->types, type);
        else if (line[0] == 'F' &&
                 sscanf(rest, "%63s %63s %lx %lx %lx %63s", field.type, field.name, &field.offset,
                        &field.size, &field.element_size, field.element) == 6)
            vec_push(&t->fields, field);
        else if (line[0] == 'A' && sscanf(rest, "%lx %lx %63s", &a.address, &a.size, a.type) == 3)
            add_allocation(t, a);
        else if (line[0] == 'X' && sscanf(rest, "%lx %lx", &e.address, &e.size) == 2)
            add_release(t, e);
        else if (line[0] == 'P')
            t->pool = strtoull(rest, NULL, 16);
        else if (line[0] == 'M')
            read_module(t, folder, rest);
        else if (line[0] == 'S')
            read_store(t, rest);
        else
            fail_msg("not understood: %s", line);
    }
    fclose(f);
}

static inline void free_truth(struct truth *t)
{
    for (int i = 0; i <= MODULES_MAX; i++)
        binary_close(t->binaries[i]);
    vec_free(&t->types);
    vec_free(&t->fields);
    vec_free(&t->allocations);
    vec_free(&t->lines);
}

/* How many bytes the instruction stores; tracers know that. */
static inline uint64_t store_size(struct truth *t, const struct frame *frame)
{
    ZydisDecoder decoder;
    ZydisDecodedInstruction i;
    ZydisDecodedOperand o[ZYDIS_MAX_OPERAND_COUNT];
    size_t n = 0;
    struct binary *b = t->binaries[frame->module];
    const uint8_t *bytes = b ? binary_bytes(b, frame->address, &n) : NULL;

    assert_non_null(bytes);
    ZydisDecoderInit(&decoder, ZYDIS_MACHINE_MODE_LONG_64, ZYDIS_STACK_WIDTH_64);
    assert_true(ZYAN_SUCCESS(ZydisDecoderDecodeFull(&decoder, bytes, n, &i, o)));
    for (int k = 0; k < i.operand_count; k++) {
        if (o[k].type == ZYDIS_OPERAND_TYPE_MEMORY &&
            (o[k].actions & ZYDIS_OPERAND_ACTION_MASK_WRITE))
            return o[k].size / 8;
    }
    fail_msg("no store at %lx", frame->address);
    return 0;
}

/* --- What a place is ------------------------------------------------------------------------ */

/* One way to see a place: the objects around it, the outermost first. Unions give several. */
struct chain {
    int depth;
    struct {
        const char *type;
        uint64_t address;
        size_t path; /* where the path from this object begins */
    } objects[DEPTH];
    char path[256];
    bool several; /* fields */
};

struct chains {
    struct chain all[CHAINS_MAX];
    int n;
};

static const struct truth_type *type_named(const struct truth *t, const char *name)
{
    for (size_t i = 0; i < t->types.n; i++) {
        if (strcmp(t->types.at[i].name, name) == 0)
            return &t->types.at[i];
    }
    return NULL;
}

static inline void end_chain(struct chains *out, const struct chain *c)
{
    assert_true(out->n < CHAINS_MAX);
    out->all[out->n++] = *c;
}

static inline void walk_object(const struct truth *t, const char *type, uint64_t object,
                               uint64_t address, uint64_t size, struct chain c, struct chains *out)
{
    bool any = false;

    assert_true(c.depth < DEPTH);
    c.objects[c.depth].type = type;
    c.objects[c.depth].address = object;
    c.objects[c.depth++].path = strlen(c.path) + (c.path[0] != 0);
    for (size_t i = 0; i < t->fields.n; i++) {
        const struct truth_field *f = &t->fields.at[i];
        uint64_t at = address - object - f->offset;
        if (strcmp(f->type, type) != 0 || address < object + f->offset ||
            (f->size && at >= f->size))
            continue;
        struct chain next = c;
        size_t n = strlen(next.path);
        bool array = f->size != f->element_size;
        any = true;
        if (f->name[0] != '+') /* a base class has no name of its own */
            n += (size_t)snprintf(next.path + n, sizeof next.path - n, "%s%s", n ? "." : "",
                                  f->name);
        if (f->size && at + size > f->size) {
            next.several = true;
            end_chain(out, &next);
            continue;
        }
        if (array)
            snprintf(next.path + n, sizeof next.path - n, "[%lu]", at / f->element_size);
        if (f->element[0] != '-' && at % f->element_size + size <= f->element_size)
            walk_object(t, f->element, object + f->offset + at / f->element_size * f->element_size,
                        address, size, next, out);
        else {
            next.several = f->element[0] != '-';
            end_chain(out, &next);
        }
    }
    c.several = true;
    if (!any)
        end_chain(out, &c); /* padding */
}

/* All objects that are there: some lie in the bytes of others. */
static inline bool find_chains(const struct truth *t, const struct event_line *s,
                               struct chains *out)
{
    size_t line = (size_t)(s - t->lines.at);

    out->n = 0;
    for (size_t i = 0; i < t->allocations.n; i++) {
        const struct allocation *a = &t->allocations.at[i];
        const struct truth_type *type = type_named(t, a->type);
        if (s->address < a->address || s->address >= a->address + a->size || a->from > line ||
            a->until <= line || !type)
            continue;
        uint64_t index = (s->address - a->address) / type->size, size = s->size;
        uint64_t object = a->open ? a->address : a->address + index * type->size;
        uint64_t end = a->open ? a->address + a->size : object + type->size;
        if (s->address + size > end)
            size = end - s->address; /* a copy of several objects: the first counts */
        walk_object(t, type->name, object, s->address, size, (struct chain){0}, out);
    }
    return out->n > 0;
}

/* --- Comparing ------------------------------------------------------------------------------ */

/* Without the numbers of dimensions that the truth does not tell apart. */
static inline void without_indices(const char *path, char *out)
{
    for (; *path; path++) {
        if (*path == '[') {
            while (path[1] && path[1] != ']')
                path++;
            path++;
        } else {
            *out++ = *path;
        }
    }
    *out = 0;
}

static inline bool same_indices(const char *a, const char *b)
{
    return strcmp(a, b) == 0 || strstr(b, "numbers"); /* of two dimensions */
}

static inline bool path_agrees(const struct chain *c, size_t from, const char *path, bool known,
                               bool is_union)
{
    char a[256], b[256];
    const char *wanted = c->path + (from < strlen(c->path) ? from : strlen(c->path));

    if (c->several)
        return true; /* the first field is named, and the truth does not list padding */
    without_indices(wanted, a);
    without_indices(path, b);
    if (is_union && strncmp(a, b, strlen(b)) == 0)
        return true; /* which member is meant cannot be told */
    return strcmp(a, b) == 0 && (!known || same_indices(wanted, path));
}

/* The log has no spaces in names. */
static inline bool same_name(const char *name, const char *logged)
{
    while (*name && (*name == *logged || (*name == ' ' && *logged == '_')))
        name++, logged++;
    return !*name && !*logged;
}

static inline bool agrees(const struct chain *c, const struct type_answer *a, uint64_t address,
                          const char *path)
{
    int last = c->depth - 1, outer = -1;

    if (!same_name(type_name(a->type), c->objects[last].type))
        return false;
    if (a->instance && a->instance != c->objects[last].address)
        return false;
    if (a->instance && a->offset != address - a->instance && a->confidence != TYPE_BY_FIELD)
        return false;
    for (int i = 0; i <= last; i++) {
        if (a->outer && same_name(type_name(a->outer), c->objects[i].type) &&
            (!a->outer_instance || a->outer_instance == c->objects[i].address))
            outer = i;
    }
    return outer >= 0 && path_agrees(c, c->objects[outer].path, path, a->outer_instance != 0,
                                     a->field && a->field->kind == TYPE_UNION);
}

static inline bool is_right(const struct truth *t, const struct event_line *s,
                            const struct type_answer *a, const char *path)
{
    struct chains chains;

    if (!find_chains(t, s, &chains))
        return false;
    for (int i = 0; i < chains.n; i++) {
        if (agrees(&chains.all[i], a, s->address, path))
            return true;
    }
    return false;
}

struct tally {
    size_t stores, addresses, wrong;
    size_t by_store[4], by_address[4];
    uint64_t cost, cold; /* nanoseconds, code addresses */
    uint64_t warm;       /* nanoseconds for the same stores once more */
};

static inline void explain(const struct truth *t, const struct event_line *s,
                           const struct type_answer *a, const char *path)
{
    struct chains chains;

    print_message("wrong at %u+%lx (%lu bytes at %lx): %s %s in %s at %lx, %s at %lx\n",
                  s->frames[0].module, s->frames[0].address, s->size, s->address,
                  type_confidence_name(a->confidence), path, type_name(a->type), a->instance,
                  type_name(a->outer), a->outer_instance);
    if (!find_chains(t, s, &chains))
        print_message("    is not typed\n");
    for (int i = 0; i < chains.n; i++) {
        struct chain *c = &chains.all[i];
        print_message("    is %s", c->path);
        for (int k = 0; k < c->depth; k++)
            print_message(" %s at %lx", c->objects[k].type, c->objects[k].address);
        print_message("\n");
    }
}

static inline struct binary *find_binary(void *data, uint32_t module)
{
    return ((struct truth *)data)->binaries[module];
}

static inline void check_answer(struct truth *t, const struct event_line *s,
                                const struct type_answer *a, bool first, struct tally *tally)
{
    struct buf path = {0};
    struct chains chains;

    types_path(a, s->address, s->size, &path);
    tally->stores++;
    tally->by_store[a->confidence]++;
    tally->addresses += first;
    tally->by_address[a->confidence] += first;
    if (a->confidence != TYPE_UNKNOWN && !is_right(t, s, a, buf_string(&path))) {
        explain(t, s, a, buf_string(&path));
        tally->wrong++;
    } else if (getenv("TYPES_VERBOSE") && first && a->confidence <= TYPE_BY_ADDRESS) {
        bool found = find_chains(t, s, &chains);
        print_message("%s: %lx is %s.%s\n", type_confidence_name(a->confidence),
                      s->frames[0].address,
                      found ? chains.all[0].objects[chains.all[0].depth - 1].type : "-",
                      found ? chains.all[0].path : "");
    }
    buf_free(&path);
}

/* The stores from one release to the next. */
static inline void check_lines(struct truth *t, struct types *types, size_t from, size_t to,
                               struct map *seen, struct tally *tally)
{
    struct type_store *stores = xcalloc(to - from + 1, sizeof *stores);
    struct type_answer *answers = xcalloc(to - from + 1, sizeof *answers);

    for (size_t i = from; i < to; i++) {
        struct event_line *e = &t->lines.at[i];
        e->size = store_size(t, &e->frames[0]);
        stores[i - from] = (struct type_store){
            .frames = e->frames,
            .frame_count = e->frame_count,
            .address = e->address,
            .size = e->size,
            .bytes = e->bytes,
            .mapping = t->pool,
        };
    }
    types_stores(types, stores, to - from, answers);
    for (size_t i = from; i < to; i++) {
        struct event_line *e = &t->lines.at[i];
        bool added;
        map_put(seen, &e->frames[0], sizeof e->frames[0], &added);
        check_answer(t, e, &answers[i - from], added, tally);
    }
    uint64_t begin = clock_now();
    types_stores(types, stores, to - from, answers);
    tally->warm += clock_now() - begin;
    free(stores);
    free(answers);
}

static inline void check_log(struct truth *t, struct tally *tally)
{
    struct types *types = types_open(find_binary, t);
    struct map seen = {0};
    size_t from = 0;

    for (size_t i = 0; i <= t->lines.n; i++) {
        if (i < t->lines.n && !t->lines.at[i].release)
            continue;
        check_lines(t, types, from, i, &seen, tally);
        if (i < t->lines.n)
            types_expire(types, t->lines.at[i].address, t->lines.at[i].size);
        from = i + 1;
    }
    tally->cost = types_cost(types).nanoseconds;
    tally->cold = types_cost(types).addresses;
    map_free(&seen);
    types_close(types);
}

/* --- Building and running ------------------------------------------------------------------- */

static inline struct tally run_program(const char *source, const char *build)
{
    char *folder = folder_make(), *top = realpath(SOURCES, NULL);
    struct truth t = {0};
    struct tally tally = {0};

    assert_non_null(top);
    char *command = xasprintf("%s -D_GNU_SOURCE -I'%s' -o prog '%s/%s' && " TUNED " ./prog log",
                              build, top, top, source);
    shell(folder, command);
    char *log = path_in(folder, "log");
    /* The program knows itself by the name it was started with. */
    shell(folder, "sed -i \"s|^M \\([0-9]*\\) \\./|M \\1 $PWD/|\" log");
    read_truth(&t, folder, log);
    check_log(&t, &tally);
    free_truth(&t);
    free(log);
    free(command);
    free(top);
    folder_remove(folder);
    return tally;
}

static inline void print_share(const char *what, const struct tally *t)
{
    double all = t->addresses ? (double)t->addresses : 1;
    double stores = t->stores ? (double)t->stores : 1;

    print_message("%-34s %4zu addresses: %5.1f%% exact %5.1f%% field %5.1f%% address %5.1f%% none;"
                  " %5zu stores %5.1f%% typed; %zu wrong; %.0f us an address, %.2f us a store\n",
                  what, t->addresses, 100 * (double)t->by_address[TYPE_EXACT] / all,
                  100 * (double)t->by_address[TYPE_BY_FIELD] / all,
                  100 * (double)t->by_address[TYPE_BY_ADDRESS] / all,
                  100 * (double)t->by_address[TYPE_UNKNOWN] / all, t->stores,
                  100 * (1 - (double)t->by_store[TYPE_UNKNOWN] / stores), t->wrong,
                  (double)t->cost / 1000 / (double)(t->cold ? t->cold : 1),
                  (double)t->warm / 1000 / stores);
}

#endif
