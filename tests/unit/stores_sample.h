/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * stores_sample: a small run that stores to a mapped file, with what debug info would have told of
 * its fields, for tests of what people are shown. Include after cmocka.h.
 *
 *      struct entry { uint64_t key, value; };                                      16 bytes
 *      struct bucket { uint64_t tokens; (to 64) struct entry slot[2]; };           96 bytes
 *
 *      1 mmap table
 *      2 store slot[0].key = 7      insert  hash.c:38    table 64+8, line 1
 *      3 store slot[0].value = 9    insert  hash.c:39    table 72+8, found by its address
 *      4 store tokens = 1           insert  hash.c:43    table 0+8, line 0
 *      5 clwb line 1                flush   mapped.h:58
 *      6 clwb line 0                flush   mapped.h:58
 *      7 sfence                     fence   mapped.h:68
 *      8 print "put\n"              main    main.c:7
 *      9 store of no known type     main    main.c:8     table 200+4, past the cache
 */
#ifndef TESTS_UNIT_STORES_SAMPLE_H
#define TESTS_UNIT_STORES_SAMPLE_H

#include "engine/fields_inside.h"
#include "engine/types.h"
#include "tests/unit/debug_sample.h"

enum { TABLE_SIZE = 256, BUCKET = 1, ENTRY };

RUN_UNUSED static void stores_event(struct run *f, struct event v, uint32_t file, uint64_t address)
{
    v.file = file;
    v.path = file ? run_string(f, "table") : 0;
    v.syscall = SYSCALL_NONE;
    v.stack = debug_stack(f, address);
    run_event(f, v);
}

RUN_UNUSED static void stores_store(struct run *f, uint32_t file, uint64_t offset, uint64_t value,
                                    uint64_t size, uint32_t flags, uint64_t address)
{
    stores_event(f,
                 (struct event){.call = CALL_STORE,
                                .offset = offset,
                                .size = size,
                                .flags = flags,
                                .payload = recording_payload(f->r, &value, size)},
                 file, address);
}

RUN_UNUSED static void stores_record(struct run *f)
{
    uint32_t table = recording_file(f->r, FILE_REGULAR, "table");

    recording_meta(f->r, "backend", "valgrind");
    recording_image_file(f->r, table, FILE_REGULAR, 0644, TABLE_SIZE, NULL);
    recording_image_name(f->r, FILE_ROOT, "table", table);
    stores_event(f, (struct event){.call = CALL_MMAP, .size = TABLE_SIZE}, table, 0x800);
    stores_store(f, table, 64, 7, 8, 0, 0x100);
    stores_store(f, table, 72, 9, 8, 0, 0x200);
    stores_store(f, table, 0, 1, 8, 0, 0x300);
    for (int line = 1; line >= 0; line--)
        stores_event(f,
                     (struct event){.call = CALL_FLUSH,
                                    .offset = (uint64_t)line * CACHE_LINE,
                                    .size = CACHE_LINE,
                                    .flags = FLUSH_CLWB},
                     table, 0x400);
    stores_event(f, (struct event){.call = CALL_FENCE, .flags = FENCE_SFENCE}, 0, 0x500);
    debug_print(f, "put\n");
    stores_store(f, table, 200, 5, 4, STORE_NT, 0x800);
}

/* --- What debug info would have told ------------------------------------------------------- */

RUN_UNUSED static uint32_t stores_text(struct fields *f, const char *text)
{
    vec_push(&f->text_at, f->texts.n);
    buf_add(&f->texts, text, strlen(text) + 1);
    return (uint32_t)f->text_at.n;
}

RUN_UNUSED static void stores_leaf(struct fields *f, const char *path, uint64_t offset)
{
    vec_push(&f->leaves,
             (struct field_leaf){
                 .offset = offset, .size = 8, .kind = TYPE_UNSIGNED, .path = stores_text(f, path)});
    vec_last(&f->types).count++;
}

RUN_UNUSED static void stores_type(struct fields *f, const char *name, uint64_t size)
{
    struct field_type t = {.size = size, .first = (uint32_t)f->leaves.n};
    t.name = stores_text(f, name);
    vec_push(&f->types, t);
}

RUN_UNUSED static void stores_field(struct fields *f, uint64_t event, uint32_t type,
                                    uint64_t offset, const char *path, const char *words,
                                    const char *field, enum type_confidence confidence)
{
    struct stored_field s = {.event = event,
                             .type = type,
                             .instance = offset + 1,
                             .outer = BUCKET,
                             .outer_instance = 1,
                             .confidence = confidence};
    s.path = stores_text(f, path);
    s.words = stores_text(f, words);
    s.field = stores_text(f, field);
    vec_push(&f->stores, s);
}

/* Kept in the session by the module itself, and read back by whoever opens it. */
RUN_UNUSED static void stores_fields(const char *path)
{
    struct fields f = {0};
    struct session *s;
    struct error e;

    stores_type(&f, "bucket", 96);
    stores_leaf(&f, "tokens", 0);
    vec_push(&f.leaves, (struct field_leaf){.offset = 8, .size = 56, .kind = TYPE_VOID});
    vec_last(&f.types).count++;
    stores_leaf(&f, "slot[0].key", 64);
    stores_leaf(&f, "slot[0].value", 72);
    stores_leaf(&f, "slot[1].key", 80);
    stores_leaf(&f, "slot[1].value", 88);
    stores_type(&f, "entry", 16);
    stores_leaf(&f, "key", 0);
    stores_leaf(&f, "value", 8);
    stores_field(&f, 2, ENTRY, 64, "slot[0].key", "slot[0].key = 7", "entry.key", TYPE_EXACT);
    stores_field(&f, 3, ENTRY, 64, "slot[0].value", "slot[0].value = 9", "entry.value",
                 TYPE_BY_ADDRESS);
    stores_field(&f, 4, BUCKET, 0, "tokens", "tokens = 1", "bucket.tokens", TYPE_EXACT);
    if (!session_open(&s, path, &e) || !fields_keep(&f, s, &e))
        fail_msg("%s", e.text);
    session_close(s);
    fields_clear(&f);
}

RUN_UNUSED static void stores_symbols(const char *path)
{
    sqlite3 *db;
    assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
    assert_int_equal(
        sqlite3_exec(db,
                     "INSERT INTO symbols VALUES (1, 256, 0, 'insert', '/src/hash.c', 38);"
                     "INSERT INTO symbols VALUES (1, 512, 0, 'insert', '/src/hash.c', 39);"
                     "INSERT INTO symbols VALUES (1, 768, 0, 'insert', '/src/hash.c', 43);"
                     "INSERT INTO symbols VALUES (1, 1024, 0, 'flush', '/src/mapped.h', 58);"
                     "INSERT INTO symbols VALUES (1, 1280, 0, 'fence', '/src/mapped.h', 68);"
                     "INSERT INTO symbols VALUES (1, 1792, 0, 'main', '/src/main.c', 7);"
                     "INSERT INTO symbols VALUES (1, 2048, 0, 'main', '/src/main.c', 8);"
                     "INSERT INTO symbols VALUES (1, 2304, 0, 'main', '/src/main.c', 5);",
                     NULL, NULL, NULL),
        SQLITE_OK);
    sqlite3_close(db);
}

RUN_UNUSED static int stores_set_up(void **state)
{
    struct analysis_options options = {.behaviours = BEHAVIOUR_DEFAULTS};
    struct error e;

    debug_begin(state);
    struct debug *d = *state;
    stores_record(d->run);
    run_end(d->run);
    session_close(d->run->s);
    stores_symbols(d->run->path);
    stores_fields(d->run->path);
    if (!session_open(&d->run->s, d->run->path, &e) || !model_find("ext4", &options.model, &e) ||
        !analysis_new(&d->analysis, d->run->s, &options, &e))
        fail_msg("%s", e.text);
    const struct analysis *a = d->analysis;
    d->walk = walk_new(a->graph, graph_session_source(a->source), a->actions, a->action_count);
    return 0;
}

#define stores_case(function)                                                                      \
    cmocka_unit_test_setup_teardown(function, stores_set_up, debug_tear_down)

#endif
