/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * links: a mailbox. A mailbox is a folder with two others in it:
 *
 *     tmp/N   a message while it is written
 *     new/N   the same file, once it is delivered
 *
 * A message is delivered by a hard link, which never replaces another, and by removing the first
 * name. Recovery takes what is in new and throws away what is left in tmp.
 */
#ifndef LINKS_H
#define LINKS_H

#include "target.h"

struct mailbox {
    char tmp[PATH_LENGTH], new[PATH_LENGTH];
};

/* Opens the mailbox in dir, making it when there is none. */
bool mailbox_open(struct mailbox *m, const char *dir);

/* Durable when it returns true. */
bool mailbox_deliver(const struct mailbox *m, int number);

/* Recovers the mailbox: the number of messages, which are numbered from 1; −1 with a message when
 * one is damaged. */
int mailbox_recover(struct mailbox *m, const char *dir);

#endif
