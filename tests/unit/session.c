/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * A session that watches a puppet: this executable started again, which plays the
 * library in its own segment.  It obeys words on its standard input, one word a step,
 * and answers each with a dot.  The clock is simulated.
 */
#include "config.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <limits.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>

#include "system/launch.h"
#include "monitor/process-list.h"
#include "monitor/session.h"
#include "monitor/tracked.h"
#include "segment/names.h"
#include "segment/seqlock.h"

#define SECOND INT64_C(1000000000)

/* ---- the puppet ---- */

static unsigned char *base;

static struct segment_header *
header_of(void)
{
    return (void *)base;
}

static struct segment_process *
process_of(void)
{
    return (void *)(base + PROCESS_OFFSET);
}

static struct shard *
shard_one(void)
{
    return (void *)(base + SHARDS_OFFSET + SHARD_SIZE);
}

static uint64_t
now_on(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

/* The value of a word in MEMTOP_OPTIONS. */
static const char *
option(const char *name)
{
    const char *found = strstr(getenv("MEMTOP_OPTIONS"), name);

    return found + strlen(name);
}

static void
map(int file)
{
    base = mmap(NULL, SEGMENT_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    close(file);
}

static void
become(enum segment_state state)
{
    struct segment_header *header = header_of();
    uint32_t *directory = (void *)(base + DIRECTORY_OFFSET);

    header->pid = (uint32_t)getpid();
    header->created_ns = now_on(CLOCK_MONOTONIC);
    header->created_boottime_ns = now_on(CLOCK_BOOTTIME);
    (void)!readlink("/proc/self/exe", header->program, sizeof header->program - 1);
    process_of()->shards_used = 2;
    directory[1] = SHARD_OWNED;
    __atomic_store_n(&header->state, state, __ATOMIC_RELEASE);
}

/* Makes a segment for this process, as after fork or exec. */
static void
create_segment(void)
{
    char path[SEGMENT_PATH_MAX];
    uint32_t generation;
    int directory = segment_directory(getenv("MEMTOP_DIR"), NULL, path);

    map(segment_create(directory, getpid(), 2, 0, false, &generation));
    close(directory);
    segment_header_init(header_of(), 0, false);
    header_of()->generation = generation;
    header_of()->keeper = (uint32_t)atoi(option("keep="));
    become(SEGMENT_ACTIVE);
}

static void
fork_children(int count)
{
    for (int i = 0; i < count; i++) {
        pid_t pid = fork();

        if (pid == 0) {
            create_segment();
            _exit(0);
        }
        waitpid(pid, NULL, 0);
    }
}

/* A child that says it has called exit() that long after its start. */
static void
fork_short_lived(uint64_t ns)
{
    pid_t pid = fork();

    if (pid == 0) {
        create_segment();
        process_of()->exited_ns = header_of()->created_ns + ns;
        _exit(0);
    }
    waitpid(pid, NULL, 0);
}

static void
obey(char *self, const char *word)
{
    int number = atoi(word + strcspn(word, "0123456789"));

    if (strncmp(word, "active", 6) == 0) {
        map(open(option("segment="), O_RDWR));
        become(SEGMENT_ACTIVE);
    } else if (strncmp(word, "dormant", 7) == 0) {
        map(open(option("segment="), O_RDWR));
        header_of()->flags |= SEGMENT_FLAG_DORMANT;
        become(SEGMENT_ACTIVE);
    } else if (strncmp(word, "sleep", 5) == 0) {
        process_of()->asleep_since_ns = now_on(CLOCK_MONOTONIC);
    } else if (strncmp(word, "wake", 4) == 0) {
        process_of()->wakes++;
        process_of()->awake_since_ns = now_on(CLOCK_MONOTONIC);
        process_of()->asleep_since_ns = 0;
    } else if (strncmp(word, "passive", 7) == 0) {
        map(open(option("segment="), O_RDWR));
        header_of()->reason = (uint32_t)number;
        become(SEGMENT_PASSIVE);
    } else if (strncmp(word, "malloc", 6) == 0) {
        shard_one()->hot.calls[FN_MALLOC] += 1;
        shard_one()->hot.bytes[FN_MALLOC] += (uint64_t)number;
    } else if (strncmp(word, "fail", 4) == 0) {
        shard_one()->failed[FN_CALLOC] += 1;
        shard_one()->failed_bytes[FN_CALLOC] += (uint64_t)number;
    } else if (strncmp(word, "torn", 4) == 0) {
        shard_one()->hot.sequence |= 1;
    } else if (strncmp(word, "children", 8) == 0) {
        fork_children(number);
    } else if (strncmp(word, "lived", 5) == 0) {
        fork_short_lived((uint64_t)number);
    } else if (strncmp(word, "exec", 4) == 0) {
        execl(self, self, "puppet", "created", (char *)NULL);
    } else if (strncmp(word, "cat", 3) == 0) {
        execlp("cat", "cat", (char *)NULL);
    } else if (strncmp(word, "exit", 4) == 0) {
        _exit(number);
    } else if (strncmp(word, "kill", 4) == 0) {
        raise(number);
    }
}

static _Noreturn void
puppet(char *self, bool created)
{
    char word[64];

    if (created) {
        create_segment();
        (void)!write(1, ".", 1);
    }
    /* Unbuffered, because the remaining input belongs to the next image. */
    setvbuf(stdin, NULL, _IONBF, 0);
    while (fgets(word, sizeof word, stdin) != NULL) {
        obey(self, word);
        (void)!write(1, ".", 1);
    }
    _exit(0);
}

/* ---- the test's side ---- */

static char directory[] = "/dev/shm/memtop-test-XXXXXX";
static char self_path[PATH_MAX], libc_path[PATH_MAX];

struct stage {
    struct session *session;
    const struct process *process;
    struct launched launched;
    int orders, answers;
};

static void
open_stage(struct stage *stage, char *const *argv)
{
    const struct session_options plain = {0};
    struct launch_options options = {.argv = argv, .library = libc_path};
    const char *failed;
    int in[2], out[2], saved_in = fcntl(0, F_DUPFD_CLOEXEC, 10);
    int saved_out = fcntl(1, F_DUPFD_CLOEXEC, 10);

    fflush(stdout);
    assert_int_equal(0, pipe2(in, O_CLOEXEC));
    assert_int_equal(0, pipe2(out, O_CLOEXEC));
    dup2(in[0], 0);
    dup2(out[1], 1);
    assert_int_equal(0, launch_program(&options, &stage->launched, &failed));
    dup2(saved_in, 0);
    dup2(saved_out, 1);
    close(saved_in);
    close(saved_out);
    close(in[0]);
    close(out[1]);
    stage->orders = in[1];
    stage->answers = out[0];
    stage->session = session_new(&plain);
    assert_int_equal(0, session_watch(stage->session, &stage->launched));
    stage->process = session_process(stage->session);
}

static void
close_stage(struct stage *stage)
{
    session_free(stage->session);
    close(stage->orders);
    close(stage->answers);
    if (stage->launched.pidfd >= 0)
        close(stage->launched.pidfd);
}

static void
tell(struct stage *stage, const char *order)
{
    char answer;

    assert_int_equal(strlen(order), write(stage->orders, order, strlen(order)));
    assert_int_equal(1, read(stage->answers, &answer, 1));
}

/* Waits until the program is a zombie. */
static void
await_end(struct stage *stage)
{
    siginfo_t info;

    assert_int_equal(0,
                     waitid(P_PID, (id_t)stage->launched.pid, &info, WEXITED | WNOWAIT));
}

static void
tell_last(struct stage *stage, const char *order)
{
    assert_int_equal(strlen(order), write(stage->orders, order, strlen(order)));
    await_end(stage);
}

static void
poll_at(struct stage *stage, double seconds)
{
    session_poll(stage->session, stage->launched.started_ns + (int64_t)(seconds * 1e9),
                 true);
}

static bool
said(const struct stage *stage, const char *text)
{
    for (size_t i = 0; i < session_message_count(stage->session); i++)
        if (strstr(session_message(stage->session, i)->text, text) != NULL)
            return true;
    return false;
}

static unsigned
files(void)
{
    DIR *dir = opendir(directory);
    struct dirent *entry;
    unsigned count = 0;

    while ((entry = readdir(dir)) != NULL)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

#define PUPPET ((char *[]){self_path, "puppet", NULL})

static void
test_counting(void **state)
{
    struct stage stage;
    char command[PATH_MAX + 10];

    (void)state;
    open_stage(&stage, PUPPET);
    snprintf(command, sizeof command, "%s puppet", self_path);
    assert_string_equal(session_command(stage.session), command);
    poll_at(&stage, 0.1);
    assert_int_equal(STATE_STARTING, stage.process->state);
    assert_false(stage.process->measured);
    assert_true(stage.process->os_known && stage.process->os.rss > 0);
    tell(&stage, "active\n");
    tell(&stage, "malloc 1000\n");
    poll_at(&stage, 1);
    assert_int_equal(STATE_RUNNING, stage.process->state);
    assert_int_equal(1000, stage.process->now.live_bytes);
    assert_true(stage.process->stack_touched > 0);
    tell(&stage, "malloc 500\n");
    tell(&stage, "fail 4096\n");
    poll_at(&stage, 2);
    assert_true(stage.process->rates.calls[FN_MALLOC] == 1);
    assert_true(stage.process->rates.bytes_allocated == 500);
    assert_true(said(&stage, "calloc failed 1 time (4.0 KiB requested)"));
    poll_at(&stage, 7.1);
    assert_int_equal(STATE_IDLE, stage.process->state);
    /* Its last actions are seen after its end. */
    tell(&stage, "malloc 7\n");
    tell_last(&stage, "exit 5\n");
    poll_at(&stage, 8);
    assert_int_equal(STATE_EXITED, stage.process->state);
    assert_int_equal(5, launch_exit_status(stage.process->wait_status));
    assert_int_equal(1507, stage.process->now.live_bytes);
    assert_int_equal(8 * SECOND, stage.process->run_ns);
    assert_true(said(&stage, "exited with status 5"));
    poll_at(&stage, 9);
    assert_int_equal(8 * SECOND, stage.process->run_ns);
    assert_int_equal(-1, waitpid(-1, NULL, WNOHANG));
    assert_int_equal(1, files());
    close_stage(&stage);
    assert_int_equal(0, files());
}

static void
test_killed(void **state)
{
    struct stage stage;

    (void)state;
    open_stage(&stage, PUPPET);
    tell(&stage, "active\n");
    tell(&stage, "malloc 77\n");
    tell_last(&stage, "kill 9\n");
    /* The very first poll comes after its death. */
    poll_at(&stage, 1);
    assert_int_equal(STATE_KILLED, stage.process->state);
    assert_int_equal(128 + SIGKILL, launch_exit_status(stage.process->wait_status));
    assert_true(stage.process->measured);
    assert_int_equal(77, stage.process->now.live_bytes);
    assert_true(said(&stage, "was killed by SIGKILL"));
    close_stage(&stage);
    assert_int_equal(0, files());
}

static void
test_not_loaded(void **state)
{
    struct stage stage;

    (void)state;
    open_stage(&stage, PUPPET);
    poll_at(&stage, 1.9);
    assert_int_equal(STATE_STARTING, stage.process->state);
    poll_at(&stage, 2.1);
    assert_int_equal(STATE_NOT_LOADED, stage.process->state);
    assert_non_null(strstr(stage.process->why_not, "did not load libmemtop"));
    assert_true(said(&stage, "did not load libmemtop"));
    /* The library is loaded late. */
    tell(&stage, "active\n");
    poll_at(&stage, 3);
    assert_int_equal(STATE_RUNNING, stage.process->state);
    assert_string_equal("", stage.process->why_not);
    tell_last(&stage, "exit 0\n");
    poll_at(&stage, 4);
    close_stage(&stage);

    /* It ends within two seconds. */
    open_stage(&stage, PUPPET);
    tell_last(&stage, "exit 0\n");
    poll_at(&stage, 0.1);
    assert_int_equal(STATE_EXITED, stage.process->state);
    assert_false(stage.process->measured);
    assert_non_null(strstr(stage.process->why_not, "did not load libmemtop"));
    close_stage(&stage);
    assert_int_equal(0, files());
}

static void
test_passive(void **state)
{
    struct stage stage;

    (void)state;
    open_stage(&stage, PUPPET);
    tell(&stage, "passive 1\n");
    poll_at(&stage, 0.5);
    assert_int_equal(STATE_NOT_LOADED, stage.process->state);
    assert_string_equal(segment_reason_text(REASON_OWN_MALLOC), stage.process->why_not);
    tell_last(&stage, "exit 0\n");
    poll_at(&stage, 1);
    assert_false(stage.process->measured);
    assert_string_equal(segment_reason_text(REASON_OWN_MALLOC), stage.process->why_not);
    close_stage(&stage);
    assert_int_equal(0, files());
}

/* What a dormant process had live when it fell asleep does not count as live now. */
static void
test_dormant(void **state)
{
    struct stage stage;

    (void)state;
    open_stage(&stage, PUPPET);
    tell(&stage, "dormant\n");
    tell(&stage, "wake\n");
    tell(&stage, "malloc 100\n");
    tell(&stage, "sleep\n");
    poll_at(&stage, 0.5);
    assert_false(stage.process->measured);
    assert_int_equal(STATE_NOT_LOADED, stage.process->state);
    assert_non_null(strstr(stage.process->why_not, "dormant"));
    assert_false(said(&stage, "counted for"));
    tell(&stage, "wake\n");
    poll_at(&stage, 1);
    assert_true(said(&stage, "counted for"));
    assert_true(stage.process->measured);
    assert_int_equal(STATE_RUNNING, stage.process->state);
    assert_string_equal("", stage.process->why_not);
    tell(&stage, "sleep\n");
    poll_at(&stage, 1.5);
    assert_false(stage.process->measured);
    tell(&stage, "wake\n");
    poll_at(&stage, 2);
    tell(&stage, "sleep\n"); /* and ends before the next poll */
    tell_last(&stage, "exit 0\n");
    poll_at(&stage, 2.5);
    assert_true(stage.process->measured);
    assert_int_equal(STATE_EXITED, stage.process->state);
    close_stage(&stage);
}

static void
test_exec(void **state)
{
    struct stage stage;

    (void)state;
    open_stage(&stage, PUPPET);
    tell(&stage, "active\n");
    tell(&stage, "malloc 1000\n");
    poll_at(&stage, 1);
    tell(&stage, "exec\n");
    tell(&stage, "malloc 10\n");
    poll_at(&stage, 2);
    assert_int_equal(2, stage.process->generations);
    assert_int_equal(10, stage.process->now.live_bytes);
    assert_true(stage.process->rates.calls[FN_MALLOC] == 1);
    assert_true(said(&stage, "; counters restarted"));
    assert_int_equal(0, stage.process->children_seen);
    /* Once more, with its end before the next poll. */
    tell(&stage, "exec\n");
    tell(&stage, "malloc 3\n");
    tell_last(&stage, "kill 9\n");
    poll_at(&stage, 3);
    assert_int_equal(3, stage.process->generations);
    assert_int_equal(3, stage.process->now.live_bytes);
    assert_int_equal(STATE_KILLED, stage.process->state);
    close_stage(&stage);
    assert_int_equal(0, files());
}

/* Executing a program without the library must not look like an idle process. */
static void
test_exec_without_library(void **state)
{
    struct stage stage;

    (void)state;
    open_stage(&stage, PUPPET);
    tell(&stage, "active\n");
    poll_at(&stage, 1);
    assert_int_equal(STATE_RUNNING, stage.process->state);
    assert_int_equal(4, write(stage.orders, "cat\n", 4));
    /* cat echoes the next word when it runs. */
    tell(&stage, "x");
    poll_at(&stage, 3);
    poll_at(&stage, 5.5);
    poll_at(&stage, 5.6);
    assert_int_equal(STATE_NOT_LOADED, stage.process->state);
    assert_non_null(strstr(stage.process->why_not, "which did not load libmemtop"));
    kill(stage.launched.pid, SIGKILL);
    await_end(&stage);
    poll_at(&stage, 6);
    assert_false(stage.process->measured);
    close_stage(&stage);
    assert_int_equal(0, files());
}

static void
test_torn_and_stopped(void **state)
{
    struct stage stage;
    siginfo_t info;

    (void)state;
    open_stage(&stage, PUPPET);
    tell(&stage, "active\n");
    poll_at(&stage, 0.5);
    tell(&stage, "torn\n");
    poll_at(&stage, 1);
    poll_at(&stage, 1.5);
    assert_int_equal(STATE_RUNNING, stage.process->state);
    poll_at(&stage, 4);
    poll_at(&stage, 4.1);
    assert_int_equal(STATE_STALE, stage.process->state);
    kill(stage.launched.pid, SIGSTOP);
    assert_int_equal(0,
                     waitid(P_PID, (id_t)stage.launched.pid, &info, WSTOPPED | WNOWAIT));
    poll_at(&stage, 4.5);
    assert_int_equal(STATE_STOPPED, stage.process->state);
    assert_false(stage.process->ended);
    kill(stage.launched.pid, SIGKILL);
    await_end(&stage);
    poll_at(&stage, 5);
    assert_int_equal(STATE_KILLED, stage.process->state);
    close_stage(&stage);
    assert_int_equal(0, files());
}

/* Children are counted; segments of ended ones do not pile up; other users' files are
   ignored. */
static void
test_children(void **state)
{
    struct stage stage;
    uint32_t generation;
    int dir = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int stranger = segment_create(dir, 1, 1, 0, false, &generation);

    (void)state;
    close(stranger);
    open_stage(&stage, PUPPET);
    tell(&stage, "active\n");
    poll_at(&stage, 1);
    tell(&stage, "children 100\n");
    poll_at(&stage, 2);
    assert_int_equal(100, stage.process->children_seen);
    assert_int_equal(0, stage.process->children);
    assert_int_equal(1 + 1 + 64, files());
    tell(&stage, "children 3\n");
    poll_at(&stage, 3);
    assert_int_equal(103, stage.process->children_seen);
    assert_int_equal(1 + 1 + 64, files());
    tell_last(&stage, "exit 0\n");
    poll_at(&stage, 4);
    close_stage(&stage);
    assert_int_equal(1, files());
    unlinkat(dir, "1.0", 0);
    close(dir);
}

/* A child that has ended lived until it called exit(), not until the next poll.  A child
   that left no segment is not shown. */
static void
test_short_lived(void **state)
{
    const struct process_entry *child;
    const struct process *shown;
    struct stage stage;
    char name[64];

    (void)state;
    open_stage(&stage, PUPPET);
    assert_true(session_keep_processes(stage.session));
    tell(&stage, "active\n");
    poll_at(&stage, 1);
    tell(&stage, "lived 3000\n");
    poll_at(&stage, 3);
    poll_at(&stage, 5);
    assert_int_equal(2, process_list_count(session_processes(stage.session)));
    child = process_list_at(session_processes(stage.session), 1);
    assert_true(child->ended);
    assert_int_equal(3000, child->run_ns);
    assert_int_equal(0, session_show(stage.session, child->pid));
    poll_at(&stage, 60);
    shown = &session_shown(stage.session)->process;
    assert_int_equal(child->pid, shown->pid);
    assert_true(shown->ended);
    assert_int_equal(3000, shown->run_ns);
    assert_int_equal(0, session_show(stage.session, stage.process->pid));
    snprintf(name, sizeof name, "%s/%ld.0", directory, (long)child->pid);
    assert_int_equal(0, unlink(name));
    poll_at(&stage, 61);
    assert_int_equal(-ENOENT, session_show(stage.session, child->pid));
    assert_ptr_equal(stage.process, &session_shown(stage.session)->process);
    tell_last(&stage, "exit 0\n");
    poll_at(&stage, 62);
    close_stage(&stage);
}

/* If the process is left running its segment stays; its own exit or the next start
   removes it. */
static void
test_left_running(void **state)
{
    struct stage stage;

    (void)state;
    open_stage(&stage, PUPPET);
    tell(&stage, "active\n");
    poll_at(&stage, 1);
    session_free(stage.session);
    stage.session = NULL;
    assert_int_equal(1, files());
    tell_last(&stage, "exit 0\n");
    assert_int_equal(stage.launched.pid, waitpid(stage.launched.pid, NULL, 0));
    unlink(stage.launched.segment);
    close_stage(&stage);
    assert_int_equal(0, files());
}

static void
test_not_launched_with_library(void **state)
{
    struct launch_options options = {.argv = (char *[]){"true", NULL}};
    const struct session_options plain = {0};
    struct launched launched;
    struct session *session = session_new(&plain);
    const char *failed;
    siginfo_t info;

    (void)state;
    session_poll(session, 1, true);
    assert_int_equal(0, launch_program(&options, &launched, &failed));
    strcpy(launched.why_no_segment, "statically linked");
    assert_int_equal(0, session_watch(session, &launched));
    assert_int_equal(0, waitid(P_PID, (id_t)launched.pid, &info, WEXITED | WNOWAIT));
    session_poll(session, launched.started_ns + SECOND, true);
    assert_int_equal(STATE_EXITED, session_process(session)->state);
    assert_string_equal("statically linked", session_process(session)->why_not);
    if (launched.pidfd >= 0)
        close(launched.pidfd);
    session_free(session);
    session_free(NULL);
}

static void
test_words(void **state)
{
    struct process process = {.measured = true, .os_known = true, .heap_peak = 25};

    (void)state;
    assert_int_equal(-1, process_coverage(&process));
    process.rss_anon_peak = 100;
    assert_int_equal(25, process_coverage(&process));
    process.rss_anon_peak = 5;
    assert_int_equal(100, process_coverage(&process));
    assert_string_equal("SIGSEGV", process_signal_name(SIGSEGV));
    assert_string_equal("signal 40", process_signal_name(40));
    for (int i = 0; i < STATE_COUNT; i++) {
        assert_true(strlen(process_state_word((enum process_state)i)) <= 8);
        assert_true(strlen(process_state_json((enum process_state)i)) > 0);
    }
}

int
main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_counting),
        cmocka_unit_test(test_killed),
        cmocka_unit_test(test_not_loaded),
        cmocka_unit_test(test_passive),
        cmocka_unit_test(test_dormant),
        cmocka_unit_test(test_exec),
        cmocka_unit_test(test_exec_without_library),
        cmocka_unit_test(test_torn_and_stopped),
        cmocka_unit_test(test_children),
        cmocka_unit_test(test_short_lived),
        cmocka_unit_test(test_left_running),
        cmocka_unit_test(test_not_launched_with_library),
        cmocka_unit_test(test_words),
    };
    Dl_info libc;
    int failed;

    if (argc > 1 && strcmp(argv[1], "puppet") == 0)
        puppet(argv[0], argc > 2);
    if (mkdtemp(directory) == NULL || realpath("/proc/self/exe", self_path) == NULL
        || !dladdr((void *)(uintptr_t)gnu_get_libc_version, &libc)
        || realpath(libc.dli_fname, libc_path) == NULL)
        return 1;
    setenv("MEMTOP_DIR", directory, 1);
    /* In a sanitized build the puppet's runtime requires to be loaded first. */
    setenv("ASAN_OPTIONS", "verify_asan_link_order=0:detect_leaks=0", 1);
    unsetenv("LD_PRELOAD");
    unsetenv("MEMTOP_OPTIONS");
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    rmdir(directory);
    return failed;
}
