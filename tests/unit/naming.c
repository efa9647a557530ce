/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names in a profile whose modules become known one by one, like libraries that a
   program loads while it runs. */
#include "config.h"

#include <dlfcn.h>
#include <link.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "monitor/naming.h"

#define PATIENCE_MS 60000

struct setting {
    struct session *session;
    struct tracked tracked;
    struct naming *naming;
};

static struct setting
begin(void)
{
    const struct session_options options = {0};
    struct setting setting = {.session = session_new(&options),
                              .naming = naming_new(NULL)};

    assert_non_null(setting.session);
    assert_non_null(setting.naming);
    assert_true(tracked_init(&setting.tracked));
    setting.tracked.process.pid = getpid();
    setting.tracked.process.generations = 1;
    setting.tracked.profile = profile_new();
    assert_non_null(setting.tracked.profile);
    return setting;
}

static void
end(struct setting *setting)
{
    naming_free(setting->naming);
    tracked_free(&setting->tracked);
    session_free(setting->session);
}

static int
look_at(struct dl_phdr_info *info, size_t size, void *context)
{
    struct site_module *module = context;

    (void)size;
    if (strcmp(info->dlpi_name, module->path) != 0)
        return 0;
    module->bias = info->dlpi_addr;
    module->start = UINT64_MAX;
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *header = &info->dlpi_phdr[i];
        uint64_t start = info->dlpi_addr + header->p_vaddr;

        if (header->p_type != PT_LOAD)
            continue;
        if (start < module->start)
            module->start = start;
        if (start + header->p_memsz > module->end)
            module->end = start + header->p_memsz;
    }
    return 1;
}

/* The module of the file as it is loaded. */
static struct site_module
module_of(const char *path)
{
    struct site_module module = {0};

    strncpy(module.path, path, SITE_PATH_LEN);
    assert_int_equal(dl_iterate_phdr(look_at, &module), 1);
    return module;
}

/* A return address in the function. */
static uint64_t
call_in(void *handle, const char *function)
{
    void *(*call)(void);

    *(void **)&call = dlsym(handle, function);
    assert_non_null(call);
    return (uint64_t)(uintptr_t)call();
}

/* A reading of one site with a stack of one call, and these modules. */
static void
read_site(struct setting *setting, uint64_t pc, const struct site_module *modules,
          size_t count)
{
    struct sites_reading *reading = profile_reading(setting->tracked.profile);

    sites_free(reading);
    reading->rate = 1;
    reading->has_modules = true;
    reading->pool = calloc(3, sizeof *reading->pool);
    reading->pool[1] = 1;
    reading->pool[2] = pc;
    reading->pool_count = 3;
    reading->sites = calloc(1, sizeof *reading->sites);
    reading->sites[0].stack = 1;
    reading->site_count = 1;
    reading->modules = calloc(count + 1, sizeof *reading->modules);
    memcpy(reading->modules, modules, count * sizeof *modules);
    reading->module_count = count;
    assert_true(profile_digest(setting->tracked.profile, 1000000, 0));
}

static const char *
name_of(const struct setting *setting)
{
    struct profile_place place;

    assert_true(naming_wait(setting->naming, setting->session, &setting->tracked,
                            PATIENCE_MS));
    assert_true(profile_places(setting->tracked.profile, 1, &place, 1) >= 1);
    return profile_function(setting->tracked.profile, place.function);
}

/* The library becomes known only after an address in it was asked for, and is not the
   last of the modules. */
static void
test_late_library(void **state)
{
    struct setting setting = begin();
    void *library = dlopen(SUBJECT, RTLD_NOW | RTLD_LOCAL);
    uint64_t pc;

    (void)state;
    assert_non_null(library);
    pc = call_in(library, "subject_plain");
    const struct site_module late = module_of(SUBJECT);
    const struct site_module both[] = {late,
                                       {.start = 0x1000, .end = 0x2000, .path = "/x"}};

    read_site(&setting, pc, both + 1, 1);
    assert_memory_equal(name_of(&setting), "0x", 2);
    read_site(&setting, pc, both, 2);
    assert_string_equal(name_of(&setting), "subject_plain");
    end(&setting);
    dlclose(library);
}

/* The names are there each time, when switching from one process to the other and
   back. */
static void
test_turns(void **state)
{
    struct setting setting = begin();
    void *library = dlopen(SUBJECT, RTLD_NOW | RTLD_LOCAL);
    const struct site_module module = module_of(SUBJECT);

    (void)state;
    for (unsigned i = 1; i <= 4; i++) {
        setting.tracked.process.generations = i;
        profile_restart(setting.tracked.profile);
        read_site(&setting, call_in(library, "subject_plain"), &module, 1);
        assert_string_equal(name_of(&setting), "subject_plain");
    }
    end(&setting);
    dlclose(library);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_late_library),
        cmocka_unit_test(test_turns),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
