/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What flotsam records: entries, synced in batches. Each line printed is a promise.
 */
#include "ack.h"

enum { BATCHES = 3, BATCH = 2 };

static bool add_batch(struct queue *q)
{
    for (int i = 0; i < BATCH; i++) {
        if (!queue_append(q))
            return false;
        /* The mistake: the client is told before the entry is durable. */
        if (!fixed)
            printf("added %d\n", q->count); /* bug:entry-acknowledged */
    }
    int synced = q->synced;
    if (!queue_sync(q))
        return false;
    for (int i = synced + 1; fixed && i <= q->synced; i++)
        printf("added %d\n", i);
    return true;
}

int main(int argc, char **argv)
{
    struct queue q;
    if (argc != 2 || !queue_open(&q, argv[1]))
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 0; i < BATCHES; i++)
        if (!add_batch(&q))
            return 1;
    queue_close(&q);
    return 0;
}
