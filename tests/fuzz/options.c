/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The environment that libmemtop reads inside a program: MEMTOP_OPTIONS, and its own
   entry in LD_PRELOAD. */
#include "config.h"

#include "fuzz.h"
#include "preload/options.h"
#include "segment/sites-layout.h"

static char *
variable(const char *name, const char *value)
{
    char *text;

    REQUIRE(asprintf(&text, "%s=%s", name, value) >= 0);
    return text;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *value = fuzz_string(data, size);
    char *words = variable("MEMTOP_OPTIONS", value);
    char *list = variable("LD_PRELOAD", value);
    char *made_up[] = {words, list, NULL}, **saved = environ;
    const char *memtop_dir, *runtime_dir;
    struct mt_options options;

    environ = made_up;
    mt_options_read(&options, &memtop_dir, &runtime_dir);
    REQUIRE(memchr(options.words, '\0', sizeof options.words) != NULL);
    REQUIRE(memchr(options.segment, '\0', sizeof options.segment) != NULL);
    REQUIRE(ring_capacity_valid(options.ring_capacity));
    REQUIRE(options.sites_rate >= 0 && options.sites_rate <= 1);
    REQUIRE(options.sites_depth > 0 && options.sites_depth <= SITES_DEPTH_MAX);
    REQUIRE(options.keeper <= INT32_MAX);
    mt_options_leave_preload("/usr/lib/libmemtop.so");
    REQUIRE(strlen(list) <= strlen("LD_PRELOAD=") + strlen(value));
    environ = saved;
    free(list);
    free(words);
    free(value);
    return 0;
}
