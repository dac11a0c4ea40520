/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Reads all of a damaged session. An input that begins like an SQLite file is taken for the whole
 * session; any other one is a list of changes to a sound small one, so that no corpus is needed to
 * get past SQLite's own checks. A change is three bytes: where (two, little-endian) and what.
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/recording.h"
#include "engine/session.h"

enum {
    EVENTS_MAX = 5000, /* a count may be large and cost only time */
    PIECE = 4096,
    SAMPLE_EVENTS = 20,
    SAMPLE_MAX = 64 << 10, /* what two bytes can point into; the sample is a quarter of that */
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool any_file(void *data, uint32_t file, enum file_kind kind, uint32_t mode, uint64_t size,
                     const char *target)
{
    *(uint64_t *)data += file + kind + mode + size + (target ? strlen(target) : 0);
    return true;
}

static bool any_name(void *data, uint32_t dir, const char *name, uint32_t file)
{
    *(uint64_t *)data += dir + file + strlen(name);
    return true;
}

static bool any_extent(void *data, uint32_t file, uint64_t offset, uint64_t size, uint64_t payload)
{
    *(uint64_t *)data += file + offset + size + payload;
    return true;
}

static void any_notice(void *data, const char *kind, const char *what, uint64_t count)
{
    *(uint64_t *)data += strlen(kind) + strlen(what) + count;
}

static bool read_event(struct session *s, uint64_t number, uint64_t *sum)
{
    struct event event;
    struct error e;
    if (!session_event(s, number, &event, &e))
        return false;
    char bytes[PIECE];
    const struct frame *frames;
    struct module_info module;
    struct file_info file;
    struct thread_info thread;
    size_t n = session_stack(s, event.stack, &frames);
    for (size_t i = 0; i < n; i++)
        if (session_module(s, frames[i].module, &module))
            *sum += strlen(module.path) + strlen(module.build_id);
    if (session_file(s, event.file, &file))
        *sum += strlen(file.path);
    session_thread(s, event.thread, &thread);
    *sum += strlen(session_string(s, event.name)) + strlen(session_string(s, event.path));
    session_payload(s, event.payload, 0, bytes, event.size < PIECE ? event.size : PIECE, &e);
    return true;
}

static void read_everything(const char *path)
{
    struct session *s;
    struct error e;
    uint64_t sum = 0;
    if (!session_open(&s, path, &e))
        return;
    const struct image_visitor visitor = {any_file, any_name, any_extent};
    session_image(s, &visitor, &sum, &e);
    session_notices(s, any_notice, &sum, &e);
    const char *program = session_meta(s, "program");
    sum += program ? strlen(program) : 0;
    for (uint64_t i = 1; i <= session_event_count(s) && i <= EVENTS_MAX; i++)
        if (!read_event(s, i, &sum))
            break;
    session_close(s);
}

/* A session in pages of the smallest size, so that there is little empty space in it. */
static void record_sample(const char *path)
{
    struct recording *r;
    struct error e;
    sqlite3 *db;
    const struct frame frame = {.module = 1, .address = 0x1234};
    if (!recording_create(&r, path, &e))
        abort();
    recording_meta(r, "program", "sample");
    recording_module(r, "/bin/sample", "abcd");
    recording_file(r, FILE_DIRECTORY, "");
    recording_file(r, FILE_REGULAR, "log");
    recording_image_file(r, 1, FILE_DIRECTORY, 0755, 0, NULL);
    recording_image_file(r, 2, FILE_REGULAR, 0644, 4, NULL);
    recording_image_name(r, 1, "log", 2);
    recording_image_extent(r, 2, 0, 4, recording_payload(r, "data", 4));
    recording_notice(r, "mapping", "log");
    struct event event = {.call = CALL_WRITE,
                          .file = 2,
                          .size = 4,
                          .payload = recording_payload(r, "text", 4),
                          .path = recording_string(r, "log", 3),
                          .stack = recording_stack(r, &frame, 1),
                          .thread = recording_thread(r, recording_process(r, 1, 0), 1)};
    for (int i = 0; i < SAMPLE_EVENTS; i++)
        recording_end(r, recording_begin(r, &event), &event);
    if (!recording_finish(r, &e) || sqlite3_open(path, &db) != SQLITE_OK ||
        sqlite3_exec(db, "PRAGMA page_size = 512; VACUUM", NULL, NULL, NULL) != SQLITE_OK)
        abort();
    sqlite3_close(db);
}

static void write_file(const char *path, const void *bytes, size_t size)
{
    FILE *f = fopen(path, "we");
    if (!f || fwrite(bytes, 1, size, f) != size || fclose(f) != 0)
        abort();
}

/* The sound session, made once. */
static size_t sample(const char *path, uint8_t bytes[SAMPLE_MAX])
{
    static uint8_t kept[SAMPLE_MAX];
    static size_t size;
    if (!size) {
        record_sample(path);
        FILE *f = fopen(path, "re");
        size = f ? fread(kept, 1, sizeof kept, f) : 0;
        if (!size || size == sizeof kept)
            abort();
        fclose(f);
    }
    memcpy(bytes, kept, size);
    return size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char magic[] = "SQLite format 3";
    char path[64]; /* in memory, and by name, because SQLite opens by name */
    uint8_t changed[SAMPLE_MAX];
    snprintf(path, sizeof path, "/dev/shm/flotsam-session-fuzz-%d", (int)getpid());
    if (size >= sizeof magic && memcmp(data, magic, sizeof magic) == 0) {
        write_file(path, data, size);
    } else {
        size_t n = sample(path, changed);
        for (size_t i = 0; i + 2 < size; i += 3)
            changed[(data[i] | (size_t)data[i + 1] << 8) % n] = data[i + 2];
        write_file(path, changed, n);
    }
    read_everything(path);
    unlink(path);
    return 0;
}
