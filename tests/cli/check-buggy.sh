#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The samples with their mistakes: a check finds every expected bug under every model, and no other.
# It prints the states of both strategies side by side.
# timeout: 300
# shellcheck disable=SC2034 # for what follows
variant=buggy stores=no
# shellcheck source=tests/cli/check_samples.bash
. "$(dirname "$0")/check_samples.bash"
