/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/session_keep.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "engine/clock.h"
#include "engine/mem.h"

#define SAVE_IT "; save FILE writes it to another"
#define COPY_IT "; copy it to where you may write (in the debugger: save FILE)"

/* Pages between two looks at the clock. */
enum { PAGES_A_SLICE = 64 };

/* ---- keeping ---- */

/* Deleted, or another file has its name now: what is written would be in none that has a name. */
static bool has_moved(struct session *s)
{
    int moved = 0;

    return sqlite3_file_control(session_db(s), "main", SQLITE_FCNTL_HAS_MOVED, &moved) ==
               SQLITE_OK &&
           moved;
}

bool session_is_there(struct session *s, struct error *e)
{
    return !has_moved(s) ||
           error_set(e,
                     "%s was deleted, moved or replaced since it was opened, so nothing can be "
                     "kept in it, nor checked" SAVE_IT,
                     session_path(s));
}

bool session_can_keep(struct session *s, struct error *e)
{
    if (!session_is_there(s, e))
        return false;
    if (sqlite3_db_readonly(session_db(s), "main") == 1)
        return error_set(e, "%s is read-only, so nothing can be kept in it" COPY_IT,
                         session_path(s));
    return true;
}

bool session_not_kept(struct session *s, struct error *e)
{
    sqlite3 *db = session_db(s);
    int code = sqlite3_errcode(db) & 0xff, system = sqlite3_system_errno(db);
    const char *why = sqlite3_errmsg(db);

    if (code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return error_set(e, "%s is in use by another program: try again", session_path(s));
    if (!session_can_keep(s, e))
        return false;
    if (code == SQLITE_READONLY)
        why = "its folder is read-only";
    else if (code == SQLITE_FULL)
        why = strerror(ENOSPC);
    else if ((code == SQLITE_IOERR || code == SQLITE_CANTOPEN) && system)
        why = strerror(system);
    return error_set(e, "%s cannot be written: %s" COPY_IT, session_path(s), why);
}

/* ---- copying ---- */

struct session_copy {
    char *path;
    sqlite3 *db;
    sqlite3_backup *backup;
    bool done;
};

static bool fail(struct session_copy *c, struct error *e)
{
    int system = sqlite3_system_errno(c->db);

    return error_set(e, "cannot write %s: %s", c->path,
                     system ? strerror(system) : sqlite3_errmsg(c->db));
}

bool session_copy_start(struct session_copy **out, struct session *s, const char *path,
                        struct error *e)
{
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0666);

    if (fd < 0)
        return errno == EEXIST ? error_set(e, "%s is there already; name another file", path)
                               : error_errno(e, "cannot write %s", path);
    close(fd);
    struct session_copy *c = xcalloc(1, sizeof *c);
    c->path = xstrdup(path);
    /* Never a URI, nor ":memory:". */
    char *name = path[0] == '/' ? xstrdup(path) : xasprintf("./%s", path);
    bool ok = sqlite3_open_v2(name, &c->db, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, NULL) ==
                  SQLITE_OK &&
              (c->backup = sqlite3_backup_init(c->db, "main", session_db(s), "main"));
    free(name);
    if (!ok) {
        fail(c, e);
        session_copy_end(c);
        return false;
    }
    *out = c;
    return true;
}

bool session_copy_work(struct session_copy *c, uint64_t deadline, bool *done, struct error *e)
{
    int code;

    do {
        code = sqlite3_backup_step(c->backup, PAGES_A_SLICE);
    } while (code == SQLITE_OK && clock_now() < deadline);
    *done = code == SQLITE_DONE;
    if (code == SQLITE_OK || code == SQLITE_BUSY || code == SQLITE_LOCKED)
        return true;
    code = sqlite3_backup_finish(c->backup);
    c->backup = NULL;
    c->done = *done && code == SQLITE_OK;
    return c->done || fail(c, e);
}

const char *session_copy_path(const struct session_copy *c)
{
    return c->path;
}

void session_copy_end(struct session_copy *c)
{
    if (!c)
        return;
    sqlite3_backup_finish(c->backup);
    sqlite3_close_v2(c->db);
    if (!c->done)
        unlink(c->path);
    free(c->path);
    free(c);
}
