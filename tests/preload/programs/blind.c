/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* An allocator that cannot tell the size of a block. */
#define BLIND
#include "bump.c"
