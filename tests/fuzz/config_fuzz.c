/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * Feeds arbitrary bytes to the config parser, as a target's file and as the user's.
 */
#include <stdint.h>
#include <stdlib.h>

#include "engine/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct config_switch switches[] = {{"auto_da_alloc", true, ""}, {.name = NULL}};
    struct error e;
    for (int target = 0; target < 2; target++) {
        struct config c;
        config_begin(&c, switches);
        if (config_parse(&c, "fuzz.ini", (const char *)data, size, target, &e) && c.workload)
            free(config_command(c.workload, "/a b'c"));
        config_free(&c);
    }
    return 0;
}
