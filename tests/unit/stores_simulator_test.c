/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The models of stores against a machine that is simulated step by step: caches that let go of
 * lines when they like, flushes that wait for a fence, buffers of non-temporal stores that drain in
 * any order, a page cache that is written at any time. Random programs of a few instructions and
 * two threads; both must allow the same images, with the same prints before the crash.
 *
 * Memory is 32 bytes across a border of two lines (or pages): eight halves of words, each of which
 * holds the number of the instruction that stored to it last. The machine knows nothing of ops,
 * edges or positions.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <cmocka.h>

#include "engine/graph.h"
#include "engine/map.h"
#include "engine/vec.h"

enum { HALVES = 8, HALF = 4, WORD_HALVES = 2, INSTRUCTIONS = 8, THREADS = 2, FILE_TESTED = 2 };
enum { SECTOR = 512 };

enum what { STORE, NT_STORE, LOCKED_STORE, FLUSH, FLUSH_OPT, FENCE, PRINT, FSYNC, MSYNC, WHATS };

struct instruction {
    enum what what;
    uint32_t thread;
    int first, count; /* halves */
};

struct program {
    struct instruction at[INSTRUCTIONS];
    int n;
    enum model_stores stores;
    bool pages_change;
    uint64_t border; /* between the two cells */
};

static int cell_of(int half)
{
    return half / (HALVES / 2);
}

/* ---- the machine ---- */

/* What was stored at once, on its way to memory: in a cell, or in a buffer past the cache. */
struct part {
    uint8_t thread, first, count, value;
};

/* First come, first out of a cell; in any order out of the buffer, but for words. */
struct queue {
    uint8_t n;
    struct part at[2 * INSTRUCTIONS];
};

struct machine {
    uint8_t next;   /* instruction */
    uint8_t stored; /* bits: parts of it that were stored */
    uint8_t prints;
    uint8_t memory[HALVES];
    uint8_t flushing[THREADS][2]; /* by cell: what came before this instruction is to be written */
    struct queue cells[2], buffer;
};

struct simulation {
    const struct program *p;
    struct map seen;
    vec_of(struct machine) todo;
    struct map images; /* image → most prints + 1 */
};

static void note_image(struct map *images, const uint8_t *image, unsigned prints)
{
    uint64_t *most = map_put(images, image, HALVES, NULL);
    *most = *most > prints + 1 ? *most : prints + 1;
}

static void reach(struct simulation *s, const struct machine *m)
{
    bool added;
    map_put(&s->seen, m, sizeof *m, &added);
    if (!added)
        return;
    vec_push(&s->todo, *m);
    note_image(&s->images, m->memory, m->prints);
}

/* Takes a part out of its queue, to memory. */
static void write_part(struct machine *m, struct queue *q, int i)
{
    struct part *part = &q->at[i];
    memset(m->memory + part->first, part->value, part->count);
    for (q->n--; i < q->n; i++)
        q->at[i] = q->at[i + 1];
    memset(&q->at[q->n], 0, sizeof q->at[0]);
}

/* Whether a queue has something earlier for the same words. */
static bool waits_for(const struct part *part, const struct queue *q)
{
    for (int i = 0; i < q->n; i++)
        if (q->at[i].value < part->value &&
            part->first / WORD_HALVES <= (q->at[i].first + q->at[i].count - 1) / WORD_HALVES &&
            q->at[i].first / WORD_HALVES <= (part->first + part->count - 1) / WORD_HALVES)
            return true;
    return false;
}

/* What the machine does by itself, whenever it likes. */
static void by_itself(struct simulation *s, const struct machine *m)
{
    for (int cell = 0; cell < 2; cell++)
        if (m->cells[cell].n && !waits_for(&m->cells[cell].at[0], &m->buffer)) {
            struct machine other = *m;
            write_part(&other, &other.cells[cell], 0);
            reach(s, &other);
        }
    for (int i = 0; i < m->buffer.n; i++) {
        const struct part *part = &m->buffer.at[i];
        if (waits_for(part, &m->buffer) || waits_for(part, &m->cells[cell_of(part->first)]))
            continue;
        struct machine other = *m;
        write_part(&other, &other.buffer, i);
        reach(s, &other);
    }
}

/* Whether everything that a cell got before an instruction is in memory. */
static bool is_written(const struct machine *m, int cell, uint8_t before)
{
    for (int i = 0; i < m->cells[cell].n; i++)
        if (m->cells[cell].at[i].value < before)
            return false;
    for (int i = 0; i < m->buffer.n; i++)
        if (cell_of(m->buffer.at[i].first) == cell && m->buffer.at[i].value < before)
            return false;
    return true;
}

static bool fenced(const struct machine *m, uint32_t thread)
{
    for (int i = 0; i < m->buffer.n; i++)
        if (m->buffer.at[i].thread == thread)
            return false;
    return is_written(m, 0, m->flushing[thread][0]) && is_written(m, 1, m->flushing[thread][1]);
}

/* The parts of a store that are stored at once. */
static int parts_of(const struct program *p, const struct instruction *i, int first[], int count[])
{
    int n = 0, end = i->first + i->count;
    for (int h = i->first; h < end;) {
        int stop = (cell_of(h) + 1) * (HALVES / 2);
        stop = stop < end ? stop : end;
        bool splits = p->stores != STORES_PAGECACHE && stop - h > WORD_HALVES;
        for (int at = h; at < stop; n++) {
            int next = splits ? (at / WORD_HALVES + 1) * WORD_HALVES : stop;
            next = next < stop ? next : stop;
            first[n] = at;
            count[n] = next - at;
            at = next;
        }
        h = stop;
    }
    return n;
}

static void store(struct simulation *s, const struct machine *m)
{
    const struct instruction *i = &s->p->at[m->next];
    bool past_cache = i->what == NT_STORE && s->p->stores != STORES_PAGECACHE;
    int first[HALVES], count[HALVES], parts = parts_of(s->p, i, first, count);
    if (i->what == LOCKED_STORE && !m->stored && !fenced(m, i->thread))
        return;
    for (int k = 0; k < parts; k++) {
        struct machine other = *m;
        struct part part = {(uint8_t)i->thread, (uint8_t)first[k], (uint8_t)count[k],
                            (uint8_t)(m->next + 1)};
        if (m->stored >> k & 1)
            continue;
        struct queue *q = past_cache ? &other.buffer : &other.cells[cell_of(first[k])];
        /* Where caches survive, what goes through them is there at once, but not before what waits
         * beside them for the same word. */
        bool at_once = s->p->stores == STORES_EADR && !past_cache;
        if (at_once && waits_for(&part, &m->buffer))
            continue;
        q->at[q->n++] = part;
        if (at_once)
            write_part(&other, q, q->n - 1);
        other.stored |= (uint8_t)(1 << k);
        if (other.stored == (1 << parts) - 1) {
            other.stored = 0;
            other.next++;
        }
        reach(s, &other);
    }
}

/* Goes on to the next instruction, when the one at hand lets it. */
static void step(struct simulation *s, const struct machine *m)
{
    const struct instruction *i = &s->p->at[m->next];
    struct machine other = *m;
    int cell = cell_of(i->first);
    bool flushes = s->p->stores == STORES_PX86;
    other.next++;
    switch (i->what) {
    case STORE:
    case NT_STORE:
    case LOCKED_STORE:
        store(s, m);
        return;
    case FLUSH:
        if (flushes && !is_written(m, cell, other.next))
            return;
        break;
    case FLUSH_OPT:
        if (flushes)
            other.flushing[i->thread][cell] = other.next;
        break;
    case FENCE:
        if (!fenced(m, i->thread))
            return;
        break;
    case PRINT:
        other.prints++;
        break;
    case FSYNC:
        if (!is_written(m, 0, other.next) || !is_written(m, 1, other.next))
            return;
        break;
    default: /* MSYNC */
        if (!is_written(m, cell, other.next))
            return;
        break;
    }
    reach(s, &other);
}

static struct map simulate(const struct program *p)
{
    struct simulation s = {.p = p};
    struct machine start = {0};
    reach(&s, &start);
    while (s.todo.n) {
        struct machine m = s.todo.at[--s.todo.n];
        by_itself(&s, &m);
        if (m.next < p->n)
            step(&s, &m);
    }
    map_free(&s.seen);
    vec_free(&s.todo);
    return s.images;
}

/* ---- the graph ---- */

static bool program_event(void *data, uint64_t number, struct event *out, struct error *e)
{
    static const uint16_t calls[WHATS] = {CALL_STORE, CALL_STORE, CALL_STORE,
                                          CALL_FLUSH, CALL_FLUSH, CALL_FENCE,
                                          CALL_PRINT, CALL_FSYNC, CALL_MSYNC};
    static const uint32_t flags[WHATS] = {
        [NT_STORE] = STORE_NT,    [LOCKED_STORE] = STORE_LOCKED, [FLUSH] = FLUSH_CLFLUSH,
        [FLUSH_OPT] = FLUSH_CLWB, [FENCE] = FENCE_SFENCE,        [MSYNC] = MS_SYNC,
    };
    const struct program *p = data;
    const struct instruction *i = &p->at[number - 1];
    bool lines = i->what == FLUSH || i->what == FLUSH_OPT, pages = i->what == MSYNC;
    uint64_t cell = (uint64_t)cell_of(i->first);
    (void)e;
    *out = (struct event){
        .entry = 4 * number,
        .exit = 4 * number + 2,
        .call = calls[i->what],
        .flags = flags[i->what],
        .thread = i->thread,
        .file = FILE_TESTED,
        .offset = p->border + (uint64_t)i->first * HALF - HALVES / 2 * HALF,
        .size = (uint64_t)i->count * HALF,
        .payload = number,
    };
    if (lines)
        out->offset = cell ? p->border : p->border - CACHE_LINE;
    if (lines)
        out->size = CACHE_LINE;
    if (pages) {
        out->offset = cell * p->border;
        out->size = OP_BLOCK_SIZE;
    }
    return true;
}

static uint64_t program_length(void *data, uint32_t file)
{
    (void)data;
    return file == FILE_TESTED ? 4 * OP_BLOCK_SIZE : 0;
}

static bool program_block(void *data, uint32_t file, uint64_t block)
{
    (void)data;
    return file == FILE_TESTED && block < 4;
}

static bool is_ideal(const struct graph *g, uint32_t kept)
{
    for (uint32_t b = 0; b < g->n; b++)
        for (uint32_t a = 0; a < b; a++)
            if ((kept >> b & 1) && !(kept >> a & 1) && graph_before(g, a, b))
                return false;
    return true;
}

static unsigned prints_before(const struct program *p, uint64_t position)
{
    unsigned n = 0;
    for (int i = 0; i < p->n; i++)
        n += p->at[i].what == PRINT && 4 * ((uint64_t)i + 1) + 2 < position;
    return n;
}

static struct map images_of(const struct program *p)
{
    struct graph_source source = {
        (void *)p, (uint64_t)p->n, program_event, program_length, program_block, NULL, 0, NULL};
    struct model model;
    struct error e = {0};
    struct graph *g;
    struct map images = {0};
    assert_true(model_find("ext4", &model, &e));
    model.stores = p->stores;
    model.pages_change = p->pages_change;
    assert_true(graph_build(&g, &model, &source, &e));
    assert_true(g->n < 32);
    for (uint32_t kept = 0; kept < UINT32_C(1) << g->n; kept++) {
        uint8_t image[HALVES] = {0};
        uint64_t crash = NEVER;
        if (!is_ideal(g, kept))
            continue;
        for (uint32_t op = 0; op < g->n; op++) {
            const struct op *o = &g->ops[op];
            if (!(kept >> op & 1))
                crash = g->durable[op] < crash ? g->durable[op] : crash;
            uint64_t first = (o->offset + HALVES / 2 * HALF - p->border) / HALF;
            for (uint64_t h = first; (kept >> op & 1) && h < first + o->length / HALF; h++)
                image[h] = (uint8_t)o->event;
        }
        note_image(&images, image, prints_before(p, crash));
    }
    graph_free(g);
    return images;
}

/* ---- both ---- */

static uint64_t next_random(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return *state >> 33;
}

static struct program random_program(uint64_t seed, enum model_stores stores, bool pages_change)
{
    static const struct {
        int first, count;
    } runs[] = {{0, 2}, {2, 2}, {4, 2}, {6, 2}, {0, 1}, {3, 1}, {5, 1},
                {1, 2}, {0, 4}, {4, 4}, {2, 4}, {3, 2}, {2, 1}, {4, 1}};
    uint64_t state = seed;
    struct program p = {.stores = stores, .pages_change = pages_change};
    p.border = stores != STORES_PAGECACHE ? CACHE_LINE : pages_change ? SECTOR : OP_BLOCK_SIZE;
    p.n = 2 + (int)(next_random(&state) % (INSTRUCTIONS - 1));
    int stored = 0;
    for (int i = 0; i < p.n; i++) {
        struct instruction *at = &p.at[i];
        size_t run = next_random(&state) % (sizeof runs / sizeof *runs);
        uint64_t kind = next_random(&state) % 20;
        at->thread = (uint32_t)(next_random(&state) % THREADS);
        at->first = runs[run].first;
        at->count = runs[run].count;
        at->what = kind < 6    ? STORE
                   : kind < 8  ? NT_STORE
                   : kind < 9  ? LOCKED_STORE
                   : kind < 11 ? FLUSH
                   : kind < 14 ? FLUSH_OPT
                   : kind < 17 ? FENCE
                   : kind < 18 ? PRINT
                   : kind < 19 ? FSYNC
                               : MSYNC;
        /* msync() is of a page, and both lines or sectors are in one. */
        if (at->what == MSYNC && p.border != OP_BLOCK_SIZE)
            at->what = FSYNC;
        stored += at->what <= LOCKED_STORE ? at->count : 0;
        if (stored > 2 * HALVES && at->what <= LOCKED_STORE)
            at->what = PRINT; /* images grow with the power of what is stored */
    }
    return p;
}

static void print_program(const struct program *p)
{
    static const char *const names[WHATS] = {"store",   "nt-store", "locked-store",
                                             "clflush", "clwb",     "sfence",
                                             "print",   "fsync",    "msync"};
    for (int i = 0; i < p->n; i++)
        print_message("%d: thread %u %s halves %d+%d\n", i + 1, p->at[i].thread,
                      names[p->at[i].what], p->at[i].first, p->at[i].count);
}

struct difference {
    const struct map *other;
    const char *who;
    int count;
};

static void compare(const void *key, size_t size, uint64_t value, void *data)
{
    struct difference *d = data;
    const uint64_t *there = map_get(d->other, key, size);
    const uint8_t *image = key;
    if (there && *there == value)
        return;
    d->count++;
    print_message("%s: %d %d %d %d | %d %d %d %d after %d prints; the other: %d\n", d->who,
                  image[0], image[1], image[2], image[3], image[4], image[5], image[6], image[7],
                  (int)value - 1, there ? (int)*there - 1 : -1);
}

static void agree(enum model_stores stores, bool pages_change, uint64_t programs)
{
    size_t images = 0;
    for (uint64_t seed = 1; seed <= programs; seed++) {
        struct program p = random_program(seed * 7919 + (uint64_t)stores, stores, pages_change);
        struct map machine = simulate(&p), graph = images_of(&p);
        struct difference missed = {&graph, "only the machine", 0};
        struct difference extra = {&machine, "only the graph", 0};
        map_each(&machine, compare, &missed);
        map_each(&graph, compare, &extra);
        if (missed.count || extra.count)
            print_program(&p);
        assert_int_equal(missed.count + extra.count, 0);
        images += graph.n;
        map_free(&machine);
        map_free(&graph);
    }
    print_message("%zu images of %llu programs\n", images, (unsigned long long)programs);
    /* Were everything ordered, there would be one a store. */
    assert_true(images > programs * 4);
}

static void px86_is_the_machine(void **state)
{
    (void)state;
    agree(STORES_PX86, false, 20000);
}

static void eadr_is_the_machine(void **state)
{
    (void)state;
    agree(STORES_EADR, false, 20000);
}

static void pagecache_is_the_machine(void **state)
{
    (void)state;
    agree(STORES_PAGECACHE, false, 10000);
    agree(STORES_PAGECACHE, true, 5000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(px86_is_the_machine),
        cmocka_unit_test(eadr_is_the_machine),
        cmocka_unit_test(pagecache_is_the_machine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
