/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Nothing is attached at first. */
#include "config.h"

#include "preload/hooks.h"

struct mt_hooks mt_hooks;
