/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The program itself on a terminal of its own: a key goes in, and the frame is finished when no
 * more comes out. That includes the processes' waking each other.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "engine/clock.h"
#include "tests/bench/ui.h"

enum {
    COLUMNS = 200,
    ROWS = 50,
    KEYS = 20,         /* of each sort */
    QUIET_MS = 60,     /* no frame has a pause that long */
    PATIENCE_MS = 5000 /* until the first byte of one */
};

/* Reads until it is quiet. Gives when the last byte came; 0 when none did. */
static uint64_t read_frame(int terminal)
{
    char bytes[1 << 14];
    uint64_t last = 0;

    for (;;) {
        struct pollfd fd = {.fd = terminal, .events = POLLIN};
        if (poll(&fd, 1, last ? QUIET_MS : PATIENCE_MS) <= 0)
            return last;
        if (read(terminal, bytes, sizeof bytes) <= 0)
            return last;
        last = clock_now();
    }
}

static double since(uint64_t begin, uint64_t end)
{
    return end > begin ? (double)(end - begin) / (double)NANOSECONDS_PER_MS : 0;
}

/* What others took of the processors, from the program and from us who read it. */
struct delays {
    int program, reader;
};

static uint64_t delays_of(const struct delays *d)
{
    return delays_read(d->program) + delays_read(d->reader);
}

static bool press(int terminal, const char *key, const struct delays *d, struct samples *s)
{
    uint64_t others = delays_of(d), begin = clock_now();

    if (write(terminal, key, strlen(key)) != (ssize_t)strlen(key))
        return false;
    uint64_t end = read_frame(terminal);
    if (!end)
        return false;
    samples_add(s, since(begin, end), since(begin + delays_of(d) - others, end),
                key[0] == '\x1b' ? "paging" : key);
    return true;
}

static bool use(int terminal, const struct delays *d, struct samples *s)
{
    /* Each of them changes something, also while the rest is still being worked out. */
    static const char *const keys[] = {"1", "3", "j", "\x1b[6~", "2", "3", "k", "?", "?"};

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        for (int k = 0; k < (strchr("jk\x1b", keys[i][0]) ? KEYS : 1); k++)
            if (!press(terminal, keys[i], d, s))
                return false;
    return true;
}

static pid_t start(const char *program, const char *session, int *terminal)
{
    struct winsize size = {.ws_col = COLUMNS, .ws_row = ROWS};
    pid_t child = forkpty(terminal, NULL, NULL, &size);

    if (child == 0) {
        setenv("TERM", "xterm-256color", 1);
        execl(program, "flotsam", "open", session, (char *)NULL);
        _exit(127);
    }
    return child;
}

bool ui_terminal(const char *program, const char *session, struct figures *out, struct error *e)
{
    struct samples samples = {0};
    int terminal, status;
    pid_t child = start(program, session, &terminal);

    if (child < 0)
        return error_errno(e, "cannot open a terminal");
    struct delays delays = {delays_open(child), delays_open(0)};
    bool done = read_frame(terminal) && use(terminal, &delays, &samples);
    close(delays.program);
    close(delays.reader);
    kill(child, SIGTERM);
    while (read_frame(terminal))
        ;
    close(terminal);
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        ;
    if (samples.n)
        samples_take(&samples, &out->frames[MEASURE_TERMINAL]);
    return done || error_set(e, "%s does not answer on a terminal", program);
}
