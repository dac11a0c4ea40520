/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Makes the store that the workload begins with: LMDB's own files, and nothing in them.
 */
#include "store.h"

int main(int argc, char **argv)
{
    struct store s;
    if (argc != 2 || !store_open(&s, argv[1]))
        return 1;
    int result = mdb_env_sync(s.env, 1);
    store_close(&s);
    return result != 0;
}
