#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# What a person does besides the three stories: find, filter and sort, go back and forth; pretend
# syncs; bookmarks, themes, models, keys, help.
# shellcheck source=tests/tui/tui.bash
. "$(dirname "$0")/tui.bash"

checked_sample current
scene find "$scratch/current.flotsam"
scene fixes "$scratch/current.flotsam"
scene other "$scratch/current.flotsam"
nothing_differs
