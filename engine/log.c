/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "engine/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "engine/buf.h"
#include "engine/escape.h"
#include "engine/mem.h"
#include "engine/nearest.h"

static struct {
    int fd;
    enum log_level levels[LOG_DOMAIN_COUNT];
} logger = {.fd = -1};

static const char *const domain_names[] = {
#define X(name, text) [LOG_##name] = text,
    LOG_DOMAINS(X)
#undef X
};

static const char *const level_names[] = {
    [LOG_OFF] = "off", [LOG_ERROR] = "error", [LOG_INFO] = "info", [LOG_DEBUG] = "debug"};

enum { LEVEL_COUNT = sizeof level_names / sizeof *level_names };

static int find_name(const char *const *names, int count, const char *name)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(names[i], name))
            return i;
    return -1;
}

static const char *suggestion(const char *const *names, int count, const char *name)
{
    struct nearest n = {.name = name};
    for (int i = 0; i < count; i++)
        nearest_offer(&n, names[i]);
    return n.best ? n.best : names[0];
}

/* One "domain:level" of a specification; the level may be left out and is then debug. */
static bool set_level(char *item, struct error *e)
{
    enum log_level level = LOG_DEBUG;
    char *colon = strchr(item, ':');
    if (colon) {
        *colon = '\0';
        int found = find_name(level_names, LEVEL_COUNT, colon + 1);
        if (found < 0)
            return error_set(e, "FLOTSAM_LOG: no level is called \"%s\"; did you mean %s?",
                             colon + 1, suggestion(level_names, LEVEL_COUNT, colon + 1));
        level = (enum log_level)found;
    }
    if (!strcmp(item, "all")) {
        for (int d = 0; d < LOG_DOMAIN_COUNT; d++)
            logger.levels[d] = level;
        return true;
    }
    int domain = find_name(domain_names, LOG_DOMAIN_COUNT, item);
    if (domain < 0)
        return error_set(e, "FLOTSAM_LOG: no domain is called \"%s\"; did you mean %s?", item,
                         suggestion(domain_names, LOG_DOMAIN_COUNT, item));
    logger.levels[domain] = level;
    return true;
}

static bool read_levels(const char *spec, struct error *e)
{
    char *copy = xstrdup(spec), *rest = copy, *item;
    bool ok = true;
    while (ok && (item = strsep(&rest, ",")))
        ok = *item == '\0' || set_level(item, e);
    free(copy);
    return ok;
}

/* $XDG_STATE_HOME/flotsam/log, its folders made. XDG_STATE_HOME must be absolute to count. */
static char *default_path(struct error *e)
{
    const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
    char *path;
    if (state && *state == '/')
        path = xasprintf("%s/flotsam/log", state);
    else if (home && *home == '/')
        path = xasprintf("%s/.local/state/flotsam/log", home);
    else {
        error_set(e, "no place for the log: HOME is not set; name a file in FLOTSAM_LOG_FILE");
        return NULL;
    }
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        if (mkdir(path, 0700) != 0 && errno != EEXIST) {
            error_errno(e, "no folder for the log: %s", path);
            free(path);
            return NULL;
        }
        *slash = '/';
    }
    return path;
}

bool log_open(const char *spec, const char *path, struct error *e)
{
    log_close();
    if (!spec || !*spec)
        return true;
    if (!read_levels(spec, e)) {
        log_close();
        return false;
    }
    char *chosen = path && *path ? xstrdup(path) : default_path(e);
    if (!chosen) {
        log_close();
        return false;
    }
    logger.fd = open(chosen, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOCTTY, 0600);
    bool ok = logger.fd >= 0;
    if (!ok) {
        error_errno(e, "cannot open the log %s", chosen);
        log_close();
    }
    free(chosen);
    return ok;
}

void log_close(void)
{
    if (logger.fd >= 0)
        close(logger.fd);
    logger.fd = -1;
    memset(logger.levels, 0, sizeof logger.levels);
}

bool log_on(enum log_domain domain, enum log_level level)
{
    return logger.levels[domain] >= level;
}

/* A line is one write, so that lines of several threads and processes do not mix. A log that
 * cannot be written has nobody to tell. */
void log_write(enum log_domain domain, enum log_level level, const char *format, ...)
{
    if (!log_on(domain, level) || logger.fd < 0)
        return;
    int saved = errno;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct tm tm;
    localtime_r(&now.tv_sec, &tm);
    char stamp[sizeof "2000-01-01T00:00:00"];
    strftime(stamp, sizeof stamp, "%FT%T", &tm);

    struct buf line = {0};
    buf_printf(&line, "%s.%06ld %d %s %s ", stamp, now.tv_nsec / 1000, (int)gettid(),
               domain_names[domain], level_names[level]);
    char *text = NULL;
    va_list ap;
    va_start(ap, format);
    int n = vasprintf(&text, format, ap);
    va_end(ap);
    if (n >= 0) {
        escape_add(&line, text, (size_t)n, escape_locale());
        free(text);
    }
    buf_char(&line, '\n');
    ssize_t written = write(logger.fd, line.at, line.n);
    (void)written;
    buf_free(&line);
    errno = saved;
}
