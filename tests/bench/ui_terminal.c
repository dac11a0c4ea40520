/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tests/bench/ui.h"

bool ui_terminal(const char *program, const char *session, struct figures *out, struct error *e)
{
    (void)program, (void)session, (void)out, (void)e;
    return true;
}
