/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * The checker: after recovery no money has appeared or gone, and the balances are those after all
 * moves that were promised, or one more.
 */
#include "undo.h"

/* Whether the balances are those after so many moves of the workload. */
static bool is_after(const struct bank *b, int moves)
{
    int64_t balance[ACCOUNTS] = {0};
    for (int i = 0; i < moves; i++) {
        balance[i % ACCOUNTS] -= i + 1;
        balance[(i + 1) % ACCOUNTS] += i + 1;
    }
    for (int i = 0; i < ACCOUNTS; i++)
        if (b->account[i].balance != balance[i])
            return false;
    return true;
}

int main(int argc, char **argv)
{
    struct bank *b = argc == 2 ? bank_open(argv[1]) : NULL;
    if (!b)
        return RECOVERY_FAILED;
    int64_t sum = 0;
    int promised = acknowledged("moved");
    for (int i = 0; i < ACCOUNTS; i++)
        sum += b->account[i].balance;
    if (sum)
        fprintf(stderr, "%d have come from nowhere\n", (int)sum);
    else if (is_after(b, promised) || is_after(b, promised + 1))
        return CONSISTENT;
    else
        fprintf(stderr, "the balances are not those after %d moves\n", promised);
    return INCONSISTENT;
}
