/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The checker: recovers the store and holds it to what the workload had acknowledged before the
 * crash, which is in the file that FLOTSAM_STDOUT names. One more put or reset may have begun by
 * then; it may be there or not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "store.h"

/* Plays the acknowledged lines: the value of each key that the store must have, and whether a
 * reset had begun. */
static bool play(FILE *f, int expected[KEYS])
{
    char line[64];
    int key, value;
    bool resetting = false;
    while (f && fgets(line, sizeof line, f) && strchr(line, '\n')) {
        resetting = !strcmp(line, "resetting\n");
        if (!strcmp(line, "reset\n"))
            for (int i = 0; i < KEYS; i++)
                expected[i] = ABSENT;
        else if (sscanf(line, "put %d %d", &key, &value) == 2 && key >= 0 && key < KEYS)
            expected[key] = value;
    }
    return resetting;
}

int main(int argc, char **argv)
{
    const char *dir = argc > 1 ? argv[1] : getenv("FLOTSAM_DIR");
    struct store s;
    if (!dir || !store_read(&s, dir))
        return 1;
    int expected[KEYS];
    for (int i = 0; i < KEYS; i++)
        expected[i] = ABSENT;
    const char *printed = getenv("FLOTSAM_STDOUT");
    FILE *f = printed ? fopen(printed, "r") : NULL;
    bool resetting = play(f, expected);
    if (f)
        fclose(f);

    int newest = ABSENT, different = 0, present = 0, which = 0;
    for (int i = 0; i < KEYS; i++) {
        newest = expected[i] > newest ? expected[i] : newest;
        present += s.values[i] != ABSENT;
        if (s.values[i] != expected[i]) {
            different++;
            which = i;
        }
    }
    /* A put that had begun is newer than everything acknowledged. */
    bool begun = different == 1 && s.values[which] > newest;
    if (different == 0 || begun || (resetting && present == 0))
        return 0;
    fprintf(stderr, "%d keys are wrong; key %d is %d, acknowledged was %d\n", different, which,
            s.values[which], expected[which]);
    return 1;
}
