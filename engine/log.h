/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * log: what flotsam did and why, for the person who debugs flotsam. Lines go to a file, never to
 * the terminal. Off unless asked for:
 *
 *     FLOTSAM_LOG=record:debug,session:info flotsam record …     domains, or `all`
 *     FLOTSAM_LOG_FILE=…            default: $XDG_STATE_HOME/flotsam/log, else ~/.local/state/…
 *
 * A domain names a module's concern, not a file. Messages to people do not belong here.
 */
#ifndef ENGINE_LOG_H
#define ENGINE_LOG_H

#include <stdbool.h>

#include "engine/error.h"

#define LOG_DOMAINS(X)                                                                             \
    X(RECORD, "record")                                                                            \
    X(UNWIND, "unwind")                                                                            \
    X(SESSION, "session")                                                                          \
    X(SYMBOLS, "symbols")                                                                          \
    X(REPLAY, "replay")                                                                            \
    X(CONFIG, "config")                                                                            \
    X(CHECK, "check")

enum log_domain {
#define X(name, text) LOG_##name,
    LOG_DOMAINS(X)
#undef X
        LOG_DOMAIN_COUNT
};

enum log_level { LOG_OFF, LOG_ERROR, LOG_INFO, LOG_DEBUG };

/* Reads a specification as above (NULL: leave all off) and opens the file (NULL: the default one).
 * Fails on an unknown domain or level, or when the file cannot be opened. */
bool log_open(const char *spec, const char *path, struct error *e);
void log_close(void);

bool log_on(enum log_domain domain, enum log_level level);
void log_write(enum log_domain domain, enum log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#define log_error(domain, ...) log_write(LOG_##domain, LOG_ERROR, __VA_ARGS__)
#define log_info(domain, ...)                                                                      \
    (log_on(LOG_##domain, LOG_INFO) ? log_write(LOG_##domain, LOG_INFO, __VA_ARGS__) : (void)0)
#define log_debug(domain, ...)                                                                     \
    (log_on(LOG_##domain, LOG_DEBUG) ? log_write(LOG_##domain, LOG_DEBUG, __VA_ARGS__) : (void)0)

#endif
