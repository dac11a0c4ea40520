#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# A bug, from the list to a status and a note: its culprit, the source line, why it is legal, what
# another choice would have led to, what the checker says; and that all of it is kept.
# shellcheck source=tests/tui/tui.bash
. "$(dirname "$0")/tui.bash"

checked_sample current
story triage "$scratch/current.flotsam" again
nothing_differs
