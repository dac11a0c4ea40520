/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random programs written to sessions: a state with all ops applied, those that each model makes
 * too, is laid out as the replay of the session is.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "engine/graph.h"
#include "engine/graph_session.h"
#include "engine/layout.h"
#include "engine/replay.h"
#include "tests/unit/folders.h"
#include "tests/unit/state_program.h"

/* The program as a session: the image, then the events. */
static void write_session(struct program *p, const char *path)
{
    struct error e;
    struct recording *r;
    if (!recording_create(&r, path, &e))
        fail_msg("%s", e.text);
    for (uint32_t file = 1; file < p->kinds.n; file++)
        assert_int_equal(recording_file(r, p->kinds.at[file], "x"), file);
    struct tree *t = program_image_tree(p);
    for (uint32_t file = 1; file < p->kinds.n; file++) {
        const struct tree_file *f = tree_file(t, file);
        struct extent x;
        if (!f || (file != FILE_ROOT && !f->links))
            continue;
        recording_image_file(r, file, f->kind, f->mode, f->size, f->target);
        for (size_t i = 0; f->kind == FILE_DIRECTORY && i < f->entries.n; i++)
            recording_image_name(r, file, f->entries.at[i].name, f->entries.at[i].file);
        for (uint64_t from = 0; from < f->size && extents_find(&f->extents, from, &x);) {
            from = x.offset + x.size;
            uint64_t size = from <= f->size ? x.size : f->size - x.offset;
            if (x.offset >= f->size || x.payload == PAYLOAD_ZEROS)
                continue;
            recording_image_extent(r, file, x.offset, size,
                                   recording_payload(r, p->bytes.at + x.payload + x.from, size));
        }
    }
    tree_free(t);
    for (size_t i = p->image_events; i < p->events.n; i++) {
        struct event v = p->events.at[i];
        const char *name = program_names[v.name], *other = program_names[v.other_name];
        v.name = v.name ? recording_string(r, name, strlen(name)) : 0;
        v.other_name = v.other_name ? recording_string(r, other, strlen(other)) : 0;
        if (v.payload)
            v.payload = recording_payload(r, p->bytes.at + v.payload, v.size);
        recording_end(r, recording_begin(r, &v), &v);
    }
    if (!recording_finish(r, &e))
        fail_msg("%s", e.text);
}

/* What is not in the image cannot be found again by a replay. */
static bool image_is_whole(struct program *p)
{
    struct tree *t = program_image_tree(p);
    bool whole = true;
    for (uint32_t file = 2; file < p->kinds.n; file++)
        whole = whole && (!tree_file(t, file) || tree_file(t, file)->links);
    tree_free(t);
    return whole;
}

static void apply_graph(struct session *session, const char *model_name, const char *dir,
                        const char *like)
{
    struct error e;
    struct model model;
    struct graph_session *from = NULL;
    struct graph *g = NULL;
    struct state *s;
    struct state_source source = state_session_source(session);
    if (!model_find(model_name, &model, &e) || !graph_session_open(&from, session, &e) ||
        !graph_build(&g, &model, graph_session_source(from), &e) || !state_new(&s, &source, &e))
        fail_msg("%s", e.text);
    for (uint32_t i = 0; i < g->n; i++)
        if (!state_apply(s, &g->ops[i], i, &e))
            fail_msg("%s", e.text);
    if (!state_lay_out(s, dir, NULL, &e))
        fail_msg("%s", e.text);
    folder_same(like, dir);
    folder_remove(xstrdup(dir));
    state_free(s);
    graph_free(g);
    graph_session_close(from);
}

/* The ops that the test makes itself. */
static void apply_program(struct program *p, struct session *session, const char *dir,
                          const char *like, const struct layout_counts *expected)
{
    struct error e;
    struct state *s = NULL;
    struct layout_counts laid;
    struct state_source source = state_session_source(session);
    if (!state_new(&s, &source, &e))
        fail_msg("%s", e.text);
    for (uint32_t i = 0; i < p->ops.n; i++) {
        struct op op = p->ops.at[i];
        struct event v;
        assert_true(session_event(session, op.event, &v, &e));
        if (op.payload) /* other places, the same bytes */
            op.payload = v.payload ? v.payload + (op.offset - v.offset) : PAYLOAD_ZEROS;
        if (!state_apply(s, &op, i, &e))
            fail_msg("%s", e.text);
    }
    if (!state_lay_out(s, dir, &laid, &e))
        fail_msg("%s", e.text);
    folder_same(like, dir);
    assert_int_equal(laid.names, expected->names);
    assert_int_equal(laid.left_out, expected->left_out);
    folder_remove(xstrdup(dir));
    state_free(s);
}

static void one_session(struct program *p, const char *path, const char *dir, const char *like)
{
    struct error e;
    struct session *session = NULL;
    struct tree *t = NULL;
    struct replay_counts counts;
    struct layout_counts expected;
    write_session(p, path);
    if (!session_open(&session, path, &e) || !replay_end(session, &t, &counts, &e) ||
        !tree_lay_out(t, session, like, &expected, &e))
        fail_msg("%s", e.text);
    apply_program(p, session, dir, like, &expected);
    for (const struct model *const *m = model_table(); *m; m++)
        apply_graph(session, (*m)->name, dir, like);
    tree_free(t);
    session_close(session);
    folder_remove(xstrdup(like));
}

static void all_ops_give_what_a_replay_gives(void **unused)
{
    enum { SESSIONS = 60, IMAGE = 20, STEPS = 80 };
    (void)unused;
    char *top = folder_new_quick();
    char *path = xasprintf("%s/s.flotsam", top), *like = xasprintf("%s/like", top);
    char *dir = xasprintf("%s/dir", top);
    unsigned done = 0;
    for (unsigned seed = 1; done < SESSIONS; seed++) {
        struct program *p = program_new(seed, IMAGE, STEPS);
        if (image_is_whole(p)) {
            one_session(p, path, dir, like);
            done++;
        }
        program_free(p);
    }
    free(path);
    free(like);
    free(dir);
    folder_remove(top);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_ops_give_what_a_replay_gives),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
