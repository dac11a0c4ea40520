/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/mem.h"
#include "engine/session_schema.h"

static bool write_all(int fd, const struct buf *text)
{
    for (size_t done = 0; done < text->n;) {
        ssize_t n = write(fd, text->at + done, text->n - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static bool replace_file(const char *path, const struct buf *text, const char *what,
                         struct error *e)
{
    char *temporary = xasprintf("%s.XXXXXX", path);
    mode_t mask = umask(0);
    umask(mask);
    int fd = mkstemp(temporary), reason = 0;
    if (fd < 0 || !write_all(fd, text) || fchmod(fd, 0666 & ~mask) != 0 || fsync(fd) != 0)
        reason = errno;
    if (fd >= 0 && close(fd) != 0 && !reason)
        reason = errno;
    if (!reason && rename(temporary, path) != 0)
        reason = errno;
    if (fd >= 0 && reason)
        unlink(temporary);
    free(temporary);
    errno = reason;
    return !reason || error_errno(e, "cannot write %s to %s", what, path);
}

bool output_may_replace(const char *path, struct error *e)
{
    struct stat st;
    if (stat(path, &st) != 0 || !S_ISREG(st.st_mode))
        return true;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool session = fd >= 0 && session_file_kind(fd) == HEADER_SESSION;
    if (fd >= 0)
        close(fd);
    return !session ||
           error_set(e, "%s is a flotsam session: it was left as it is; give another name", path);
}

bool output_file(const char *path, const struct buf *text, const char *what, struct error *e)
{
    struct stat st;
    if (!output_may_replace(path, e))
        return false;
    if (stat(path, &st) != 0 || S_ISREG(st.st_mode))
        return replace_file(path, text, what, e);
    FILE *f = fopen(path, "we");
    bool ok = f && fwrite(buf_string(text), 1, text->n, f) == text->n;
    if (f)
        ok = fclose(f) == 0 && ok;
    return ok || error_errno(e, "cannot write %s to %s", what, path);
}
