/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/trace_json.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "engine/buf.h"
#include "engine/calls.h"
#include "engine/escape.h"
#include "engine/map.h"
#include "engine/mem.h"
#include "engine/report.h"
#include "views/trace_filter.h"
#include "views/trace_what.h"

/* A text longer than this is data, and `flotsam replay` lays it out whole. */
enum { TEXT_MAX = 1 << 20 };

struct trace_json {
    struct session *session;
    struct symbols *symbols;
    const struct fields *fields;
    struct map stacks; /* stack to its text, a char *: a million events share a few stacks */
};

struct trace_json *trace_json_open(struct session *s, struct symbols *sy, const struct fields *f)
{
    struct trace_json *t = xcalloc(1, sizeof *t);

    t->session = s;
    t->symbols = sy;
    t->fields = f;
    return t;
}

void trace_json_close(struct trace_json *t)
{
    map_free_owned(&t->stacks);
    free(t);
}

/* jansson escapes all controls but the delete character, which can only be inside a string. */
static int add_piece(const char *piece, size_t n, void *out)
{
    const char *del;

    while ((del = memchr(piece, '\x7f', n))) {
        buf_add(out, piece, (size_t)(del - piece));
        buf_text(out, "\\u007f");
        n -= (size_t)(del - piece) + 1;
        piece = del + 1;
    }
    buf_add(out, piece, n);
    return 0;
}

/* Printable ASCII only, so that it is safe to look at on a terminal, too. */
static void add_json(struct buf *out, json_t *value)
{
    json_dump_callback(value, add_piece, out, JSON_COMPACT | JSON_ENSURE_ASCII);
    json_decref(value);
}

/* --- Values -------------------------------------------------------------------------------- */

/* JSON's numbers end at INT64_MAX; so do offsets that a kernel accepts. */
static json_t *number(uint64_t value)
{
    return json_integer(value > INT64_MAX ? INT64_MAX : (json_int_t)value);
}

static void set_bytes(json_t *o, const char *name, const char *bytes, size_t n)
{
    struct buf hex = {0}, key = {0};

    buf_hex(&hex, bytes, n);
    buf_printf(&key, "%s_bytes", name);
    json_object_set_new(o, key.at, json_string(buf_string(&hex)));
    buf_free(&hex);
    buf_free(&key);
}

static void set_text(json_t *o, const char *name, const char *bytes, size_t n)
{
    json_t *text = json_stringn(bytes, n); /* NULL when it is not valid UTF-8 */

    if (!text) {
        struct buf safe = {0};
        escape_add(&safe, bytes, n, ESCAPE_UTF8 | ESCAPE_REVERSIBLE);
        text = json_stringn(buf_string(&safe), safe.n);
        buf_free(&safe);
        set_bytes(o, name, bytes, n);
    }
    json_object_set_new(o, name, text);
}

static void set_string(json_t *o, const char *name, const char *text)
{
    set_text(o, name, text, strlen(text));
}

static void add_word(void *data, const char *word)
{
    json_array_append_new(data, json_string(word));
}

/* --- Members ------------------------------------------------------------------------------- */

static json_t *location_object(const struct location *l)
{
    json_t *o = json_object();

    set_string(o, "function", l->function);
    set_string(o, "file", l->file);
    json_object_set_new(o, "line", json_integer(l->line));
    if (l->flags & LOCATION_INLINED)
        json_object_set_new(o, "inlined", json_true());
    return o;
}

static const char *stack_text(struct trace_json *t, uint32_t stack)
{
    const struct frame *frames;
    bool added;
    uint64_t *known = map_put(&t->stacks, &stack, sizeof stack, &added);

    if (added) {
        json_t *array = json_array();
        struct buf text = {0};
        size_t n = session_stack(t->session, stack, &frames);
        for (size_t i = 0; i < n; i++) {
            const struct location *at;
            size_t m = symbols_frame(t->symbols, &frames[i], &at);
            for (size_t k = 0; k < m; k++)
                json_array_append_new(array, location_object(&at[k]));
        }
        add_json(&text, array);
        *known = (uint64_t)(uintptr_t)text.at;
    }
    return (const char *)(uintptr_t)*known;
}

static void set_source(struct trace_json *t, json_t *o, const struct event *event)
{
    const struct location *l = symbols_stack(t->symbols, event->stack);
    bool source = l && location_has_source(l);

    set_string(o, "function", l ? l->function : "");
    set_string(o, "file", source ? l->file : "");
    json_object_set_new(o, "line", json_integer(source ? l->line : 0));
}

static void set_thread(struct trace_json *t, json_t *o, const struct event *event)
{
    struct thread_info info;

    json_object_set_new(o, "thread", json_integer(event->thread));
    if (session_thread(t->session, event->thread, &info)) {
        json_object_set_new(o, "process", json_integer(info.process));
        json_object_set_new(o, "tid", json_integer(info.tid));
        json_object_set_new(o, "pid", json_integer(info.pid));
    }
}

static void set_paths(struct trace_json *t, json_t *o, const struct event *event)
{
    set_string(o, "path", session_string(t->session, event->path));
    if (event->file)
        json_object_set_new(o, "inode", json_integer(event->file));
    if (event->other_path)
        set_string(o, "other_path", session_string(t->session, event->other_path));
    if (event->other)
        json_object_set_new(o, "other_inode", json_integer(event->other));
    if (event->call == CALL_COPY)
        json_object_set_new(o, "other_offset", number(event->other_offset));
}

static void set_result(json_t *o, const struct event *event)
{
    bool unfinished = event->traits & EVENT_UNFINISHED;

    json_object_set_new(o, "entry", number(session_position_recorded(event->entry)));
    json_object_set_new(o, "exit",
                        unfinished ? json_null() : number(session_position_recorded(event->exit)));
    json_object_set_new(o, "time", json_real((double)event->time / 1e9));
    json_object_set_new(o, "result", unfinished ? json_null() : json_integer(event->result));
    if (unfinished)
        json_object_set_new(o, "unfinished", json_true());
    if (event->traits & EVENT_FAILED) {
        const char *name = event->result < 0 && event->result > -INT32_MAX
                               ? strerrorname_np((int)-event->result)
                               : NULL;
        json_object_set_new(o, "error", json_string(name ? name : "unknown"));
    }
}

static void set_flags(json_t *o, const struct event *event)
{
    json_t *words = json_array();

    json_object_set_new(o, "fd", json_integer(event->fd));
    json_object_set_new(o, "mode", json_integer(event->mode));
    json_object_set_new(o, "flags", json_integer(event->flags));
    trace_words(event, add_word, words);
    json_object_set_new(o, "words", words);
}

static bool set_payload(struct trace_json *t, json_t *o, const struct event *event, struct error *e)
{
    size_t n = event->size < TEXT_MAX ? (size_t)event->size : TEXT_MAX;
    struct buf text = {0};

    if (event->call != CALL_PRINT && event->call != CALL_MARKER && event->call != CALL_SYMLINK)
        return true;
    bool ok = n == 0 || session_payload(t->session, event->payload, 0, buf_room(&text, n), n, e);
    if (ok) {
        set_text(o, "text", buf_string(&text), n);
        if (n < event->size)
            json_object_set_new(o, "text_size", number(event->size));
    }
    buf_free(&text);
    return ok;
}

bool trace_json_event(struct trace_json *t, uint64_t event_number, struct buf *out, struct error *e)
{
    struct event event;

    if (!session_event(t->session, event_number, &event, e))
        return false;
    json_t *o = json_object();
    char *name = event.syscall == SYSCALL_NONE ? NULL : syscall_name(event.syscall);
    json_object_set_new(o, "event", number(event_number));
    json_object_set_new(o, "call", json_string(call_name(event.call)));
    json_object_set_new(o, "syscall", name ? json_string(name) : json_null());
    free(name);
    set_paths(t, o, &event);
    json_object_set_new(o, "offset", number(event.offset));
    json_object_set_new(o, "size", number(event.size));
    set_result(o, &event);
    set_thread(t, o, &event);
    set_flags(o, &event);
    set_source(t, o, &event);
    report_field(o, t->fields, event_number);
    if (event.call == CALL_FLUSH)
        json_object_set_new(o, "cache_line", number(event.offset / CACHE_LINE));
    if (!set_payload(t, o, &event, e)) {
        json_decref(o);
        return false;
    }
    add_json(out, o);
    out->n--; /* the stack goes in before the closing brace */
    buf_text(out, ",\"stack\":");
    buf_text(out, stack_text(t, event.stack));
    buf_char(out, '}');
    return true;
}
