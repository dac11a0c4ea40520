/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/replay.h"

#include <linux/fs.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/calls.h"
#include "engine/log.h"
#include "engine/vec.h"

/* The starting image */

struct start {
    struct tree *tree;
    struct error e; /* of a visitor: session_image knows only that one stopped it */
    bool stopped;
};

static bool stop_if_failed(struct start *start, bool ok)
{
    start->stopped = !ok;
    return ok;
}

static bool start_file(void *data, uint32_t file, enum file_kind kind, uint32_t mode, uint64_t size,
                       const char *target)
{
    struct start *start = data;
    struct tree *t = start->tree;
    struct error *e = &start->e;
    if (file == FILE_ROOT)
        return stop_if_failed(start, kind == FILE_DIRECTORY
                                         ? tree_chmod(t, file, mode, e)
                                         : error_set(e, "the data directory is no directory"));
    return stop_if_failed(start, tree_create(t, file, kind, mode, target, e) &&
                                     (kind != FILE_REGULAR || tree_truncate(t, file, size, e)));
}

static bool start_name(void *data, uint32_t dir, const char *name, uint32_t file)
{
    struct start *start = data;
    return stop_if_failed(start, tree_link(start->tree, dir, name, file, &start->e));
}

static bool start_extent(void *data, uint32_t file, uint64_t offset, uint64_t size,
                         uint64_t payload)
{
    struct start *start = data;
    return stop_if_failed(start,
                          tree_write(start->tree, file, offset, size, payload, 0, &start->e));
}

bool replay_start(struct session *s, struct tree **out, struct error *e)
{
    static const struct image_visitor visitor = {start_file, start_name, start_extent};
    struct start start = {.tree = tree_new(0700)};
    if (session_image(s, &visitor, &start, e)) {
        *out = start.tree;
        return true;
    }
    tree_free(start.tree);
    if (!start.stopped)
        return false;
    return error_set(e, "%s: the starting image is damaged: %s", session_path(s), start.e.text);
}

/* Families of events */

struct replay {
    struct tree *tree;
    struct session *session;
    const struct event *event;
    const char *name, *other_name;
    struct error *e;
};

/* Contents count only where a file has some, and the file lies in the data directory. */
static bool has_contents(const struct replay *r)
{
    const struct tree_file *f = tree_file(r->tree, r->event->file);
    return r->event->file && !(f && (f->kind == FILE_FIFO || f->kind == FILE_OTHER));
}

static bool apply_open(struct replay *r)
{
    const struct event *v = r->event;
    if (!(v->traits & EVENT_CREATED))
        return !(v->traits & EVENT_TRUNCATED) || !has_contents(r) ||
               tree_truncate(r->tree, v->file, 0, r->e);
    if (!v->name) /* O_TMPFILE */
        return tree_create(r->tree, v->file, FILE_REGULAR, v->mode, NULL, r->e);
    return tree_make(r->tree, v->dir, r->name, v->file, FILE_REGULAR, v->mode, NULL, r->e);
}

static bool apply_write(struct replay *r)
{
    const struct event *v = r->event;
    return !has_contents(r) ||
           tree_write(r->tree, v->file, v->offset, v->size, v->payload, 0, r->e);
}

/* A mapping reaches to the end of its last page, but what lies behind the file's end is lost. */
static bool apply_store(struct replay *r)
{
    const struct event *v = r->event;
    const struct tree_file *f = tree_file(r->tree, v->file);
    uint64_t left = f && v->offset < f->size ? f->size - v->offset : 0;
    uint64_t size = v->size < left ? v->size : left;
    return !has_contents(r) || tree_write(r->tree, v->file, v->offset, size, v->payload, 0, r->e);
}

static bool apply_truncate(struct replay *r)
{
    return !has_contents(r) || tree_truncate(r->tree, r->event->file, r->event->size, r->e);
}

static bool apply_fallocate(struct replay *r)
{
    const struct event *v = r->event;
    return !has_contents(r) || tree_fallocate(r->tree, v->file, v->flags, v->offset, v->size, r->e);
}

static bool read_target(struct replay *r, char target[static TREE_TARGET_MAX + 1])
{
    const struct event *v = r->event;
    if (v->size > TREE_TARGET_MAX)
        return error_set(r->e, "a symbolic link's target has %llu bytes",
                         (unsigned long long)v->size);
    target[v->size] = '\0';
    return session_payload(r->session, v->payload, 0, target, v->size, r->e);
}

static bool apply_symlink(struct replay *r)
{
    const struct event *v = r->event;
    char target[TREE_TARGET_MAX + 1];
    return read_target(r, target) &&
           tree_make(r->tree, v->dir, r->name, v->file, FILE_SYMLINK, 0777, target, r->e);
}

/* A file from outside the data directory, with what it holds. One that has names inside already,
 * or that had been here before, keeps its number; of a directory only what was inside is known. */
static bool bring_in(struct replay *r, uint32_t file)
{
    const struct event *v = r->event;
    const struct tree_file *f = tree_file(r->tree, file);
    char target[TREE_TARGET_MAX + 1] = "";
    struct file_info info;
    if (f && (f->links || file == FILE_ROOT))
        return true;
    if (!session_file(r->session, file, &info))
        return error_set(r->e, "file %u is not in the session", file);
    if (!f) {
        if (info.kind == FILE_SYMLINK && !read_target(r, target))
            return false;
        if (!tree_create(r->tree, file, info.kind, v->mode, target, r->e))
            return false;
        f = tree_file(r->tree, file);
    }
    if (!tree_chmod(r->tree, file, v->mode, r->e))
        return false;
    return f->kind != FILE_REGULAR || (tree_truncate(r->tree, file, 0, r->e) &&
                                       tree_write(r->tree, file, 0, v->size, v->payload, 0, r->e));
}

/* Something from outside takes a name, whatever had it before. */
static bool move_in(struct replay *r, uint32_t file, uint32_t dir, const char *name)
{
    uint32_t before = tree_lookup(r->tree, dir, name);
    if (before == file)
        return true;
    return bring_in(r, file) && (!before || tree_detach(r->tree, dir, name, before, r->e)) &&
           tree_link(r->tree, dir, name, file, r->e);
}

static bool apply_rename(struct replay *r)
{
    const struct event *v = r->event;
    if (!v->dir)
        return move_in(r, v->file, v->other_dir, r->other_name);
    if (!v->other_dir)
        return tree_detach(r->tree, v->dir, r->name, v->file, r->e);
    uint32_t found = tree_lookup(r->tree, v->dir, r->name);
    if (found && found != v->file)
        return error_set(r->e, "\"%s\" in directory %u is file %u, not file %u", r->name, v->dir,
                         found, v->file);
    /* A whiteout that takes the old name has an event of its own. */
    uint32_t flags = v->flags & ~(uint32_t)RENAME_WHITEOUT;
    return tree_rename(r->tree, v->dir, r->name, v->other_dir, r->other_name, flags, r->e);
}

static bool apply_link(struct replay *r)
{
    const struct event *v = r->event;
    if ((v->traits & EVENT_MOVED_IN) && !bring_in(r, v->file))
        return false;
    return tree_link(r->tree, v->dir, r->name, v->file, r->e);
}

static bool apply_unlink(struct replay *r)
{
    return tree_unlink(r->tree, r->event->dir, r->name, r->event->file, r->e);
}

static bool apply_mkdir(struct replay *r)
{
    const struct event *v = r->event;
    return tree_make(r->tree, v->dir, r->name, v->file, FILE_DIRECTORY, v->mode, NULL, r->e);
}

static bool apply_rmdir(struct replay *r)
{
    return tree_rmdir(r->tree, r->event->dir, r->name, r->event->file, r->e);
}

static bool apply_mknod(struct replay *r)
{
    const struct event *v = r->event;
    mode_t type = v->mode & S_IFMT;
    enum file_kind kind = type == S_IFREG || !type ? FILE_REGULAR
                          : type == S_IFIFO        ? FILE_FIFO
                                                   : FILE_OTHER;
    return tree_make(r->tree, v->dir, r->name, v->file, kind, v->mode, NULL, r->e);
}

static bool apply_chmod(struct replay *r)
{
    return !r->event->file || tree_chmod(r->tree, r->event->file, r->event->mode, r->e);
}

static bool (*const families[CALL_COUNT])(struct replay *r) = {
    [CALL_OPEN] = apply_open,         [CALL_WRITE] = apply_write,
    [CALL_COPY] = apply_write,        [CALL_STORE] = apply_store,
    [CALL_TRUNCATE] = apply_truncate, [CALL_FALLOCATE] = apply_fallocate,
    [CALL_RENAME] = apply_rename,     [CALL_LINK] = apply_link,
    [CALL_SYMLINK] = apply_symlink,   [CALL_UNLINK] = apply_unlink,
    [CALL_MKDIR] = apply_mkdir,       [CALL_RMDIR] = apply_rmdir,
    [CALL_MKNOD] = apply_mknod,       [CALL_CHMOD] = apply_chmod,
};

bool replay_changes(enum call call)
{
    return (unsigned)call < CALL_COUNT && families[call];
}

bool replay_event(struct tree *t, struct session *s, const struct event *event, struct error *e)
{
    if (event->call >= CALL_COUNT)
        return error_set(e, "the call's family, %u, is not known", event->call);
    if (!families[event->call] || (event->traits & (EVENT_FAILED | EVENT_UNFINISHED)))
        return true;
    struct replay r = {
        .tree = t,
        .session = s,
        .event = event,
        .name = session_string(s, event->name),
        .other_name = session_string(s, event->other_name),
        .e = e,
    };
    return families[event->call](&r);
}

/* All events */

/* An event that is not possible yet. Others ran at the same time, and the order of entries is only
 * a guess at the order of effects: it waits for them, until something begins after its exit. */
enum { WAITING_MAX = 1024 }; /* more calls at once than threads make: the session is damaged */

struct waiting {
    uint64_t number;
    struct event event;
    struct error why;
};

struct run {
    struct tree *tree;
    struct session *session;
    struct replay_counts *counts;
    vec_of(struct waiting) waiting;
};

static bool impossible(const struct run *run, uint64_t number, const struct event *event,
                       const struct error *why, struct error *e)
{
    return error_set(e, "%s: event %llu (%s) cannot be replayed: %s; %s",
                     session_path(run->session), (unsigned long long)number, call_name(event->call),
                     why->text,
                     event->traits & EVENT_OVERLAPPED
                         ? "other calls ran at the same time, and their order is not known"
                         : "the session is damaged");
}

/* Tries those that wait, from the oldest, until nothing more is possible. */
static void retry(struct run *run)
{
    size_t i = 0;
    while (i < run->waiting.n) {
        struct waiting *w = &run->waiting.at[i];
        if (!replay_event(run->tree, run->session, &w->event, &w->why)) {
            i++;
            continue;
        }
        log_debug(REPLAY, "event %llu was possible only later", (unsigned long long)w->number);
        run->counts->reordered++;
        memmove(w, w + 1, (run->waiting.n - i - 1) * sizeof *w);
        run->waiting.n--;
        i = 0;
    }
}

/* Fails when something waits that had returned before position. */
static bool none_overdue(const struct run *run, uint64_t position, struct error *e)
{
    for (size_t i = 0; i < run->waiting.n; i++) {
        const struct waiting *w = &run->waiting.at[i];
        if (w->event.exit < position)
            return impossible(run, w->number, &w->event, &w->why, e);
    }
    return true;
}

static void count(struct replay_counts *counts, const struct event *event)
{
    counts->events++;
    if (event->call == CALL_MMAP && (event->traits & EVENT_WRITABLE) &&
        !(event->traits & EVENT_FAILED))
        counts->mappings++;
    if (!replay_changes((enum call)event->call) || (event->traits & EVENT_FAILED))
        return;
    if (event->traits & EVENT_UNFINISHED)
        counts->unfinished++;
    else
        counts->applied++;
}

static bool replay_number(struct run *run, uint64_t number, struct error *e)
{
    struct waiting w = {.number = number};
    if (!session_event(run->session, number, &w.event, e))
        return false;
    count(run->counts, &w.event);
    if (!none_overdue(run, w.event.entry, e))
        return false;
    if (replay_event(run->tree, run->session, &w.event, &w.why)) {
        if (run->waiting.n)
            retry(run);
        return true;
    }
    if (!(w.event.traits & EVENT_OVERLAPPED) || run->waiting.n == WAITING_MAX)
        return impossible(run, number, &w.event, &w.why, e);
    vec_push(&run->waiting, w);
    return true;
}

bool replay_end(struct session *s, struct tree **out, struct replay_counts *counts, struct error *e)
{
    struct run run = {.session = s, .counts = counts};
    *counts = (struct replay_counts){0};
    if (!replay_start(s, &run.tree, e))
        return false;
    uint64_t events = session_event_count(s);
    bool ok = true;
    for (uint64_t number = 1; ok && number <= events; number++)
        ok = replay_number(&run, number, e);
    ok = ok && none_overdue(&run, UINT64_MAX, e);
    vec_free(&run.waiting);
    if (ok)
        *out = run.tree;
    else
        tree_free(run.tree);
    return ok;
}
