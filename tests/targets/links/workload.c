/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What flotsam records: a few deliveries, with standard output duplicated too. Each line printed
 * is a promise.
 */
#include "links.h"

enum { MESSAGES = 4 };

int main(int argc, char **argv)
{
    struct mailbox m;
    if (argc != 2 || !mailbox_open(&m, argv[1]))
        return 1;
    FILE *client = fdopen(fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0), "w");
    if (!client)
        return 1;
    setvbuf(client, NULL, _IOLBF, 0);
    for (int i = 1; i <= MESSAGES; i++) {
        if (!mailbox_deliver(&m, i))
            return 1;
        fprintf(client, "delivered %d\n", i); /* bug:delivery-acknowledged */
    }
    fclose(client);
    return 0;
}
