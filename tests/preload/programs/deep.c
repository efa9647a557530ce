/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A plugin: opened with RTLD_DEEPBIND, it calls libc's malloc instead of the
   library's. */
#include <malloc.h>
#include <stdlib.h>

void *deep_malloc(size_t size) { return malloc(size); }
void *deep_realloc(void *block, size_t size) { return realloc(block, size); }
void deep_free(void *block) { free(block); }
size_t deep_usable(void *block) { return malloc_usable_size(block); }
