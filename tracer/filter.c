/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tracer/filter.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <linux/seccomp.h>
#include <seccomp.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "engine/mem.h"
#include "tracer/stores.h"
#include "tracer/tracee.h"

struct building {
    scmp_filter_ctx context;
    int failure;
};

static void add(struct building *b, int syscall, const struct scmp_arg_cmp *condition)
{
    unsigned count = condition ? 1 : 0;
    int rc = seccomp_rule_add_array(b->context, SCMP_ACT_TRACE(0), syscall, count, condition);
    if (rc < 0 && !b->failure)
        b->failure = rc;
}

/* When all of these bits are set in the argument. */
static void add_with_bits(struct building *b, int syscall, unsigned argument, uint64_t bits)
{
    add(b, syscall,
        &(struct scmp_arg_cmp){
            .arg = argument, .op = SCMP_CMP_MASKED_EQ, .datum_a = bits, .datum_b = bits});
}

static void add_with_value(struct building *b, int syscall, unsigned argument, uint64_t value)
{
    add(b, syscall, &(struct scmp_arg_cmp){.arg = argument, .op = SCMP_CMP_EQ, .datum_a = value});
}

/* Calls that matter only with certain arguments; several conditions are alternatives. */
static void add_call(int syscall, void *data)
{
    struct building *b = data;
    switch (syscall) {
    case SYS_mmap: /* new code, which stacks need, and shared mappings */
        add_with_bits(b, syscall, 2, PROT_EXEC);
        add_with_bits(b, syscall, 3, MAP_SHARED);
        break;
    case SYS_fcntl:
        add_with_value(b, syscall, 1, F_DUPFD);
        add_with_value(b, syscall, 1, F_DUPFD_CLOEXEC);
        add_with_value(b, syscall, 1, F_SETFL);
        break;
    case SYS_ioctl:
        add_with_value(b, syscall, 1, FICLONE);
        add_with_value(b, syscall, 1, FICLONERANGE);
        break;
    default:
        add(b, syscall, NULL);
    }
}

/* libseccomp writes the compiled filter to a file only. */
static bool export_program(scmp_filter_ctx context, struct sock_fprog *program)
{
    int fd = memfd_create("flotsam-filter", MFD_CLOEXEC);
    struct stat st;
    bool done = false;
    if (fd >= 0 && seccomp_export_bpf(context, fd) == 0 && fstat(fd, &st) == 0) {
        program->filter = xmalloc((size_t)st.st_size);
        program->len = (unsigned short)((size_t)st.st_size / sizeof *program->filter);
        done = pread(fd, program->filter, (size_t)st.st_size, 0) == st.st_size;
    }
    if (fd >= 0)
        close(fd);
    return done;
}

bool filter_build(struct filter *filter, struct error *e)
{
    enum { BINARY_TREE = 2 }; /* log n comparisons for a call that is not watched, instead of n */
    struct building b = {seccomp_init(SCMP_ACT_ALLOW), 0};
    *filter = (struct filter){0};
    if (!b.context)
        return error_set(e, "cannot make a seccomp filter: libseccomp does not know this machine");
    /* Calls of 32-bit code have other numbers; such programs are refused when they are executed. */
    seccomp_attr_set(b.context, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_ALLOW);
    seccomp_attr_set(b.context, SCMP_FLTATR_CTL_OPTIMIZE, BINARY_TREE);
    call_each(add_call, &b);
    add(&b, STORES_CALL, NULL);
    bool done = !b.failure && export_program(b.context, &filter->program);
    seccomp_release(b.context);
    if (!done) {
        errno = b.failure ? -b.failure : EIO;
        return error_errno(e, "cannot make a seccomp filter");
    }
    return true;
}

void filter_free(struct filter *filter)
{
    free(filter->program.filter);
    *filter = (struct filter){0};
}

int filter_install(const struct filter *filter)
{
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter->program) == 0)
        return 0;
    /* Without privileges the kernel wants the promise never to gain any. Under ptrace a program
     * gains none anyway. */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter->program) != 0)
        return errno;
    return 0;
}
