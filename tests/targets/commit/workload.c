/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What flotsam records: a few entries. Each line printed is a promise.
 */
#include "commit.h"

int main(int argc, char **argv)
{
    static const char *const entries[][2] = {
        {"Ada", "London"}, {"Grace", "New York"}, {"Edsger", "Rotterdam"}, {"Barbara", "Boston"}};
    struct commit_store s;
    if (argc != 2 || !commit_open(&s, argv[1]))
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        if (!commit_add(&s, entries[i][0], entries[i][1]))
            return 1;
        printf("added %d\n", s.count);
    }
    commit_close(&s);
    return 0;
}
