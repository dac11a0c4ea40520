/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/doctor.h"

#include <elfutils/libdwelf.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <linux/kcmp.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/escape.h"
#include "engine/storetool.h"

/* Crash states are laid out in memory; less than this holds few of them. */
enum { TMPFS_LEAST_MIB = 64 };

static bool because(struct buf *found)
{
    buf_text(found, strerror(errno));
    return false;
}

static void add_safe(struct buf *found, const char *text)
{
    escape_add(found, text, strcspn(text, "\n"), escape_locale());
}

/* The first line of a small file, "" when it cannot be read. */
static void first_line(const char *path, char *line, size_t size)
{
    FILE *f = fopen(path, "re");
    *line = '\0';
    if (f && fgets(line, (int)size, f))
        line[strcspn(line, "\n")] = '\0';
    if (f)
        fclose(f);
}

/* ---- what recording needs ---- */

static bool probe_machine(struct buf *found)
{
    struct utsname u;
    if (uname(&u) != 0)
        return because(found);
    add_safe(found, u.sysname);
    buf_char(found, ' ');
    add_safe(found, u.release);
    buf_char(found, ' ');
    add_safe(found, u.machine);
    return !strcmp(u.sysname, "Linux") && !strcmp(u.machine, "x86_64");
}

static bool probe_ptrace(struct buf *found)
{
    char scope[32];
    first_line("/proc/sys/kernel/yama/ptrace_scope", scope, sizeof scope);
    pid_t child = fork();
    if (child < 0)
        return because(found);
    if (child == 0) {
        if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) != 0)
            _exit(1);
        raise(SIGSTOP);
        _exit(0);
    }
    int status = 0;
    bool stopped = waitpid(child, &status, 0) == child && WIFSTOPPED(status);
    bool works = stopped && ptrace(PTRACE_SETOPTIONS, child, NULL, PTRACE_O_EXITKILL) == 0;
    if (stopped) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
    }
    buf_text(found, works ? "a child can be traced" : "a child cannot be traced");
    if (*scope)
        buf_printf(found, ", yama scope %s", scope);
    return works;
}

static bool probe_seccomp(struct buf *found)
{
    uint32_t action = SECCOMP_RET_TRACE;
    if (syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) != 0)
        return because(found);
    buf_text(found, "filters may stop calls for a tracer");
    return true;
}

static bool probe_vm_readv(struct buf *found)
{
    uint64_t from = 0x666c6f7473616d, to = 0;
    struct iovec local = {&to, sizeof to}, remote = {&from, sizeof from};
    if (process_vm_readv(getpid(), &local, 1, &remote, 1, 0) != (ssize_t)sizeof to || to != from)
        return because(found);
    buf_text(found, "works");
    return true;
}

static bool probe_pidfd(struct buf *found)
{
    int self = (int)syscall(SYS_pidfd_open, getpid(), 0);
    int copy = self < 0 ? -1 : (int)syscall(SYS_pidfd_getfd, self, self, 0);
    bool works = copy >= 0;
    if (works)
        buf_text(found, "works");
    else
        because(found);
    if (copy >= 0)
        close(copy);
    if (self >= 0)
        close(self);
    return works;
}

static bool probe_kcmp(struct buf *found)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    int copy = fd < 0 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 0);
    bool works = copy >= 0 && syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, fd, copy) == 0;
    if (works)
        buf_text(found, "works");
    else
        because(found);
    if (copy >= 0)
        close(copy);
    if (fd >= 0)
        close(fd);
    return works;
}

/* ---- what crash states will need ---- */

static bool probe_namespaces(struct buf *found)
{
    pid_t child = fork();
    if (child < 0)
        return because(found);
    if (child == 0)
        _exit(unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 ? 0 : errno);
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) {
        buf_text(found, geteuid() == 0 ? "work, and we are root" : "work without root");
        return true;
    }
    errno = WIFEXITED(status) ? WEXITSTATUS(status) : EIO;
    return because(found);
}

static bool probe_overlay(struct buf *found)
{
    FILE *f = fopen("/proc/filesystems", "re");
    if (!f)
        return because(found);
    char line[128];
    bool known = false;
    while (!known && fgets(line, sizeof line, f))
        known = strstr(line, "\toverlay\n") != NULL;
    fclose(f);
    buf_text(found, known ? "the kernel knows it" : "not loaded");
    return known;
}

static bool probe_memory(struct buf *found)
{
    struct statvfs st;
    if (statvfs("/dev/shm", &st) != 0)
        return because(found);
    uint64_t free_mib = (uint64_t)st.f_bavail * st.f_frsize >> 20;
    buf_printf(found, "%llu MiB free in /dev/shm", (unsigned long long)free_mib);
    return free_mib >= TMPFS_LEAST_MIB;
}

static bool probe_device(const char *path, struct buf *found)
{
    if (access(path, R_OK | W_OK) != 0)
        return because(found);
    buf_text(found, path);
    return true;
}

static bool probe_fuse(struct buf *found)
{
    return probe_device("/dev/fuse", found);
}

static bool probe_loop(struct buf *found)
{
    return probe_device("/dev/loop-control", found);
}

/* ---- programs ---- */

/* Runs a program by the shell and keeps the first line it prints. */
static bool probe_program(const char *name, const char *command, struct buf *found)
{
    char line[256] = "";
    FILE *p = popen(command, "re");
    if (!p)
        return because(found);
    if (!fgets(line, sizeof line, p))
        *line = '\0';
    int status = pclose(p);
    if (status != 0) {
        buf_printf(found, "%s is not installed", name);
        return false;
    }
    add_safe(found, *line ? line : name);
    return true;
}

static bool probe_store_tracer(struct buf *found)
{
    struct storetool tool;
    struct error e;
    if (!storetool_find(&tool, &e)) {
        buf_text(found, *tool.launcher ? "Valgrind is installed, the tool is not built"
                                       : "Valgrind is not installed");
        return false;
    }
    buf_text(found, "a tool for ");
    add_safe(found, tool.launcher);
    return true;
}

static bool probe_dot(struct buf *found)
{
    return probe_program("dot", "dot -V 2>&1 </dev/null", found);
}

static bool probe_compiler(struct buf *found)
{
    return probe_program("cc", "cc --version 2>/dev/null </dev/null", found);
}

/* ---- symbols ---- */

/* The file that the C library of this very process was loaded from. */
static int find_libc(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    const char *slash = strrchr(info->dlpi_name, '/');
    if (!slash || strncmp(slash, "/libc.so", 8))
        return 0;
    snprintf(data, 4096, "%s", info->dlpi_name);
    return 1;
}

static bool probe_libc_debug(struct buf *found)
{
    char library[4096];
    if (!dl_iterate_phdr(find_libc, library)) {
        buf_text(found, "the C library is linked in");
        return false;
    }
    elf_version(EV_CURRENT);
    int fd = open(library, O_RDONLY | O_CLOEXEC);
    Elf *elf = fd < 0 ? NULL : elf_begin(fd, ELF_C_READ_MMAP, NULL);
    const void *id = NULL;
    ssize_t n = elf ? dwelf_elf_gnu_build_id(elf, &id) : 0;
    struct buf path = {0};
    buf_text(&path, "/usr/lib/debug/.build-id/");
    if (n > 0) {
        buf_hex(&path, id, 1);
        buf_char(&path, '/');
        buf_hex(&path, (const char *)id + 1, (size_t)n - 1);
    }
    buf_text(&path, ".debug");
    bool there = n > 0 && access(path.at, R_OK) == 0;
    buf_text(found, there ? "installed" : "not installed");
    buf_free(&path);
    if (elf)
        elf_end(elf);
    if (fd >= 0)
        close(fd);
    return there;
}

#define RECORDING "recording"
#define STATES    "checking crash states"

static const struct doctor_check checks[] = {
    {"machine", RECORDING, true, probe_machine, "a Linux kernel on x86-64"},
    {"ptrace", RECORDING, true, probe_ptrace,
     "sysctl kernel.yama.ptrace_scope=1 or below; in a container --cap-add=SYS_PTRACE"},
    {"seccomp filters", RECORDING, true, probe_seccomp,
     "a kernel with CONFIG_SECCOMP_FILTER; in a container a seccomp profile that allows seccomp"},
    {"process_vm_readv", RECORDING, true, probe_vm_readv,
     "a kernel with CONFIG_CROSS_MEMORY_ATTACH; in a container a profile that allows it"},
    {"pidfd_getfd", RECORDING, true, probe_pidfd,
     "Linux 5.6 or newer; in a container a profile that allows it"},
    {"kcmp", RECORDING, true, probe_kcmp,
     "a kernel with CONFIG_KCMP; in a container --cap-add=SYS_PTRACE"},
    {"C compiler", "make run, the tests", false, probe_compiler, "apt install gcc"},
    {"libc debug info", "names inside the C library", false, probe_libc_debug,
     "apt install libc6-dbg"},
    {"user namespaces", STATES, false, probe_namespaces,
     "sysctl kernel.unprivileged_userns_clone=1, or run as root"},
    {"overlayfs", STATES, false, probe_overlay, "modprobe overlay"},
    {"memory for states", STATES, false, probe_memory, "mount -o remount,size=1G /dev/shm"},
    {"store tracer", "recording stores to mapped files", false, probe_store_tracer,
     "apt install valgrind (3.19), then build flotsam again: make"},
    {"dot", "the tests; turning exported dot into other formats", false, probe_dot,
     "apt install graphviz"},
    {"fuse", "tests", false, probe_fuse, "modprobe fuse"},
    {"loop devices", "tests", false, probe_loop, "modprobe loop; root, or group disk"},
};

struct doctor_table doctor_machine(void)
{
    return (struct doctor_table){checks, sizeof checks / sizeof *checks};
}
