#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# From the groups to their members, and why these are in one, side by side; from there to the
# behaviours and their graphs.
# shellcheck source=tests/tui/tui.bash
. "$(dirname "$0")/tui.bash"

checked_sample current
story groups "$scratch/current.flotsam"
nothing_differs
