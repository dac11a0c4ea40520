/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The table of system calls that are watched. One line a call.
 */
#include "tracer/tracee.h"

#include <sys/syscall.h>

enum { SYS_FCHMODAT2 = 452 }; /* newer than Debian's headers */

/* Whether a call holds the turn while it runs: it changes files, or what a path or a number means,
 * or it follows a path, and its event must tell what it found there. */
enum { FREE = false, HOLDS = true };

static const struct {
    int syscall;
    struct call_rule rule;
} rules[] = {
    {SYS_open, {CALL_OPEN, HOLDS, enter_open, leave_open}},
    {SYS_openat, {CALL_OPEN, HOLDS, enter_open, leave_open}},
    {SYS_openat2, {CALL_OPEN, HOLDS, enter_open, leave_open}},
    {SYS_creat, {CALL_OPEN, HOLDS, enter_open, leave_open}},
    {SYS_write, {CALL_WRITE, HOLDS, enter_write, leave_write}},
    {SYS_pwrite64, {CALL_WRITE, HOLDS, enter_write, leave_write}},
    {SYS_writev, {CALL_WRITE, HOLDS, enter_write, leave_write}},
    {SYS_pwritev, {CALL_WRITE, HOLDS, enter_write, leave_write}},
    {SYS_pwritev2, {CALL_WRITE, HOLDS, enter_write, leave_write}},
    {SYS_copy_file_range, {CALL_COPY, HOLDS, enter_copy, leave_copy}},
    {SYS_sendfile, {CALL_COPY, HOLDS, enter_copy, leave_copy}},
    {SYS_splice, {CALL_COPY, HOLDS, enter_copy, leave_copy}},
    {SYS_ioctl, {CALL_COPY, HOLDS, enter_copy, leave_copy}}, /* FICLONE, FICLONERANGE */
    {SYS_ftruncate, {CALL_TRUNCATE, HOLDS, enter_ftruncate, leave_nothing}},
    {SYS_truncate, {CALL_TRUNCATE, HOLDS, enter_truncate, leave_nothing}},
    {SYS_fallocate, {CALL_FALLOCATE, HOLDS, enter_fallocate, leave_nothing}},
    {SYS_rename, {CALL_RENAME, HOLDS, enter_rename, leave_rename}},
    {SYS_renameat, {CALL_RENAME, HOLDS, enter_rename, leave_rename}},
    {SYS_renameat2, {CALL_RENAME, HOLDS, enter_rename, leave_rename}},
    {SYS_link, {CALL_LINK, HOLDS, enter_link, leave_link}},
    {SYS_linkat, {CALL_LINK, HOLDS, enter_link, leave_link}},
    {SYS_symlink, {CALL_SYMLINK, HOLDS, enter_symlink, leave_symlink}},
    {SYS_symlinkat, {CALL_SYMLINK, HOLDS, enter_symlink, leave_symlink}},
    {SYS_unlink, {CALL_UNLINK, HOLDS, enter_unlink, leave_unlink}},
    {SYS_unlinkat, {CALL_UNLINK, HOLDS, enter_unlink, leave_unlink}},
    {SYS_rmdir, {CALL_RMDIR, HOLDS, enter_unlink, leave_unlink}},
    {SYS_mkdir, {CALL_MKDIR, HOLDS, enter_make, leave_make}},
    {SYS_mkdirat, {CALL_MKDIR, HOLDS, enter_make, leave_make}},
    {SYS_mknod, {CALL_MKNOD, HOLDS, enter_make, leave_make}},
    {SYS_mknodat, {CALL_MKNOD, HOLDS, enter_make, leave_make}},
    {SYS_chmod, {CALL_CHMOD, HOLDS, enter_chmod, leave_chmod}},
    {SYS_fchmod, {CALL_CHMOD, HOLDS, enter_chmod, leave_chmod}},
    {SYS_fchmodat, {CALL_CHMOD, HOLDS, enter_chmod, leave_chmod}},
    {SYS_FCHMODAT2, {CALL_CHMOD, HOLDS, enter_chmod, leave_chmod}},
    {SYS_fsync, {CALL_FSYNC, FREE, enter_sync, leave_nothing}},
    {SYS_fdatasync, {CALL_FDATASYNC, FREE, enter_sync, leave_nothing}},
    {SYS_sync, {CALL_SYNC, FREE, enter_sync, leave_nothing}},
    {SYS_syncfs, {CALL_SYNCFS, FREE, enter_sync, leave_nothing}},
    {SYS_sync_file_range, {CALL_SYNC_RANGE, FREE, enter_sync, leave_nothing}},
    {SYS_lseek, {CALL_LSEEK, HOLDS, enter_lseek, leave_lseek}},
    {SYS_close, {CALL_CLOSE, HOLDS, enter_close, leave_close}},
    {SYS_close_range, {CALL_CLOSE, HOLDS, enter_close, leave_close}},
    {SYS_dup, {CALL_DUP, HOLDS, enter_dup, leave_dup}},
    {SYS_dup2, {CALL_DUP, HOLDS, enter_dup, leave_dup}},
    {SYS_dup3, {CALL_DUP, HOLDS, enter_dup, leave_dup}},
    {SYS_fcntl, {CALL_DUP, HOLDS, enter_dup, leave_dup}},
    {SYS_mmap, {CALL_MMAP, FREE, enter_mmap, leave_mmap}},
    {SYS_munmap, {CALL_MUNMAP, FREE, enter_munmap, leave_munmap}},
    {SYS_mremap, {CALL_MREMAP, FREE, enter_mremap, leave_mremap}},
    {SYS_msync, {CALL_MSYNC, FREE, enter_msync, leave_nothing}},
    {SYS_chdir, {CALL_CHDIR, HOLDS, enter_chdir, leave_nothing}},
    {SYS_fchdir, {CALL_CHDIR, HOLDS, enter_chdir, leave_nothing}},
    {SYS_umask, {CALL_UMASK, FREE, enter_umask, leave_nothing}},
    {SYS_clone, {CALL_FORK, FREE, enter_clone, leave_nothing}},
    {SYS_clone3, {CALL_FORK, FREE, enter_clone, leave_nothing}},
    {SYS_fork, {CALL_FORK, FREE, enter_clone, leave_nothing}},
    {SYS_vfork, {CALL_FORK, FREE, enter_clone, leave_nothing}},
    {SYS_execve, {CALL_EXEC, FREE, enter_exec, leave_nothing}},
    {SYS_execveat, {CALL_EXEC, FREE, enter_exec, leave_nothing}},
    {SYS_io_uring_setup, {CALL_NONE, FREE, enter_refuse, leave_nothing}},
    {SYS_io_setup, {CALL_NONE, FREE, enter_refuse, leave_nothing}},
    {SYS_chown, {CALL_NONE, HOLDS, enter_attribute, leave_attribute}},
    {SYS_fchown, {CALL_NONE, HOLDS, enter_attribute, leave_attribute}},
    {SYS_lchown, {CALL_NONE, HOLDS, enter_attribute, leave_attribute}},
    {SYS_fchownat, {CALL_NONE, HOLDS, enter_attribute, leave_attribute}},
    {SYS_utime, {CALL_NONE, FREE, enter_attribute, leave_nothing}},
    {SYS_utimes, {CALL_NONE, FREE, enter_attribute, leave_nothing}},
    {SYS_utimensat, {CALL_NONE, FREE, enter_attribute, leave_nothing}},
    {SYS_futimesat, {CALL_NONE, FREE, enter_attribute, leave_nothing}},
    {SYS_setxattr, {CALL_NONE, HOLDS, enter_attribute, leave_attribute}},
    {SYS_lsetxattr, {CALL_NONE, HOLDS, enter_attribute, leave_attribute}},
    {SYS_fsetxattr, {CALL_NONE, HOLDS, enter_attribute, leave_attribute}},
    {SYS_removexattr, {CALL_NONE, FREE, enter_attribute, leave_nothing}},
    {SYS_lremovexattr, {CALL_NONE, FREE, enter_attribute, leave_nothing}},
    {SYS_fremovexattr, {CALL_NONE, FREE, enter_attribute, leave_nothing}},
};

enum { RULES = sizeof rules / sizeof *rules };

void call_table_init(struct call_table *table)
{
    *table = (struct call_table){0};
    for (size_t i = 0; i < RULES; i++)
        table->by_number[rules[i].syscall] = &rules[i].rule;
}

void call_each(void (*visit)(int syscall, void *data), void *data)
{
    for (size_t i = 0; i < RULES; i++)
        visit(rules[i].syscall, data);
}
