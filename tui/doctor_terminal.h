/* SPDX-License-Identifier: GPL-3.0-or-later
 *
 * doctor_terminal: whether the debugger can show itself here, and how well.
 */
#ifndef TUI_DOCTOR_TERMINAL_H
#define TUI_DOCTOR_TERMINAL_H

#include "engine/doctor.h"

struct doctor_table doctor_terminal(void);

#endif
