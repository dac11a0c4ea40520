/* SPDX-License-Identifier: GPL-3.0-or-later OR GPL-2.0-or-later
 *
 * stream: what a tracer says of a run. One fixed-size record an event, with numbers that stand for
 * strings, files, stacks and bytes; all backends produce the same. The header needs nothing but
 * <stdint.h>, so that a tracer without a C library can include it.
 *
 * Words: an *event* is one recorded operation. A *file* is an inode, whatever its names; numbers
 * are never reused, though the kernel reuses inode numbers. The data directory itself is file 1.
 * A *position* is the place of an entry or an exit in the one order of all entries and exits of
 * the run. A tracer counts them 1, 2, 3, …; whoever reads a session is handed them doubled, so that
 * between any two there is one free for a sync that is only pretended (engine/session.h). 0 always
 * means "none" for strings, files and stacks.
 *
 * Events are numbered by their entries. Calls that change files, names or descriptors do not
 * overlap, unless EVENT_OVERLAPPED says so; prints, syncs and calls on mappings overlap with
 * anything.
 *
 * An event whose syscall is SYSCALL_NONE tells of something that no call of its own did, so that
 * what replays the trace finds every change in it; its entry and exit lie together, inside or just
 * before the call that shows it, which has the lower number in the first case:
 *   rename, link    a file that came with another event: below a directory moved in, in return for
 *                   one moved out by RENAME_EXCHANGE, a whiteout of RENAME_WHITEOUT; or that was
 *                   found to have appeared without a recorded call
 *   truncate        the growth that a write which failed with EFAULT leaves behind
 *   chmod           set-ID bits that the file lost by a write or another change
 *   marker          the last line, when the program ended before it did
 *   exit            the end of a thread
 */
#ifndef ENGINE_STREAM_H
#define ENGINE_STREAM_H

#include <stdint.h>

/* The families of calls: what an event does, whichever system call it came by. */
#define CALLS(X)                                                                                   \
    X(OPEN, "open")             /* file; flags O_*; result and fd: the descriptor. With CREATED     \
                                   dir, name and mode, but no name for O_TMPFILE; a failed one has \
                                   dir and name when nothing was there */                          \
    X(CLOSE, "close")           /* file; fd */                                                     \
    X(DUP, "dup")               /* file; fd old, result new */                                     \
    X(WRITE, "write")           /* file; offset, size written, payload; fd */                      \
    X(COPY, "copy")             /* as write, and other, other_offset: where from, other 0 for the   \
                                   outside (copy_file_range, sendfile, splice, reflinks) */        \
    X(TRUNCATE, "truncate")     /* file; size the new length */                                    \
    X(FALLOCATE, "fallocate")   /* file; offset, size; flags FALLOC_FL_* */                        \
    X(RENAME, "rename")         /* file; dir, name from; other_dir, other_name to; other the file   \
                                   replaced or exchanged; flags RENAME_*. dir and name are 0 when  \
                                   it came from outside, other_dir and other_name when it went     \
                                   there. One of two names of one file: nothing happens */         \
    X(LINK, "link")             /* file; dir, name, path the new name; other_path the old one;      \
                                   flags AT_* */                                                   \
    X(SYMLINK, "symlink")       /* file; dir, name; payload and size the target */                 \
    X(UNLINK, "unlink")         /* file; dir, name */                                              \
    X(MKDIR, "mkdir")           /* file; dir, name; mode */                                        \
    X(RMDIR, "rmdir")           /* file; dir, name */                                              \
    X(MKNOD, "mknod")           /* file; dir, name; mode with type, unless it is a regular file */  \
    X(CHMOD, "chmod")           /* file; mode */                                                   \
    X(FSYNC, "fsync")           /* file */                                                         \
    X(FDATASYNC, "fdatasync")   /* file */                                                         \
    X(SYNC, "sync")             /* everything */                                                   \
    X(SYNCFS, "syncfs")         /* everything on the data directory's file system */               \
    X(SYNC_RANGE, "sync_file_range") /* file; offset, size; makes nothing durable */               \
    X(MSYNC, "msync")           /* file; offset, size in the file; flags MS_*; as of munmap and     \
                                   mremap, of the first mapping when the range touches several */  \
    X(MMAP, "mmap")             /* file; offset, size; address; flags MAP_*; mode PROT_* */        \
    X(MUNMAP, "munmap")         /* file; offset, size; address */                                  \
    X(MREMAP, "mremap")         /* file; offset, size new; address new; other_offset old address */\
    X(LSEEK, "lseek")           /* file; offset the new position */                                \
    X(CHDIR, "chdir")           /* file; to a directory outside is no event */                     \
    X(UMASK, "umask")           /* mode */                                                         \
    X(FORK, "fork")             /* result the new thread's number in this trace; flags CLONE_* */   \
    X(EXEC, "exec")             /* path the program */                                             \
    X(EXIT, "exit")             /* result the status as wait() gives it; the thread's last event */ \
    X(PRINT, "print")           /* payload, size: what the world was told; fd 1 or 2 */            \
    X(MARKER, "marker")         /* payload, size: one line written to FLOTSAM_MARK; or flags MARK_*  \
                                   and what a library announced: file, offset, address, and        \
                                   other_offset: how many bytes from there, all 0 for none */      \
    X(STORE, "store")           /* file; offset, size, payload; address; flags STORE_* */          \
    X(LOAD, "load")             /* file; offset, size; address */                                  \
    X(FLUSH, "flush")           /* file; offset, size: the line; address; flags FLUSH_* */         \
    X(FENCE, "fence")           /* flags FENCE_*; of the event's thread */

enum call {
    CALL_NONE,
#define X(id, name) CALL_##id,
    CALLS(X)
#undef X
        CALL_COUNT
};

/* What is special about an event, as bits of event.traits. */
enum {
    EVENT_FAILED = 1 << 0,     /* the call returned an error: result is −errno, no effect. What it
                                  asked for is told as far as it is known */
    EVENT_UNFINISHED = 1 << 1, /* it never returned (killed, or the recorder was): effect unknown */
    EVENT_CREATED = 1 << 2,    /* open: the file did not exist before */
    EVENT_TRUNCATED = 1 << 3,  /* open: O_TRUNC cut an existing file to nothing */
    EVENT_APPEND = 1 << 4,     /* write: at the end, by O_APPEND or RWF_APPEND */
    EVENT_SYNC = 1 << 5,       /* write: durable with all metadata on return (O_SYNC, RWF_SYNC) */
    EVENT_DSYNC = 1 << 6,      /* write: durable on return (O_DSYNC, RWF_DSYNC) */
    EVENT_DIRECT = 1 << 7,     /* write: O_DIRECT */
    EVENT_OVERLAPPED = 1 << 8, /* another changing call ran at the same time; order is a guess. Both
                                  have it: the one that took too long, and those begun meanwhile */
    EVENT_MOVED_IN = 1 << 9,   /* rename, link: a new file, from outside the data directory; mode,
                                  and payload and size: the contents (or target) it brought. One
                                  that has another name in the data is not new */
    EVENT_MOVED_OUT = 1 << 10, /* rename: file went out of the data directory with all below it */
    EVENT_LAST_NAME = 1 << 11, /* unlink, rmdir: file, rename over: other, has no name left */
    EVENT_WRITABLE = 1 << 12,  /* mmap: shared and writable; stores to it are events only when
                                  the backend traces stores */
};

/* How a store was made, as bits of event.flags. */
enum {
    STORE_NT = 1 << 0,     /* non-temporal: past the cache */
    STORE_LOCKED = 1 << 1, /* by an instruction that is also a fence (LOCK, xchg) */
    STORE_KERNEL = 1 << 2, /* by a system call that was given the memory to write to (read) */
};

/* The instruction that a flush or a fence was. LFENCE is none: it orders no stores. */
enum { FLUSH_CLFLUSH = 1, FLUSH_CLFLUSHOPT, FLUSH_CLWB };
enum {
    FENCE_SFENCE = 1,
    FENCE_MFENCE,
    FENCE_LOCKED, /* LOCK or xchg on other memory; told only where it follows a store or a flush */
};

/* What a marker is. PMDK announces its transactions to tools. */
enum { MARK_LINE, MARK_TX_BEGIN, MARK_TX_END, MARK_TX_ADD, MARK_TX_REMOVE };

enum { CACHE_LINE = 64 };

#define SYSCALL_NONE UINT16_MAX

/* Bytes live in one long row; a payload is a place in it (engine/recording.h). */
#define PAYLOAD_ZEROS UINT64_C(0) /* all bytes are zero; nothing is stored */

struct event {
    uint64_t entry;        /* position at which it began; its ops are issued here */
    uint64_t exit;         /* position at which it returned; UINT64_MAX when unfinished */
    uint64_t time;         /* nanoseconds from the start of the recording to the entry */
    int64_t result;        /* what the call returned, or −errno */
    uint64_t offset;       /* in the file: where it really acted (O_APPEND, lseek resolved) */
    uint64_t size;         /* bytes: what was really done (short writes) */
    uint64_t payload;      /* the bytes written */
    uint64_t address;      /* in memory, for mappings and stores */
    uint64_t other_offset; /* in the other file */
    uint32_t file, other;  /* which inodes */
    uint32_t dir, other_dir;   /* the directories whose entries change */
    uint32_t name, other_name; /* the entries' names: one component, a string */
    uint32_t path, other_path; /* where file and other were found at the time, from the data
                                  directory; a string, for people */
    uint32_t stack;
    uint32_t thread;
    uint32_t flags; /* the call's own flags */
    uint32_t mode;  /* permission bits that the file now has (after umask and what the kernel drops;
                       of a failed call those asked for), or protection of a mapping */
    uint32_t traits;
    int32_t fd;
    uint16_t call;    /* enum call */
    uint16_t syscall; /* the system call's number on x86-64; SYSCALL_NONE when it was none */
    uint32_t reserved;
};

_Static_assert(sizeof(struct event) == 136, "the record's size is part of the file format");

/* One return address: the address inside the module as linked (its ELF virtual address), so that
 * it means the same whatever the load base was. Module 0 is code that belongs to no file. */
struct frame {
    uint32_t module;
    uint32_t flags; /* FRAME_EXACT */
    uint64_t address;
};

/* The address is that of an instruction itself (the innermost frame, or one interrupted by a
 * signal), not of the one after a call: look it up as it is, not one byte before. */
enum { FRAME_EXACT = 1 };

enum file_kind { FILE_REGULAR = 1, FILE_DIRECTORY, FILE_SYMLINK, FILE_FIFO, FILE_OTHER };

enum {
    FILE_ROOT = 1,
    FILE_MODE_BITS = 07777, /* what event.mode keeps of st_mode: permissions, set-ID, sticky */
};

#endif
