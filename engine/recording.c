/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/recording.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <xxhash.h>

#include "engine/map.h"
#include "engine/mem.h"
#include "engine/recording_store.h"
#include "engine/session_schema.h"

enum {
    /* Half of what the header promises: the other half is for the transaction itself. */
    FLUSH_INTERVAL_MS = 50,
    /* This much waiting is worth a transaction of its own before the interval is over. */
    FLUSH_EARLY = 4 << 20,
    /* The caller waits for the disk above this: memory stays bounded on a slow disk. */
    WAITING_MAX = 64 << 20,
};

/* Events not all of which have ended, or the newest ones: they can still change. */
struct chunk {
    uint64_t first;
    size_t count;
    size_t open; /* how many have not ended */
    bool dirty;  /* changed since the writer last saw it */
    bool is_open[EVENTS_PER_CHUNK];
    struct event *records;
};

struct notice {
    char *kind, *what;
    uint64_t count;
    bool dirty;
};

/* To remember every small payload would cost more than to keep it twice: stores to memory have
 * millions of them, most often of one register. The recent ones are remembered. */
enum { SMALL_PAYLOAD = 32, SMALL_REMEMBERED = 1 << 14 };

struct payload_key {
    XXH128_hash_t hash;
    uint64_t size;
};

struct small_payload {
    struct payload_key key;
    uint64_t position;
};

struct recording {
    /* Only the caller's thread uses these. */
    struct small_payload *small;
    struct map strings, modules, stacks, payloads, notice_index;
    uint32_t string_count, module_count, stack_count, file_count, process_count, thread_count;
    uint64_t events;

    /* The lock guards the rest but `failed`. */
    pthread_mutex_t lock;
    pthread_cond_t wake;  /* to the writer: there is something to do */
    pthread_cond_t space; /* to the caller: something was written, or the writer has started */
    pthread_t thread;
    struct batch next; /* what the writer takes along next: only what will not change again */
    vec_of(struct chunk *) chunks; /* in order; the last one is being filled */
    uint8_t *pack;                 /* the pack that is being filled */
    uint64_t row_end;              /* the next free position of the payload row */
    bool pack_dirty;
    vec_of(struct notice) notices;
    bool notices_dirty;
    size_t waiting; /* bytes of next, and of the batch that is being written */
    bool dirty;     /* anything at all is new */
    enum { RUNNING, FINISH, STOP, ERASE } order;
    enum { STARTING, STARTED, NOT_STARTED } state;
    const char *path; /* the caller's, while it waits for the start */
    size_t carried;   /* once it has STARTED: see recording_carried */
    struct error error;

    atomic_bool failed;
};

/* ---- The writer ---- */

static void take_notices(struct recording *r, struct batch *b)
{
    for (size_t i = 0; i < r->notices.n; i++) {
        struct notice *n = &r->notices.at[i];
        if (!n->dirty)
            continue;
        n->dirty = false;
        const struct field fields[] = {
            {.kind = FIELD_TEXT, .bytes = n->kind, .size = strlen(n->kind)},
            {.kind = FIELD_TEXT, .bytes = n->what, .size = strlen(n->what)},
            {.kind = FIELD_NUMBER, .number = (int64_t)n->count},
        };
        batch_row(b, ROW_NOTICE, fields, 3);
    }
    r->notices_dirty = false;
}

static void *copy_of(const void *bytes, size_t size)
{
    return memcpy(xmalloc(size), bytes, size);
}

/* Moves everything new out of r: what is final as it is, the rest as copies. Called with the lock
 * held, so the batch is one moment of the recording and refers to nothing outside the file. */
static struct batch take(struct recording *r)
{
    struct batch b = r->next;
    r->next = (struct batch){0};
    if (r->notices_dirty)
        take_notices(r, &b);
    for (size_t i = 0; i < r->chunks.n; i++) {
        struct chunk *c = r->chunks.at[i];
        if (!c->dirty)
            continue;
        c->dirty = false;
        struct event *records = copy_of(c->records, c->count * sizeof *records);
        vec_push(&b.chunks,
                 (struct batch_chunk){.first = c->first, .count = c->count, .records = records});
    }
    size_t filled = r->row_end % PACK_SIZE;
    if (r->pack_dirty && filled) {
        vec_push(&b.packs, (struct batch_pack){.number = r->row_end / PACK_SIZE,
                                               .size = filled,
                                               .bytes = copy_of(r->pack, filled)});
        r->pack_dirty = false;
    }
    r->dirty = false;
    return b;
}

/* Called with the lock held: waits until there is a batch's worth, the interval is over, or the
 * end has come. */
static void wait_for_work(struct recording *r)
{
    while (!r->dirty && r->order == RUNNING)
        pthread_cond_wait(&r->wake, &r->lock);
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += FLUSH_INTERVAL_MS * 1000000L;
    if (until.tv_nsec >= 1000000000L) {
        until.tv_nsec -= 1000000000L;
        until.tv_sec++;
    }
    while (r->order == RUNNING && r->waiting < FLUSH_EARLY)
        if (pthread_cond_timedwait(&r->wake, &r->lock, &until) != 0)
            break;
}

static void mark_failed(struct recording *r, const struct error *e)
{
    r->error = *e;
    atomic_store_explicit(&r->failed, true, memory_order_release);
}

/* Writes batch after batch until told to stop and nothing is left. Enters and leaves with the lock
 * held. */
static void write_batches(struct recording *r, struct store *store)
{
    do {
        wait_for_work(r);
        struct batch b = take(r);
        size_t size = r->waiting;
        bool wanted = r->order != ERASE && !atomic_load(&r->failed);
        pthread_mutex_unlock(&r->lock);
        struct error e;
        bool ok = !wanted || store_write(store, &b, &e);
        batch_free(&b);
        pthread_mutex_lock(&r->lock);
        r->waiting -= size;
        if (!ok)
            mark_failed(r, &e);
        pthread_cond_broadcast(&r->space);
    } while (r->order == RUNNING || r->dirty);
}

static void *writer(void *data)
{
    struct recording *r = data;
    struct store *store = NULL;
    struct error e;
    bool ok = store_create(&store, r->path, &e);
    pthread_mutex_lock(&r->lock);
    r->state = ok ? STARTED : NOT_STARTED;
    if (ok)
        r->carried = store_carried(store);
    else
        r->error = e;
    pthread_cond_broadcast(&r->space);
    if (ok)
        write_batches(r, store);
    if (r->order == FINISH && !atomic_load(&r->failed) && !store_finish(store, &e))
        mark_failed(r, &e);
    bool erase = r->order == ERASE;
    pthread_mutex_unlock(&r->lock);
    store_close(store, erase);
    return NULL;
}

/* The writer takes no signals: those meant for the program go to the caller's thread, and SIGXFSZ
 * of a file-size limit must not kill us: the write fails with EFBIG and is reported. */
static int start_thread(struct recording *r)
{
    sigset_t all, old;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    int code = pthread_create(&r->thread, NULL, writer, r);
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return code;
}

/* ---- The caller's side ---- */

static void release(struct recording *r)
{
    map_free(&r->strings);
    map_free(&r->modules);
    map_free(&r->stacks);
    map_free(&r->payloads);
    map_free(&r->notice_index);
    batch_free(&r->next);
    for (size_t i = 0; i < r->chunks.n; i++) {
        free(r->chunks.at[i]->records);
        free(r->chunks.at[i]);
    }
    vec_free(&r->chunks);
    for (size_t i = 0; i < r->notices.n; i++) {
        free(r->notices.at[i].kind);
        free(r->notices.at[i].what);
    }
    vec_free(&r->notices);
    free(r->pack);
    free(r->small);
    pthread_cond_destroy(&r->wake);
    pthread_cond_destroy(&r->space);
    pthread_mutex_destroy(&r->lock);
    free(r);
}

bool recording_create(struct recording **out, const char *path, struct error *e)
{
    struct recording *r = xcalloc(1, sizeof *r);
    r->path = path;
    r->pack = xcalloc(1, PACK_SIZE);
    r->small = xcalloc(SMALL_REMEMBERED, sizeof *r->small);
    r->row_end = PAYLOAD_ZEROS + 1;
    pthread_mutex_init(&r->lock, NULL);
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&r->wake, &monotonic);
    pthread_cond_init(&r->space, NULL);
    pthread_condattr_destroy(&monotonic);

    int code = start_thread(r);
    if (code) {
        release(r);
        return error_set(e, "cannot start a thread to write %s: %s", path, strerror(code));
    }
    pthread_mutex_lock(&r->lock);
    while (r->state == STARTING)
        pthread_cond_wait(&r->space, &r->lock);
    bool ok = r->state == STARTED;
    pthread_mutex_unlock(&r->lock);
    if (!ok) {
        pthread_join(r->thread, NULL);
        if (e)
            *e = r->error;
        release(r);
        return false;
    }
    r->path = NULL;
    *out = r;
    return true;
}

size_t recording_carried(const struct recording *r)
{
    return r->carried;
}

/* Says that size bytes more wait for the writer. Called with the lock held; the only place where
 * the caller waits for the disk. */
static void added(struct recording *r, size_t size)
{
    bool was_dirty = r->dirty, was_early = r->waiting >= FLUSH_EARLY;
    r->dirty = true;
    r->waiting += size;
    if (!was_dirty || (!was_early && r->waiting >= FLUSH_EARLY))
        pthread_cond_signal(&r->wake);
    while (r->waiting > WAITING_MAX && !atomic_load(&r->failed))
        pthread_cond_wait(&r->space, &r->lock);
}

static bool has_failed(const struct recording *r)
{
    return atomic_load_explicit(&r->failed, memory_order_acquire);
}

static void add_row(struct recording *r, enum row_kind kind, const struct field *fields, size_t n)
{
    if (has_failed(r))
        return;
    pthread_mutex_lock(&r->lock);
    size_t before = r->next.rows.n;
    batch_row(&r->next, kind, fields, n);
    added(r, r->next.rows.n - before);
    pthread_mutex_unlock(&r->lock);
}

static struct field number(uint64_t value)
{
    return (struct field){.kind = FIELD_NUMBER, .number = (int64_t)value};
}

static struct field text(const char *value)
{
    if (!value)
        return (struct field){.kind = FIELD_NULL};
    return (struct field){.kind = FIELD_TEXT, .bytes = value, .size = strlen(value)};
}

#define ADD_ROW(r, kind, ...)                                                                      \
    add_row(r, kind, (const struct field[]){__VA_ARGS__},                                          \
            sizeof((const struct field[]){__VA_ARGS__}) / sizeof(struct field))

void recording_meta(struct recording *r, const char *key, const char *value)
{
    ADD_ROW(r, ROW_META, text(key), text(value));
}

/* The number under key in m; *count is raised for a new one, and *fresh says so. */
static uint32_t numbered(struct map *m, const void *key, size_t size, uint32_t *count, bool *fresh)
{
    uint64_t *id = map_put(m, key, size, fresh);
    if (*fresh)
        *id = ++*count;
    return (uint32_t)*id;
}

uint32_t recording_string(struct recording *r, const void *bytes, size_t size)
{
    if (!size)
        return 0;
    bool fresh;
    uint32_t id = numbered(&r->strings, bytes, size, &r->string_count, &fresh);
    if (fresh)
        ADD_ROW(r, ROW_STRING, number(id), {.kind = FIELD_TEXT, .bytes = bytes, .size = size});
    return id;
}

uint32_t recording_module(struct recording *r, const char *path, const char *build_id)
{
    if (!build_id)
        build_id = "";
    struct buf key = {0};
    buf_add(&key, path, strlen(path) + 1);
    buf_text(&key, build_id);
    bool fresh;
    uint32_t id = numbered(&r->modules, key.at, key.n, &r->module_count, &fresh);
    buf_free(&key);
    if (fresh)
        ADD_ROW(r, ROW_MODULE, number(id), text(path), text(build_id));
    return id;
}

uint32_t recording_stack(struct recording *r, const struct frame *frames, size_t n)
{
    if (!n)
        return 0;
    bool fresh;
    uint32_t id = numbered(&r->stacks, frames, n * sizeof *frames, &r->stack_count, &fresh);
    if (fresh)
        ADD_ROW(r, ROW_STACK, number(id),
                {.kind = FIELD_BLOB, .bytes = frames, .size = n * sizeof *frames});
    return id;
}

uint32_t recording_file(struct recording *r, enum file_kind kind, const char *path)
{
    uint32_t id = ++r->file_count;
    ADD_ROW(r, ROW_FILE, number(id), number(kind), text(path));
    return id;
}

uint32_t recording_process(struct recording *r, int pid, uint32_t parent)
{
    uint32_t id = ++r->process_count;
    ADD_ROW(r, ROW_PROCESS, number(id), number((uint64_t)pid), number(parent));
    return id;
}

uint32_t recording_thread(struct recording *r, uint32_t process, int tid)
{
    uint32_t id = ++r->thread_count;
    ADD_ROW(r, ROW_THREAD, number(id), number(process), number((uint64_t)tid));
    return id;
}

/* Appends to the payload row. Called with the lock held. */
static void add_bytes(struct recording *r, const uint8_t *bytes, size_t size)
{
    while (size && !has_failed(r)) {
        size_t at = r->row_end % PACK_SIZE;
        size_t n = size < PACK_SIZE - at ? size : PACK_SIZE - at;
        memcpy(r->pack + at, bytes, n);
        bytes += n;
        size -= n;
        r->row_end += n;
        r->pack_dirty = true;
        if (at + n == PACK_SIZE) {
            vec_push(&r->next.packs, (struct batch_pack){.number = r->row_end / PACK_SIZE - 1,
                                                         .size = PACK_SIZE,
                                                         .bytes = r->pack});
            r->pack = xmalloc(PACK_SIZE);
            r->pack_dirty = false;
        }
        added(r, n);
    }
    r->row_end += size;
}

static bool all_zero(const uint8_t *bytes, size_t size)
{
    return size == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, size - 1) == 0);
}

/* Where the position of these bytes is, or is to be put. */
static uint64_t *find_payload(struct recording *r, const struct payload_key *key, bool *fresh)
{
    if (key->size > SMALL_PAYLOAD)
        return map_put(&r->payloads, key, sizeof *key, fresh);
    struct small_payload *small = &r->small[key->hash.low64 % SMALL_REMEMBERED];
    *fresh = memcmp(&small->key, key, sizeof *key) != 0;
    small->key = *key;
    return &small->position;
}

uint64_t recording_payload(struct recording *r, const void *bytes, size_t size)
{
    if (all_zero(bytes, size))
        return PAYLOAD_ZEROS;
    struct payload_key key = {XXH3_128bits(bytes, size), size};
    bool fresh;
    uint64_t *position = find_payload(r, &key, &fresh);
    if (fresh) {
        pthread_mutex_lock(&r->lock);
        *position = r->row_end;
        add_bytes(r, bytes, size);
        pthread_mutex_unlock(&r->lock);
    }
    return *position;
}

void recording_image_file(struct recording *r, uint32_t file, enum file_kind kind, uint32_t mode,
                          uint64_t size, const char *target)
{
    ADD_ROW(r, ROW_IMAGE_FILE, number(file), number(kind), number(mode), number(size),
            text(target));
}

void recording_image_name(struct recording *r, uint32_t dir, const char *name, uint32_t file)
{
    ADD_ROW(r, ROW_IMAGE_NAME, number(dir), text(name), number(file));
}

void recording_image_extent(struct recording *r, uint32_t file, uint64_t offset, uint64_t size,
                            uint64_t payload)
{
    ADD_ROW(r, ROW_IMAGE_EXTENT, number(file), number(offset), number(size), number(payload));
}

void recording_notice(struct recording *r, const char *kind, const char *what)
{
    struct buf key = {0};
    buf_add(&key, kind, strlen(kind) + 1);
    buf_text(&key, what);
    bool fresh;
    uint64_t *index = map_put(&r->notice_index, key.at, key.n, &fresh);
    buf_free(&key);
    pthread_mutex_lock(&r->lock);
    if (fresh) {
        *index = r->notices.n;
        vec_push(&r->notices, (struct notice){.kind = xstrdup(kind), .what = xstrdup(what)});
    }
    struct notice *n = &r->notices.at[*index];
    n->count++;
    n->dirty = r->notices_dirty = true;
    added(r, 0);
    pthread_mutex_unlock(&r->lock);
}

/* The chunk that takes the next event. */
static struct chunk *last_chunk(struct recording *r)
{
    if (r->chunks.n && vec_last(&r->chunks)->count < EVENTS_PER_CHUNK)
        return vec_last(&r->chunks);
    struct chunk *c = xcalloc(1, sizeof *c);
    c->first = r->events + 1;
    c->records = xmalloc(EVENTS_PER_CHUNK * sizeof *c->records);
    vec_push(&r->chunks, c);
    return c;
}

/* The chunk of an event that has not ended, most often the newest. */
static struct chunk *find_chunk(const struct recording *r, uint64_t event, size_t *index)
{
    for (size_t i = r->chunks.n; i-- > 0;) {
        struct chunk *c = r->chunks.at[i];
        *index = i;
        if (event >= c->first)
            return event < c->first + c->count && c->is_open[event - c->first] ? c : NULL;
    }
    return NULL;
}

/* Gives a chunk that will not change any more to the writer, without a copy. */
static void retire_chunk(struct recording *r, size_t index)
{
    struct chunk *c = r->chunks.at[index];
    vec_push(&r->next.chunks,
             (struct batch_chunk){.first = c->first, .count = c->count, .records = c->records});
    free(c);
    memmove(&r->chunks.at[index], &r->chunks.at[index + 1],
            (r->chunks.n - index - 1) * sizeof *r->chunks.at);
    r->chunks.n--;
}

uint64_t recording_begin(struct recording *r, const struct event *event)
{
    if (has_failed(r))
        return ++r->events;
    pthread_mutex_lock(&r->lock);
    struct chunk *c = last_chunk(r);
    struct event *record = &c->records[c->count];
    *record = *event;
    record->traits |= EVENT_UNFINISHED;
    record->exit = UINT64_MAX;
    c->is_open[c->count] = true;
    c->count++;
    c->open++;
    c->dirty = true;
    uint64_t event_number = ++r->events;
    added(r, 0);
    pthread_mutex_unlock(&r->lock);
    return event_number;
}

/* After its last record has ended. */
static size_t close_record(struct recording *r, struct chunk *c, size_t index)
{
    c->dirty = true;
    if (c->count < EVENTS_PER_CHUNK || c->open)
        return 0;
    retire_chunk(r, index);
    return EVENTS_PER_CHUNK * sizeof(struct event);
}

void recording_instant(struct recording *r, const struct event *event)
{
    if (!has_failed(r)) {
        pthread_mutex_lock(&r->lock);
        struct chunk *c = last_chunk(r);
        c->records[c->count++] = *event;
        added(r, close_record(r, c, r->chunks.n - 1));
        pthread_mutex_unlock(&r->lock);
    }
    r->events++;
}

void recording_end(struct recording *r, uint64_t event_number, const struct event *event)
{
    if (has_failed(r))
        return;
    pthread_mutex_lock(&r->lock);
    size_t index;
    struct chunk *c = find_chunk(r, event_number, &index);
    if (c) {
        size_t at = event_number - c->first;
        c->records[at] = *event;
        c->is_open[at] = false;
        c->open--;
        added(r, close_record(r, c, index));
    }
    pthread_mutex_unlock(&r->lock);
}

bool recording_failed(struct recording *r, struct error *e)
{
    if (!has_failed(r))
        return false;
    pthread_mutex_lock(&r->lock);
    if (e)
        *e = r->error;
    pthread_mutex_unlock(&r->lock);
    return true;
}

uint64_t recording_events(const struct recording *r)
{
    return r->events;
}

static void stop(struct recording *r, int order)
{
    pthread_mutex_lock(&r->lock);
    r->order = order;
    pthread_cond_signal(&r->wake);
    pthread_mutex_unlock(&r->lock);
    pthread_join(r->thread, NULL);
}

bool recording_finish(struct recording *r, struct error *e)
{
    stop(r, FINISH);
    bool ok = !recording_failed(r, e);
    release(r);
    return ok;
}

void recording_abandon(struct recording *r, bool erase)
{
    stop(r, erase ? ERASE : STOP);
    release(r);
}
