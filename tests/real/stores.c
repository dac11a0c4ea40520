/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Stores to mapped files, in every way that a recorder may get wrong.
 *
 *     stores DIR MODE        the modes are in a table at the end
 */
#include "stores.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

void must(const char *what, bool ok)
{
    if (!ok) {
        fprintf(stderr, "stores: %s: %s\n", what, strerror(errno));
        exit(1);
    }
}

static int open_file(const char *name, size_t size)
{
    int fd = open(name, O_RDWR | O_CREAT, 0644);
    must(name, fd >= 0 && ftruncate(fd, (off_t)size) == 0);
    return fd;
}

static char *map_open(int fd, size_t size)
{
    char *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must("mmap", map != MAP_FAILED);
    return map;
}

char *map_file(const char *name, size_t size)
{
    int fd = open_file(name, size);
    char *map = map_open(fd, size);
    close(fd);
    return map;
}

static int mode_instructions(void)
{
    all_instructions(map_file("instructions", (size_t)INSTRUCTION_PAGES * PAGE));
    return 0;
}

/* Grows, moves and shrinks; what moves over a mapping takes its place. */
static int mode_mremap(void)
{
    char *a = map_file("a", 64 * PAGE), *b = map_file("b", 4 * PAGE);
    a[10] = 'x';
    a = mremap(a, 4 * PAGE, 64 * PAGE, MREMAP_MAYMOVE);
    must("grow", a != MAP_FAILED);
    a[40 * PAGE] = 'y';
    char *room = mmap(NULL, 64 * PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    a = mremap(a, 64 * PAGE, 64 * PAGE, MREMAP_MAYMOVE | MREMAP_FIXED, room);
    must("move", a == room);
    memset(a + 50 * PAGE, 'z', PAGE);
    a = mremap(a, 64 * PAGE, 2 * PAGE, 0);
    must("shrink", a != MAP_FAILED);
    a[2 * PAGE - 1] = 'e';
    /* Anonymous memory where two pages of b were. */
    must("over", mmap(b + PAGE, 2 * PAGE, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) == b + PAGE);
    memset(b, 'q', 4 * PAGE);
    /* A file over a file, at another place of it. */
    int fd = open("a", O_RDWR);
    must("file over file",
         mmap(b, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 8 * PAGE) == b);
    memset(b, 'r', PAGE);
    munmap(b + 3 * PAGE, PAGE);
    return 0;
}

/* What the kernel writes into a mapping, and what is written to a file that is mapped. */
static int mode_kernel(void)
{
    enum { SIZE = 64 * PAGE };
    int fd = open_file("kernel", SIZE), zero = open("source", O_RDWR | O_CREAT, 0644);
    char *map = map_open(fd, SIZE), bytes[3 * PAGE];
    memset(bytes, 'k', sizeof bytes);
    must("source", write(zero, bytes, sizeof bytes) == sizeof bytes);
    must("pread", pread(zero, map + 100, sizeof bytes, 0) == sizeof bytes);
    struct iovec parts[] = {{map + 20 * PAGE, 10}, {map + 21 * PAGE, 5000}};
    must("preadv", preadv(zero, parts, 2, 7) == 5010);
    must("pwrite", pwrite(fd, "written", 7, 120) == 7);
    map[122] = 'S';
    must("fstat into it", fstat(fd, (struct stat *)(void *)(map + 30 * PAGE)) == 0);
    int ends[2];
    must("pipe", pipe(ends) == 0 && write(ends[1], "through", 7) == 7);
    must("read", read(ends[0], map + 40 * PAGE, 7) == 7);
    must("written from the mapping", pwrite(fd, map, 2 * PAGE, 50 * PAGE) == 2 * PAGE);
    must("msync", msync(map, SIZE, MS_SYNC) == 0);
    return 0;
}

/* One file mapped twice, at different places of it; and hard links. */
static int mode_alias(void)
{
    char *a = map_file("alias", 8 * PAGE);
    must("link", link("alias", "second") == 0);
    int fd = open("second", O_RDWR);
    char *b = mmap(NULL, 4 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 4 * PAGE);
    must("second", b != MAP_FAILED);
    must("rename", rename("alias", "third") == 0 && unlink("second") == 0);
    for (int i = 0; i < 1000; i++) {
        a[4 * PAGE + i * 3 % 500] = (char)i;
        b[i * 7 % 500] = (char)(i + 1);
    }
    munmap(a, 8 * PAGE);
    b[3 * PAGE] = 'b';
    return 0;
}

/* ---- threads and processes ---- */

enum { WORKERS = 4, ROUNDS = 2000 };

struct work {
    char *map;
    int number, log;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void *worker(void *data)
{
    struct work *w = data;
    uint64_t *shared = (uint64_t *)(void *)w->map;
    for (int i = 0; i < ROUNDS; i++) {
        w->map[PAGE * (1 + w->number) + i % PAGE] = (char)(i + w->number);
        __atomic_fetch_add(&shared[0], 1, __ATOMIC_SEQ_CST);
        if (i % 100)
            continue;
        pthread_mutex_lock(&lock);
        shared[1] = shared[1] * 31 + (uint64_t)w->number;
        char line[64];
        int n = snprintf(line, sizeof line, "%d %d\n", w->number, i);
        must("log", write(w->log, line, (size_t)n) == n);
        pthread_mutex_unlock(&lock);
    }
    return NULL;
}

static int mode_threads(void)
{
    struct work work[WORKERS];
    pthread_t threads[WORKERS];
    char *map = map_file("threads", (WORKERS + 1) * PAGE);
    int log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0644);
    for (int i = 0; i < WORKERS; i++) {
        work[i] = (struct work){map, i, log};
        must("thread", pthread_create(&threads[i], NULL, worker, &work[i]) == 0);
    }
    for (int i = 0; i < WORKERS; i++)
        pthread_join(threads[i], NULL);
    uint64_t count = *(uint64_t *)(void *)map;
    must("count", count == WORKERS * ROUNDS);
    return 0;
}

/* Processes that share a mapping and a lock in it: each stores what the one before left. */
static int mode_fork(void)
{
    struct {
        pthread_mutex_t lock;
        uint64_t last, count;
        uint64_t history[WORKERS * ROUNDS];
    } *shared = (void *)map_file("fork", sizeof *shared);
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    pthread_mutexattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    pthread_mutex_init(&shared->lock, &attributes);
    for (int w = 0; w < WORKERS; w++) {
        pid_t child = fork();
        must("fork", child >= 0);
        if (child)
            continue;
        for (int i = 0; i < ROUNDS / 4; i++) {
            pthread_mutex_lock(&shared->lock);
            shared->last = shared->last * 1103515245 + (uint64_t)w;
            shared->history[shared->count++] = shared->last;
            pthread_mutex_unlock(&shared->lock);
        }
        _exit(0);
    }
    int status;
    while (wait(&status) > 0)
        must("child", status == 0);
    must("count", shared->count == WORKERS * (ROUNDS / 4));
    return 0;
}

static char *program; /* its path; Valgrind cannot execute /proc/self/exe */

/* A child that maps the file itself, in another program. */
static int mode_exec(void)
{
    char *map = map_file("instructions", (size_t)INSTRUCTION_PAGES * PAGE);
    map[0] = 'p';
    pid_t child = fork();
    if (!child) {
        execl(program, "stores", ".", "instructions", (char *)NULL);
        _exit(1);
    }
    int status;
    must("wait", waitpid(child, &status, 0) == child && status == 0);
    map[1] = 'q';
    must("shell", system("echo through a shell >shell && mv shell moved") == 0);
    return 0;
}

/* ---- stacks in a mapping, code in a mapping ---- */

static ucontext_t main_context, other_context;

__attribute__((noinline)) static unsigned deep(unsigned n)
{
    volatile char local[64];
    memset((char *)local, (int)n, sizeof local);
    return n ? deep(n - 1) + (unsigned char)local[n % 64] : 0;
}

static void on_other_stack(void)
{
    deep(50);
    swapcontext(&other_context, &main_context);
}

static int mode_stack(void)
{
    enum { SIZE = 64 * PAGE };
    char *map = map_file("stack", SIZE);
    getcontext(&other_context);
    other_context.uc_stack.ss_sp = map;
    other_context.uc_stack.ss_size = SIZE;
    other_context.uc_link = &main_context;
    makecontext(&other_context, on_other_stack, 0);
    swapcontext(&main_context, &other_context);
    return 0;
}

static int mode_code(void)
{
    static const unsigned char function[] = {0xb8, 0x2a, 0, 0, 0, 0xc3}; /* return 42 */
    int fd = open_file("code", PAGE);
    char *map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_SHARED, fd, 0);
    must("mmap", map != MAP_FAILED);
    memcpy(map, function, sizeof function);
    int (*call)(void);
    memcpy(&call, &map, sizeof call);
    must("code", call() == 42);
    return 0;
}

/* ---- what is no store to the data ---- */

static int mode_private(void)
{
    int fd = open_file("private", PAGE);
    char *map = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
    must("mmap", map != MAP_FAILED);
    memset(map, 'p', PAGE);
    /* Not in the data directory. */
    char name[] = "/tmp/flotsam-stores-XXXXXX";
    int other = mkstemp(name);
    must(name, other >= 0 && unlink(name) == 0 && ftruncate(other, PAGE) == 0);
    memset(map_open(other, PAGE), 'o', PAGE);
    return 0;
}

/* Larger than memory: a hole with a few pages in it. */
static int mode_huge(void)
{
    size_t size = (size_t)1 << 35;
    char *map = map_file("huge", size);
    for (size_t at = 5; at < size; at += size / 16)
        map[at] = 'h';
    map[size - 1] = 'e';
    must("msync", msync(map, size, MS_SYNC) == 0);
    must("cut", munmap(map, size) == 0 && truncate("huge", 10) == 0);
    return 0;
}

/* Stores behind the file's end, inside its last page, are lost. */
static int mode_end(void)
{
    int fd = open_file("end", 100);
    char *map = map_open(fd, 100);
    memset(map + 90, 'e', 200);
    must("msync", msync(map, 100, MS_SYNC) == 0);
    return 0;
}

/* A mapped index beside a log that is written. */
static int mode_both(void)
{
    enum { ENTRIES = 500 };
    struct {
        uint64_t count;
        uint32_t offset[ENTRIES];
    } *index = (void *)map_file("index", sizeof *index);
    int log = open("log", O_WRONLY | O_CREAT | O_APPEND, 0644);
    uint32_t end = 0;
    for (unsigned i = 0; i < ENTRIES; i++) {
        char line[64];
        int n = snprintf(line, sizeof line, "entry %u\n", i * i);
        must("log", write(log, line, (size_t)n) == n);
        if (i % 10 == 0)
            must("sync", fdatasync(log) == 0);
        index->offset[i] = end;
        index->count = i + 1;
        if (i % 50 == 0)
            must("msync", msync(index, sizeof *index, MS_SYNC) == 0);
        end += (uint32_t)n;
    }
    printf("%u entries\n", (unsigned)index->count);
    return 0;
}

static int mode_killed(void)
{
    volatile char *map = map_file("killed", PAGE);
    for (int i = 0; i < 1000; i++)
        map[i] = 'k';
    raise(SIGKILL);
    return 0;
}

/* More than Valgrind has room for. */
static int mode_refused(void)
{
    size_t size = (size_t)1 << 45;
    int fd = open("refused", O_RDWR | O_CREAT, 0644);
    void *map = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    must("mmap", map == MAP_FAILED);
    return 0;
}

static int mode_avx512(void)
{
    return avx512(map_file("wide", PAGE));
}

static int mode_movdir64b(void)
{
    return movdir64b(map_file("wide", PAGE));
}

static const struct {
    const char *name;
    int (*run)(void);
} modes[] = {
    {"instructions", mode_instructions},
    {"mremap", mode_mremap},
    {"kernel", mode_kernel},
    {"alias", mode_alias},
    {"threads", mode_threads},
    {"fork", mode_fork},
    {"exec", mode_exec},
    {"stack", mode_stack},
    {"code", mode_code},
    {"private", mode_private},
    {"huge", mode_huge},
    {"end", mode_end},
    {"both", mode_both},
    {"killed", mode_killed},
    {"refused", mode_refused},
    {"avx512", mode_avx512},
    {"movdir64b", mode_movdir64b},
};

int main(int argc, char **argv)
{
    program = realpath(argv[0], NULL);
    if (argc == 3 && program && chdir(argv[1]) == 0)
        for (size_t i = 0; i < sizeof modes / sizeof *modes; i++)
            if (strcmp(argv[2], modes[i].name) == 0)
                return modes[i].run();
    fprintf(stderr, "usage: stores DIR MODE\n");
    return 2;
}
