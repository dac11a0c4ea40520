#!/bin/bash
# SPDX-License-Identifier: GPL-3.0-or-later
#
# The samples that store to mapped files, without their mistakes: no check finds anything.
# timeout: 600
# shellcheck disable=SC2034 # for what follows
variant=fixed stores=yes
# shellcheck source=tests/cli/check_samples.bash
. "$(dirname "$0")/check_samples.bash"
