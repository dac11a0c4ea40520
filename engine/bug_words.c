/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * A bug in sentences: what it is, why the file system may do that, and which sync would mend it.
 */
#include "engine/bug_inside.h"

#include <stdlib.h>
#include <string.h>

#include "engine/buf.h"
#include "engine/calls.h"
#include "engine/told.h"

/* One op or acknowledgement with all that sentences need. */
struct said {
    const struct op *op; /* NULL: an acknowledgement */
    struct event event;
    const char *path, *other_path;
    const struct location *where; /* NULL when there is no stack */
    const char *type, *field;     /* that a store wrote: "bucket", "slot[2].key"; or "" */
    char printed[48];             /* the beginning of an acknowledgement's first line */
};

static bool look_up(struct analysis *a, uint32_t op, uint64_t told, struct said *out,
                    struct error *e)
{
    *out = (struct said){.op = op == NO_OP ? NULL : &a->graph->ops[op]};
    uint64_t event = op == NO_OP ? told : a->graph->ops[op].event;
    if (!session_event(a->session, event, &out->event, e))
        return false;
    out->path = session_string(a->session, out->event.path);
    out->other_path = session_string(a->session, out->event.other_path);
    out->where = symbols_stack(a->symbols, out->event.stack);
    const struct stored_field *stored = fields_of(a->fields, event);
    out->field = stored ? fields_text(a->fields, stored->path) : "";
    out->type = stored ? fields_type_name(a->fields, stored->outer) : "";
    struct buf line = {0};
    bool ok = out->op || told_line(a->session, event, sizeof out->printed - 1, &line, e);
    if (ok && !out->op) {
        memcpy(out->printed, buf_string(&line), line.n);
        out->printed[strcspn(out->printed, "\n")] = '\0';
    }
    buf_free(&line);
    return ok;
}

/* A name that begins or ends with a space would not be seen to. */
static void add_name(struct buf *out, const char *path)
{
    size_t n = strlen(path);
    bool is_odd = n && (path[0] == ' ' || path[n - 1] == ' ');
    buf_printf(out, is_odd ? "\"%s\"" : "%s", path);
}

/* "bucket.slot[2].key of table", or "table 128+8" when the field is not known. */
static void add_stored(struct buf *out, const struct said *s)
{
    if (*s->field)
        buf_printf(out, "%s%s%s of %s", s->type, *s->type ? "." : "", s->field, s->path);
    else
        buf_printf(out, "%s %llu+%llu", s->path, (unsigned long long)s->op->offset,
                   (unsigned long long)s->op->length);
}

/* "CURRENT.new renamed to CURRENT", "manifest-2 not written", "entry.key of table persisted". */
static void add_deed(struct buf *out, const struct said *s, bool done)
{
    static const char *const deeds[CALL_COUNT] = {
        [CALL_OPEN] = "created",        [CALL_WRITE] = "written",
        [CALL_COPY] = "written",        [CALL_RENAME] = "renamed",
        [CALL_LINK] = "linked",         [CALL_SYMLINK] = "linked",
        [CALL_UNLINK] = "removed",      [CALL_MKDIR] = "made",
        [CALL_RMDIR] = "removed",       [CALL_MKNOD] = "made",
        [CALL_CHMOD] = "given a mode",  [CALL_TRUNCATE] = "truncated",
        [CALL_FALLOCATE] = "allocated",
    };
    if (!s->op) {
        if (s->event.call == CALL_MARKER)
            buf_printf(out, "marker \"%s\" passed", s->printed);
        else if (*s->printed)
            buf_printf(out, "\"%s\" printed", s->printed);
        else
            buf_text(out, "an empty line printed");
        return;
    }
    if (s->op->kind == OP_STORE) {
        add_stored(out, s);
        buf_text(out, done ? " persisted" : " not");
        return;
    }
    const char *deed = deeds[s->event.call] ? deeds[s->event.call] : "changed";
    if (s->event.call == CALL_OPEN && s->op->kind == OP_SIZE)
        deed = "emptied";
    if ((s->event.call == CALL_WRITE || s->event.call == CALL_COPY) && s->op->kind != OP_DATA)
        deed = s->op->kind == OP_ALLOC ? "allocated" : "lengthened";
    add_name(out, s->path);
    buf_printf(out, " %s%s", done ? "" : "not ", deed);
    if (s->event.call == CALL_RENAME && *s->other_path) {
        buf_text(out, " to ");
        add_name(out, s->other_path);
    }
}

static void add_place(struct buf *out, const struct said *s, uint64_t event)
{
    buf_printf(out, "event %llu", (unsigned long long)event);
    if (s->where && s->where->line) {
        const char *slash = strrchr(s->where->file, '/');
        buf_printf(out, ", %s %s:%u", s->where->function, slash ? slash + 1 : s->where->file,
                   s->where->line);
    } else if (s->where)
        buf_printf(out, ", %s", s->where->function);
}

/* Whether what survived is a part of one call, and the rest of it was lost. */
static bool is_torn(const struct said *survived, const struct said *lost)
{
    return survived->op && lost->op && survived->op->event == lost->op->event;
}

static void add_summary(struct buf *out, const struct bug *b, const struct said *survived,
                        const struct said *lost)
{
    switch (b->kind) {
    case BUG_RECOVERY:
        buf_text(out, "recovery fails after ");
        add_deed(out, survived, true);
        break;
    case BUG_ATOMICITY:
        add_deed(out, survived, true);
        buf_text(out, lost->op ? " in part" : ", and that alone is inconsistent");
        return;
    default:
        add_deed(out, survived, true);
        break;
    }
    if (is_torn(survived, lost))
        buf_text(out, " in part");
    else if (lost->op) {
        buf_text(out, ", ");
        add_deed(out, lost, false);
    }
}

/* The same for a lost store. */
static void add_store_rule(struct buf *out, const struct graph *g, uint32_t op,
                           const struct said *survived, const struct said *lost)
{
    bool never = g->durable[op] == NEVER, paged = lost->op->flags & OP_PAGED;
    if (paged)
        buf_printf(out, "no msync() or sync of %s %s", lost->path,
                   never ? "follows" : "has returned by then");
    else {
        buf_text(out, lost->op->flags & OP_PAST_CACHE ? "the non-temporal store to "
                                                      : "the cache line of ");
        add_stored(out, lost);
        buf_printf(out,
                   lost->op->flags & OP_PAST_CACHE ? " %s fenced%s" : " %s flushed and fenced%s",
                   never ? "is never" : "was not", never ? "" : " by then");
    }
    if (!survived->op)
        buf_text(out, "; what was printed cannot be taken back");
    else if (survived->op->kind != OP_STORE)
        buf_text(out, "; what system calls write does not wait for stores");
    else if (is_torn(survived, lost))
        buf_text(out, "; a store of more than 8 bytes, or across cache lines or pages, can persist "
                      "in part");
    else
        buf_printf(out, paged ? "; pages are written in any order"
                              : "; cache lines reach memory in any order");
}

/* Why the one may be lost although the other is there. */
static void add_rule(struct buf *out, const struct analysis *a, const struct bug *b,
                     const struct said *survived, const struct said *lost)
{
    const struct graph *g = a->graph;
    if (!lost->op) {
        buf_printf(out, "nothing is lost: a crash between two %s leaves this state under any model",
                   survived->op && survived->op->kind == OP_STORE ? "stores" : "calls");
        return;
    }
    uint32_t op = b->lost[0];
    if (lost->op->kind == OP_STORE) {
        add_store_rule(out, g, op, survived, lost);
        return;
    }
    if (g->durable[op] == NEVER)
        buf_printf(out, "no sync of %s follows", lost->path);
    else
        buf_printf(out, "no sync of %s has returned by then", lost->path);
    bool names = lost->op->kind == OP_NAME;
    if (!survived->op)
        buf_text(out, "; what was printed cannot be taken back");
    else if (is_torn(survived, lost))
        buf_printf(out, "; under %s a call of several blocks or steps can persist in part",
                   g->model.name);
    else if (names && survived->op->kind == OP_NAME)
        buf_printf(out, "; under %s names persist in any order", g->model.name);
    else if (names)
        buf_printf(out, "; under %s contents do not wait for names", g->model.name);
    else if (survived->op->kind == OP_NAME)
        buf_printf(out, "; under %s names do not wait for what is written to files", g->model.name);
    else if (survived->op->file != lost->op->file)
        buf_printf(out, "; under %s writes to different files persist in any order", g->model.name);
    else
        buf_printf(out, "; under %s these parts of one file persist in any order", g->model.name);
}

/* What is removed is no more there to be synced. */
static bool is_removal(const struct said *lost)
{
    return lost->event.call == CALL_UNLINK || lost->event.call == CALL_RMDIR;
}

/* The sync that is proposed; as long as nothing else is known, the one that usually does. */
static void add_call(struct buf *out, const struct analysis *a, const struct bug *b,
                     const struct said *lost)
{
    const char *path = *lost->other_path ? lost->other_path : lost->path;
    const struct fix *fix = b->proposal.n ? &b->proposal.at[0] : NULL;
    bool of_file = fix && fix->file == lost->op->file;
    if (fix && fix->call == CALL_SYNC)
        buf_text(out, "sync() after ");
    else if (fix && fix->call == CALL_FLUSH) {
        buf_text(out, "flush the cache line of ");
        add_stored(out, lost);
        buf_text(out, " (CLWB or CLFLUSHOPT, then SFENCE) after ");
    } else if (lost->op->kind == OP_STORE)
        buf_printf(out, "msync(MS_SYNC) or %s(%s) after ", fix ? call_name(fix->call) : "fdatasync",
                   path);
    else if (lost->op->kind != OP_NAME || of_file)
        buf_printf(out, "%s(%s) after ", fix ? call_name(fix->call) : "fdatasync", path);
    else if (a->graph->model.sync == SYNC_OWN_ENTRIES || is_removal(lost))
        buf_printf(out, "fsync() the directory of %s after ", path);
    else
        buf_printf(out, "fsync() the directory of %s, or the file itself, after ", path);
}

static void add_fix(struct buf *out, const struct analysis *a, const struct bug *b,
                    const struct said *survived, const struct said *lost)
{
    if (!survived->op && !b->told) {
        buf_text(out, "have the run begin with contents that the checker accepts, or mend the "
                      "checker");
        return;
    }
    bool stores = survived->op && survived->op->kind == OP_STORE;
    bool alone = !lost->op || b->kind == BUG_ATOMICITY || is_torn(survived, lost);
    if (b->kind == BUG_RECOVERY)
        buf_text(out, "recovery has to cope with this state, or ");
    if (stores && alone) {
        buf_text(out, "make the change by one store of 8 bytes that commits it, or log what it "
                      "changes first; or let recovery tell whole from torn with a checksum");
        return;
    }
    if (alone) {
        buf_text(out, "make the change in one step: write to a new file, sync it and rename it; or "
                      "let recovery tell whole from torn with a checksum");
        return;
    }
    add_call(out, a, b, lost);
    add_place(out, lost, lost->op->event);
    buf_text(out, " and before ");
    add_place(out, survived, survived->op ? survived->op->event : b->told);
    if (!survived->op)
        buf_text(out, " tells of it");
}

static bool look_up_both(struct bug *b, struct analysis *a, struct said *survived,
                         struct said *lost, struct error *e)
{
    *survived = *lost = (struct said){0};
    return ((b->survived == NO_OP && !b->told) || look_up(a, b->survived, b->told, survived, e)) &&
           (!b->lost_count || look_up(a, b->lost[0], 0, lost, e));
}

bool bug_describe_fix(struct bug *b, struct analysis *a, struct error *e)
{
    struct said survived, lost;
    struct buf text = {0};
    if (!look_up_both(b, a, &survived, &lost, e))
        return false;
    add_fix(&text, a, b, &survived, &lost);
    free(b->fix);
    b->fix = xstrdup(buf_string(&text));
    buf_free(&text);
    return true;
}

bool bug_describe(struct bug *b, struct analysis *a, struct error *e)
{
    struct said survived, lost;
    struct buf text = {0};
    if (!look_up_both(b, a, &survived, &lost, e))
        return false;
    if (b->survived == NO_OP && !b->told)
        buf_text(&text, "the checker finds the state before the run inconsistent");
    else
        add_summary(&text, b, &survived, &lost);
    b->summary = xstrdup(buf_string(&text));
    buf_clear(&text);
    add_rule(&text, a, b, &survived, &lost);
    b->rule = xstrdup(buf_string(&text));
    buf_free(&text);
    return bug_describe_fix(b, a, e);
}
