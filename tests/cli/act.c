/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The program that the command-line tests record: it does one small thing, as asked.
 *
 *     act MODE [ARGUMENT...]        `act` alone lists the modes
 *
 * It works in its working directory. Every mode that a test waits for says so in a file or on its
 * standard output, so that no test has to guess a time.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 4, WRITES = 50, MAP_SIZE = 4096, PROCESSES_MAX = 500, TENTH = 100 * 1000 };

static void must(const char *what, int good)
{
    if (!good) {
        fprintf(stderr, "act: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static int open_append(const char *name)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_APPEND, 0644);
    must(name, fd >= 0);
    return fd;
}

static void append(const char *name, const char *text)
{
    int fd = open_append(name);
    must(name, write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static int number(char **arguments)
{
    return arguments[0] ? atoi(arguments[0]) : 0;
}

/* exit N */
static int mode_exit(char **arguments)
{
    append("data", "before the end\n");
    return number(arguments);
}

/* kill N: ends by signal N */
static int mode_kill(char **arguments)
{
    append("data", "before the signal\n");
    kill(getpid(), number(arguments));
    return 0;
}

/* write N [SIZE [PAUSE]]: N lines, or N blocks of SIZE bytes that do not compress, with a pause of
 * so many microseconds after each */
static int mode_write(char **arguments)
{
    static char block[1 << 16];
    size_t size = arguments[1] ? (size_t)atoi(arguments[1]) : 0;
    useconds_t pause = size && arguments[2] ? (useconds_t)atoi(arguments[2]) : 0;
    uint64_t seed = 88172645463325252u;
    int fd = open_append("data");

    must("size", size <= sizeof block);
    for (int i = 0; i < number(arguments); i++) {
        size_t length = size ? size : (size_t)snprintf(block, sizeof block, "line %d\n", i);
        for (size_t at = 0; size && at + sizeof seed <= size; at += sizeof seed) {
            seed ^= seed << 13;
            seed ^= seed >> 7;
            seed ^= seed << 17;
            memcpy(block + at, &seed, sizeof seed);
        }
        must("write", write(fd, block, length) == (ssize_t)length);
        if (pause)
            usleep(pause);
    }
    append("finished", "finished\n");
    puts("finished");
    return 0;
}

/* endless: writes until it is killed, and says after each write how many there were */
static int mode_endless(char **arguments)
{
    int fd = open_append("data");
    (void)arguments;
    for (unsigned long i = 1; i != 0; i++) {
        must("write", write(fd, "endless\n", 8) == 8);
        if (i % WRITES == 0) {
            printf("%lu\n", i);
            fflush(stdout);
            usleep(TENTH / 10); /* so that a slow test does not fill the disk */
        }
    }
    return 0;
}

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
    interrupted = signal_number;
}

/* interrupt: waits for SIGINT, then ends with status 5 */
static int mode_interrupt(char **arguments)
{
    struct sigaction action = {.sa_handler = on_interrupt};
    (void)arguments;
    must("sigaction", sigaction(SIGINT, &action, NULL) == 0);
    puts("ready");
    fflush(stdout);
    while (!interrupted)
        usleep(TENTH);
    append("data", "interrupted\n");
    puts("got it");
    return 5;
}

/* ask: talks with whoever is on the other side of its standard input */
static int mode_ask(char **arguments)
{
    char line[200];
    (void)arguments;
    printf("input is %s, output is %s\n", isatty(0) ? "a terminal" : "no terminal",
           isatty(1) ? "a terminal" : "no terminal");
    fflush(stdout);
    while (fgets(line, sizeof line, stdin)) {
        append("data", line);
        printf("heard %s", line);
        fflush(stdout);
        if (strcmp(line, "enough\n") == 0)
            return 0;
    }
    return 3;
}

/* mark TEXT...: each a line to FLOTSAM_MARK, with writes in between */
static int mode_mark(char **arguments)
{
    const char *name = getenv("FLOTSAM_MARK");
    must("FLOTSAM_MARK is not set", name != NULL);
    FILE *marks = fopen(name, "a");
    must(name, marks != NULL);
    for (; *arguments; arguments++) {
        append("data", "between markers\n");
        fprintf(marks, "%s\n", *arguments);
        fflush(marks);
    }
    return fclose(marks);
}

/* map [code]: a shared writable mapping, executable too when asked, and a store to it */
static int mode_map(char **arguments)
{
    int fd = open("mapped", O_RDWR | O_CREAT, 0644);
    int protection = PROT_READ | PROT_WRITE | (arguments[0] ? PROT_EXEC : 0);
    must("mapped", fd >= 0 && ftruncate(fd, MAP_SIZE) == 0);
    char *bytes = mmap(NULL, MAP_SIZE, protection, MAP_SHARED, fd, 0);
    must("mmap", bytes != MAP_FAILED);
    strcpy(bytes, "stored");
    return msync(bytes, MAP_SIZE, MS_SYNC);
}

/* uring: 0 when io_uring is refused as an old kernel would, 1 when it is there */
static int mode_uring(char **arguments)
{
    struct io_uring_params parameters = {0};
    (void)arguments;
    long fd = syscall(SYS_io_uring_setup, 4, &parameters);
    append("data", fd < 0 ? "fell back\n" : "io_uring\n");
    return !(fd < 0 && errno == ENOSYS);
}

/* many N: N processes, some nested, each writing its own file */
static int mode_many(char **arguments)
{
    static pid_t children[PROCESSES_MAX];
    int n = number(arguments), status;

    must("too many", n <= PROCESSES_MAX);
    for (int i = 0; i < n; i++) {
        children[i] = fork();
        must("fork", children[i] >= 0);
        if (children[i] == 0) {
            char name[32];
            pid_t grandchild = i % 5 == 0 ? fork() : 0;
            snprintf(name, sizeof name, "process%d%s", i, grandchild ? "-parent" : "");
            append(name, "here\n");
            append("all", "one more\n");
            _exit(grandchild ? waitpid(grandchild, &status, 0) != grandchild || status != 0 : 0);
        }
    }
    for (int i = 0; i < n; i++)
        must("child", waitpid(children[i], &status, 0) == children[i] && status == 0);
    return 0;
}

/* daemon: returns at once; what it left behind writes a little later, and then ends */
static int mode_daemon(char **arguments)
{
    (void)arguments;
    must("daemon", daemon(1, 0) == 0);
    usleep(2 * TENTH);
    append("data", "by the daemon\n");
    return 0;
}

static void *write_some(void *data)
{
    char text[32];
    snprintf(text, sizeof text, "thread %d\n", *(int *)data);
    for (int i = 0; i < WRITES; i++)
        append("data", text);
    return NULL;
}

/* threads: some of them, appending to one file */
static int mode_threads(char **arguments)
{
    pthread_t threads[THREADS];
    int numbers[THREADS];
    (void)arguments;
    for (int i = 0; i < THREADS; i++) {
        numbers[i] = i;
        must("thread", pthread_create(&threads[i], NULL, write_some, &numbers[i]) == 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return 0;
}

/* killed-child: a child dies of SIGKILL between two writes, the parent goes on */
static int mode_killed_child(char **arguments)
{
    int status;
    (void)arguments;
    pid_t child = fork();
    if (child == 0) {
        append("data", "child\n");
        kill(getpid(), SIGKILL);
        append("data", "never\n");
    }
    must("wait",
         waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    append("data", "parent\n");
    return 0;
}

static const struct {
    const char *name;
    int (*run)(char **arguments);
} modes[] = {
    {"exit", mode_exit},
    {"kill", mode_kill},
    {"write", mode_write},
    {"endless", mode_endless},
    {"ask", mode_ask},
    {"interrupt", mode_interrupt},
    {"mark", mode_mark},
    {"map", mode_map},
    {"uring", mode_uring},
    {"many", mode_many},
    {"daemon", mode_daemon},
    {"threads", mode_threads},
    {"killed-child", mode_killed_child},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        if (argc < 2)
            puts(modes[i].name);
        else if (strcmp(argv[1], modes[i].name) == 0)
            return modes[i].run(argv + 2);
    }
    return 2;
}
