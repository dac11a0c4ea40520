/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "views/trace_what.h"

#include <fcntl.h>
#include <inttypes.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "engine/escape.h"
#include "views/store_words.h"

/* As much of a printed text as a line of the trace shows. */
enum { TEXT_SHOWN = 120 };

/* --- Flags in words ------------------------------------------------------------------------ */

struct flag_word {
    uint32_t mask, value;
    const char *word;
};

/* O_SYNC holds the bit of O_DSYNC, O_TMPFILE that of O_DIRECTORY: compare all bits of the mask. */
static const struct flag_word open_words[] = {
    {O_ACCMODE, O_RDONLY, "read"},     {O_ACCMODE, O_WRONLY, "write"},
    {O_ACCMODE, O_RDWR, "read+write"}, {O_CREAT, O_CREAT, "create"},
    {O_EXCL, O_EXCL, "excl"},          {O_TRUNC, O_TRUNC, "trunc"},
    {O_APPEND, O_APPEND, "append"},    {O_SYNC, O_SYNC, "sync"},
    {O_SYNC, O_DSYNC, "dsync"},        {O_DIRECT, O_DIRECT, "direct"},
    {O_TMPFILE, O_TMPFILE, "tmpfile"}, {O_TMPFILE, O_DIRECTORY, "directory"},
    {O_PATH, O_PATH, "path"},
};

static const struct flag_word fallocate_words[] = {
    {FALLOC_FL_KEEP_SIZE, FALLOC_FL_KEEP_SIZE, "keep-size"},
    {FALLOC_FL_PUNCH_HOLE, FALLOC_FL_PUNCH_HOLE, "punch-hole"},
    {FALLOC_FL_COLLAPSE_RANGE, FALLOC_FL_COLLAPSE_RANGE, "collapse"},
    {FALLOC_FL_ZERO_RANGE, FALLOC_FL_ZERO_RANGE, "zero"},
    {FALLOC_FL_INSERT_RANGE, FALLOC_FL_INSERT_RANGE, "insert"},
    {FALLOC_FL_UNSHARE_RANGE, FALLOC_FL_UNSHARE_RANGE, "unshare"},
};

static const struct flag_word rename_words[] = {
    {RENAME_NOREPLACE, RENAME_NOREPLACE, "noreplace"},
    {RENAME_EXCHANGE, RENAME_EXCHANGE, "exchange"},
    {RENAME_WHITEOUT, RENAME_WHITEOUT, "whiteout"},
};

static const struct flag_word range_words[] = {
    {SYNC_FILE_RANGE_WAIT_BEFORE, SYNC_FILE_RANGE_WAIT_BEFORE, "wait-before"},
    {SYNC_FILE_RANGE_WRITE, SYNC_FILE_RANGE_WRITE, "write"},
    {SYNC_FILE_RANGE_WAIT_AFTER, SYNC_FILE_RANGE_WAIT_AFTER, "wait-after"},
};

static const struct flag_word msync_words[] = {
    {MS_SYNC, MS_SYNC, "sync"},
    {MS_ASYNC, MS_ASYNC, "async"},
    {MS_INVALIDATE, MS_INVALIDATE, "invalidate"},
};

static const struct flag_word mmap_words[] = {
    {MAP_TYPE, MAP_SHARED, "shared"},   {MAP_TYPE, MAP_SHARED_VALIDATE, "shared"},
    {MAP_TYPE, MAP_PRIVATE, "private"}, {MAP_SYNC, MAP_SYNC, "sync"},
    {MAP_FIXED, MAP_FIXED, "fixed"},
};

static const struct flag_word protection_words[] = {
    {PROT_READ, PROT_READ, "read"},
    {PROT_WRITE, PROT_WRITE, "write"},
    {PROT_EXEC, PROT_EXEC, "exec"},
};

static const struct flag_word store_words[] = {
    {STORE_NT, STORE_NT, "nt"},
    {STORE_LOCKED, STORE_LOCKED, "locked"},
    {STORE_KERNEL, STORE_KERNEL, "by-kernel"},
};

static const struct flag_word flush_words[] = {
    {UINT32_MAX, FLUSH_CLFLUSH, "clflush"},
    {UINT32_MAX, FLUSH_CLFLUSHOPT, "clflushopt"},
    {UINT32_MAX, FLUSH_CLWB, "clwb"},
};

static const struct flag_word fence_words[] = {
    {UINT32_MAX, FENCE_SFENCE, "sfence"},
    {UINT32_MAX, FENCE_MFENCE, "mfence"},
    {UINT32_MAX, FENCE_LOCKED, "locked"},
};

static const struct flag_word trait_words[] = {
    {EVENT_CREATED, EVENT_CREATED, "new"},
    {EVENT_TRUNCATED, EVENT_TRUNCATED, "emptied"},
    {EVENT_APPEND, EVENT_APPEND, "append"},
    {EVENT_SYNC, EVENT_SYNC, "sync"},
    {EVENT_SYNC | EVENT_DSYNC, EVENT_DSYNC, "dsync"},
    {EVENT_DIRECT, EVENT_DIRECT, "direct"},
    {EVENT_MOVED_IN, EVENT_MOVED_IN, "moved-in"},
    {EVENT_MOVED_OUT, EVENT_MOVED_OUT, "moved-out"},
    {EVENT_LAST_NAME, EVENT_LAST_NAME, "last-name"},
    {EVENT_WRITABLE, EVENT_WRITABLE, "writable"},
    {EVENT_OVERLAPPED, EVENT_OVERLAPPED, "overlapped"},
};

typedef void word_visitor(void *data, const char *word);

static void say(const struct flag_word *words, size_t n, uint32_t flags, word_visitor *word,
                void *data)
{
    for (size_t i = 0; i < n; i++) {
        if ((flags & words[i].mask) == words[i].value)
            word(data, words[i].word);
    }
}

#define SAY(table, flags) say(table, sizeof(table) / sizeof *(table), flags, word, data)

void trace_words(const struct event *event, word_visitor *word, void *data)
{
    uint32_t traits = event->traits;

    switch (event->call) {
    case CALL_OPEN:
        SAY(open_words, event->flags);
        traits &= ~(uint32_t)(EVENT_APPEND | EVENT_SYNC | EVENT_DSYNC | EVENT_DIRECT);
        break;
    case CALL_FALLOCATE:
        SAY(fallocate_words, event->flags);
        break;
    case CALL_RENAME:
        SAY(rename_words, event->flags);
        break;
    case CALL_SYNC_RANGE:
        SAY(range_words, event->flags);
        break;
    case CALL_MSYNC:
        SAY(msync_words, event->flags);
        break;
    case CALL_MMAP:
        SAY(protection_words, event->mode);
        SAY(mmap_words, event->flags);
        break;
    case CALL_STORE:
        SAY(store_words, event->flags);
        break;
    case CALL_FLUSH:
        SAY(flush_words, event->flags);
        break;
    case CALL_FENCE:
        SAY(fence_words, event->flags);
        break;
    default:
        break;
    }
    SAY(trait_words, traits);
}

/* --- What an event did --------------------------------------------------------------------- */

void trace_path(struct cell *c, struct session *s, uint32_t path, uint32_t file)
{
    struct file_info info;
    const char *text = session_string(s, path);

    if (!path && file && session_file(s, file, &info))
        text = info.path;
    if (!text[0])
        cell_add(c, STYLE_DIM, "%s", file == FILE_ROOT ? "." : "?");
    else
        cell_escape(c, STYLE_PATH, text, strlen(text));
}

static void add_range(struct cell *c, uint64_t offset, uint64_t size)
{
    cell_add(c, STYLE_NUMBER, " %" PRIu64 "+%" PRIu64, offset, size);
}

static void add_payload(struct cell *c, struct session *s, const struct event *event,
                        enum style style)
{
    char text[TEXT_SHOWN];
    size_t n = event->size < TEXT_SHOWN ? (size_t)event->size : TEXT_SHOWN;
    struct error e;

    if (n && !session_payload(s, event->payload, 0, text, n, &e)) {
        cell_add(c, STYLE_WARNING, "(lost)");
        return;
    }
    cell_add(c, style, "\"");
    cell_escape(c, style, text, n);
    cell_add(c, style, "\"");
    if (event->size > n)
        cell_add(c, STYLE_DIM, " of %" PRIu64 " bytes", event->size);
}

/* A value that fits a register, as a number; of longer ones nobody knows what they are. */
static void add_value(struct cell *c, struct session *s, const struct event *event)
{
    uint64_t value = 0;
    struct error e;

    if (event->size > sizeof value)
        return;
    if (session_payload(s, event->payload, 0, &value, event->size, &e))
        cell_add(c, STYLE_NUMBER, " = 0x%" PRIx64, value);
    else
        cell_add(c, STYLE_WARNING, " (lost)");
}

/* Where it was stored comes after what, when that is known. */
static void add_store(struct cell *c, struct session *s, const struct fields *f, uint64_t number,
                      const struct event *event)
{
    bool known = store_field(c, f, number);

    if (known)
        cell_add(c, STYLE_DIM, " (");
    trace_path(c, s, event->path, event->file);
    add_range(c, event->offset, event->size);
    if (!known) {
        add_value(c, s, event);
        return;
    }
    cell_add(c, STYLE_DIM, ")");
    store_confidence(c, f, number);
}

/* What a library announced is about a range of a file. */
static void add_marker(struct cell *c, struct session *s, const struct event *event)
{
    if (event->file) {
        trace_path(c, s, event->path, event->file);
        add_range(c, event->offset, event->other_offset);
        cell_add(c, STYLE_PLAIN, " ");
    }
    add_payload(c, s, event, STYLE_MARKER);
}

static void add_rename(struct cell *c, struct session *s, const struct event *event)
{
    if (event->traits & EVENT_MOVED_IN || !event->path)
        cell_add(c, STYLE_DIM, "(outside)");
    else
        trace_path(c, s, event->path, event->file);
    cell_add(c, STYLE_DIM, " %s ", glyph(GLYPH_ARROW));
    if (event->traits & EVENT_MOVED_OUT || !event->other_path)
        cell_add(c, STYLE_DIM, "(outside)");
    else
        trace_path(c, s, event->other_path, event->other);
}

static void add_link(struct cell *c, struct session *s, const struct event *event)
{
    trace_path(c, s, event->path, event->file);
    cell_add(c, STYLE_DIM, " = ");
    if (event->traits & EVENT_MOVED_IN)
        cell_add(c, STYLE_DIM, "(outside)");
    else
        trace_path(c, s, event->other_path, event->file);
}

static void add_exit(struct cell *c, const struct event *event)
{
    int status = (int)event->result;

    if (WIFSIGNALED(status))
        cell_add(c, STYLE_RESULT_BAD, "killed by SIG%s",
                 sigabbrev_np(WTERMSIG(status)) ? sigabbrev_np(WTERMSIG(status)) : "?");
    else
        cell_add(c, STYLE_PLAIN, "status %d", WEXITSTATUS(status));
}

/* Events that are not about one file and a range of it. */
static bool add_special(struct cell *c, struct session *s, const struct event *event)
{
    switch (event->call) {
    case CALL_RENAME:
        add_rename(c, s, event);
        return true;
    case CALL_LINK:
        add_link(c, s, event);
        return true;
    case CALL_COPY:
        if (event->other || event->other_path)
            trace_path(c, s, event->other_path, event->other);
        else
            cell_add(c, STYLE_DIM, "(outside)");
        cell_add(c, STYLE_DIM, " %s ", glyph(GLYPH_ARROW));
        trace_path(c, s, event->path, event->file);
        add_range(c, event->offset, event->size);
        return true;
    case CALL_SYMLINK:
        trace_path(c, s, event->path, event->file);
        cell_add(c, STYLE_DIM, " %s ", glyph(GLYPH_ARROW));
        add_payload(c, s, event, STYLE_PATH);
        return true;
    case CALL_PRINT:
        cell_add(c, STYLE_DIM, "%s ", event->fd == 2 ? "stderr" : "stdout");
        add_payload(c, s, event, STYLE_ACK);
        return true;
    case CALL_MARKER:
        add_marker(c, s, event);
        return true;
    case CALL_SYNC:
    case CALL_SYNCFS:
        cell_add(c, STYLE_DIM, "everything");
        return true;
    case CALL_UMASK:
        cell_add(c, STYLE_NUMBER, "%03o", event->mode);
        return true;
    case CALL_FORK:
        cell_add(c, STYLE_PLAIN, "thread %" PRId64, event->result);
        return true;
    case CALL_EXIT:
        add_exit(c, event);
        return true;
    case CALL_FENCE:
        return true;
    default:
        return false;
    }
}

static void add_word(void *data, const char *word)
{
    cell_gap(data);
    cell_add(data, STYLE_FLAG, "%s", word);
}

static void add_numbers(struct cell *c, const struct event *event)
{
    switch (event->call) {
    case CALL_WRITE:
    case CALL_FALLOCATE:
    case CALL_SYNC_RANGE:
    case CALL_MSYNC:
    case CALL_MMAP:
    case CALL_MUNMAP:
    case CALL_MREMAP:
    case CALL_LOAD:
        add_range(c, event->offset, event->size);
        break;
    case CALL_FLUSH:
        store_line(c, event->offset);
        cell_add(c, STYLE_DIM, " (%" PRIu64 "+%" PRIu64 ")", event->offset, event->size);
        break;
    case CALL_TRUNCATE:
        cell_add(c, STYLE_NUMBER, " to %" PRIu64, event->size);
        break;
    case CALL_LSEEK:
        cell_add(c, STYLE_NUMBER, " at %" PRIu64, event->offset);
        break;
    case CALL_CHMOD:
    case CALL_MKDIR:
    case CALL_MKNOD:
        cell_add(c, STYLE_NUMBER, " %04o", event->mode);
        break;
    case CALL_DUP:
    case CALL_CLOSE:
        cell_add(c, STYLE_NUMBER, " fd %d", event->fd);
        break;
    default:
        break;
    }
}

void trace_what(struct cell *c, struct session *s, const struct fields *f, uint64_t number,
                const struct event *event)
{
    if (event->call == CALL_STORE) {
        add_store(c, s, f, number, event);
    } else if (!add_special(c, s, event)) {
        trace_path(c, s, event->path, event->file);
        add_numbers(c, event);
    }
    trace_words(event, add_word, c);
}

/* Instructions, markers and ends return nothing. */
static bool call_has_result(uint16_t call)
{
    return call != CALL_EXIT && call != CALL_MARKER && call != CALL_STORE && call != CALL_LOAD &&
           call != CALL_FLUSH && call != CALL_FENCE;
}

void trace_result(struct cell *c, const struct event *event)
{
    if (event->traits & EVENT_UNFINISHED) {
        cell_add(c, STYLE_RESULT_BAD, "unfinished");
    } else if (event->traits & EVENT_FAILED) {
        const char *name = event->result < 0 && event->result > -INT32_MAX
                               ? strerrorname_np((int)-event->result)
                               : NULL;
        if (name)
            cell_add(c, STYLE_RESULT_BAD, "%s", name);
        else
            cell_add(c, STYLE_RESULT_BAD, "%" PRId64, event->result);
    } else if (event->call == CALL_MMAP || event->call == CALL_MREMAP) {
        cell_add(c, STYLE_RESULT_GOOD, "0x%" PRIx64, event->address);
    } else if (call_has_result(event->call)) {
        cell_add(c, STYLE_RESULT_GOOD, "%" PRId64, event->result);
    }
}

/* --- Styles and places --------------------------------------------------------------------- */

enum style trace_call_style(uint16_t call)
{
    switch (call) {
    case CALL_WRITE:
    case CALL_COPY:
    case CALL_TRUNCATE:
    case CALL_FALLOCATE:
    case CALL_STORE:
        return STYLE_CALL_WRITE;
    case CALL_FSYNC:
    case CALL_FDATASYNC:
    case CALL_SYNC:
    case CALL_SYNCFS:
    case CALL_MSYNC:
    case CALL_FLUSH:
    case CALL_FENCE:
        return STYLE_CALL_SYNC;
    case CALL_RENAME:
    case CALL_LINK:
    case CALL_SYMLINK:
    case CALL_UNLINK:
    case CALL_MKDIR:
    case CALL_RMDIR:
    case CALL_MKNOD:
        return STYLE_CALL_NAME;
    case CALL_PRINT:
        return STYLE_ACK;
    case CALL_MARKER:
        return STYLE_MARKER;
    default:
        return STYLE_CALL_OTHER;
    }
}

/* The file as short as it can be told from others: relative to where the program was started, or
 * only its name when it is elsewhere. */
static const char *shown_file(struct session *s, const char *file)
{
    const char *cwd = session_meta(s, "cwd");
    size_t n = cwd ? strlen(cwd) : 0;

    if (n && strncmp(file, cwd, n) == 0 && file[n] == '/' && !strstr(file, "/../"))
        return file + n + 1;
    const char *slash = strrchr(file, '/');
    return slash ? slash + 1 : file;
}

void trace_location(struct session *s, const struct location *l, struct cell *function,
                    struct cell *source)
{
    enum style style = location_has_source(l) ? STYLE_SOURCE_FUNCTION : STYLE_DIM;

    cell_escape(function, style, l->function, strlen(l->function));
    if (source && (l->flags & LOCATION_LINE)) {
        const char *file = shown_file(s, l->file);
        cell_gap(source);
        cell_escape(source, STYLE_SOURCE_LINE, file, strlen(file));
        cell_add(source, STYLE_SOURCE_LINE, ":%" PRIu32, l->line);
    }
}
