/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/group.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "engine/group_inside.h"
#include "engine/mem.h"

static uint64_t filter_bit(uint64_t value)
{
    return UINT64_C(1) << (value & 63);
}

/* ---- shapes ---- */

static int by_label(const void *a, const void *b)
{
    const struct label *x = a, *y = b;
    return (x->value > y->value) - (x->value < y->value);
}

struct sorted_label {
    struct label label;
    uint32_t from; /* its place in the order of ops */
};

/* The described behaviour with its labels in ascending order. */
static struct shape sort_shape(const struct description *d, uint64_t function)
{
    size_t n = d->labels.n, words = group_words(n);
    struct sorted_label *sorted = xmalloc(n * sizeof *sorted);
    uint32_t *to = xmalloc(n * sizeof *to);
    struct shape shape = {
        .function = function,
        .labels = xmalloc(n * sizeof *shape.labels),
        .below = xcalloc(n * words, sizeof *shape.below),
        .n = (uint32_t)n,
        .first_variant = NO_VARIANT,
    };
    for (size_t i = 0; i < n; i++)
        sorted[i] = (struct sorted_label){d->labels.at[i], (uint32_t)i};
    qsort(sorted, n, sizeof *sorted, by_label);
    for (size_t i = 0; i < n; i++) {
        to[sorted[i].from] = (uint32_t)i;
        shape.labels[i] = sorted[i].label.value;
        shape.filter |= filter_bit(shape.labels[i]);
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t w = 0; w < words; w++) {
            for (uint64_t bits = d->below.at[i * words + w]; bits; bits &= bits - 1) {
                uint32_t j = to[w * 64 + (size_t)__builtin_ctzll(bits)];
                shape.below[to[i] * words + j / 64] |= UINT64_C(1) << (j % 64);
                shape.edges++;
            }
        }
    }
    free(sorted);
    free(to);
    return shape;
}

static void free_shape(struct shape *shape)
{
    free(shape->labels);
    free(shape->below);
}

/* What two behaviours of one shape have in common, as a key for a map. */
struct shape_key {
    uint64_t function, n;
    XXH128_hash_t labels, below;
};

static struct shape_key key_of_shape(const struct shape *shape)
{
    return (struct shape_key){
        .function = shape->function,
        .n = shape->n,
        .labels = XXH3_128bits(shape->labels, shape->n * sizeof *shape->labels),
        .below =
            XXH3_128bits(shape->below, shape->n * group_words(shape->n) * sizeof *shape->below),
    };
}

/* The same before sorting: cheap, and enough for most behaviours. */
static struct shape_key key_as_issued(const struct description *d, uint64_t function)
{
    return (struct shape_key){
        .function = function,
        .n = d->labels.n,
        .labels = XXH3_128bits(d->values.at, d->values.n * sizeof *d->values.at),
        .below = XXH3_128bits(d->below.at, d->below.n * sizeof *d->below.at),
    };
}

static uint32_t shape_of(struct group_inside *s, uint64_t function)
{
    struct shape_key key = key_as_issued(&s->d, function);
    bool added = false;
    uint64_t *raw = map_put(&s->raw_shapes, &key, sizeof key, &added);
    if (!added)
        return (uint32_t)*raw;
    struct shape shape = sort_shape(&s->d, function);
    key = key_of_shape(&shape);
    uint64_t *known = map_put(&s->sorted_shapes, &key, sizeof key, &added);
    if (added) {
        *known = s->shapes.n;
        vec_push(&s->shapes, shape);
    } else {
        free_shape(&shape);
    }
    *raw = *known;
    return (uint32_t)*known;
}

/* One that is not compared with any other. */
static uint32_t large_shape(struct group_inside *s, uint64_t function)
{
    struct shape shape = {
        .function = function, .n = (uint32_t)s->d.labels.n, .first_variant = NO_VARIANT};
    vec_push(&s->shapes, shape);
    return (uint32_t)s->shapes.n - 1;
}

/* ---- signatures ---- */

/* A group in the chain of those whose representative has a certain label. */
struct posting {
    uint64_t filter; /* of its shape, to pass over most without a look at them */
    uint32_t group, next;
};

struct former {
    struct groups *out;
    struct group_inside *s;
    vec_of(struct group_signature) signatures;
    vec_of(struct group) groups;
    vec_of(uint32_t) joined;
    vec_of(uint64_t) kinds; /* the environment at hand */
    vec_of(struct posting) postings;
    struct map first_posting; /* (function, label) → head of the chain, and its length */
};

static void set_kinds(struct variant *v, const uint64_t *kinds, size_t n, uint64_t filter)
{
    v->kinds = xrealloc(v->kinds, (n + 1) * sizeof *kinds);
    if (n)
        memcpy(v->kinds, kinds, n * sizeof *kinds);
    v->n = (uint32_t)n;
    v->filter = filter;
}

/* Past the limit of variants: which of those there are stands for this environment. */
static uint32_t fold(struct former *f, uint32_t shape, uint32_t behaviour, uint64_t filter)
{
    struct group_inside *s = f->s;
    size_t missing;
    uint32_t first = s->shapes.at[shape].first_variant;
    for (uint32_t i = first; i != NO_VARIANT; i = s->variants.at[i].next) {
        const struct variant *v = &s->variants.at[i];
        if (!(filter & ~v->filter) &&
            group_kinds_within(f->kinds.at, f->kinds.n, v->kinds, v->n, &missing))
            return i;
    }
    for (uint32_t i = first; i != NO_VARIANT; i = s->variants.at[i].next) {
        struct variant *v = &s->variants.at[i];
        if ((v->filter & ~filter) ||
            !group_kinds_within(v->kinds, v->n, f->kinds.at, f->kinds.n, &missing))
            continue;
        /* It has more: its members are represented by the newcomer. */
        set_kinds(v, f->kinds.at, f->kinds.n, filter);
        f->signatures.at[i].example = behaviour;
        f->signatures.at[i].environment = v->n;
        return i;
    }
    f->out->folded++;
    return first;
}

static uint32_t add_signature(struct former *f, uint32_t shape, uint32_t behaviour, uint64_t filter)
{
    struct shape *of = &f->s->shapes.at[shape];
    struct variant v = {.next = of->first_variant};
    struct group_signature signature = {
        .function = of->function,
        .ops = of->n,
        .edges = of->edges,
        .example = behaviour,
        .shape = shape,
        .environment = (uint32_t)f->kinds.n,
    };
    set_kinds(&v, f->kinds.at, f->kinds.n, filter);
    of->first_variant = (uint32_t)f->signatures.n;
    of->variants++;
    vec_push(&f->s->variants, v);
    vec_push(&f->signatures, signature);
    return of->first_variant;
}

static uint32_t signature_of(struct former *f, uint32_t shape, uint32_t behaviour)
{
    struct group_inside *s = f->s;
    uint64_t filter = 0;
    f->kinds.n = 0;
    for (size_t i = 0; i < s->d.kinds.n; i++) {
        vec_push(&f->kinds, s->d.kinds.at[i].value);
        filter |= filter_bit(s->d.kinds.at[i].value);
    }
    struct {
        uint64_t shape, n;
        XXH128_hash_t kinds;
    } key = {shape, f->kinds.n, XXH3_128bits(f->kinds.at, f->kinds.n * sizeof *f->kinds.at)};
    const uint64_t *known = map_get(&s->signatures, &key, sizeof key);
    if (known)
        return (uint32_t)*known;
    if (s->shapes.at[shape].variants >= s->options.variants && s->shapes.at[shape].variants)
        return fold(f, shape, behaviour, filter);
    uint32_t signature = add_signature(f, shape, behaviour, filter);
    *map_put(&s->signatures, &key, sizeof key, NULL) = signature;
    return signature;
}

/* How many behaviours or signatures are taken between two looks: some have thousands of ops. */
enum { LOOK_EVERY = 16 };

static bool sign_behaviours(struct former *f, const struct interrupt *interrupt)
{
    struct groups *out = f->out;
    struct group_inside *s = f->s;
    for (uint32_t b = 0; b < s->list->n; b++) {
        if (b % LOOK_EVERY == 0 && !interrupt_go_on(interrupt, NULL))
            return false;
        uint64_t function = s->list->at[b].function;
        bool comparable = group_describe(s, b);
        uint32_t shape = comparable ? shape_of(s, function) : large_shape(s, function);
        out->too_large += !comparable;
        out->env_left_out += s->d.env_left_out;
        out->signature_of[b] = signature_of(f, shape, b);
        f->signatures.at[out->signature_of[b]].members++;
    }
    uint32_t used = 0;
    for (size_t i = 0; i < f->signatures.n; i++) {
        f->signatures.at[i].first_member = used;
        used += f->signatures.at[i].members;
        f->signatures.at[i].members = 0;
    }
    for (uint32_t b = 0; b < s->list->n; b++) {
        struct group_signature *signature = &f->signatures.at[out->signature_of[b]];
        out->members[signature->first_member + signature->members++] = b;
    }
    return true;
}

/* ---- represents ---- */

/* Definition 3.5 on shapes of one function. `at` has room for other->n places. */
static bool shape_represents(const struct shape *rep, const struct shape *other, bool paper,
                             uint32_t *at, uint64_t *image)
{
    if (!rep->below || !other->below || other->n > rep->n || (other->filter & ~rep->filter))
        return false;
    size_t words = group_words(rep->n);
    memset(image, 0, words * sizeof *image);
    for (uint32_t i = 0, j = 0; i < other->n; i++, j++) {
        while (j < rep->n && rep->labels[j] < other->labels[i])
            j++;
        if (j == rep->n || rep->labels[j] != other->labels[i])
            return false;
        at[j] = i;
        image[j / 64] |= UINT64_C(1) << (j % 64);
    }
    for (uint32_t j = 0; j < rep->n; j++) {
        if (!(image[j / 64] >> (j % 64) & 1))
            continue;
        for (size_t w = 0; w < words; w++) {
            uint64_t below = rep->below[j * words + w];
            if (!paper && (below & ~image[w]))
                return false;
            for (uint64_t bits = below & image[w]; bits; bits &= bits - 1)
                if (!group_bit(other->below, other->n, at[j],
                               at[w * 64 + (size_t)__builtin_ctzll(bits)]))
                    return false;
        }
    }
    return true;
}

static bool represents(const struct group_inside *s, uint32_t a, uint32_t shape_a, uint32_t b,
                       uint32_t shape_b)
{
    const struct shape *rep = &s->shapes.at[shape_a], *other = &s->shapes.at[shape_b];
    const struct variant *va = &s->variants.at[a], *vb = &s->variants.at[b];
    size_t missing;
    if (rep->function != other->function || (vb->filter & ~va->filter) ||
        !group_kinds_within(vb->kinds, vb->n, va->kinds, va->n, &missing))
        return false;
    if (shape_a == shape_b)
        return true;
    if (other->n > rep->n || (other->filter & ~rep->filter))
        return false;
    uint32_t at[GROUP_OPS_MAX];
    uint64_t image[GROUP_OPS_MAX / 64];
    return shape_represents(rep, other, s->options.paper, at, image);
}

bool groups_represents(const struct groups *s, uint32_t signature, uint32_t other)
{
    return represents(s->inside, signature, s->signatures[signature].shape, other,
                      s->signatures[other].shape);
}

/* ---- groups ---- */

/* Nothing represents what comes before it in this order, but for itself: more ops first, then fewer
 * edges, then more of an environment. */
static int by_size(const void *a, const void *b, void *data)
{
    uint32_t i = *(const uint32_t *)a, j = *(const uint32_t *)b;
    const struct group_signature *all = data, *x = &all[i], *y = &all[j];
    if (x->ops != y->ops)
        return x->ops > y->ops ? -1 : 1;
    if (x->edges != y->edges)
        return x->edges < y->edges ? -1 : 1;
    if (x->environment != y->environment)
        return x->environment > y->environment ? -1 : 1;
    return x->example < y->example ? -1 : x->example > y->example;
}

#define NO_POSTING UINT32_MAX

/* Groups are found by the labels of their representative. Each label heads a chain of groups, the
 * newest first; its value is the place of the head and the length of the chain. */
static void post_group(struct former *f, uint32_t group)
{
    const struct shape *shape =
        &f->s->shapes.at[f->signatures.at[f->groups.at[group].signature].shape];
    for (uint32_t i = 0; shape->below && i < shape->n; i++) {
        uint64_t key[2] = {shape->function, shape->labels[i]};
        bool added;
        uint64_t *value = map_put(&f->first_posting, key, sizeof key, &added);
        uint32_t head = added ? NO_POSTING : (uint32_t)*value;
        uint64_t length = added ? 0 : *value >> 32;
        *value = (length + 1) << 32 | (uint32_t)f->postings.n;
        vec_push(&f->postings, (struct posting){shape->filter, group, head});
    }
}

/* Where the groups are that could represent a shape: the shortest chain of its labels. */
static uint32_t candidates(const struct former *f, const struct shape *shape)
{
    uint32_t best = NO_POSTING;
    uint64_t best_length = UINT64_MAX;
    for (uint32_t i = 0; shape->below && i < shape->n; i++) {
        uint64_t key[2] = {shape->function, shape->labels[i]};
        const uint64_t *value = map_get(&f->first_posting, key, sizeof key);
        if (!value)
            return NO_POSTING;
        if (*value >> 32 < best_length) {
            best_length = *value >> 32;
            best = (uint32_t)*value;
        }
    }
    return best;
}

static void found_group(struct former *f, uint32_t signature)
{
    const struct group_signature *by = &f->signatures.at[signature];
    vec_push(&f->joined, (uint32_t)f->groups.n);
    vec_push(&f->groups, (struct group){.function = by->function,
                                        .representative = by->example,
                                        .signature = signature});
    post_group(f, (uint32_t)f->groups.n - 1);
}

static void join_groups(struct former *f, uint32_t signature)
{
    struct group_signature *own = &f->signatures.at[signature];
    own->first_group = (uint32_t)f->joined.n;
    const struct shape *shape = &f->s->shapes.at[own->shape];
    const struct posting *p;
    for (uint32_t i = candidates(f, shape); i != NO_POSTING; i = p->next) {
        p = &f->postings.at[i];
        if (shape->filter & ~p->filter)
            continue;
        uint32_t founder = f->groups.at[p->group].signature;
        if (represents(f->s, founder, f->signatures.at[founder].shape, signature, own->shape))
            vec_push(&f->joined, p->group);
    }
    size_t joined = f->joined.n - own->first_group;
    /* Chains run from the newest to the oldest. */
    for (size_t low = 0; low + 1 < joined - low; low++) {
        uint32_t *one = &f->joined.at[own->first_group + low];
        uint32_t *two = &f->joined.at[own->first_group + joined - 1 - low];
        uint32_t kept = *one;
        *one = *two;
        *two = kept;
    }
    if (!joined)
        found_group(f, signature);
    own->joined = (uint32_t)(f->joined.n - own->first_group);
}

/* Turns "groups of a signature" around; founders come first because they joined first. */
static void list_signatures(struct former *f, const uint32_t *order)
{
    struct groups *out = f->out;
    uint32_t used = 0;
    for (size_t i = 0; i < f->joined.n; i++)
        f->groups.at[f->joined.at[i]].signatures++;
    for (size_t i = 0; i < f->groups.n; i++) {
        f->groups.at[i].first = used;
        used += f->groups.at[i].signatures;
        f->groups.at[i].signatures = 0;
    }
    out->taken = xmalloc((f->joined.n + 1) * sizeof *out->taken);
    for (size_t i = 0; i < f->signatures.n; i++) {
        const struct group_signature *signature = &f->signatures.at[order[i]];
        for (uint32_t k = 0; k < signature->joined; k++) {
            struct group *group = &f->groups.at[f->joined.at[signature->first_group + k]];
            out->taken[group->first + group->signatures++] = order[i];
            group->members += signature->members;
        }
    }
}

static bool compare_signatures(struct former *f, const struct interrupt *interrupt)
{
    bool done = true;
    uint32_t *order = xmalloc((f->signatures.n + 1) * sizeof *order);
    for (uint32_t i = 0; i < f->signatures.n; i++)
        order[i] = i;
    qsort_r(order, f->signatures.n, sizeof *order, by_size, f->signatures.at);
    for (size_t i = 0; i < f->signatures.n && done; i++) {
        join_groups(f, order[i]);
        done = i % LOOK_EVERY || interrupt_go_on(interrupt, NULL);
    }
    if (done)
        list_signatures(f, order);
    free(order);
    return done;
}

/* Numbers the ways by which ops came: call path and family. */
static uint32_t *number_origins(const struct behaviours *list, const struct graph *g)
{
    uint32_t *origin = xcalloc(g->n + 1, sizeof *origin);
    struct scratch numbers = {0};
    scratch_clear(&numbers);
    for (size_t i = 0; i < list->action_count; i++) {
        const struct action *a = &list->actions[i];
        uint64_t key = (uint64_t)a->call << 32 | list->places[i];
        uint64_t number = *scratch_put(&numbers, key, numbers.n + 1);
        for (uint32_t k = 0; k < a->op_count; k++)
            origin[a->first_op + k] = (uint32_t)number;
    }
    scratch_free(&numbers);
    return origin;
}

struct groups *groups_form(const struct behaviours *list, const struct graph *g,
                           struct environments *environments, const struct group_options *options)
{
    struct groups *out = xcalloc(1, sizeof *out);
    struct group_inside *s = out->inside = xcalloc(1, sizeof *s);
    s->list = list;
    s->g = g;
    s->environments = environments;
    s->options = *options;
    s->options.interrupt = NULL; /* it is gone when the groups are looked at */
    s->origin = number_origins(list, g);
    out->signature_of = xmalloc((list->n + 1) * sizeof *out->signature_of);
    out->members = xmalloc((list->n + 1) * sizeof *out->members);
    struct former f = {.out = out, .s = s};
    bool done =
        sign_behaviours(&f, options->interrupt) && compare_signatures(&f, options->interrupt);
    out->at = f.groups.at;
    out->n = f.groups.n;
    out->signatures = f.signatures.at;
    out->signature_count = f.signatures.n;
    out->joined = f.joined.at;
    out->shapes = s->shapes.n;
    vec_free(&f.kinds);
    vec_free(&f.postings);
    map_free(&f.first_posting);
    if (!done) {
        groups_free(out);
        return NULL;
    }
    return out;
}

static void free_description(struct description *d)
{
    vec_free(&d->actions);
    vec_free(&d->labels);
    vec_free(&d->ops);
    vec_free(&d->values);
    vec_free(&d->below);
    vec_free(&d->kinds);
    scratch_free(&d->events);
    scratch_free(&d->locations);
    scratch_free(&d->kinds_seen);
}

void groups_free(struct groups *out)
{
    if (!out)
        return;
    struct group_inside *s = out->inside;
    for (size_t i = 0; i < s->shapes.n; i++)
        free_shape(&s->shapes.at[i]);
    for (size_t i = 0; i < s->variants.n; i++)
        free(s->variants.at[i].kinds);
    vec_free(&s->shapes);
    vec_free(&s->variants);
    map_free(&s->raw_shapes);
    map_free(&s->sorted_shapes);
    map_free(&s->signatures);
    free_description(&s->d);
    free(s->origin);
    free(s);
    free(out->at);
    free(out->signatures);
    free(out->signature_of);
    free(out->members);
    free(out->joined);
    free(out->taken);
    free(out);
}
