/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Why a process has not loaded the library. */
#include "config.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "system/not-loaded.h"

static bool
parse(bool (*parser)(FILE *file), const void *bytes, size_t size)
{
    FILE *file = fmemopen((void *)(uintptr_t)bytes, size, "r");
    bool result;

    assert_non_null(file);
    result = parser(file);
    fclose(file);
    return result;
}

#define ASKED(text) parse(not_loaded_parse_environment, text, sizeof(text) - 1)

static void
test_environment(void **state)
{
    (void)state;
    assert_true(ASKED("A=1\0LD_PRELOAD=/usr/lib/libmemtop.so\0B=2\0"));
    assert_true(ASKED("LD_PRELOAD=liblib.so:libmemtop.so:x.so"));
    assert_true(ASKED("LD_PRELOAD=liblibmemtop.so"));
    assert_false(ASKED("LD_PRELOAD=\0X=libmemtop.so\0"));
    assert_false(ASKED("XLD_PRELOAD=libmemtop.so\0"));
    assert_false(ASKED("LD_PRELOADS=libmemtop.so\0"));
    assert_false(ASKED("LD_PRELOAD=libmemtop.s\0o=1\0"));
    assert_false(ASKED("A=1\0"));
}

static void
test_secure(void **state)
{
    const unsigned long secure[] = {AT_PHDR, 1, AT_SECURE, 1, AT_NULL, 0};
    const unsigned long plain[] = {AT_PHDR, 1, AT_SECURE, 0, AT_NULL, 0};

    (void)state;
    assert_true(parse(not_loaded_parse_secure, secure, sizeof secure));
    assert_false(parse(not_loaded_parse_secure, plain, sizeof plain));
    assert_false(parse(not_loaded_parse_secure, secure, sizeof secure / 2));
}

static enum not_loaded_loader
loader_of(const char *text)
{
    FILE *maps = *text ? fmemopen((void *)(uintptr_t)text, strlen(text), "r")
                       : fopen("/dev/null", "r");
    enum not_loaded_loader loader = not_loaded_parse_loader(maps);

    fclose(maps);
    return loader;
}

static void
test_loader(void **state)
{
    (void)state;
    assert_int_equal(LOADER_NONE, loader_of("1-2 r-xp 0 08:01 7 /usr/bin/ld-x/static\n"
                                            "3-4 rw-p 0 00:00 0 [heap]\n"));
    assert_int_equal(LOADER_GLIBC,
                     loader_of("1-2 r-xp 0 08:01 7 /bin/x\n"
                               "3-4 r-xp 0 08:01 7 /lib64/ld-linux-x86-64.so.2\n"));
    assert_int_equal(LOADER_UNKNOWN, loader_of(""));
    assert_int_equal(LOADER_OTHER,
                     loader_of("1-2 r-xp 0 08:01 7 /lib/ld-musl-x86_64.so.1\n"));
}

/* cat reads until its input ends; its own name, which it prints first, shows that it
   runs. */
static pid_t
start(const char *preload, int *hold)
{
    char *const environment[] = {(char *)(uintptr_t)preload, NULL};
    char *const arguments[] = {"cat", "/proc/self/comm", "-", NULL};
    int in[2], out[2];
    char byte;
    pid_t pid;

    assert_int_equal(0, pipe(in));
    assert_int_equal(0, pipe(out));
    pid = fork();
    if (pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        close(in[1]);
        execve("/bin/cat", arguments, environment);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    assert_int_equal(1, read(out[0], &byte, 1));
    close(out[0]);
    *hold = in[1];
    return pid;
}

static void
stop(pid_t pid, int hold)
{
    close(hold);
    waitpid(pid, NULL, 0);
}

static void
test_processes(void **state)
{
    int hold;
    pid_t pid = start(NULL, &hold);
    const char *reason = not_loaded_reason(pid);

    (void)state;
    stop(pid, hold);
    assert_non_null(reason);
    assert_non_null(strstr(reason, "without LD_PRELOAD"));
    /* Asked for, and no reason against it: not known. */
    pid = start("LD_PRELOAD=/none/libmemtop.so", &hold);
    reason = not_loaded_reason(pid);
    stop(pid, hold);
    assert_null(reason);
    assert_null(not_loaded_reason(INT32_MAX));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_environment),
        cmocka_unit_test(test_secure),
        cmocka_unit_test(test_loader),
        cmocka_unit_test(test_processes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
