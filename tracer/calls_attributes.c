/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Calls on owners, times and extended attributes. They are no part of a crash state: counted, when
 * they touch the data directory, so that a person can see what was left out. But modes are part of
 * it, and some of these calls change them: an access control list has the mode in it (cp -a sets
 * one), and a new owner takes set-ID bits away, as does a write by an ordinary user.
 */
#include "tracer/tracee.h"

#include <fcntl.h>
#include <sys/syscall.h>

enum { SET_ID = S_ISUID | S_ISGID };

/* The flags of those calls that have some: AT_*. */
static int at_flags(const struct thread *th)
{
    switch (th->syscall) {
    case SYS_lchown:
    case SYS_lsetxattr:
    case SYS_lremovexattr:
        return AT_SYMLINK_NOFOLLOW;
    case SYS_fchownat:
        return (int)th->args[4];
    case SYS_utimensat:
        return (int)th->args[3];
    default:
        return 0;
    }
}

/* The file that the call is about, 0 when it is none of the data; fd and place are found out. */
static uint32_t subject(struct tracer *t, struct thread *th)
{
    const uint64_t *a = th->args;
    struct place *p = &th->place;
    bool found = false;
    switch (th->syscall) {
    case SYS_fchown:
    case SYS_fsetxattr:
    case SYS_fremovexattr:
        th->event.fd = (int32_t)a[0];
        break;
    case SYS_fchownat:
    case SYS_utimensat:
    case SYS_futimesat:
        found = a[1] && place_resolve(t, th, (int)a[0], a[1], p);
        if (!found || (!p->exists && (at_flags(th) & AT_EMPTY_PATH)))
            th->event.fd = (int32_t)a[0];
        break;
    default:
        found = place_resolve(t, th, AT_FDCWD, a[0], p);
    }
    if (th->event.fd >= 0) {
        struct descriptor d = tracer_descriptor(t, th, th->event.fd);
        return d.kind == DESCRIPTOR_DATA ? d.file : 0;
    }
    return !found ? 0 : at_flags(th) & AT_SYMLINK_NOFOLLOW ? p->file : p->target_file;
}

/* Those that may change a mode hold the turn. */
enum proceed enter_attribute(struct tracer *t, struct thread *th)
{
    th->event.file = subject(t, th);
    if (!th->event.file)
        return PROCEED_IGNORE;
    tracer_notice_call(t, th, NOTICE_NO_PART);
    return th->rule->holds_turn ? PROCEED_WATCH : PROCEED_IGNORE;
}

/* The file as it is now, by the descriptor or the path that the call was given. */
static bool look_again(struct tracer *t, struct thread *th, struct stat *st)
{
    const struct place *p = &th->place;
    if (th->event.fd >= 0) {
        struct place now;
        place_descriptor(t, th, th->event.fd, &now);
        *st = now.target;
        return now.found;
    }
    if (p->fd < 0)
        return false;
    int follow = at_flags(th) & AT_SYMLINK_NOFOLLOW;
    return (*p->name ? fstatat(p->fd, p->name, st, follow) : fstat(p->fd, st)) == 0;
}

void tracer_take_mode(struct tracer *t, struct thread *th, const struct stat *now)
{
    uint32_t file = th->event.file;
    if ((now->st_mode & FILE_MODE_BITS) == files_mode(t->files, file))
        return;
    /* A call that is an event already changed the mode only by the way. */
    bool alone = !th->event_number;
    struct event event = {.call = CALL_CHMOD, .fd = th->event.fd, .file = file};
    event.syscall = alone ? (uint16_t)th->syscall : SYSCALL_NONE;
    event.mode = now->st_mode & FILE_MODE_BITS;
    event.path = files_path(t->files, file);
    event.stack = alone ? tracer_stack(t, th, NULL) : th->event.stack;
    files_set_mode(t->files, file, event.mode);
    tracer_instant(t, th, &event);
}

void leave_attribute(struct tracer *t, struct thread *th)
{
    struct stat now;
    if (!(th->event.traits & EVENT_FAILED) && look_again(t, th, &now))
        tracer_take_mode(t, th, &now);
}

void tracer_check_set_id(struct tracer *t, struct thread *th)
{
    uint32_t file = th->event.file;
    struct stat now;
    switch (th->event.call) {
    case CALL_WRITE: /* even one that failed may have got as far as that */
    case CALL_TRUNCATE:
    case CALL_FALLOCATE:
    case CALL_COPY:
    case CALL_OPEN:
        if (file && (files_mode(t->files, file) & SET_ID) && look_again(t, th, &now))
            tracer_take_mode(t, th, &now);
        break;
    default:
        break;
    }
}
