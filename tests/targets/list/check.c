/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The checker: after recovery the list is as long as it says, its values are 1, 2, 3, … from the
 * end, and all that was promised is done. One operation more may have been under way.
 */
#include "list.h"

/* The nodes of the list, −1 with a message when they are not what was put there. */
static int count(const struct list *l)
{
    int n = 0;
    uint64_t values[NODES];
    for (uint64_t place = l->root.head; place; n++) {
        const struct node *node = list_node(l, place);
        if (!node || n == NODES) {
            fprintf(stderr, "after %d nodes the list goes astray\n", n);
            return -1;
        }
        values[n] = node->value;
        place = node->next;
    }
    for (int i = 0; i < n; i++)
        if (values[i] != (uint64_t)(n - i)) {
            fprintf(stderr, "value %d of %d is %d\n", i + 1, n, (int)values[i]);
            return -1;
        }
    return n;
}

int main(int argc, char **argv)
{
    struct list *l = argc == 2 ? list_open(argv[1]) : NULL;
    if (!l)
        return RECOVERY_FAILED;
    int n = count(l), done = acknowledged("done");
    if (n < 0)
        return INCONSISTENT;
    if (l->root.length != (uint64_t)n) {
        fprintf(stderr, "the list says that it has %d values, but has %d\n", (int)l->root.length,
                n);
        return INCONSISTENT;
    }
    if (n == lengths[done] || (done < OPERATIONS && n == lengths[done + 1]))
        return CONSISTENT;
    fprintf(stderr, "%d values are there; after operation %d there were %d\n", n, done,
            lengths[done]);
    return INCONSISTENT;
}
