/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Pictures of graphs: what they look like, in both encodings; what is selected, lit and said; and
 * that nothing in a session can upset them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <locale.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/escape.h"
#include "engine/fix.h"
#include "tests/unit/run_sample.h"
#include "views/export_job.h"
#include "views/graph_picture.h"
#include "views/graphviz.h"

/* A file replaced by rename, a sync, another one after it, never synced. */
static void sample_run(struct run *f, const char *name)
{
    uint32_t a = run_create(f, name);
    run_write(f, a, "hello");
    run_rename(f, a, name, "a", 0);
    run_sync(f);
    run_write(f, run_create(f, "b"), "world");
    run_end(f);
    session_close(f->s);
    f->s = NULL;
}

static struct findings open_findings(struct run *f)
{
    struct findings findings;
    struct error e;

    if (!findings_open(&findings, f->path, NULL, &e))
        fail_msg("%s", e.text);
    return findings;
}

static struct graph_picture *show(struct findings *f, const uint8_t *marks)
{
    struct subgraph_options o = SUBGRAPH_DEFAULTS;
    struct subgraph *s;
    struct error e;

    o.marks = marks;
    o.mark_count = marks ? f->analysis->graph->n : 0;
    struct graph_picture *p = graph_picture_new(&e);
    if (!p || !subgraph_all(&s, f, &o, &e) || !graph_picture_show(p, s, &e) ||
        !graph_picture_wait(p, &e))
        fail_msg("%s", e.text);
    return p;
}

static void expect_rows(struct graph_picture *p, const char *const *rows)
{
    struct cell c = {0};
    int y = 0;

    for (; rows[y]; y++) {
        cell_clear(&c);
        graph_picture_row(p, y, 0, graph_picture_width(p), &c);
        while (c.text.n && c.text.at[c.text.n - 1] == ' ')
            c.text.at[--c.text.n] = '\0';
        assert_string_equal(buf_string(&c.text), rows[y]);
    }
    assert_int_equal(graph_picture_height(p), y);
    cell_free(&c);
}

static void is_drawn_in_boxes(void **state)
{
    struct findings f;
    const uint8_t marks[] = {MARK_PERSISTED, MARK_PERSISTED, MARK_LOST,    MARK_PERSISTED,
                             MARK_FLIGHT,    MARK_UNISSUED,  MARK_UNISSUED};

    sample_run(*state, "a.new");
    f = open_findings(*state);
    assert_int_equal(f.analysis->graph->n, sizeof marks);
    struct graph_picture *p = show(&f, marks);
    /* clang-format off */
    static const char *const utf8[] = {
        "                ┌ a.new ─────────┐   ┌ a.new ──────┐        ║",
        "             ┌─▸│● 1 alloc 0+4096├──▸│○ 2 write 0+5├──▸ev 4 sync    ┌ b ───────┐   ┌ b ─────────────┐   ┌ b ──────────┐",
        "┌ a.new ───┐ │  └────────────────┘   └─────────────┘        ║       │◌ 4 create├──▸│· 5 alloc 0+4096├──▸│· 6 write 0+5│",
        "│● 0 create├─┤                                              ║       └──────────┘   └────────────────┘   └─────────────┘",
        "└──────────┘ │  ┌ a.new ───┐                                ║",
        "             └─▸│● 3 rename├───────────────────────────────▸║",
        "                └──────────┘",
        NULL,
    };
    /* clang-format on */
    expect_rows(p, utf8);
    graph_picture_free(p);

    setlocale(LC_ALL, "C");
    p = show(&f, marks);
    /* clang-format off */
    static const char *const ascii[] = {
        "                + a.new ---------+   + a.new ------+        #",
        "             +->|* 1 alloc 0+4096+-->|o 2 write 0+5+-->ev 4 sync    + b -------+   + b -------------+   + b ----------+",
        "+ a.new ---+ |  +----------------+   +-------------+        #       |~ 4 create+-->|. 5 alloc 0+4096+-->|. 6 write 0+5|",
        "|* 0 create+-+                                              #       +----------+   +----------------+   +-------------+",
        "+----------+ |  + a.new ---+                                #",
        "             +->|* 3 rename+------------------------------->#",
        "                +----------+",
        NULL,
    };
    /* clang-format on */
    expect_rows(p, ascii);
    graph_picture_free(p);
    setlocale(LC_ALL, "C.UTF-8");
    findings_close(&f);
}

/* ---- nodes ---- */

/* The style of a column of a row. */
static enum style style_at(struct graph_picture *p, int x, int y)
{
    struct cell c = {0};

    graph_picture_row(p, y, x, 1, &c);
    enum style style = c.spans.at[0].style;
    cell_free(&c);
    return style;
}

static void selection_lights_what_is_beside_it(void **state)
{
    struct subject subject;

    sample_run(*state, "a.new");
    struct findings f = open_findings(*state);
    struct graph_picture *p = show(&f, NULL);
    size_t create = graph_picture_find(p, 0), alloc = graph_picture_find(p, 1),
           data = graph_picture_find(p, 2), rename = graph_picture_find(p, 3);
    struct picture_box at = graph_picture_box(p, alloc), before = graph_picture_box(p, create),
                       after = graph_picture_box(p, data), beside = graph_picture_box(p, rename);

    assert_int_equal(graph_picture_selected(p), NO_NODE);
    graph_picture_subject(p, &subject);
    assert_int_equal(subject.kind, SUBJECT_NONE);
    assert_int_equal(style_at(p, before.x, before.y), STYLE_PLAIN);

    graph_picture_select(p, alloc);
    graph_picture_subject(p, &subject);
    assert_int_equal(subject.kind, SUBJECT_OP);
    assert_int_equal(subject.number, 1);
    assert_int_equal(style_at(p, at.x, at.y), STYLE_SELECTED);
    assert_int_equal(style_at(p, at.x + 2, at.y + 1), STYLE_SELECTED);
    assert_int_equal(style_at(p, before.x, before.y), STYLE_EDGE_BEFORE);
    assert_int_equal(style_at(p, at.x - 1, at.y + 1), STYLE_EDGE_BEFORE);
    assert_int_equal(style_at(p, after.x, after.y), STYLE_EDGE_AFTER);
    assert_int_equal(style_at(p, at.x + at.width, at.y + 1), STYLE_EDGE_AFTER);
    assert_int_equal(style_at(p, beside.x, beside.y), STYLE_PLAIN);
    assert_int_equal(style_at(p, beside.x - 1, beside.y + 1), STYLE_EDGE);

    graph_picture_select(p, NO_NODE);
    graph_picture_colour(p, PICTURE_BY_FILE);
    assert_int_equal(style_at(p, at.x, at.y), STYLE_FILE_1);
    at = graph_picture_box(p, graph_picture_find(p, 4));
    assert_int_not_equal(style_at(p, at.x, at.y), STYLE_FILE_1);
    assert_int_equal(graph_picture_find(p, 7), NO_NODE);
    graph_picture_free(p);
    findings_close(&f);
}

static void nodes_are_found_by_place_and_direction(void **state)
{
    sample_run(*state, "a.new");
    struct findings f = open_findings(*state);
    struct graph_picture *p = show(&f, NULL);
    size_t n = graph_picture_subgraph(p)->n;

    assert_int_equal(n, 8); /* and the sync */
    assert_int_equal(graph_picture_at(p, 0, 0), NO_NODE);
    assert_int_equal(graph_picture_at(p, -1, 1000), NO_NODE);
    for (size_t i = 0; i < n; i++) {
        struct picture_box a = graph_picture_box(p, i);
        assert_int_equal(graph_picture_at(p, a.x, a.y + 1), i);
        for (int d = PICTURE_LEFT; d <= PICTURE_DOWN; d++) {
            size_t k = graph_picture_neighbour(p, i, (enum picture_direction)d);
            struct picture_box b = graph_picture_box(p, k);
            assert_true(k < n);
            assert_true(k == i || (d == PICTURE_LEFT    ? b.x < a.x
                                   : d == PICTURE_RIGHT ? b.x > a.x
                                   : d == PICTURE_UP    ? b.y < a.y
                                                        : b.y > a.y));
        }
    }
    /* Along the edges, then past the sync. */
    size_t at = graph_picture_find(p, 0);
    at = graph_picture_neighbour(p, at, PICTURE_RIGHT);
    assert_int_equal(at, graph_picture_find(p, 1));
    assert_int_equal(graph_picture_neighbour(p, at, PICTURE_DOWN), graph_picture_find(p, 3));
    at = graph_picture_neighbour(p, at, PICTURE_RIGHT);
    at = graph_picture_neighbour(p, at, PICTURE_RIGHT);
    struct subject subject;
    graph_picture_select(p, at);
    graph_picture_subject(p, &subject);
    assert_int_equal(subject.kind, SUBJECT_EVENT);
    assert_int_equal(subject.number, 4);
    assert_int_equal(graph_picture_neighbour(p, at, PICTURE_RIGHT), graph_picture_find(p, 4));
    assert_int_equal(graph_picture_neighbour(p, NO_NODE, PICTURE_RIGHT), 0);
    graph_picture_free(p);
    findings_close(&f);
}

static void details_name_the_rules(void **state)
{
    static const char *const lines[] = {
        "op 4 create b, event 5",
        "sample+0xfff, behaviour ",
        "no sync makes it durable for certain",
        "after event 4 sync",
        "  synced: issued after the sync had returned",
        "before op 5 alloc 0+4096 b",
        "  created: a file's blocks and sizes enter the journal after its creation",
    };
    struct cell c = {0};
    struct error e;
    bool more;

    sample_run(*state, "a.new");
    struct findings f = open_findings(*state);
    struct graph_picture *p = show(&f, NULL);
    assert_true(graph_picture_detail(p, 0, &c, &more, &e));
    assert_false(more);
    graph_picture_select(p, graph_picture_find(p, 4));
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        cell_clear(&c);
        assert_true(graph_picture_detail(p, i, &c, &more, &e));
        assert_true(more);
        if (strncmp(buf_string(&c.text), lines[i], strlen(lines[i])))
            assert_string_equal(buf_string(&c.text), lines[i]);
    }
    assert_true(graph_picture_detail(p, sizeof lines / sizeof *lines, &c, &more, &e));
    assert_false(more);
    cell_free(&c);
    graph_picture_free(p);
    findings_close(&f);
}

/* Of syncs that the program did not make: they stand where they would, and say what they are. */
static void pretended_syncs_are_bars(void **state)
{
    const struct fix fixes[] = {{.after = 2, .file = 2, .call = CALL_FSYNC},
                                {.after = 2, .file = FILE_ROOT, .call = CALL_FSYNC},
                                {.after = 6, .file = 3, .call = CALL_FDATASYNC}};
    const struct findings_options pretend = {.pretend = true};
    struct subgraph_options o = SUBGRAPH_DEFAULTS;
    struct run *run = *state;
    struct cell c = {0};
    struct buf dot = {0};
    struct findings f;
    struct error e;
    uint32_t id;
    bool more;

    sample_run(run, "a.new");
    assert_true(session_open(&run->s, run->path, &e));
    for (size_t i = 0; i < sizeof fixes / sizeof *fixes; i++)
        if (!fix_add(run->s, &fixes[i], &id, &e))
            fail_msg("%s", e.text);
    if (!findings_finish(findings_start(run->path, &pretend), &f, &e))
        fail_msg("%s", e.text);
    struct graph_picture *p = show(&f, NULL);
    const struct subgraph *s = graph_picture_subgraph(p);
    size_t bars = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (s->nodes[i].kind != SUBGRAPH_SYNC || s->nodes[i].event)
            continue;
        bars++;
        graph_picture_select(p, i);
        cell_clear(&c);
        assert_true(graph_picture_detail(p, 0, &c, &more, &e) && more);
        assert_memory_equal(buf_string(&c.text), "pretended after event ", 22);
    }
    assert_int_equal(bars, 2); /* what the first makes durable, the second need not */
    graph_picture_select(p, graph_picture_find(p, 6));
    cell_clear(&c);
    assert_true(graph_picture_detail(p, 2, &c, &more, &e) && more);
    assert_string_equal(buf_string(&c.text),
                        "durable after the pretended fdatasync of b after event 6");
    struct subgraph *all;
    assert_true(subgraph_all(&all, &f, &o, &e) && export_dot(all, &dot, &e));
    assert_non_null(strstr(buf_string(&dot), "sync that is only pretended"));
    subgraph_free(all);
    buf_free(&dot);
    cell_free(&c);
    graph_picture_free(p);
    findings_close(&f);
}

/* Whoever is drawing, a picture is begun at once, and needs nothing of what it was made from. */
static void a_picture_is_written_while_others_go_on(void **state)
{
    struct run *f = *state;
    struct subgraph_options o = SUBGRAPH_DEFAULTS;
    struct subgraph *s;
    struct graphviz busy;
    struct error e;

    sample_run(f, "tmp");
    struct findings findings = open_findings(f);
    char *file = xasprintf("%s/picture.svg", f->top), *nowhere = xasprintf("%s/no/x.svg", f->top);
    assert_true(subgraph_all(&s, &findings, &o, &e));
    graphviz_enter(&busy);
    struct export_job *job = export_job_start(s, file, &e);
    assert_non_null(job);
    struct export_job *failing = export_job_start(s, nowhere, &e);
    assert_non_null(failing);
    subgraph_free(s);
    findings_close(&findings);
    assert_false(export_job_done(job));
    graphviz_leave(&busy);
    struct pollfd fd = {.fd = export_job_fd(job), .events = POLLIN};
    assert_int_equal(poll(&fd, 1, 20000), 1);
    assert_true(export_job_done(job));
    assert_true(export_job_finish(job, &e));
    assert_int_equal(access(file, R_OK), 0);
    assert_false(export_job_finish(failing, &e));
    assert_non_null(strstr(e.text, "no/x.svg"));
    free(file);
    free(nowhere);
}

/* ---- coming and going ---- */

static void a_new_picture_comes_when_it_is_ready(void **state)
{
    struct subgraph_options o = SUBGRAPH_DEFAULTS;
    struct subgraph *s;
    struct error e;

    sample_run(*state, "a.new");
    struct findings f = open_findings(*state);
    struct graph_picture *p = graph_picture_new(&e);
    assert_null(graph_picture_subgraph(p));
    assert_int_equal(graph_picture_poll(p, &e), PICTURE_READY);
    assert_int_equal(graph_picture_height(p), 0);
    for (int i = 0; i < 5; i++) { /* all but the last are outdated at once */
        assert_true(subgraph_around(&s, &f, (uint64_t)i, 1, &o, &e));
        assert_true(graph_picture_show(p, s, &e));
    }
    struct pollfd fd = {.fd = graph_picture_fd(p), .events = POLLIN};
    enum picture_state now;
    while ((now = graph_picture_poll(p, &e)) == PICTURE_WAITING)
        poll(&fd, 1, 1000);
    assert_int_equal(now, PICTURE_NEW);
    assert_string_equal(graph_picture_subgraph(p)->title, "around op 4");
    assert_int_equal(graph_picture_poll(p, &e), PICTURE_READY);

    /* The selection stays with its op. */
    graph_picture_select(p, graph_picture_find(p, 5));
    assert_true(subgraph_all(&s, &f, &o, &e));
    assert_true(graph_picture_show(p, s, &e));
    assert_int_equal(graph_picture_find(p, 0), NO_NODE); /* still the one before */
    assert_true(graph_picture_wait(p, &e));
    assert_int_equal(graph_picture_selected(p), graph_picture_find(p, 5));
    assert_int_not_equal(graph_picture_find(p, 0), NO_NODE);

    /* Nobody is woken for one that is forgotten. */
    struct subgraph_options all = SUBGRAPH_DEFAULTS;
    assert_true(subgraph_all(&s, &f, &all, &e));
    assert_true(graph_picture_show(p, s, &e));
    assert_int_equal(poll(&fd, 1, 30000), 1);
    graph_picture_forget(p);
    assert_int_equal(poll(&fd, 1, 0), 0);
    assert_int_equal(graph_picture_poll(p, &e), PICTURE_READY);

    /* Freed while one is coming. */
    assert_true(subgraph_all(&s, &f, &o, &e));
    assert_true(graph_picture_show(p, s, &e));
    graph_picture_free(p);
    findings_close(&f);
}

static void too_many_nodes_are_refused(void **state)
{
    struct subgraph_options o = {.limit = 100000};
    struct subgraph *s;
    struct error e;
    struct run *run = *state;

    uint32_t file = run_create(run, "x");
    for (int i = 0; i < PICTURE_NODES_MAX + 10; i++)
        run_write(run, file, "y");
    run_end(run);
    session_close(run->s);
    run->s = NULL;
    struct findings f = open_findings(run);
    struct graph_picture *p = graph_picture_new(&e);
    assert_true(subgraph_all(&s, &f, &o, &e));
    assert_false(graph_picture_show(p, s, &e));
    assert_non_null(strstr(e.text, "too many to draw"));
    o = (struct subgraph_options)SUBGRAPH_DEFAULTS;
    assert_true(subgraph_all(&s, &f, &o, &e));
    assert_int_equal(s->left_out, f.analysis->graph->n - SUBGRAPH_LIMIT);
    assert_true(graph_picture_show(p, s, &e));
    assert_true(graph_picture_wait(p, &e));
    graph_picture_free(p);
    findings_close(&f);
}

/* ---- hostile names ---- */

static bool harmless(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (((unsigned char)text[i] < 0x20 && text[i] != '\n' && text[i] != '\t') ||
            text[i] == 0x7f)
            return false;
    return true;
}

static void expect_exports(struct findings *f)
{
    struct subgraph_options o = SUBGRAPH_DEFAULTS;
    struct subgraph *s;
    struct error e;

    assert_true(subgraph_all(&s, f, &o, &e));
    for (const char *const *name = (const char *const[]){"dot", "svg", "json", NULL}; *name;
         name++) {
        struct buf out = {0};
        if (!export_format_find(*name, &e)->write(s, &out, &e))
            fail_msg("%s: %s", *name, e.text);
        assert_true(out.n > 0 && harmless(out.at, out.n));
        buf_free(&out);
    }
    subgraph_free(s);
}

static void expect_aligned(struct findings *f)
{
    struct graph_picture *p = show(f, NULL);
    struct cell c = {0};

    for (int y = 0; y < graph_picture_height(p); y++)
        for (int x = -1; x < graph_picture_width(p); x += 7)
            for (int width = 1; width < 90; width += 44) {
                cell_clear(&c);
                graph_picture_row(p, y, x, width, &c);
                assert_int_equal(escape_width(buf_string(&c.text)), width);
                assert_true(harmless(c.text.at, c.text.n));
            }
    cell_free(&c);
    graph_picture_free(p);
}

/* A file whose name is that many pairs of bytes. */
static void hostile(struct run *run, const char *piece, size_t times)
{
    struct buf name = {0};

    for (size_t i = 0; i < times; i++)
        buf_text(&name, piece);
    sample_run(run, buf_string(&name));
    buf_free(&name);
    struct findings f = open_findings(run);
    expect_aligned(&f);
    expect_exports(&f);
    setlocale(LC_ALL, "C");
    expect_aligned(&f);
    expect_exports(&f);
    setlocale(LC_ALL, "C.UTF-8");
    findings_close(&f);
}

static void escape_sequences_are_shown(void **state)
{
    hostile(*state, "\x1b[31m\x07\n\x7f", 3);
}

static void invalid_text_is_shown(void **state)
{
    hostile(*state, "\xff\xc3\x28\xed\xa0\x80", 4);
}

static void wide_and_combining_characters_keep_columns(void **state)
{
    hostile(*state, "漢e\xcc\x81字", 12);
}

static void markup_is_text(void **state)
{
    hostile(*state, "<B>&amp;\"\\N\\\"]]>\\l'{|}", 2);
}

static void long_paths_are_cut(void **state)
{
    hostile(*state, "abcdefghi", 444);
}

int main(void)
{
    if (!setlocale(LC_ALL, "C.UTF-8"))
        return 1;
    const struct CMUnitTest tests[] = {
        run_case(is_drawn_in_boxes),
        run_case(selection_lights_what_is_beside_it),
        run_case(nodes_are_found_by_place_and_direction),
        run_case(details_name_the_rules),
        run_case(pretended_syncs_are_bars),
        run_case(a_picture_is_written_while_others_go_on),
        run_case(a_new_picture_comes_when_it_is_ready),
        run_case(too_many_nodes_are_refused),
        run_case(escape_sequences_are_shown),
        run_case(invalid_text_is_shown),
        run_case(wide_and_combining_characters_keep_columns),
        run_case(markup_is_text),
        run_case(long_paths_are_cut),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
