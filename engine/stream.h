/* SPDX-License-Identifier: GPL-3.0-or-later OR GPL-2.0-or-later
 *
 * stream: what a tracer says of a run. One fixed-size record an event, with numbers that stand for
 * strings, files, stacks and bytes; all backends produce the same. The header needs nothing but
 * <stdint.h>, so that a tracer without a C library can include it.
 *
 * Words: an *event* is one recorded operation. A *file* is an inode, whatever its names; numbers
 * are never reused, though the kernel reuses inode numbers. The data directory itself is file 1.
 * A *position* is the place of an entry or an exit in the one order of all entries and exits of
 * the run. 0 always means "none" for strings, files and stacks.
 */
#ifndef ENGINE_STREAM_H
#define ENGINE_STREAM_H

#include <stdint.h>

/* The families of calls: what an event does, whichever system call it came by. */
#define CALLS(X)                                                                                   \
    X(OPEN, "open")             /* file; dir, name; flags O_*; mode; result fd */                   \
    X(CLOSE, "close")           /* file; fd */                                                     \
    X(DUP, "dup")               /* file; fd old, result new */                                     \
    X(WRITE, "write")           /* file; offset, size written, payload; fd */                      \
    X(COPY, "copy")             /* as write, and other, other_offset: where from (copy_file_range,  \
                                   sendfile, splice) */                                            \
    X(TRUNCATE, "truncate")     /* file; size the new length */                                    \
    X(FALLOCATE, "fallocate")   /* file; offset, size; flags FALLOC_FL_* */                        \
    X(RENAME, "rename")         /* file; dir, name from; other_dir, other_name to; other the file  \
                                   replaced or exchanged; flags RENAME_* */                        \
    X(LINK, "link")             /* file; dir, name the new name */                                 \
    X(SYMLINK, "symlink")       /* file; dir, name; payload and size the target */                 \
    X(UNLINK, "unlink")         /* file; dir, name */                                              \
    X(MKDIR, "mkdir")           /* file; dir, name; mode */                                        \
    X(RMDIR, "rmdir")           /* file; dir, name */                                              \
    X(MKNOD, "mknod")           /* file; dir, name; mode with type */                              \
    X(CHMOD, "chmod")           /* file; mode */                                                   \
    X(FSYNC, "fsync")           /* file */                                                         \
    X(FDATASYNC, "fdatasync")   /* file */                                                         \
    X(SYNC, "sync")             /* everything */                                                   \
    X(SYNCFS, "syncfs")         /* everything on the data directory's file system */               \
    X(SYNC_RANGE, "sync_file_range") /* file; offset, size; makes nothing durable */               \
    X(MSYNC, "msync")           /* file; offset, size in the file; flags MS_* */                   \
    X(MMAP, "mmap")             /* file; offset, size; address; flags MAP_*; mode PROT_* */        \
    X(MUNMAP, "munmap")         /* file; offset, size; address */                                  \
    X(MREMAP, "mremap")         /* file; offset, size new; address new; other_offset old address */\
    X(LSEEK, "lseek")           /* file; offset the new position */                                \
    X(CHDIR, "chdir")           /* file, or none when it is outside the data directory */          \
    X(UMASK, "umask")           /* mode */                                                         \
    X(FORK, "fork")             /* result the new thread's number in this trace; flags CLONE_* */   \
    X(EXEC, "exec")             /* path the program */                                             \
    X(EXIT, "exit")             /* result the status as wait() gives it; the thread's last event */ \
    X(PRINT, "print")           /* payload, size: what the world was told; fd 1 or 2 */            \
    X(MARKER, "marker")         /* payload, size: one line written to FLOTSAM_MARK */              \
    X(STORE, "store")           /* file; offset, size, payload; address */                         \
    X(LOAD, "load")             /* file; offset, size; address */                                  \
    X(FLUSH, "flush")           /* file; offset; address; flags the kind */                        \
    X(FENCE, "fence")           /* flags the kind */

enum call {
    CALL_NONE,
#define X(id, name) CALL_##id,
    CALLS(X)
#undef X
        CALL_COUNT
};

/* What is special about an event, as bits of event.traits. */
enum {
    EVENT_FAILED = 1 << 0,     /* the call returned an error: result is −errno, no effect */
    EVENT_UNFINISHED = 1 << 1, /* it never returned (killed, or the recorder was): effect unknown */
    EVENT_CREATED = 1 << 2,    /* open: the file did not exist before */
    EVENT_TRUNCATED = 1 << 3,  /* open: O_TRUNC cut an existing file to nothing */
    EVENT_APPEND = 1 << 4,     /* write: at the end, by O_APPEND or RWF_APPEND */
    EVENT_SYNC = 1 << 5,       /* write: durable with all metadata on return (O_SYNC, RWF_SYNC) */
    EVENT_DSYNC = 1 << 6,      /* write: durable on return (O_DSYNC, RWF_DSYNC) */
    EVENT_DIRECT = 1 << 7,     /* write: O_DIRECT */
    EVENT_OVERLAPPED = 1 << 8, /* another changing call ran at the same time; order is a guess */
    EVENT_MOVED_IN = 1 << 9,   /* rename, link: came from outside the data directory; payload and
                                  size are the contents it brought */
    EVENT_MOVED_OUT = 1 << 10, /* rename: went out of the data directory; nothing is left of it */
    EVENT_LAST_NAME = 1 << 11, /* unlink, rename over: the file that lost its name has none left */
    EVENT_WRITABLE = 1 << 12,  /* mmap: shared and writable; stores to it are not in a trace of
                                  system calls */
};

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
    uint32_t mode;  /* permission bits, or protection of a mapping */
    uint32_t traits;
    int32_t fd;
    uint16_t call;    /* enum call */
    uint16_t syscall; /* the system call's number on x86-64; UINT16_MAX when it was none */
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

enum { FILE_ROOT = 1 };

#endif
