/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernel/device.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/loop.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/buf.h"
#include "engine/mem.h"
#include "tests/kernel/server.h"

#define MIB_BLOCKS ((1 << 20) / DISK_BLOCK)

static const struct device_fs systems[] = {
    {"ext4",
     16 * MIB_BLOCKS,
     {"mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", "-N", "128", "-J", "size=4", "-E",
      "nodiscard,lazy_itable_init=0,lazy_journal_init=0", NULL},
     "",
     100},
    {"xfs", 300 * MIB_BLOCKS, {"mkfs.xfs", "-q", "-f", "-K", NULL}, "nouuid", 100},
    {"btrfs", 128 * MIB_BLOCKS, {"mkfs.btrfs", "-q", "-f", "-K", NULL}, "nodiscard", 40},
};

const struct device_fs *device_fs(const char *name)
{
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        if (strcmp(systems[i].name, name) == 0)
            return &systems[i];
    return NULL;
}

/* ---- what is needed ---- */

static bool can_open(const char *path, const char *what, struct error *e)
{
    int fd = open(path, O_RDWR | O_CLOEXEC);
    if (fd < 0)
        return error_errno(e, "%s: %s", what, path);
    close(fd);
    return true;
}

/* mkfs.* lie where only root looks. */
static bool has_program(const char *name)
{
    static const char *const places[] = {"/usr/sbin", "/sbin", "/usr/bin", "/usr/local/sbin"};
    bool found = false;
    for (size_t i = 0; i < sizeof places / sizeof *places && !found; i++) {
        char *path = xasprintf("%s/%s", places[i], name);
        found = access(path, X_OK) == 0;
        free(path);
    }
    return found;
}

bool device_possible(const struct device_fs *fs, struct error *e)
{
    if (geteuid() != 0)
        return error_set(e, "only root may mount file systems");
    if (!can_open("/dev/fuse", "there is no FUSE", e) ||
        !can_open("/dev/loop-control", "there are no loop devices", e))
        return false;
    int context = fsopen(fs->name, FSOPEN_CLOEXEC);
    if (context < 0)
        return error_errno(e, "this kernel cannot mount %s", fs->name);
    close(context);
    return has_program(fs->mkfs[0]) || error_set(e, "%s is not installed", fs->mkfs[0]);
}

/* ---- mounts that no path leads to ---- */

/* The last thing that the kernel said of it, for people. */
static void context_says(int context, char *out, size_t size)
{
    ssize_t n = read(context, out, size - 1);
    out[n > 0 ? n : 0] = '\0';
    out[strcspn(out, "\n")] = '\0';
}

static bool configure(int context, const char *option)
{
    char *key = xstrdup(option), *value = strchr(key, '=');
    if (value)
        *value++ = '\0';
    bool ok =
        fsconfig(context, value ? FSCONFIG_SET_STRING : FSCONFIG_SET_FLAG, key, value, 0) == 0;
    free(key);
    return ok;
}

static bool configure_all(int context, const char *options)
{
    char *copy = xstrdup(options), *rest = copy, *option;
    bool ok = true;
    while (ok && (option = strsep(&rest, ",")))
        ok = !*option || configure(context, option);
    free(copy);
    return ok;
}

static bool mount_detached(const char *type, const char *options, int *out, struct error *e)
{
    char said[256];
    int context = fsopen(type, FSOPEN_CLOEXEC);
    *out = -1;
    if (context < 0)
        return error_errno(e, "cannot mount %s", type);
    if (configure_all(context, options) &&
        fsconfig(context, FSCONFIG_CMD_CREATE, NULL, NULL, 0) == 0)
        *out = fsmount(context, FSMOUNT_CLOEXEC, MOUNT_ATTR_NOATIME);
    if (*out < 0) {
        int saved = errno;
        context_says(context, said, sizeof said);
        errno = saved;
        error_errno(e, "cannot mount %s with %s%s%s", type, options, *said ? ": " : "", said);
    }
    close(context);
    return *out >= 0;
}

/* ---- the device ---- */

/* A free loop device becomes one on the file, and detaches itself from the first. */
static bool attach(struct device *d, int file, struct error *e)
{
    enum { TRIES = 64 }; /* others look for free ones too */
    struct loop_config config = {.fd = (uint32_t)file, .block_size = DISK_BLOCK};
    config.info.lo_flags = LO_FLAGS_AUTOCLEAR | LO_FLAGS_DIRECT_IO;
    int control = open("/dev/loop-control", O_RDWR | O_CLOEXEC);
    if (control < 0)
        return error_errno(e, "there are no loop devices: /dev/loop-control");
    for (int i = 0; i < TRIES && d->loop < 0; i++) {
        int number = ioctl(control, LOOP_CTL_GET_FREE);
        snprintf(d->path, sizeof d->path, "/dev/loop%d", number);
        int loop = number < 0 ? -1 : open(d->path, O_RDWR | O_CLOEXEC);
        if (loop >= 0 && ioctl(loop, LOOP_CONFIGURE, &config) == 0)
            d->loop = loop;
        else if (loop >= 0) {
            int saved = errno;
            close(loop);
            errno = saved;
            if (saved != EBUSY)
                break;
        } else if (number < 0)
            break;
    }
    if (d->loop < 0)
        error_errno(e, "cannot attach a loop device");
    close(control);
    return d->loop >= 0;
}

bool device_open(struct device *d, const struct device_fs *fs, const char *options, struct error *e)
{
    *d = (struct device){.fs = fs, .options = options, .fuse_mount = -1, .loop = -1};
    d->disk = disk_new(fs->blocks, e);
    int fuse = open("/dev/fuse", O_RDWR | O_CLOEXEC), file = -1;
    if (fuse < 0)
        error_errno(e, "there is no FUSE: /dev/fuse");
    char *how = xasprintf("source=flotsam,fd=%d,rootmode=100600,user_id=0,group_id=0,"
                          "max_read=131072",
                          fuse);
    bool ok = d->disk && fuse >= 0 && mount_detached("fuse", how, &d->fuse_mount, e) &&
              server_start(d->disk, fuse, &d->server, e);
    free(how);
    /* The server alone holds it now: when it goes, what waits for it is told. */
    if (fuse >= 0)
        close(fuse);
    if (ok) {
        char *root = xasprintf("/proc/self/fd/%d", d->fuse_mount);
        file = open(root, O_RDWR | O_DIRECT | O_CLOEXEC);
        if (file < 0)
            ok = error_errno(e, "cannot open the disk's file");
        free(root);
    }
    ok = ok && attach(d, file, e);
    if (file >= 0)
        close(file);
    return ok;
}

void device_close(struct device *d)
{
    if (d->loop >= 0)
        close(d->loop);
    if (d->fuse_mount >= 0)
        close(d->fuse_mount);
    if (d->server > 0) {
        kill(d->server, SIGKILL);
        waitpid(d->server, NULL, 0);
    }
    disk_free(d->disk);
}

/* What the command says is kept in `said`, which people see when it fails. */
static void exec_mkfs(const struct device *d, int said)
{
    const char *command[MKFS_WORDS + 1];
    size_t n = 0;
    for (; d->fs->mkfs[n]; n++)
        command[n] = d->fs->mkfs[n];
    command[n++] = d->path;
    command[n] = NULL;
    setenv("PATH", "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin", 1);
    dup2(said, STDOUT_FILENO);
    dup2(said, STDERR_FILENO);
    execvp(command[0], (char **)(uintptr_t)command);
}

bool device_mkfs(struct device *d, struct error *e)
{
    char text[512] = "";
    int status = 0, said = memfd_create("mkfs", MFD_CLOEXEC);
    pid_t parent = getpid(), pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent)
            exec_mkfs(d, said);
        _exit(EXIT_FAILURE);
    }
    if (pid < 0)
        return error_errno(e, "cannot start %s", d->fs->mkfs[0]);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (said >= 0) {
        ssize_t n = pread(said, text, sizeof text - 1, 0);
        text[n > 0 ? n : 0] = '\0';
        close(said);
    }
    return status == 0 || error_set(e, "%s failed on %s: %s", d->fs->mkfs[0], d->path, text);
}

bool device_mount(struct device *d, int *root, struct error *e)
{
    char *options = xasprintf("source=%s,%s,%s", d->path, d->fs->options, d->options);
    int mount = -1;
    bool ok = mount_detached(d->fs->name, options, &mount, e);
    free(options);
    if (!ok)
        return false;
    /* What is open keeps it; the mount's own descriptor can do less than a directory's. */
    *root = openat(mount, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*root < 0)
        error_errno(e, "cannot open the root of %s", d->path);
    close(mount);
    return *root >= 0;
}

bool device_forget(struct device *d, struct error *e)
{
    return ioctl(d->loop, BLKFLSBUF) == 0 || error_errno(e, "cannot flush %s", d->path);
}
