#!/bin/sh
# SPDX-License-Identifier: LGPL-2.1-or-later
exec sh "$(dirname "$0")/modes.sh" sites=1 rings dormant log memprof
