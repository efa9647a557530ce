/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Preflight of real programs, made here.  What the compiler cannot build (-static
 * without libc.a, musl...) is skipped, not passed.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "system/preflight.h"

#define MAIN "int main(void) { return 0; }\n"

static struct preflight result;

/* --- Making programs --- */

static void
write_file(const char *name, const void *data, size_t size, mode_t mode)
{
    FILE *file = fopen(name, "w");

    assert_non_null(file);
    assert_int_equal(fwrite(data, 1, size, file), size);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(name, mode), 0);
}

static void
write_script(const char *name, const char *text)
{
    write_file(name, text, strlen(text), 0755);
}

/* Compiles source into name, or skips the test. */
static void
compile(const char *compiler, const char *options, const char *source, const char *name)
{
    char command[512];

    write_file("source.c", source, strlen(source), 0644);
    unlink(name);
    snprintf(command, sizeof command, "%s -w -o %s source.c %s >/dev/null 2>&1",
             compiler, name, options);
    if (system(command) != 0)
        skip();
}

static const char *
compiler(void)
{
    const char *name = getenv("CC");

    return name != NULL && name[0] != '\0' ? name : "cc";
}

static void
copy_program(const char *from, const char *name)
{
    char command[512];

    snprintf(command, sizeof command, "cp %s %s", from, name);
    assert_int_equal(system(command), 0);
}

/* --- Expectations --- */

static void
expect(const char *name, enum preflight_verdict verdict, enum preflight_reason reason)
{
    preflight_check(name, getenv("PATH"), &result);
    assert_int_equal(result.reason, reason);
    assert_int_equal(result.verdict, verdict);
}

static void
expect_message(const char *text)
{
    char message[3 * PATH_MAX];

    preflight_message(&result, message, sizeof message);
    assert_string_equal(message, text);
}

/* --- Finding --- */

static void
test_found_in_path(void **state)
{
    (void)state;
    preflight_check("sh", "/nonexistent:/usr/bin:/bin", &result);
    assert_int_equal(result.verdict, PREFLIGHT_OK);
    assert_true(result.preload);
    assert_int_equal(result.count, 1);
    assert_string_equal(result.path[0], "/usr/bin/sh");
    expect_message("");

    preflight_check("sh", NULL, &result); /* no PATH: the default of execvp */
    assert_string_equal(result.path[0], "/bin/sh");
}

static void
test_not_found(void **state)
{
    (void)state;
    expect("no-such-program-anywhere", PREFLIGHT_NOT_FOUND, PREFLIGHT_MISSING);
    assert_int_equal(preflight_exit_status(&result), 127);
    expect_message("no-such-program-anywhere: not found in PATH");
    expect("./nothing", PREFLIGHT_NOT_FOUND, PREFLIGHT_MISSING);
    expect_message("./nothing: no such program");
    expect("", PREFLIGHT_NOT_FOUND, PREFLIGHT_MISSING);

    char longest[PATH_MAX + 10];
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    expect(longest, PREFLIGHT_NOT_FOUND, PREFLIGHT_MISSING);
}

/* A file that is not executable, earlier in PATH, does not hide a program, but is
   reported if there is no other. */
static void
test_path_order(void **state)
{
    (void)state;
    mkdir("one", 0755);
    mkdir("two", 0755);
    mkdir("one/directory", 0755);
    write_file("one/prog", "x", 1, 0644);
    preflight_check("prog", "one:two", &result);
    assert_int_equal(result.reason, PREFLIGHT_PERMISSION);
    assert_string_equal(result.path[0], "one/prog");
    assert_int_equal(preflight_exit_status(&result), 126);

    write_script("two/prog", "#!/bin/sh\n");
    preflight_check("prog", "one:two", &result);
    assert_int_equal(result.verdict, PREFLIGHT_OK);
    assert_string_equal(result.path[0], "two/prog");

    preflight_check("directory", "two:one", &result);
    assert_int_equal(result.reason, PREFLIGHT_DIRECTORY);

    write_script("here", "#!/bin/sh\n"); /* an empty element is this directory */
    preflight_check("here", "/nonexistent::/bin", &result);
    assert_int_equal(result.verdict, PREFLIGHT_OK);
    assert_string_equal(result.path[0], "here");
}

static void
test_not_executable(void **state)
{
    (void)state;
    write_file("plain", MAIN, sizeof MAIN - 1, 0644);
    expect("./plain", PREFLIGHT_NOT_EXECUTABLE, PREFLIGHT_PERMISSION);
    expect_message("./plain is not executable (permission denied)");
    expect("/", PREFLIGHT_NOT_EXECUTABLE, PREFLIGHT_DIRECTORY);
    mkfifo("fifo", 0755); /* must not block */
    expect("./fifo", PREFLIGHT_NOT_EXECUTABLE, PREFLIGHT_PERMISSION);
}

static void
test_not_a_program(void **state)
{
    (void)state;
    if (access("/proc/sys/fs/binfmt_misc/status", F_OK) == 0)
        skip(); /* other formats may be known here */
    write_file("rubbish", "\1\2\0\3", 4, 0755);
    expect("./rubbish", PREFLIGHT_NOT_EXECUTABLE, PREFLIGHT_FORMAT);
    assert_int_equal(preflight_exit_status(&result), 126);
    write_file("elfish", "\177ELF and no more", 16, 0755);
    expect("./elfish", PREFLIGHT_NOT_EXECUTABLE, PREFLIGHT_FORMAT);
    write_script("bare", "#!  \n");
    expect("./bare", PREFLIGHT_NOT_EXECUTABLE, PREFLIGHT_FORMAT);
}

/* --- Scripts --- */

static void
test_scripts(void **state)
{
    (void)state;
    write_script("script", "#! /bin/sh -e \nexit 3\n");
    expect("./script", PREFLIGHT_OK, PREFLIGHT_NO_REASON);
    assert_int_equal(result.count, 2);
    assert_string_equal(result.path[1], "/bin/sh");
    assert_false(result.through_env);

    write_script("second", "#!./script\n");
    expect("./second", PREFLIGHT_OK, PREFLIGHT_NO_REASON);
    assert_int_equal(result.count, 3);

    write_script("unmarked", "echo started by execvp through sh\n");
    expect("./unmarked", PREFLIGHT_OK, PREFLIGHT_NO_REASON);
    assert_string_equal(result.path[1], "/bin/sh");
    write_file("empty", "", 0, 0755);
    expect("./empty", PREFLIGHT_OK, PREFLIGHT_NO_REASON);
}

static void
test_env_scripts(void **state)
{
    (void)state;
    write_script("by-env", "#!/usr/bin/env sh\n");
    expect("./by-env", PREFLIGHT_OK, PREFLIGHT_NO_REASON);
    assert_true(result.through_env);
    assert_int_equal(result.count, 3);

    write_script("by-env-s", "#!/usr/bin/env -S A=b sh -e\n");
    expect("./by-env-s", PREFLIGHT_OK, PREFLIGHT_NO_REASON);
    assert_int_equal(result.count, 3);

    write_script("by-env-nothing", "#!/usr/bin/env no-such-program\n");
    expect("./by-env-nothing", PREFLIGHT_NOT_FOUND, PREFLIGHT_NO_LOADER);
}

static void
test_bad_interpreters(void **state)
{
    (void)state;
    write_script("orphan", "#!/no/such/interpreter\n");
    expect("./orphan", PREFLIGHT_NOT_FOUND, PREFLIGHT_NO_LOADER);
    expect_message(
        "./orphan cannot run: its interpreter /no/such/interpreter does not exist");
    write_script("loop", "#!./loop\n");
    expect("./loop", PREFLIGHT_NOT_EXECUTABLE, PREFLIGHT_TOO_DEEP);

    char line[2 * PATH_MAX] = "#!";
    memset(line + 2, 'a', sizeof line - 3);
    line[sizeof line - 1] = '\0';
    write_script("endless", line);
    expect("./endless", PREFLIGHT_NOT_FOUND, PREFLIGHT_NO_LOADER);
}

/* --- ELF --- */

static void
test_dynamic(void **state)
{
    (void)state;
    compile(compiler(), "", MAIN, "dynamic");
    expect("./dynamic", PREFLIGHT_OK, PREFLIGHT_NO_REASON);
    assert_true(result.preload);

    /* Takes malloc's address, so malloc is an undefined symbol with a value. */
    compile(compiler(), "-no-pie -fno-pic",
            "void *malloc(unsigned long); void *(*volatile f)(unsigned long) = malloc;\n"
            "int main(void) { return f(1) == 0; }\n", "address");
    expect("./address", PREFLIGHT_OK, PREFLIGHT_NO_REASON);
}

static void
test_static(void **state)
{
    (void)state;
    compile(compiler(), "-static", MAIN, "static");
    expect("./static", PREFLIGHT_NOT_OBSERVED, PREFLIGHT_STATIC);
    assert_int_equal(preflight_exit_status(&result), 0);
    assert_true(result.preload); /* harmless, and its children are measured */
    expect_message("./static is statically linked");

    write_script("by-static", "#!./static\n");
    expect("./by-static", PREFLIGHT_NOT_OBSERVED, PREFLIGHT_STATIC);
    expect_message("./static, the interpreter of ./by-static, is statically linked");
}

static void
test_static_pie(void **state)
{
    (void)state;
    compile(compiler(), "-static-pie", MAIN, "static-pie");
    expect("./static-pie", PREFLIGHT_NOT_OBSERVED, PREFLIGHT_STATIC);
}

static void
test_own_malloc(void **state)
{
    (void)state;
    compile(compiler(), "", "void *malloc(unsigned long n) { return 0; }\n" MAIN, "own");
    expect("./own", PREFLIGHT_NOT_OBSERVED, PREFLIGHT_ALLOCATOR);
    expect_message("./own defines its own malloc");

    compile(compiler(), "",
            "__attribute__((visibility(\"hidden\"))) void *malloc(unsigned long n)\n"
            "{ return 0; }\n" MAIN, "private");
    expect("./private", PREFLIGHT_PARTLY, PREFLIGHT_ALLOCATOR);

    compile(compiler(), "", "void *_rjem_malloc(unsigned long n) { return 0; }\n" MAIN,
            "second");
    expect("./second", PREFLIGHT_PARTLY, PREFLIGHT_ALLOCATOR);
    expect_message("./second has an allocator of its own (jemalloc)");
}

static void
test_go(void **state)
{
    (void)state;
    compile(compiler(), "", "__attribute__((section(\".gopclntab\"), used)) "
            "const int table = 1;\n" MAIN, "go");
    expect("./go", PREFLIGHT_PARTLY, PREFLIGHT_ALLOCATOR);
}

static void
test_address_sanitizer(void **state)
{
    (void)state;
    compile(compiler(), "-fsanitize=address", MAIN, "asan");
    expect("./asan", PREFLIGHT_NOT_OBSERVED, PREFLIGHT_SANITIZER);
    assert_false(result.preload);
    expect_message("./asan is built with AddressSanitizer");
}

static void
test_thread_sanitizer(void **state)
{
    (void)state;
    compile(compiler(), "-fsanitize=thread", MAIN, "tsan");
    expect("./tsan", PREFLIGHT_NOT_OBSERVED, PREFLIGHT_SANITIZER);
    assert_false(result.preload);
}

static void
test_foreign_class(void **state)
{
    (void)state;
    if (sizeof(void *) != 8)
        skip();
    compile(compiler(), "-m32 -nostdlib -e main", MAIN, "foreign");
    expect("./foreign", PREFLIGHT_NOT_OBSERVED, PREFLIGHT_CLASS);
    assert_false(result.preload); /* the loader would complain on stderr */
    expect_message("./foreign is a 32-bit program, memtop is not");
}

/* A program whose header names a machine that does not exist. */
static void
test_foreign_machine(void **state)
{
    (void)state;
    compile(compiler(), "", MAIN, "alien");
    int fd = open("alien", O_WRONLY);
    assert_true(fd >= 0);
    assert_int_equal(pwrite(fd, "\x77\x77", 2, 18), 2); /* e_machine */
    close(fd);
    preflight_check("./alien", NULL, &result);
    assert_int_equal(result.reason, PREFLIGHT_MACHINE);
    assert_false(result.preload);
}

static void
test_musl(void **state)
{
    (void)state;
    compile("musl-gcc", "", MAIN, "musl");
    preflight_check("./musl", NULL, &result);
    if (result.reason == PREFLIGHT_NO_LOADER)
        skip();
    expect("./musl", PREFLIGHT_NOT_OBSERVED, PREFLIGHT_LIBC);
    assert_false(result.preload);
}

static void
test_missing_loader(void **state)
{
    (void)state;
    compile(compiler(), "-Wl,--dynamic-linker=/no/ld-linux.so.9", MAIN, "unloadable");
    expect("./unloadable", PREFLIGHT_NOT_FOUND, PREFLIGHT_NO_LOADER);
    assert_int_equal(preflight_exit_status(&result), 127);
}

/* --- Privileges --- */

static void
test_set_id(void **state)
{
    (void)state;
    if (getuid() != 0)
        skip();
    copy_program("/bin/sh", "set-id");
    assert_int_equal(chmod("set-id", 04755), 0);
    expect("./set-id", PREFLIGHT_OK, PREFLIGHT_NO_REASON); /* the user's own: no change */

    assert_int_equal(chown("set-id", 1, 0), 0);
    assert_int_equal(chmod("set-id", 04755), 0);
    expect("./set-id", PREFLIGHT_NOT_OBSERVED, PREFLIGHT_SETUID);
    expect_message("./set-id is set-user-ID");

    assert_int_equal(chown("set-id", 0, getgid() + 1), 0);
    assert_int_equal(chmod("set-id", 02755), 0);
    expect("./set-id", PREFLIGHT_NOT_OBSERVED, PREFLIGHT_SETGID);
    assert_int_equal(chmod("set-id", 02745), 0); /* no S_IXGRP: not set-group-ID */
    expect("./set-id", PREFLIGHT_OK, PREFLIGHT_NO_REASON);
}

/* Depends on the user who runs it, so in a child that has given up root. */
static void
test_capabilities(void **state)
{
    (void)state;
    copy_program("/bin/sh", "capable");
    if (getuid() != 0
        || system("PATH=$PATH:/sbin:/usr/sbin setcap cap_net_raw+ep capable 2>/dev/null")
               != 0)
        skip();
    expect("./capable", PREFLIGHT_OK, PREFLIGHT_NO_REASON); /* root has all
                                                               capabilities */

    assert_int_equal(chmod(".", 0755), 0);
    pid_t child = fork();
    if (child == 0) {
        if (setgid(65534) != 0 || setuid(65534) != 0)
            _exit(2);
        preflight_check("./capable", NULL, &result);
        _exit(result.reason == PREFLIGHT_CAPABILITIES ? 0 : 1);
    }
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* --- Hostile files --- */

/* Every prefix and many corruptions of a real program: any verdict, but no crash. */
static void
test_corrupt_files(void **state)
{
    static unsigned char image[1 << 20];
    (void)state;

    compile(compiler(), "", MAIN, "victim");
    FILE *file = fopen("victim", "r");
    assert_non_null(file);
    size_t size = fread(image, 1, sizeof image, file);
    fclose(file);

    for (size_t cut = 0; cut < size; cut += cut < 1200 ? 7 : 509) {
        write_file("cut", image, cut, 0755);
        preflight_check("./cut", NULL, &result);
        assert_in_range(result.count, 1, PREFLIGHT_CHAIN);
    }
    srand(1);
    for (int round = 0; round < 400; round++) {
        unsigned char copy[1 << 16];
        size_t length = size < sizeof copy ? size : sizeof copy;
        memcpy(copy, image, length);
        for (int i = 0; i < 8; i++)
            copy[4 + (size_t)rand() % (i < 4 ? 60 : length - 4)] = (unsigned char)rand();
        write_file("mutant", copy, length, 0755);
        preflight_check("./mutant", NULL, &result);
        assert_in_range(result.count, 1, PREFLIGHT_CHAIN);
    }
}

/* Sparse files that claim terabytes are handled quickly. */
static void
test_huge_file(void **state)
{
    (void)state;
    compile(compiler(), "", MAIN, "huge");
    if (truncate("huge", (off_t)1 << 40) != 0)
        skip();
    expect("./huge", PREFLIGHT_OK, PREFLIGHT_NO_REASON);
}

/* --- */

static char directory[64];

static int
enter_directory(void **state)
{
    (void)state;
    strcpy(directory, "/tmp/memtop-preflight-XXXXXX");
    return mkdtemp(directory) != NULL && chdir(directory) == 0 ? 0 : -1;
}

static int
remove_directory(void **state)
{
    char command[96];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", directory);
    return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_found_in_path),
        cmocka_unit_test(test_not_found),
        cmocka_unit_test(test_path_order),
        cmocka_unit_test(test_not_executable),
        cmocka_unit_test(test_not_a_program),
        cmocka_unit_test(test_scripts),
        cmocka_unit_test(test_env_scripts),
        cmocka_unit_test(test_bad_interpreters),
        cmocka_unit_test(test_dynamic),
        cmocka_unit_test(test_static),
        cmocka_unit_test(test_static_pie),
        cmocka_unit_test(test_own_malloc),
        cmocka_unit_test(test_go),
        cmocka_unit_test(test_address_sanitizer),
        cmocka_unit_test(test_thread_sanitizer),
        cmocka_unit_test(test_foreign_class),
        cmocka_unit_test(test_foreign_machine),
        cmocka_unit_test(test_musl),
        cmocka_unit_test(test_missing_loader),
        cmocka_unit_test(test_set_id),
        cmocka_unit_test(test_capabilities),
        cmocka_unit_test(test_corrupt_files),
        cmocka_unit_test(test_huge_file),
    };

    umask(022);
    return cmocka_run_group_tests(tests, enter_directory, remove_directory);
}
