/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The ways in which a descriptor or a file gets from one place to another, one mode each:
 *
 *     descriptors DIR MODE
 *
 * Each mode leaves files in DIR that come out wrong when a descriptor was taken for another, and
 * fails itself when the kernel did not do what the mode is about.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_LENGTH = 4096, HIGH_FD = 42 };

extern char **environ;
static const char *self;

static void must(const char *what, int good)
{
    if (!good) {
        fprintf(stderr, "descriptors: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static int open_new(const char *name, int flags)
{
    int fd = open(name, O_RDWR | O_CREAT | flags, 0644);
    must(name, fd >= 0);
    return fd;
}

static void put(int fd, const char *text)
{
    must(text, write(fd, text, strlen(text)) == (ssize_t)strlen(text));
}

static void reap(pid_t child)
{
    int status;
    must("child", waitpid(child, &status, 0) == child && status == 0);
}

/* The other side of exec: a descriptor that came along, at an offset that came along; and a number
 * that was closed by exec and means another file now. */
static void mode_inherited(void)
{
    put(HIGH_FD, "after exec\n");
    must("closed by exec", fcntl(HIGH_FD + 1, F_GETFD) < 0 && errno == EBADF);
    int fd = open_new("second", 0);
    must("reuse the number", dup2(fd, HIGH_FD + 1) == HIGH_FD + 1);
    put(HIGH_FD + 1, "not for the first\n");
}

static void mode_exec(void)
{
    int fd = open_new("exec", 0);
    must("dup2", dup2(fd, HIGH_FD) == HIGH_FD);
    must("dup3", dup3(fd, HIGH_FD + 1, O_CLOEXEC) == HIGH_FD + 1);
    close(fd);
    put(HIGH_FD, "before exec\n");
    execl(self, self, ".", "inherited", (char *)NULL);
    must("exec", 0);
}

/* glibc spawns by a clone that shares memory with its parent until the exec. */
static void mode_spawn(void)
{
    posix_spawn_file_actions_t actions;
    char *arguments[] = {(char *)(uintptr_t)self, (char *)(uintptr_t) ".",
                         (char *)(uintptr_t) "inherited", NULL};
    int fd = open_new("spawn", O_APPEND);
    pid_t child;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, fd, HIGH_FD);
    must("spawn", posix_spawn(&child, self, &actions, NULL, arguments, environ) == 0);
    posix_spawn_file_actions_destroy(&actions);
    put(fd, "from the parent\n");
    reap(child);
    put(fd, "parent again\n");
}

/* Parent and child share the offset; the child's own table of descriptors is its own. */
static void mode_fork(void)
{
    int fd = open_new("fork", 0);
    put(fd, "parent\n");
    pid_t child = fork();
    if (child == 0) {
        put(fd, "child\n");
        close(fd);
        int other = open_new("child-only", 0);
        must("the same number", other == fd);
        put(other, "child's own\n");
        must("chdir", mkdir("sub", 0755) == 0 && chdir("sub") == 0);
        put(open_new("relative", 0), "in sub\n");
        _exit(0);
    }
    reap(child);
    put(fd, "parent goes on behind the child\n");
    put(open_new("relative", 0), "not in sub\n");
}

static void mode_stdout_dup(void)
{
    put(dup2(1, HIGH_FD), "acknowledged by another number\n");
    put(1, "acknowledged\n");
    put(dup(2), "warned\n");
}

static void mode_stdout_file(void)
{
    put(1, "the last word to the world\n");
    close(1);
    must("descriptor 1", open_new("output", 0) == 1);
    put(1, "data, not an acknowledgement\n");
}

static void send_descriptor(int socket, int fd)
{
    char byte = 'x', space[CMSG_SPACE(sizeof fd)] = {0};
    struct iovec v = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = SOL_SOCKET;
    header->cmsg_type = SCM_RIGHTS;
    header->cmsg_len = CMSG_LEN(sizeof fd);
    memcpy(CMSG_DATA(header), &fd, sizeof fd);
    must("sendmsg", sendmsg(socket, &message, 0) == 1);
}

static int receive_descriptor(int socket)
{
    int fd;
    char byte, space[CMSG_SPACE(sizeof fd)];
    struct iovec v = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &v, .msg_iovlen = 1, .msg_control = space, .msg_controllen = sizeof space};
    must("recvmsg", recvmsg(socket, &message, 0) == 1 && CMSG_FIRSTHDR(&message));
    memcpy(&fd, CMSG_DATA(CMSG_FIRSTHDR(&message)), sizeof fd);
    return fd;
}

static void mode_passed(void)
{
    int pair[2];
    must("socketpair", socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
    pid_t child = fork();
    if (child == 0) {
        int free = dup(pair[1]);
        close(free);
        must("not open yet", write(free, "x", 1) < 0 && errno == EBADF);
        int fd = receive_descriptor(pair[1]);
        must("the number that was free", fd == free);
        put(fd, "by the receiver\n");
        _exit(0);
    }
    int fd = open_new("passed", 0);
    put(fd, "by the sender\n");
    send_descriptor(pair[0], fd);
    reap(child);
    put(fd, "by the sender again\n");
}

static void mode_sparse(void)
{
    off_t far = (off_t)5 << 30;
    int fd = open_new("sparse", 0);
    must("pwrite", pwrite(fd, "far", 3, far) == 3);
    must("lseek", lseek(fd, -1, SEEK_END) == far + 2);
    put(fd, "past");
    must("truncate", truncate("sparse", far + 100) == 0);
    must("punch", fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, far, 2) == 0);
}

/* pwrite on an O_APPEND descriptor appends, on Linux; the flag belongs to the description. */
static void mode_append(void)
{
    int fd = open_new("append", O_APPEND), other = dup(fd), apart = open_new("append", 0);
    put(fd, "one\n");
    must("pwrite", pwrite(fd, "two\n", 4, 0) == 4);
    put(apart, "ONE\n");
    put(other, "three\n");
    must("clear", fcntl(other, F_SETFL, 0) == 0);
    must("lseek", lseek(fd, 1, SEEK_SET) == 1);
    put(fd, "n");
    put(other, "E");
    must("set", fcntl(apart, F_SETFL, O_APPEND) == 0);
    put(apart, "four\n");
}

static void mode_unlinked(void)
{
    int fd = open_new("gone", 0);
    must("link", link("gone", "kept") == 0 && unlink("gone") == 0);
    put(fd, "still has a name\n");
    must("mkdir", mkdir("old", 0755) == 0);
    int inside = open_new("old/inside", 0);
    must("rename", rename("old", "new") == 0 && mkdir("old", 0700) == 0);
    put(inside, "in the renamed directory\n");
    put(open_new("old/inside", 0), "another inside\n");
    must("unlink", unlink("kept") == 0);
    put(fd, "has none\n");
    put(open_new("gone", 0), "a new file\n");
    put(fd, "not in the new one\n");
}

/* A folder beside the data directory. */
static void make_outside(char *path)
{
    must("getcwd", getcwd(path, PATH_LENGTH - 16) != NULL);
    strcat(path, ".outside");
    must("mkdir", mkdir(path, 0755) == 0);
}

/* Files that come from outside the data directory, and that leave it and come back changed. */
static void mode_moves(void)
{
    char outside[PATH_LENGTH], file[PATH_LENGTH + 16], folder[PATH_LENGTH + 16];
    make_outside(outside);
    snprintf(file, sizeof file, "%s/file", outside);
    snprintf(folder, sizeof folder, "%s/folder", outside);
    must("mkdir", mkdir(folder, 0750) == 0);
    int fd = open_new(file, 0);
    put(fd, "written outside\n");
    must("rename in", rename(file, "in") == 0);
    put(fd, "written inside\n");
    must("rename out", rename("in", file) == 0);
    put(fd, "written outside again\n");
    must("link in", link(file, "linked") == 0);
    must("link twice", link(file, "linked-too") == 0);
    put(fd, "inside, by its second name\n");
    must("directory in", rename(folder, "folder") == 0);
    put(open_new("folder/f", 0), "in a directory from outside\n");
    must("clean", unlink(file) == 0 && rmdir(outside) == 0);
}

/* Names of one file stay names of one file when they come from outside, together or one by one. */
static void mode_links_in(void)
{
    char outside[PATH_LENGTH];
    make_outside(outside);
    int data = open(".", O_PATH | O_DIRECTORY), out = open(outside, O_PATH | O_DIRECTORY);
    must("mkdir", mkdirat(out, "folder", 0755) == 0);
    int fd = openat(out, "folder/first", O_WRONLY | O_CREAT, 0644);
    put(fd, "written outside\n");
    must("link", linkat(out, "folder/first", out, "folder/second", 0) == 0);
    must("link", linkat(out, "folder/first", out, "third", 0) == 0);
    must("directory in", renameat(out, "folder", data, "folder") == 0);
    put(fd, "written inside\n");
    must("file in", renameat(out, "third", data, "third") == 0);
    put(fd, "by three names\n");
    must("rename", rename("third", "fourth") == 0 && link("fourth", "fifth") == 0);
    must("clean", rmdir(outside) == 0);
}

/* What changes places with something outside; what leaves a whiteout behind; and names of one file
 * on both sides, where a rename does nothing. */
static void mode_exchange(void)
{
    char outside[PATH_LENGTH];
    make_outside(outside);
    int data = open(".", O_PATH | O_DIRECTORY), out = open(outside, O_PATH | O_DIRECTORY);
    int went = open_new("file", 0), came = openat(out, "file", O_WRONLY | O_CREAT, 0600);
    put(came, "from outside\n");
    must("out", renameat2(data, "file", out, "file", RENAME_EXCHANGE) == 0);
    put(came, "and written inside\n");
    put(went, "written outside\n");

    must("mkdir", mkdir("folder", 0755) == 0 && mkdirat(out, "folder", 0750) == 0);
    close(open_new("folder/goes-out", 0));
    close(openat(out, "folder/comes-in", O_WRONLY | O_CREAT, 0640));
    must("in", renameat2(out, "folder", data, "folder", RENAME_EXCHANGE) == 0);
    must("it went", unlinkat(out, "folder/goes-out", 0) == 0);
    put(open("folder/comes-in", O_WRONLY), "it came\n");

    close(open_new("covered", 0));
    if (renameat2(data, "covered", data, "moved", RENAME_WHITEOUT) == 0)
        must("the whiteout", unlink("covered") == 0);
    else
        must("RENAME_WHITEOUT", errno == EINVAL || errno == EPERM);

    must("link", linkat(data, "file", out, "same", 0) == 0);
    must("same", renameat(data, "file", out, "same") == 0);
    must("same", renameat(out, "same", data, "file") == 0);
    put(came, "it is still there\n");
    must("clean", unlinkat(out, "same", 0) == 0 && unlinkat(out, "file", 0) == 0);
    must("clean", unlinkat(out, "folder", AT_REMOVEDIR) == 0 && rmdir(outside) == 0);
}

static void *open_leased(void *data)
{
    (void)data;
    put(open("leased", O_WRONLY), "after the lease\n");
    return NULL;
}

/* An open that another thread must let through, which makes files meanwhile: the recorder cannot
 * let one wait for the other. */
static void mode_overtaken(void)
{
    pthread_t thread;
    signal(SIGIO, SIG_IGN);
    close(open_new("leased", 0));
    int fd = open("leased", O_RDONLY);
    must("lease", fcntl(fd, F_SETLEASE, F_RDLCK) == 0);
    must("thread", pthread_create(&thread, NULL, open_leased, NULL) == 0);
    while (fcntl(fd, F_GETLEASE) == F_RDLCK)
        usleep(1000);
    put(open_new("meanwhile", 0), "while the other waits\n");
    must("give up the lease", fcntl(fd, F_SETLEASE, F_UNLCK) == 0);
    pthread_join(thread, NULL);
    put(open_new("after", 0), "in order again\n");
}

static void on_alarm(int number)
{
    (void)number;
}

static void *open_reader(void *data)
{
    (void)data;
    int fd = open("fifo", O_RDONLY);
    return fd < 0 ? "failed" : NULL;
}

/* An open that a signal ends, then one that a signal only delays. */
static void mode_interrupted(void)
{
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval often = {{0, 2000}, {0, 2000}}, never = {{0, 0}, {0, 0}};
    pthread_t reader;
    sigset_t alarm;

    must("mkfifo", mkfifo("fifo", 0600) == 0);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    must("interrupted open", open("fifo", O_WRONLY) < 0 && errno == EINTR);
    action.sa_flags = SA_RESTART;
    sigaction(SIGALRM, &action, NULL);
    for (int i = 0; i < 50; i++)
        put(open_new("counted", O_APPEND), "one line, whatever the signals\n");
    setitimer(ITIMER_REAL, &never, NULL);

    sigemptyset(&alarm);
    sigaddset(&alarm, SIGALRM);
    pthread_sigmask(SIG_BLOCK, &alarm, NULL);
    must("thread", pthread_create(&reader, NULL, open_reader, NULL) == 0);
    int fd = open("fifo", O_WRONLY);
    must("open", fd >= 0);
    pthread_join(reader, NULL);
    put(open_new("after", 0), "after\n");
}

static void *alone(void *data)
{
    (void)data;
    must("unshare", unshare(CLONE_FS) == 0);
    umask(077);
    must("chdir", chdir("apart") == 0);
    put(open_new("file", 0), "the thread's own\n");
    return NULL;
}

/* A thread with a working directory and a mask of its own. */
static void mode_unshared(void)
{
    pthread_t thread;
    must("mkdir", mkdir("apart", 0755) == 0);
    must("thread", pthread_create(&thread, NULL, alone, NULL) == 0);
    pthread_join(thread, NULL);
    put(open_new("file", 0), "everybody's\n");
}

static void *exec_from_thread(void *data)
{
    (void)data;
    execl(self, self, ".", "inherited", (char *)NULL);
    return NULL;
}

/* exec by a thread that is not the first: the others end, its thread number changes. */
static void mode_exec_thread(void)
{
    pthread_t thread;
    int fd = open_new("exec-thread", 0);
    must("dup2", dup2(fd, HIGH_FD) == HIGH_FD);
    put(HIGH_FD, "before exec\n");
    must("thread", pthread_create(&thread, NULL, exec_from_thread, NULL) == 0);
    for (;;)
        pause();
}

/* Set-group-ID directories hand the bit down; the umask is taken off what is asked for. */
static void mode_modes(void)
{
    must("mkdir", mkdir("group", 0755) == 0 && chmod("group", 02775) == 0);
    umask(027);
    must("mkdir", mkdir("group/below", 0777) == 0);
    must("open", close(open("group/file", O_CREAT | O_WRONLY, 06777)) == 0);
    must("open", close(open("group/readonly", O_CREAT | O_WRONLY, 0444)) == 0);
    must("fchmodat", fchmodat(AT_FDCWD, "group/readonly", 0640, 0) == 0);
    must("symlink", symlink("group/file", "link") == 0 && chmod("link", 0711) == 0);
}

static const struct {
    const char *name;
    void (*run)(void);
} modes[] = {
    {"exec", mode_exec},
    {"inherited", mode_inherited},
    {"spawn", mode_spawn},
    {"fork", mode_fork},
    {"stdout-dup", mode_stdout_dup},
    {"stdout-file", mode_stdout_file},
    {"passed", mode_passed},
    {"sparse", mode_sparse},
    {"append", mode_append},
    {"unlinked", mode_unlinked},
    {"moves", mode_moves},
    {"links-in", mode_links_in},
    {"exchange", mode_exchange},
    {"overtaken", mode_overtaken},
    {"interrupted", mode_interrupted},
    {"unshared", mode_unshared},
    {"exec-thread", mode_exec_thread},
    {"modes", mode_modes},
};

int main(int argc, char **argv)
{
    self = realpath("/proc/self/exe", NULL);
    must("self", self != NULL);
    must("usage: descriptors DIR MODE", argc == 3 && chdir(argv[1]) == 0);
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (strcmp(argv[2], modes[i].name) == 0) {
            modes[i].run();
            return 0;
        }
    }
    errno = EINVAL;
    must(argv[2], 0);
}
