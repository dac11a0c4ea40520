/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Random system calls on a small tree, by three threads in each of two processes that share open
 * file descriptions, the umask and the working directory with each other as threads and forked
 * processes do.
 *
 *     stress [-v] DIR SEED [CALLS]
 *
 * What each thread asks for depends on the seed alone, never on a result: paths come from a few
 * names, and descriptors are slots, fixed numbers that every opening call moves its result to.
 * Many calls fail, which is wanted. Threads race, which is wanted too. With -v the calls made and
 * the calls that succeeded are counted on standard error.
 *
 * Nothing outside DIR is touched: symbolic links lead to directories below DIR only, so that
 * "link/.." is inside; FIFOs have names of their own and are only opened with O_NONBLOCK.
 */
#include "stress.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    DEFAULT_CALLS = 10000,
    THREADS = 3,
    PROCESSES = 2,
    ACTORS = THREADS * PROCESSES,
    LOG_FD = 99,       /* an O_APPEND file written by the signal handler */
    PRINT_EVERY = 250, /* calls between two acknowledgements of one actor */
    SIGNAL_EVERY = 40,
};

static const char *root;

uint64_t next(struct actor *a)
{
    a->seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t z = a->seed;
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

unsigned below(struct actor *a, unsigned n)
{
    return (unsigned)(next(a) % n);
}

bool chance(struct actor *a, unsigned percent)
{
    return below(a, 100) < percent;
}

int slot(struct actor *a)
{
    /* A thread comes back to the same few slots, so that what it opened is used. */
    unsigned n =
        chance(a, 70) ? a->number % THREADS * OWN_SLOTS + below(a, OWN_SLOTS) : below(a, SLOTS);
    return FIRST_SLOT + (int)n;
}

void keep(struct actor *a, int fd)
{
    int to = slot(a);
    unsigned how = below(a, 3);

    if (fd < 0)
        return;
    if (how == 0)
        dup2(fd, to);
    else if (how == 1)
        dup3(fd, to, O_CLOEXEC);
    else
        syscall(SYS_dup2, fd, to);
    close(fd);
}

off_t place(struct actor *a)
{
    unsigned far = below(a, 200);
    if (far == 0)
        return HUGE_OFFSET + below(a, 4096);
    if (far == 1)
        return FILE_LIMIT - below(a, 400);
    return chance(a, 40) ? (off_t)below(a, 12) * BLOCK : below(a, 50000);
}

size_t length(struct actor *a)
{
    if (chance(a, 5))
        return 0;
    return chance(a, 20) ? (1 + below(a, 4)) * BLOCK : 1 + below(a, 3000);
}

/* Mostly good memory with bytes that tell who wrote them; sometimes memory that ends before the
 * length does, or none at all. */
const void *bytes(struct actor *a, size_t *size)
{
    if (chance(a, 4)) {
        size_t good = below(a, 300);
        *size = good + 1 + below(a, 300);
        return a->cliff - good;
    }
    if (chance(a, 1))
        return (const void *)(uintptr_t)8;
    memset(a->buffer, chance(a, 10) ? 0 : (int)('A' + below(a, 58)), *size);
    return a->buffer;
}

static const char *const directories[] = {"a", "b", "c", "a/a", "a/b", "b/c", "l0"};
static const char *const files[] = {"f0", "f1", "f2", "f3", "f4", "f5", "a", "b", "l0", "l1", "l2"};
#define PICK(a, table) ((table)[below(a, sizeof(table) / sizeof *(table))])

static const char *relative_path(struct actor *a, char out[PATH_MAX_LENGTH], const char *last)
{
    unsigned how = below(a, 10);

    if (how < 4)
        snprintf(out, PATH_MAX_LENGTH, "%s", last);
    else if (how < 8)
        snprintf(out, PATH_MAX_LENGTH, "%s/%s", PICK(a, directories), last);
    else if (how < 9)
        snprintf(out, PATH_MAX_LENGTH, "./%s//%s", PICK(a, directories), last);
    else
        snprintf(out, PATH_MAX_LENGTH, "%s/../%s", PICK(a, directories), last);
    return out;
}

static const char *with_root(struct actor *a, char out[PATH_MAX_LENGTH], const char *last)
{
    char relative[PATH_MAX_LENGTH];

    relative_path(a, relative, last);
    if (chance(a, 80) && snprintf(out, PATH_MAX_LENGTH, "%s/%s", root, relative) < PATH_MAX_LENGTH)
        return out;
    return strcpy(out, relative);
}

const char *path(struct actor *a, char out[PATH_MAX_LENGTH])
{
    return with_root(a, out, PICK(a, files));
}

const char *directory(struct actor *a, char out[PATH_MAX_LENGTH])
{
    return with_root(a, out, PICK(a, directories));
}

const char *fifo(struct actor *a, char out[PATH_MAX_LENGTH])
{
    return with_root(a, out, chance(a, 50) ? "p0" : "p1");
}

struct at at_path(struct actor *a, char out[PATH_MAX_LENGTH])
{
    struct at at = {AT_FDCWD, out};

    if (chance(a, 30)) {
        at.dir = DIRECTORY_SLOT + (int)below(a, DIRECTORY_SLOTS);
        relative_path(a, out, PICK(a, files));
    } else {
        path(a, out);
    }
    return at;
}

const char *top(void)
{
    return root;
}

static void on_signal(int number)
{
    int saved = errno;
    (void)number;
    if (write(LOG_FD, "signal\n", 7) < 0)
        errno = saved;
    errno = saved;
}

static bool open_memory(struct actor *a)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    a->buffer = aligned_alloc(page, BUFFER_SIZE);
    char *two = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (!a->buffer || two == MAP_FAILED)
        return false;
    memset(two, 'c', page);
    a->cliff = two + page;
    return mprotect(a->cliff, page, PROT_NONE) == 0 && pipe2(a->pipe, O_NONBLOCK | O_CLOEXEC) == 0;
}

static void *act(void *data)
{
    struct actor *a = data;

    for (int i = 0; i < a->calls; i++) {
        const struct action *action = pick_action(a);
        errno = 0;
        long result = action->run(a);
        a->made[action - actions]++;
        a->succeeded[action - actions] += result >= 0;
        if (i % PRINT_EVERY == 0)
            printf("actor %u: %d calls\n", a->number, i);
        if (i % SIGNAL_EVERY == SIGNAL_EVERY - 1)
            raise(SIGUSR1);
    }
    return NULL;
}

static bool run_process(struct actor *actors)
{
    pthread_t threads[THREADS];

    for (int i = 1; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, act, &actors[i]) != 0)
            return false;
    act(&actors[0]);
    for (int i = 1; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    return true;
}

/* A tree to begin with, unless an earlier run left one, and descriptors for both processes. */
static bool prepare(void)
{
    static const char *const made[] = {"a", "b", "c", "a/a", "a/b", "b/c"};
    struct rlimit limit = {FILE_LIMIT, RLIM_INFINITY};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};

    if (chdir(root) != 0)
        return false;
    for (size_t i = 0; i < sizeof made / sizeof *made; i++)
        mkdir(made[i], 0755);
    int fd = open("log", O_WRONLY | O_CREAT | O_APPEND, 0644);
    if (fd < 0 || dup2(fd, LOG_FD) < 0)
        return false;
    close(fd);
    for (int i = 0; i < SLOTS / 2; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i % 6);
        fd = open(name, O_RDWR | O_CREAT | O_NONBLOCK | (i % 4 ? 0 : O_APPEND), 0644);
        if (fd >= 0)
            dup2(fd, FIRST_SLOT + i);
        close(fd);
    }
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
    return setrlimit(RLIMIT_FSIZE, &limit) == 0 && sigaction(SIGUSR1, &action, NULL) == 0;
}

static void report(const struct actor *actors)
{
    for (size_t i = 0; i < action_count; i++) {
        unsigned made = 0, succeeded = 0;
        for (int n = 0; n < THREADS; n++) {
            made += actors[n].made[i];
            succeeded += actors[n].succeeded[i];
        }
        fprintf(stderr, "%-16s %5u %5u\n", actions[i].name, made, succeeded);
    }
}

int main(int argc, char **argv)
{
    static struct actor actors[ACTORS];
    bool verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    int status = 0;

    argv += verbose;
    argc -= verbose;
    if (argc < 3) {
        fprintf(stderr, "usage: stress [-v] DIR SEED [CALLS]\n");
        return 2;
    }
    int calls = argc > 3 ? atoi(argv[3]) : DEFAULT_CALLS;
    root = realpath(argv[1], NULL);
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    if (!root || !prepare()) {
        perror(argv[1]);
        return 1;
    }
    for (unsigned i = 0; i < ACTORS; i++) {
        actors[i].number = i;
        actors[i].calls = calls / ACTORS + (i < (unsigned)calls % ACTORS);
        actors[i].seed = strtoull(argv[2], NULL, 0) * 1000003 + i;
        if (!open_memory(&actors[i]))
            return 1;
    }
    pid_t child = fork();
    if (child < 0 || !run_process(child ? actors : actors + THREADS))
        return 1;
    if (child && (waitpid(child, &status, 0) != child || status != 0))
        return 1;
    if (verbose)
        report(child ? actors : actors + THREADS);
    return 0;
}
