/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * WiredTiger; see ledger.h.
 *
 *     sync         transactions are logged, and the log is synced at each commit
 *     nosync       logged, not synced
 *     checkpoint   no log: a checkpoint now and then, up to which all is acknowledged
 */
#include <stdio.h>
#include <stdlib.h>
#include <wiredtiger.h>

#include "ledger.h"

enum { SYNC, NOSYNC, CHECKPOINT };

enum {
    CHECKPOINT_EVERY = 4,
    LONG_RUN = 1000, /* a hundredth as often */
    LONG_RARER = 100,
};

static const char *const settings[] = {"sync", "nosync", "checkpoint", NULL};
static const char *const configs[] = {
    "create,cache_size=20MB,log=(enabled=true,file_max=1MB),transaction_sync=(enabled=true,method="
    "fsync)",
    "create,cache_size=20MB,log=(enabled=true,file_max=1MB)",
    "create,cache_size=20MB",
};
static const char table[] = "table:t";

struct store {
    WT_CONNECTION *connection;
    WT_SESSION *session;
    int setting;
    unsigned every, saved;
};

static bool done(const char *what, int rc)
{
    return !rc || ledger_complain("wiredtiger", what, wiredtiger_strerror(rc));
}

static void close_store(void *store)
{
    struct store *s = store;
    if (s->connection)
        s->connection->close(s->connection, NULL);
    free(s);
}

static void *open_store(const char *dir, int setting, unsigned transactions)
{
    struct store *s = calloc(1, sizeof *s);

    if (!s)
        abort();
    s->setting = setting;
    s->every = CHECKPOINT_EVERY * (transactions < LONG_RUN ? 1 : LONG_RARER);
    if (done("open", wiredtiger_open(dir, NULL, configs[setting], &s->connection)) &&
        done("session", s->connection->open_session(s->connection, NULL, NULL, &s->session)) &&
        done("create", s->session->create(s->session, table, "key_format=u,value_format=u")))
        return s;
    close_store(s);
    return NULL;
}

static bool change(WT_CURSOR *cursor, const struct change *c)
{
    WT_ITEM key = {.data = c->name, .size = sizeof "key000000" - 1};
    WT_ITEM value = {.data = c->value, .size = c->size};

    cursor->set_key(cursor, &key);
    cursor->set_value(cursor, &value);
    if (c->size)
        return done("insert", cursor->insert(cursor));
    int rc = cursor->remove(cursor);
    return rc == WT_NOTFOUND || done("remove", rc);
}

static bool commit(void *store, const struct transaction *t)
{
    struct store *s = store;
    WT_CURSOR *cursor;

    if (!done("begin", s->session->begin_transaction(s->session, NULL)) ||
        !done("cursor", s->session->open_cursor(s->session, table, NULL, NULL, &cursor)))
        return false;
    for (unsigned i = 0; i < t->count; i++)
        if (!change(cursor, &t->changes[i]))
            return false;
    return done("commit", s->session->commit_transaction(s->session, NULL)) &&
           done("close", cursor->close(cursor));
}

static unsigned after(void **store, unsigned number)
{
    struct store *s = *store;

    if (s->setting != CHECKPOINT)
        return number;
    if (number % s->every == 0 && done("checkpoint", s->session->checkpoint(s->session, NULL)))
        s->saved = number;
    return s->saved;
}

static bool read_store(void *store, struct ledger *l)
{
    struct store *s = store;
    WT_CURSOR *cursor;
    WT_ITEM key, value;
    int rc;

    if (!done("verify", s->session->verify(s->session, table, NULL)) ||
        !done("cursor", s->session->open_cursor(s->session, table, NULL, NULL, &cursor)))
        return false;
    while ((rc = cursor->next(cursor)) == 0) {
        if (!done("key", cursor->get_key(cursor, &key)) ||
            !done("value", cursor->get_value(cursor, &value)))
            return false;
        ledger_saw(l, key.data, key.size, value.data, value.size);
    }
    return (rc == WT_NOTFOUND || done("read", rc)) && done("close", cursor->close(cursor));
}

int main(int argc, char **argv)
{
    static const struct system wiredtiger = {
        .name = "wiredtiger",
        .settings = settings,
        .open = open_store,
        .commit = commit,
        .after = after,
        .read = read_store,
        .close = close_store,
    };
    return ledger_main(&wiredtiger, argc, argv);
}
