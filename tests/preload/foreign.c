/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The library in other kinds of programs, as the children of a watched one may be: with
 * another C library, built with a sanitizer, for 32 bits, static, privileged.  They must
 * behave as they do without it.  They are built here; what the available compilers
 * cannot build is skipped with a message.
 */
#include "config.h"

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

#include "watch.h"

static char work[] = "/tmp/memtop-test-XXXXXX";

/* ---- building ---- */

/* "mistakes KIND" makes a mistake that a sanitizer finds, or none. */
static const char mistakes[] =
    "#include <pthread.h>\n"
    "#include <stdlib.h>\n"
    "#include <stdio.h>\n"
    "static int shared;\n"
    "static void *race(void *p) { shared++; return p; }\n"
    "int main(int argc, char **argv)\n"
    "{\n"
    "    char *volatile p = malloc(100);\n"
    "    pthread_t thread;\n"
    "    switch (argv[1][0]) {\n"
    "    case 'o': p[100] = 1; break;\n"
    "    case 'd': free(p); break;\n"
    "    case 'u': free(p); p[3] = 1; exit(0);\n"
    "    case 'r': pthread_create(&thread, NULL, race, NULL); shared++;\n"
    "              pthread_join(thread, NULL); break;\n"
    "    case 'l': p = malloc(7); p = NULL; puts(\"lost\"); return 0;\n"
    "    }\n"
    "    free(p);\n"
    "    puts(\"done\");\n"
    "    return 0;\n"
    "}\n";

/* Compiles the file SOURCE to work/NAME; false if that is not possible here. */
static bool
build(const char *compiler, const char *source, const char *name)
{
    char command[2048];

    snprintf(command, sizeof command, "%s -w -g -pthread -o %s/%s %s >/dev/null 2>&1",
             compiler, work, name, source);
    if (system(command) == 0)
        return true;
    print_message("  skipped: %s cannot build this here\n", compiler);
    return false;
}

static bool
build_mistakes(const char *compiler, const char *name)
{
    char path[sizeof work + 16];
    FILE *file;

    snprintf(path, sizeof path, "%s/mistakes.c", work);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(mistakes, file) >= 0);
    assert_int_equal(0, fclose(file));
    return build(compiler, path, name);
}

static const char *
built(const char *name)
{
    static char path[sizeof work + 64];

    snprintf(path, sizeof path, "%s/%s", work, name);
    return path;
}

/* Path of the source of one of programs/; the result stays valid. */
static const char *
source(const char *name)
{
    static char path[1024];
    const char *top = getenv("srcdir");

    snprintf(path, sizeof path, "%s/tests/preload/programs/%s", top != NULL ? top : "..",
             name);
    return path;
}

/* ---- running ---- */

static void
run(const char *name, char *argument, bool plain, struct watched *what)
{
    struct preload_watch how = {.argv = WATCH_ARGV((char *)built(name), argument),
                                .plain = plain};

    how.environment = WATCH_ARGV("ASAN_OPTIONS=verify_asan_link_order=0");
    watch_run(&how, what);
}

/* ---- musl ---- */

static void
check_musl(const char *name, char *what_case, struct watched *what)
{
    print_message("  %s %s\n", name, what_case);
    run(name, what_case, false, what);
    watch_assert_success(what);
    assert_string_equal("", what->err);
    assert_int_equal(0, watch_last(what)->snapshot.unmatched);
}

/* There are more children than watch_run reads; this checks only that all end well. */
static void
check_clean(const char *name, char *what_case)
{
    struct preload_watch how = {.argv = WATCH_ARGV((char *)built(name), what_case),
                                .unkept = true};
    struct watched what;

    watch_run(&how, &what);
    watch_assert_success(&what);
    assert_string_equal("", what.err);
    assert_int_equal(0, what.files);
    watch_free(&what);
}

static void
test_musl_rows(void **state)
{
    static char *const names[] = {"usable_filled", "calloc_zeroed", "realloc_moves",
                                  "aligned_all",   "aligned_fail",  "errno_kept",
                                  "random_walk"};
    struct watched what;

    (void)state;
    if (!build("musl-gcc -O0 -fno-builtin -D_GNU_SOURCE -Dpvalloc=valloc",
               source("rows.c"), "rows"))
        skip();
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        check_musl("rows", names[i], &what);
        if (strcmp(names[i], "random_walk") == 0)
            assert_int_equal(watch_number(&what, "live"),
                             watch_last(&what)->snapshot.live_bytes);
        watch_free(&what);
    }
}

static void
test_musl_threads(void **state)
{
    struct watched what;

    (void)state;
    if (!build("musl-gcc -O0 -fno-builtin -D_GNU_SOURCE", source("threads.c"), "threads"))
        skip();
    check_musl("threads", "busy", &what);
    assert_true(watch_last(&what)->snapshot.calls[FN_MALLOC] >= 800000);
    assert_int_equal(5, watch_last(&what)->snapshot.threads_started);
    assert_int_equal(1, watch_last(&what)->snapshot.threads);
    watch_free(&what);
    check_musl("threads", "main_returns", &what);
    watch_free(&what);
}

static void
test_musl_forks(void **state)
{
    struct watched what;

    (void)state;
    if (!build("musl-gcc -O0 -fno-builtin -D_GNU_SOURCE", source("forks.c"), "forks"))
        skip();
    check_musl("forks", "simple", &what);
    assert_int_equal(2, what.count);
    assert_int_equal(ORIGIN_FORK, what.segments[1].identity.origin);
    assert_int_equal(5, what.segments[1].snapshot.calls[FN_MALLOC]);
    watch_free(&what);
    check_clean("forks", "storm");
}

/* ---- allocators the program is linked with ---- */

static void
test_linked(void **state)
{
    static char *const others[] = {"jemalloc.so.2", "tcmalloc_minimal.so.4",
                                   "mimalloc.so.2"};

    (void)state;
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++) {
        char compiler[256];
        struct watched what;

        snprintf(compiler, sizeof compiler,
                 "gcc -O0 -fno-builtin -D_GNU_SOURCE -Wl,--no-as-needed -l:lib%s",
                 others[i]);
        if (!build(compiler, source("heap.c"), "linked"))
            continue;
        print_message("  %s\n", others[i]);
        run("linked", "heap", false, &what);
        watch_assert_success(&what);
        assert_string_equal("", what.err);
        assert_int_equal(ACCOUNTING_USABLE, watch_last(&what)->identity.accounting);
        assert_non_null(strstr(watch_last(&what)->identity.allocator, others[i]));
        assert_true(watch_last(&what)->snapshot.calls[FN_MALLOC] > 1000);
        watch_free(&what);
    }
}

/* ---- sanitizers ---- */

/* Returns the kind of error that a sanitizer found: the line that contains it, without
   pids and addresses. */
static const char *
finding(const char *err, char *line, size_t size)
{
    const char *found = strstr(err, "Sanitizer: ");
    size_t length;

    if (found == NULL)
        return err;
    length = strcspn(found, "(\n0");
    snprintf(line, size, "%.*s", (int)length, found);
    return line;
}

static void
check_same(const char *name, char *argument)
{
    char ours_line[256], plain_line[256];
    struct watched ours, plain;

    print_message("  %s %s\n", name, argument);
    run(name, argument, false, &ours);
    run(name, argument, true, &plain);
    assert_string_equal(finding(plain.err, plain_line, sizeof plain_line),
                        finding(ours.err, ours_line, sizeof ours_line));
    assert_int_equal(plain.status, ours.status);
    assert_string_equal(plain.out, ours.out);
    watch_free(&ours);
    watch_free(&plain);
}

static void
test_sanitizers(void **state)
{
    static const struct {
        const char *compiler, *name;
        char *kinds[5]; /* "n": no mistake */
    } all[] = {
        {"gcc -fsanitize=address", "asan-gcc", {"n", "o", "d", "u", "l"}},
        {"clang -fsanitize=address", "asan-clang", {"n", "o", "d", "u", "l"}},
        {"clang -fsanitize=address -shared-libasan", "asan-shared", {"n", "o", "d", "u"}},
        {"gcc -fsanitize=thread", "tsan-gcc", {"n", "u", "r"}},
        {"clang -fsanitize=thread", "tsan-clang", {"n", "u", "r"}},
        {"clang -fsanitize=memory", "msan-clang", {"n"}},
        {"gcc -fsanitize=undefined", "ubsan-gcc", {"n"}},
        {"gcc -fsanitize=leak", "lsan-gcc", {"n", "l"}},
    };

    (void)state;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (!build_mistakes(all[i].compiler, all[i].name))
            continue;
        for (size_t k = 0; k < 5 && all[i].kinds[k] != NULL; k++)
            check_same(all[i].name, all[i].kinds[k]);
    }
}

/* The segment gives the reason why there are no figures. */
static void
test_sanitizer_reason(void **state)
{
    struct watched what;

    (void)state;
    if (!build_mistakes("gcc -fsanitize=address", "reason"))
        skip();
    run("reason", "n", false, &what);
    watch_assert_success(&what);
    assert_int_equal(ACCOUNTING_NONE, watch_last(&what)->identity.accounting);
    assert_int_equal(REASON_SANITIZER, watch_last(&what)->identity.reason);
    watch_free(&what);
}

/* ---- where the loader decides ---- */

static void
test_static(void **state)
{
    (void)state;
    if (!build_mistakes("gcc -static", "static"))
        skip();
    check_same("static", "n");
}

/* The loader says that it ignores the library, and goes on. */
static void
test_32_bit(void **state)
{
    struct watched what;

    (void)state;
    if (!build_mistakes("gcc -m32", "small"))
        skip();
    run("small", "n", false, &what);
    watch_assert_success(&what);
    assert_string_equal("done\n", what.out);
    assert_int_equal(0, what.files);
    watch_free(&what);
}

static void
test_privileged(void **state)
{
    struct watched what;

    (void)state;
    if (geteuid() != 0 || !build_mistakes("gcc", "privileged")
        || chown(built("privileged"), 65534, 65534) != 0
        || chmod(built("privileged"), 04755) != 0)
        skip();
    run("privileged", "n", false, &what);
    watch_assert_success(&what);
    assert_string_equal("done\n", what.out);
    assert_int_equal(0, what.files);
    watch_free(&what);
}

/* ---- */

static int
make_work(void **state)
{
    (void)state;
    return mkdtemp(work) != NULL && chmod(work, 0755) == 0 ? 0 : -1;
}

static int
remove_work(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", work);
    return system(command);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_musl_rows),   cmocka_unit_test(test_musl_threads),
        cmocka_unit_test(test_musl_forks),  cmocka_unit_test(test_linked),
        cmocka_unit_test(test_sanitizers),
        cmocka_unit_test(test_sanitizer_reason), cmocka_unit_test(test_static),
        cmocka_unit_test(test_32_bit),      cmocka_unit_test(test_privileged),
    };

    return cmocka_run_group_tests(tests, make_work, remove_work);
}
