/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * What flotsam records: values put in front, one taken away, one more. Each line printed is a
 * promise.
 */
#include "list.h"

int main(int argc, char **argv)
{
    struct list *l = argc == 2 ? list_open(argv[1]) : NULL;
    if (!l)
        return 1;
    setvbuf(stdout, NULL, _IOLBF, 0);
    for (int i = 1; i <= OPERATIONS; i++) {
        if (lengths[i] < lengths[i - 1])
            list_pop(l);
        else if (!list_push(l, (uint64_t)lengths[i]))
            return 1;
        printf("done %d\n", i);
    }
    list_close(l);
    return 0;
}
