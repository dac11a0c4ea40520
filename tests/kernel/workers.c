/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/kernel/workers.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/mem.h"

/* What a worker writes for each item, followed by the answer and the text, or by an error. */
struct header {
    size_t item;
    size_t text;
    bool ok;
};

/* An answer that waits for those before it. */
struct held {
    bool here;
    char *text;
    void *answer;
};

struct pool {
    const struct workers *w;
    atomic_size_t *next; /* shared: the item to do next */
    pid_t *pids;
    struct pollfd *pipes;
    size_t started, open;
    struct held *held;
    size_t taken;
};

/* ---- a worker ---- */

static bool write_whole(int fd, const void *bytes, size_t n)
{
    const char *at = bytes;
    while (n) {
        ssize_t k = write(fd, at, n);
        if (k < 0 && errno != EINTR)
            return false;
        at += k > 0 ? k : 0;
        n -= k > 0 ? (size_t)k : 0;
    }
    return true;
}

static void send_answer(int fd, size_t item, const void *answer, size_t size, const char *text,
                        bool ok)
{
    struct header header = {item, strlen(text), ok};
    if (!write_whole(fd, &header, sizeof header) || (ok && !write_whole(fd, answer, size)) ||
        !write_whole(fd, text, header.text))
        _exit(EXIT_FAILURE);
}

static void worker(const struct pool *p, int fd)
{
    const struct workers *w = p->w;
    struct device device;
    struct error e;
    void *answer = xcalloc(1, w->answer_size);
    bool ok = device_open(&device, w->fs, w->options, &e) && device_mkfs(&device, &e);
    if (ok)
        disk_keep(device.disk);
    size_t item = 0;
    while (ok && (item = atomic_fetch_add(p->next, 1)) < w->items) {
        struct buf text = {0};
        memset(answer, 0, w->answer_size);
        ok = w->work(w->data, &device, item, &text, answer, &e);
        if (ok)
            send_answer(fd, item, answer, w->answer_size, buf_string(&text), true);
        buf_free(&text);
    }
    if (!ok)
        send_answer(fd, item, NULL, 0, e.text, false);
    free(answer);
    device_close(&device);
}

static bool start(struct pool *p, struct error *e)
{
    int ends[2];
    pid_t parent = getpid();
    if (pipe2(ends, O_CLOEXEC) != 0)
        return error_errno(e, "no pipe");
    fflush(stdout);
    pid_t pid = fork();
    if (pid < 0) {
        close(ends[0]);
        close(ends[1]);
        return error_errno(e, "cannot start a worker");
    }
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (size_t i = 0; i < p->started; i++)
            close(p->pipes[i].fd);
        close(ends[0]);
        if (getppid() == parent)
            worker(p, ends[1]);
        _exit(EXIT_SUCCESS);
    }
    close(ends[1]);
    p->pids[p->started] = pid;
    p->pipes[p->started++] = (struct pollfd){.fd = ends[0], .events = POLLIN};
    p->open++;
    return true;
}

/* ---- their answers ---- */

static bool read_whole(int fd, void *bytes, size_t n)
{
    char *at = bytes;
    while (n) {
        ssize_t k = read(fd, at, n);
        if (k == 0 || (k < 0 && errno != EINTR))
            return false;
        at += k > 0 ? k : 0;
        n -= k > 0 ? (size_t)k : 0;
    }
    return true;
}

static void hand_on(struct pool *p)
{
    for (; p->taken < p->w->items && p->held[p->taken].here; p->taken++) {
        struct held *h = &p->held[p->taken];
        p->w->take(p->w->data, p->taken, h->text, h->answer);
        free(h->text);
        free(h->answer);
        *h = (struct held){0};
    }
}

static bool receive(struct pool *p, size_t i, struct error *e)
{
    struct header header;
    int fd = p->pipes[i].fd;
    if (!read_whole(fd, &header, sizeof header)) {
        close(fd);
        p->pipes[i].fd = -1;
        p->open--;
        /* None ends by itself while there is something to do. */
        return atomic_load(p->next) >= p->w->items || error_set(e, "a worker died");
    }
    struct held h = {true, xcalloc(1, header.text + 1), xcalloc(1, p->w->answer_size)};
    bool whole = (!header.ok || read_whole(fd, h.answer, p->w->answer_size)) &&
                 read_whole(fd, h.text, header.text);
    if (whole && header.ok && header.item < p->w->items) {
        p->held[header.item] = h;
        hand_on(p);
        return true;
    }
    error_set(e, "%s", whole && !header.ok ? h.text : "a worker died");
    free(h.text);
    free(h.answer);
    return false;
}

static bool collect(struct pool *p, struct error *e)
{
    while (p->open) {
        if (poll(p->pipes, p->started, -1) < 0) {
            if (errno == EINTR)
                continue;
            return error_errno(e, "cannot wait for workers");
        }
        for (size_t i = 0; i < p->started; i++)
            if (p->pipes[i].fd >= 0 && p->pipes[i].revents && !receive(p, i, e))
                return false;
    }
    return p->taken == p->w->items || error_set(e, "a worker died");
}

static void stop(struct pool *p)
{
    for (size_t i = 0; i < p->started; i++) {
        kill(p->pids[i], SIGKILL);
        while (waitpid(p->pids[i], NULL, 0) < 0 && errno == EINTR)
            ;
        if (p->pipes[i].fd >= 0)
            close(p->pipes[i].fd);
    }
    for (size_t i = 0; i < p->w->items; i++) {
        free(p->held[i].text);
        free(p->held[i].answer);
    }
}

bool workers_run(const struct workers *w, struct error *e)
{
    size_t jobs = w->jobs < w->items ? w->jobs : w->items;
    struct pool p = {.w = w};
    p.next = mmap(NULL, sizeof *p.next, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (p.next == MAP_FAILED)
        return error_errno(e, "no memory for workers");
    p.pids = xcalloc(jobs, sizeof *p.pids);
    p.pipes = xcalloc(jobs, sizeof *p.pipes);
    p.held = xcalloc(w->items, sizeof *p.held);
    bool ok = true;
    while (ok && p.started < jobs)
        ok = start(&p, e);
    ok = ok && collect(&p, e);
    stop(&p);
    free(p.pids);
    free(p.pipes);
    free(p.held);
    munmap(p.next, sizeof *p.next);
    return ok;
}
