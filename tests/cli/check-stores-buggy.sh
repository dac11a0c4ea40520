#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The samples that store to mapped files, with their mistakes: a check finds every expected bug with
# its fields, and no other. It prints the states of both strategies side by side.
# timeout: 600
# shellcheck disable=SC2034 # for what follows
variant=buggy stores=yes
# shellcheck source=tests/cli/check_samples.bash
. "$(dirname "$0")/check_samples.bash"
