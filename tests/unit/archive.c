/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Session files: what is written can be read again, and errors are reported. */
#include "config.h"

#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cmocka.h>

#include "monitor/checkpoints.h"
#include "files/archive.h"
#include "monitor/profile-table.h"
#include "monitor/saved.h"
#include "monitor/tracked.h"
#include "files/fields.h"
#include "files/pack.h"
#include "support/script.h"

#define SECOND INT64_C(1000000000)

static char directory[] = "/tmp/memtop-archive-XXXXXX";

static const char script_text[] =
    "program ./prog --size 'x y' \xd1\x82\n"
    "pid 24817\n"
    "0 heap=10M blocks=200 stack=4K rss=12M rss_anon=11M malloc=200 malloc.bytes=10M "
    "total=10M size.24=150 size.100000=3\n"
    "500 heap=100M blocks=24537 malloc=1204871 total=200M size.300=40 calloc.failed=2\n"
    "2000 say something happened\n"
    "2100 process 24900 24817 heap=3M peak=5M rss=7M allocations=12 start=500 "
    "before=sh>env state=running : worker --all\n"
    "2200 process 24901 24900 start=600 state=exited : static\n"
    "4000 heap=60M free=4537 threads=3 usable=61M generations=2\n"
    "9000 heap=61M\n";

/* A session played from a script up to a time. */
static struct session *
scripted(const char *rest, int64_t until_ns)
{
    FILE *file = fopen("script", "w");
    struct session *session;

    assert_non_null(file);
    fprintf(file, "%s%s", script_text, rest);
    assert_int_equal(fclose(file), 0);
    session = script_session("script");
    assert_non_null(session);
    assert_true(session_keep_checkpoints(session));
    for (int64_t now = 0; now <= until_ns; now += SECOND / 5)
        session_poll(session, now, true);
    return session;
}

/* Removes the time of saving, so that files can be compared. */
static void
forget_time(char *text)
{
    char *place = strstr(text, "\"saved\":");

    assert_non_null(place);
    for (place += 8; *place >= '0' && *place <= '9'; place++)
        *place = '1';
}

static char *
written(const struct archive *archive)
{
    char *text = NULL;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    assert_true(archive_write(out, archive));
    assert_int_equal(fclose(out), 0);
    forget_time(text);
    return text;
}

static struct saved *
read_back(const char *text, size_t size, char why[256])
{
    FILE *in = fmemopen((void *)(uintptr_t)text, size, "r");
    struct saved *saved;

    assert_non_null(in);
    why[0] = '\0';
    saved = archive_read(in, why, 256);
    assert_true((saved == NULL) == (why[0] != '\0'));
    fclose(in);
    return saved;
}

/* A session that was read is written as it was. */
static void
check_round_trip(const struct archive *archive)
{
    char *text = written(archive), *again, why[256];
    struct saved *saved = read_back(text, strlen(text), why);
    struct archive copy;

    if (saved == NULL)
        fail_msg("%s", why);
    copy = (struct archive){.session = session_new_saved(saved),
                            .capture = saved->capture,
                            .mark = saved->marked ? &saved->mark : NULL,
                            .interval_ns = saved->interval_ns};
    again = written(&copy);
    for (size_t i = 0; text[i] != '\0'; i++)
        if (text[i] != again[i])
            fail_msg("%.100s, not %.100s", again + i - (i < 50 ? i : 50),
                     text + i - (i < 50 ? i : 50));
    session_free(copy.session);
    free(text);
    free(again);
}

static void
test_round_trip(void **state)
{
    struct session *session = scripted("10000 exit=3\n", 20 * SECOND);
    struct archive archive = {.session = session, .interval_ns = SECOND / 2};
    static struct process mark;

    (void)state;
    assert_true(session_process(session)->ended);
    check_round_trip(&archive);
    mark = *session_process(session);
    checkpoints_restore(session_shown(session)->checkpoints, 3, &mark);
    archive.mark = &mark;
    archive.capture = capture_new_saved();
    check_round_trip(&archive);
    for (int i = 0; i < 250; i++)
        capture_feed((struct capture *)(uintptr_t)archive.capture, "\nline\ttext \x80",
                     12);
    check_round_trip(&archive);
    capture_free((struct capture *)(uintptr_t)archive.capture);
    session_free(session);

    session = scripted("", 5 * SECOND);
    archive = (struct archive){.session = session, .interval_ns = SECOND};
    assert_false(session_process(session)->ended);
    check_round_trip(&archive);
    session_free(session);

    session = scripted("10000 signal=11\n", 20 * SECOND);
    archive.session = session;
    check_round_trip(&archive);
    session_free(session);
}

/* Both sessions give the same answers. */
static void
test_reads_as_it_was(void **state)
{
    struct session *session = scripted("10000 exit=3\n", 20 * SECOND), *again;
    struct archive archive = {.session = session, .interval_ns = SECOND / 2};
    char *text = written(&archive), why[256];
    struct saved *saved = read_back(text, strlen(text), why);
    const struct checkpoints *moments, *moments_again;
    static struct process then, then_again;
    int64_t first, last, first_again, last_again;

    (void)state;
    assert_non_null(saved);
    assert_true(saved->epoch_s == 1111111111);
    assert_false(saved->marked);
    assert_null(saved->capture);
    again = session_new_saved(saved);
    assert_ptr_equal(session_saved(again), saved);
    assert_null(session_saved(session));
    session_poll(again, 30 * SECOND, true);
    assert_string_equal(session_command(again), session_command(session));
    assert_memory_equal(&session_process(again)->now, &session_process(session)->now,
                        sizeof then.now);
    assert_memory_equal(&session_process(again)->sizes, &session_process(session)->sizes,
                        sizeof then.sizes);
    assert_int_equal(session_process(again)->wait_status,
                     session_process(session)->wait_status);
    assert_true(history_span(session_history(session), &first, &last));
    assert_true(history_span(session_history(again), &first_again, &last_again));
    assert_int_equal(first, first_again);
    assert_int_equal(last, last_again);
    moments = session_shown(session)->checkpoints;
    moments_again = session_shown(again)->checkpoints;
    assert_int_equal(checkpoints_count(moments), checkpoints_count(moments_again));
    for (size_t i = 0; i < checkpoints_count(moments); i++) {
        then = *session_process(session);
        then_again = *session_process(again);
        checkpoints_restore(moments, i, &then);
        checkpoints_restore(moments_again, i, &then_again);
        assert_memory_equal(&then.now, &then_again.now, sizeof then.now);
        assert_memory_equal(&then.sizes, &then_again.sizes, sizeof then.sizes);
        assert_int_equal(then.run_ns, then_again.run_ns);
        assert_int_equal(then.state, then_again.state);
    }
    assert_int_equal(session_message_count(session), session_message_count(again));
    for (size_t i = 0; i < session_message_count(session); i++) {
        const struct message *message = session_message(session, i);
        const struct message *same = session_message(again, i);

        assert_string_equal(message->text, same->text);
        assert_int_equal(message->severity, same->severity);
        assert_int_equal(message->run_ns, same->run_ns);
    }
    session_free(session);
    session_free(again);
    free(text);
}

/* ---- allocation sites ---- */

/* A site that grows, one that comes and goes, one that stays. */
static const char sites_text[] =
    "9000 sites every=64 unwinder=1\n"
    "9400 site size=4K made=500 live=400 peak=450 gone.3=100 born=9100 : "
    "row<int>::add(int)@row.cc:12 < main@prog.cc:7\n"
    "9800 site size=64 made=9000 live=10 peak=20 born=9120 : scratch@prog.cc:30 < main\n"
    "10500 site size=4K made=900 live=800 peak=850 gone.3=100 born=10200 : "
    "row<int>::add(int)@row.cc:12 < main@prog.cc:7\n"
    "11600 site size=100 made=700 live=700 peak=700 born=11600 : keep@prog.cc:50 < main\n"
    "13700 site size=100 made=1700 live=1600 peak=1600 born=13600 : keep@prog.cc:50 < "
    "main\n";

/* A session with sites, their names, and a mark at its middle. */
static struct session *
sampled(void)
{
    struct session *session = scripted(sites_text, 0);
    struct profile *profile;

    assert_true(session_keep_profile(session));
    profile = session_shown(session)->profile;
    for (int64_t now = 0; now <= 15 * SECOND; now += SECOND / 5) {
        session_poll(session, now, true);
        profile_resolve(profile, session_namer(session));
        if (now == 12 * SECOND)
            assert_true(profile_set_mark(profile, now));
    }
    return session;
}

/* The names of the functions in a row's stack. */
static void
path_of(const struct profile *profile, const struct profile_table *table, size_t row,
        char *text, size_t size)
{
    size_t length, used = 0;
    const uint32_t *path = profile_table_path(table, profile, row, &length);

    for (size_t i = 0; i < length && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s<",
                                 profile_function(profile, path[i]));
}

static void
check_same_rows(const struct profile *one, const struct profile *other,
                const struct profile_query *query)
{
    struct profile_table a = {0}, b = {0};

    profile_table_fill(&a, one, query);
    profile_table_fill(&b, other, query);
    assert_int_equal(a.answer, b.answer);
    assert_int_equal(a.missing, b.missing);
    assert_int_equal(a.run_ns, b.run_ns);
    assert_int_equal(a.count, b.count);
    for (size_t i = 0; i < a.count; i++) {
        char path[500] = "", same[500] = "";

        path_of(one, &a, i, path, sizeof path);
        path_of(other, &b, i, same, sizeof same);
        assert_string_equal(path, same);
        assert_memory_equal(&a.rows[i].figures, &b.rows[i].figures,
                            sizeof a.rows[i].figures);
    }
    profile_table_free(&a);
    profile_table_free(&b);
}

/* Both profiles give the same answers, for the present and the past. */
static void
check_same_profile(const struct profile *one, const struct profile *other)
{
    static const int64_t pasts[] = {-1, 0, 10 * SECOND, 12 * SECOND, 14 * SECOND};
    static const struct profile_filter filters[] = {
        {.rule_count = 0}, {.life_from_ns = SECOND}, {.size_from = 4096}};

    for (unsigned i = 0; i < 5 * 3 * PROFILE_MODES * PROFILE_FORMS * 2; i++) {
        const struct profile_query query = {
            .past_ns = pasts[i % 5],
            .filter = &filters[i / 5 % 3],
            .mode = (enum profile_mode)(i / 15 % PROFILE_MODES),
            .form = (enum profile_form)(i / 15 / PROFILE_MODES % PROFILE_FORMS),
            .survivors_ns = i / 15 / PROFILE_MODES / PROFILE_FORMS ? SECOND : 0,
        };

        check_same_rows(one, other, &query);
    }
    assert_int_equal(profile_growth_since(one), profile_growth_since(other));
}

static void
test_sites(void **state)
{
    struct session *session = sampled(), *again;
    const struct profile *profile = session_shown(session)->profile;
    struct archive archive = {.session = session, .interval_ns = SECOND / 2};
    char *text = written(&archive), why[256];

    (void)state;
    assert_true(profile_growth_since(profile) >= 0);
    again = session_new_saved(read_back(text, strlen(text), why));
    assert_non_null(again);
    check_same_profile(profile, session_shown(again)->profile);
    session_free(again);
    session_free(session);
    free(text);
    session = sampled();
    archive.session = session;
    check_round_trip(&archive);
    session_free(session);
}

/* Appends the lines of a process as those of another one. */
static char *
with_other(const char *text, const char *pid)
{
    char *all = NULL, type[40];
    size_t size;
    FILE *out = open_memstream(&all, &size);
    const char *end = strstr(text, "{\"type\":\"end\"}");

    fwrite(text, 1, (size_t)(end - text), out);
    for (const char *line = text; line < end; line = strchr(line, '\n') + 1) {
        const char *at = strstr(line, "\"type\":\"") + 8;

        assert_int_equal(sscanf(at, "%39[a-z_]", type), 1);
        if (strcmp(type, "session") == 0 || strcmp(type, "message") == 0
            || strcmp(type, "processes") == 0 || strcmp(type, "threads") == 0)
            continue;
        fprintf(out, "%.*sother\",\"kind\":\"%s\",\"of\":%s%.*s\n", (int)(at - line),
                line, type, pid, (int)(strcspn(at, "\n") - strlen(type) - 1),
                at + strlen(type) + 1);
    }
    fputs(end, out);
    assert_int_equal(fclose(out), 0);
    return all;
}

/* Each process in a file of several can be shown and saved again. */
static void
test_others(void **state)
{
    struct session *session = sampled(), *again;
    struct archive archive = {.session = session};
    char *first = written(&archive), *text = with_other(first, "24900"), why[256];
    struct saved *saved = read_back(text, strlen(text), why);

    (void)state;
    if (saved == NULL)
        fail_msg("%s", why);
    again = session_new_saved(saved);
    assert_int_equal(session_show(again, 24901), -ENODATA);
    assert_ptr_equal(session_shown(again), session_root(again));
    assert_int_equal(session_show(again, 24900), 0);
    assert_ptr_not_equal(session_shown(again), session_root(again));
    assert_int_equal(session_shown(again)->process.pid, 24900);
    assert_int_equal(session_shown(again)->process.now.live_bytes,
                     session_process(session)->now.live_bytes);
    assert_int_equal(session_threads(again, NULL, 0), 0);
    check_same_profile(session_shown(session)->profile, session_shown(again)->profile);
    assert_int_equal(session_show(again, session_process(again)->pid), 0);
    assert_ptr_equal(session_shown(again), session_root(again));
    archive.session = again;
    check_round_trip(&archive);
    session_show(again, 24900);
    check_round_trip(&archive);
    session_free(again);
    session_free(session);
    free(first);
    free(text);
}

/* As in older files: a reading, without moments. */
static char *
without_moments(const char *text)
{
    char *all = NULL;
    size_t size;
    FILE *out = open_memstream(&all, &size);

    for (const char *next; *text != '\0'; text = next) {
        next = strchr(text, '\n') + 1;
        if (strncmp(text, "{\"type\":\"sites_moment\"", 22) != 0)
            fwrite(text, 1, (size_t)(next - text), out);
    }
    assert_int_equal(fclose(out), 0);
    return all;
}

static void
test_sites_of_old(void **state)
{
    struct session *session = sampled(), *again;
    struct archive archive = {.session = session};
    char *text = written(&archive), *old = without_moments(text), why[256];
    struct profile_table table = {0};
    static const struct profile_filter everything;
    const struct profile_query query = {.filter = &everything, .past_ns = 12 * SECOND};

    (void)state;
    assert_true(strlen(old) < strlen(text));
    again = session_new_saved(read_back(old, strlen(old), why));
    assert_non_null(again);
    profile_table_fill(&table, session_shown(again)->profile, &query);
    assert_int_equal(table.answer, PROFILE_NOT_RECORDED);
    assert_true(profile_growth_since(session_shown(again)->profile) < 0);
    profile_table_free(&table);
    session_free(again);
    session_free(session);
    free(text);
    free(old);
}

/* ---- impossible figures ---- */

static uint64_t
odd_number(void)
{
    static const uint64_t edges[] = {
        0, 1, INT32_MAX, UINT32_MAX, INT64_MAX, (uint64_t)INT64_MAX + 1, UINT64_MAX};
    uint64_t random = (uint64_t)rand() << 42 ^ (uint64_t)rand() << 21 ^ (uint64_t)rand();
    unsigned which = (unsigned)rand() % 10;

    return which < sizeof edges / sizeof *edges ? edges[which] : random;
}

static double
odd_real(void)
{
    static const double edges[] = {NAN,  INFINITY, -INFINITY, -1,
                                   1e18, 1e300,    5e-324,    0.5};
    uint64_t bits = odd_number();
    unsigned which = (unsigned)rand() % 10;
    double any;

    memcpy(&any, &bits, sizeof any);
    return which < sizeof edges / sizeof *edges ? edges[which] : any;
}

static void
spoil_numbers(uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        numbers[i] = odd_number();
}

static void
spoil_field(struct process *process, const struct field *field)
{
    void *place = (char *)process + field->offset;

    switch (field->kind) {
    case FIELD_NUMBER:
        *(uint64_t *)place = odd_number();
        break;
    case FIELD_UNSIGNED:
        *(unsigned *)place = (unsigned)odd_number();
        break;
    case FIELD_REAL:
        *(double *)place = odd_real();
        break;
    case FIELD_LETTER:
        *(char *)place = (char)odd_number();
        break;
    case FIELD_FUNCTIONS:
        spoil_numbers(place, FN_COUNT);
        break;
    case FIELD_FUNCTION_RATES:
        for (unsigned i = 0; i < FN_COUNT; i++)
            ((double *)place)[i] = odd_real();
        break;
    }
}

static void
spoil_process(struct process *process)
{
    struct rss_breakdown *breakdown = &process->breakdown;

    for (size_t i = 0; i < fields_count; i++)
        spoil_field(process, &fields_table[i]);
    process->run_ns = (int64_t)odd_number();
    process->pid = (pid_t)odd_number();
    process->wait_status = (int)odd_number();
    process->generations = (unsigned)odd_number();
    process->children = (unsigned)odd_number();
    process->children_seen = (unsigned)odd_number();
    process->os_known = true;
    process->identity.flags = SEGMENT_FLAG_MMAP;
    process->identity.args_size = (size_t)odd_number();
    spoil_numbers(process->now.mapping_calls, MAPPING_COUNT);
    spoil_numbers(process->now.mapping_bytes, MAPPING_COUNT);
    spoil_numbers(process->now.mapping_failed, MAPPING_COUNT);
    spoil_numbers(process->sizes.allocated,
                  sizeof process->sizes.allocated / sizeof(uint64_t));
    spoil_numbers(process->sizes.live, sizeof process->sizes.live / sizeof(uint64_t));
    *breakdown = (struct rss_breakdown){.known = true, .run_ns = (int64_t)odd_number()};
    spoil_numbers(breakdown->bytes, BAND_COUNT);
    breakdown->pss = odd_number();
    breakdown->swap = odd_number();
    breakdown->mappings = (unsigned)odd_number();
    breakdown->absent = odd_number();
    breakdown->unsure = odd_number();
}

static void
spoil_figures(struct site_figures *figures)
{
    *figures = (struct site_figures){odd_real(), odd_real(), odd_number(), odd_number()};
}

static void
spoil_site(struct sites_reading *reading, struct site *site)
{
    unsigned depth;
    const uint64_t *pcs = sites_stack(reading, site->stack, &depth);

    spoil_numbers((uint64_t *)(uintptr_t)pcs, depth);
    spoil_figures(&site->made);
    spoil_figures(&site->freed);
    spoil_figures(&site->live);
    spoil_figures(&site->at_peak);
    for (unsigned i = 0; i < SITE_LIFETIMES; i++)
        spoil_figures(&site->freed_after[i]);
    site->first_ns = odd_number();
    site->last_ns = odd_number();
}

/* Values in a reading that the reader of segments does not check. */
static void
spoil_sites(struct sites_reading *reading)
{
    static const double rates[] = {0, 5e-324, 0.5, 1};

    reading->rate = rates[rand() % 4];
    reading->sampled = odd_number();
    reading->live_bytes = odd_real();
    reading->peak_bytes = odd_real();
    reading->peak_ns = odd_number();
    reading->lost = (struct sites_lost){odd_number(), odd_number(), odd_number(),
                                        odd_real(),   odd_number(), odd_number()};
    for (size_t i = 0; i < reading->site_count; i++)
        spoil_site(reading, &reading->sites[i]);
    for (size_t i = 0; i < reading->block_count; i++) {
        reading->blocks[i].size = odd_number();
        reading->blocks[i].born_ns = odd_number();
        reading->blocks[i].samples = odd_number();
        reading->blocks[i].thread = (uint32_t)odd_number();
    }
    for (size_t i = 0; i < reading->module_count; i++) {
        reading->modules[i].start = odd_number();
        reading->modules[i].end = odd_number();
        reading->modules[i].bias = odd_number();
        reading->modules[i].seen_ns = odd_number();
    }
}

static void
spoil_entry(void *context, const struct process_entry *const_entry)
{
    struct process_entry *entry = (struct process_entry *)(uintptr_t)const_entry;

    (void)context;
    entry->pid = (pid_t)odd_number();
    entry->parent = (pid_t)odd_number();
    entry->generations = (unsigned)odd_number();
    entry->start_ns = odd_number();
    entry->run_ns = (int64_t)odd_number();
    entry->measured = rand() % 2 == 0;
    entry->heap = odd_number();
    entry->heap_peak = odd_number();
    entry->allocations = odd_real();
    entry->rss = odd_number();
}

static void
spoil_history(struct history *history)
{
    for (int i = 0; i < 20; i++) {
        struct sample sample = {.time_ns = (int64_t)odd_number()};

        spoil_numbers(sample.max, SERIES_COUNT);
        spoil_numbers(sample.last, SERIES_COUNT);
        history_push(history, &sample);
    }
}

/* Whatever a segment holds can be saved and read, and saving it again gives the same. */
static void
test_damaged(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        srand(round);
        struct session *session = sampled();
        struct tracked *tracked = (struct tracked *)(uintptr_t)session_shown(session);
        struct process *process = malloc(sizeof *process);
        struct archive archive = {
            .session = session, .interval_ns = (int64_t)odd_number(), .mark = process};
        char *text, why[256];
        struct saved *saved;

        *process = tracked->process;
        for (int i = 0; i < 5; i++) {
            spoil_process(process);
            checkpoints_add(tracked->checkpoints, process);
        }
        spoil_process(&tracked->process);
        spoil_history(tracked->history);
        spoil_sites(
            (struct sites_reading *)(uintptr_t)profile_digested(tracked->profile, NULL));
        process_list_each(session_processes(session), spoil_entry, NULL);
        tracked->saved_epoch_s = (int64_t)odd_number();
        text = written(&archive);
        saved = read_back(text, strlen(text), why);
        if (saved == NULL)
            fail_msg("round %u: %s", round, why);
        archive = (struct archive){.session = session_new_saved(saved),
                                   .mark = saved->marked ? &saved->mark : NULL,
                                   .interval_ns = saved->interval_ns};
        check_round_trip(&archive);
        session_free(archive.session);
        session_free(session);
        free(process);
        free(text);
    }
}

#define HEAD "{\"v\":1,\"type\":\"session\"}\n"
#define PROCESS "{\"type\":\"process\",\"measured\":true,\"heap\":1,\"peak\":1,"    \
                "\"stack\":0,\"stack_peak\":0}\n"
#define END "{\"type\":\"end\"}\n"
#define SITES "{\"type\":\"sites\",\"rate\":0.5}\n"
#define SITE "{\"type\":\"site\"}\n"
#define MOMENT(rows) "{\"type\":\"sites_moment\",\"sites\":1,\"list\":[" rows "]}\n"
#define HISTORY(rows) "{\"type\":\"history\",\"begin_ns\":5,\"series\":[\"heap\"],"  \
                      "\"samples\":[" rows "]}\n"

/* Accepts lines and fields of later versions, and missing optional ones. */
static void
test_accepts_what_it_can(void **state)
{
    static const char *const texts[] = {
        HEAD PROCESS END,
        HEAD PROCESS END "what follows does not matter",
        HEAD "{\"type\":\"news\",\"x\":[[]]}\n" PROCESS END,
        HEAD PROCESS HISTORY("[5,1,1],[5,2,2],[9,null,null]") END,
        HEAD PROCESS "{\"type\":\"history\",\"series\":[\"future\",\"heap\"],"
                     "\"samples\":[[1,9,9,4,4]]}\n" END,
        HEAD PROCESS "{\"type\":\"message\",\"text\":\"x\",\"severity\":\"new\"}\n" END,
        HEAD PROCESS "{\"type\":\"output\",\"lines\":[\"\",\"\\u001b[2J\"]}\n" END,
        HEAD PROCESS "{\"type\":\"threads\",\"list\":[{}]}\n" END,
        HEAD "{\"type\":\"process\"}\n" END,
    };
    char why[256];

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct saved *saved = read_back(texts[i], strlen(texts[i]), why);

        if (saved == NULL)
            fail_msg("%s: %s", texts[i], why);
        session_free(session_new_saved(saved));
    }
}

static void
test_says_what_is_wrong(void **state)
{
    static const struct {
        const char *text, *why;
    } cases[] = {
        {"{}\n", "line 1 does not begin a session"},
        {"{\n", "line 1 is not a JSON object"},
        {"{\"type\":\"session\"}\n", "line 1 does not begin a session"},
        {"{\"type\":\"session\",\"v\":2}\n",
         "it has version 2, but this memtop reads version 1"},
        {"{\"type\":\"session\",\"v\":\"1\"}\n", "line 1 does not begin a session"},
        {HEAD, "damaged or cut short"},
        {HEAD END, "it contains no process"},
        {HEAD HEAD PROCESS END, "line 2 does not begin a session"},
        {HEAD PROCESS PROCESS END, "line 3 exceeds the number allowed"},
        {HEAD PROCESS "{\"type\":\"en", "damaged or cut short"},
        {HEAD PROCESS "[]\n", "line 3 is not a JSON object"},
        {HEAD PROCESS "\xff\n", "line 3 is not a JSON object"},
        {HEAD "{\"type\":\"process\",\"heap\":-1}\n",
         "'heap' in line 2 is not a valid number"},
        {HEAD PROCESS HISTORY("[4,1,1]"), "line 3 is not a history"},
        {HEAD PROCESS HISTORY("[6,1]"), "line 3 is not a history"},
        {HEAD PROCESS HISTORY("[6,1,-1]"), "line 3 is not a history"},
        {HEAD PROCESS HISTORY("[6,1,\"\"]"), "line 3 is not a history"},
        {HEAD PROCESS HISTORY("[9,1,1],[8,1,1]"), "line 3 is not a history"},
        {HEAD PROCESS HISTORY("[9223372036854775807,1,1]"), "line 3 is not a history"},
        {HEAD PROCESS HISTORY("7"), "line 3 is not a history"},
        {HEAD PROCESS "{\"type\":\"history\"}\n", "line 3 is not a history"},
        {HEAD PROCESS "{\"type\":\"moment\",\"t_ns\":-1}\n", "'t_ns' in line 3"},
        {HEAD PROCESS
         "{\"type\":\"moment\",\"t_ns\":5}\n{\"type\":\"moment\",\"t_ns\":5}\n",
         "line 4 is older than the one before"},
        {HEAD PROCESS "{\"type\":\"threads\"}\n", "line 3 is not a list of threads"},
        {HEAD PROCESS "{\"type\":\"threads\",\"list\":[{\"calls\":\"x\"}]}\n",
         "'calls' in line 3"},
        {HEAD PROCESS "{\"type\":\"output\",\"lines\":[1]}\n", "line 3 is not output"},
        {HEAD PROCESS "{\"type\":\"output\",\"lines\":[\"\\u0000\"]}\n",
         "line 3 is not a JSON object"},
        {HEAD "{\"type\":\"other\"}\n", "line 2 does not begin a session"},
        {HEAD PROCESS "{\"type\":\"other\",\"kind\":\"site\",\"of\":-1}\n",
         "line 3 does not begin a session"},
        {HEAD PROCESS "{\"type\":\"other\",\"kind\":\"news\",\"of\":7}\n" END,
         "it contains no process"},
        {HEAD PROCESS "{\"type\":\"other\",\"kind\":\"site\",\"of\":7}\n",
         "'site' in line 3 does not belong to any sites"},
        {HEAD PROCESS SITES "{\"type\":\"sites_moment\",\"t_ns\":1,\"sites\":1}\n",
         "'sites_moment' in line 4 does not belong to any sites"},
        {HEAD PROCESS SITES SITE MOMENT("[1,1,1,1,1,1,1,1,1,1]"),
         "'list' in line 5 is not a list of figures"},
        {HEAD PROCESS SITES SITE MOMENT("[0,1,1,-1,1,1,1,1,1,1]"),
         "'list' in line 5 is not a list of figures"},
        {HEAD PROCESS SITES "{\"type\":\"site\",\"rate\":[1]}\n",
         "'rate' in line 4 is not a list of figures"},
        {"", "damaged or cut short"},
        {"x", "damaged or cut short"},
        {"\x28\xb5\x2f\xfd", "damaged or cut short"},
    };
    char why[256];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        /* fmemopen() refuses 0 bytes. */
        size_t size = strlen(cases[i].text);
        FILE *in = size > 0 ? fmemopen((void *)(uintptr_t)cases[i].text, size, "r")
                            : fopen("/dev/null", "r");

        why[0] = '\0';
        assert_null(archive_read(in, why, sizeof why));
        if (strstr(why, cases[i].why) == NULL)
            fail_msg("%s: %s", cases[i].text, why);
        fclose(in);
    }
}

/* The text, repeated after the head, is refused. */
static void
check_refused(const char *text, size_t times, const char *expected)
{
    size_t size = strlen(text);
    char *all = malloc(size * times + 200), why[256], *end;

    end = stpcpy(all, HEAD PROCESS);
    for (size_t i = 0; i < times; i++)
        end = stpcpy(end, text);
    assert_null(read_back(all, (size_t)(end - all), why));
    if (strstr(why, expected) == NULL)
        fail_msg("%s", why);
    free(all);
}

/* More processes, and more in all of them together, than the limits allow. */
static void
check_many_others(void)
{
    static const char *const kinds[] = {
        "\"process\"", "\"history\",\"series\":[],\"samples\":[[1],[1],[1],[1],[1],[1]]",
        "\"sites\",\"rate\":1"};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        char *text, why[256];
        size_t size;
        FILE *out = open_memstream(&text, &size);

        fputs(HEAD PROCESS, out);
        for (int pid = 1; pid <= (i == 0 ? 257 : 250); pid++)
            for (int k = 0; k < (i == 1 ? 2000 : 1); k++)
                fprintf(out, "{\"type\":\"other\",\"of\":%d,\"kind\":%s}\n", pid,
                        kinds[i]);
        for (int k = 0; i == 2 && k < 250 * 600; k++)
            fprintf(out, "{\"type\":\"other\",\"of\":%d,\"kind\":\"site\"}\n",
                    k / 600 + 1);
        fclose(out);
        assert_null(read_back(text, size, why));
        if (strstr(why, "exceeds the number allowed") == NULL)
            fail_msg("%s", why);
        free(text);
    }
}

static void
test_limits(void **state)
{
    char moments[100];
    FILE *out;
    char *text;
    size_t size;

    (void)state;
    check_refused("[", 2000000, "line 3 is too long");
    check_refused("[", 100000, "damaged or cut short");
    check_refused("[]\n", 1, "line 3 is not a JSON object");
    check_refused(HISTORY("[5,1,1],[5,1,1],[5,1,1],[5,1,1]"), 20000,
                  "exceeds the number allowed");
    check_refused("{\"type\":\"threads\",\"list\":[{},{},{},{}]}\n", 2, "cut short");
    check_refused(SITES SITE, 2, "'sites' in line 5 exceeds the number allowed");
    check_many_others();
    out = open_memstream(&text, &size);
    fprintf(out, HEAD PROCESS);
    for (int i = 0; i < 5000; i++) {
        snprintf(moments, sizeof moments, "{\"type\":\"moment\",\"t_ns\":%d}\n", i);
        fputs(moments, out);
    }
    fclose(out);
    char why[256];
    assert_null(read_back(text, size, why));
    assert_non_null(strstr(why, "exceeds the number allowed"));
    free(text);
}

/* Pids that occur twice, parents that are their own grandparents. */
static void
test_processes_of_any_kind(void **state)
{
    static const char text[] =
        HEAD PROCESS "{\"type\":\"processes\",\"list\":[{\"pid\":1},{\"pid\":2,"
        "\"parent\":3,\"ended\":true},{\"pid\":3,\"parent\":2,\"ended\":true},"
        "{\"pid\":3,\"command\":\"twice\"},{\"pid\":4,\"parent\":4},{}]}\n" END;
    struct saved *saved;
    char why[256];
    size_t count;

    (void)state;
    saved = read_back(text, sizeof text - 1, why);
    assert_non_null(saved);
    count = process_list_count(saved->process_list);
    assert_in_range(count, 4, 5); /* 0, 1, 2 or 3 with the other below it, 4 */
    for (size_t i = 0; i < count; i++)
        assert_string_equal(process_list_at(saved->process_list, i)->command, "");
    saved_free(saved);
}

/* Many processes, each the child of the one before, or all of the first. */
static void
test_many_processes(void **state)
{
    char *text, why[256];
    size_t size;

    (void)state;
    for (int deep = 0; deep <= 1; deep++) {
        FILE *out = open_memstream(&text, &size);
        struct saved *saved;

        fputs(HEAD PROCESS "{\"type\":\"processes\",\"list\":[{\"pid\":1}", out);
        for (int i = 2; i < 3000; i++)
            fprintf(out, ",{\"pid\":%d,\"parent\":%d,\"ended\":true}", i,
                    deep ? i - 1 : 1);
        fputs("]}\n" END, out);
        fclose(out);
        saved = read_back(text, size, why);
        assert_non_null(saved);
        assert_true(process_list_sum(saved->process_list)->ended < SAVED_PROCESSES);
        saved_free(saved);
        free(text);
    }
}

/* Ten thousand times the size of the file. */
static void
test_bomb(void **state)
{
    char *packed, why[256], block[65536];
    size_t size;
    FILE *out = open_memstream(&packed, &size);
    FILE *stream = pack_writer(out);

    (void)state;
    fputs(HEAD PROCESS, stream);
    memset(block, '\n', sizeof block);
    memcpy(block, "{\"type\":\"x\"}", 12);
    memset(block + 12, ' ', sizeof block - 13);
    for (int i = 0; i < 8000; i++)
        assert_int_equal(fwrite(block, 1, sizeof block, stream), sizeof block);
    assert_int_equal(fclose(stream), 0);
    assert_int_equal(fclose(out), 0);
    assert_true(size < 1000000);
    assert_null(read_back(packed, size, why));
    assert_non_null(strstr(why, "is too long"));
    free(packed);
}

static void
test_files(void **state)
{
    struct session *session = scripted("", SECOND);
    struct archive archive = {.session = session, .interval_ns = SECOND};
    char first[8] = "", why[256];
    struct saved *saved;
    struct stat status;
    FILE *file;

    (void)state;
    assert_int_equal(archive_save(&archive, "run.memtop"), 0);
    assert_int_equal(archive_save(&archive, "run.memtop"), -EEXIST);
    assert_int_equal(archive_save(&archive, "no/run.memtop"), -ENOENT);
    assert_int_equal(stat("run.memtop", &status), 0);
    assert_int_equal(status.st_nlink, 1);
    file = fopen("run.memtop", "r");
    assert_int_equal(fread(first, 1, sizeof first, file), sizeof first);
    assert_true(archive_recognise(first, sizeof first));
    assert_true(archive_recognise("{\"v\":1", 6));
    assert_false(archive_recognise("\0\0\0\0\0\0\0\0", 8));
    assert_false(archive_recognise("{", 1));
    rewind(file);
    saved = archive_read(file, why, sizeof why);
    assert_non_null(saved);
    assert_true(saved->epoch_s > 1700000000);
    saved_free(saved);
    fclose(file);
    assert_int_equal(unlink("run.memtop"), 0);
    file = fopen("/dev/full", "w");
    setvbuf(file, NULL, _IONBF, 0);
    errno = 0;
    assert_false(archive_write(file, &archive));
    assert_int_equal(errno, ENOSPC);
    fclose(file);
    session_free(session);
}

static int
enter(void **state)
{
    (void)state;
    return mkdtemp(directory) == NULL || chdir(directory) != 0;
}

/* Only the script was left behind. */
static int
leave(void **state)
{
    (void)state;
    unlink("script");
    return chdir("/") != 0 || rmdir(directory) != 0;
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_reads_as_it_was),
        cmocka_unit_test(test_sites),
        cmocka_unit_test(test_others),
        cmocka_unit_test(test_sites_of_old),
        cmocka_unit_test(test_damaged),
        cmocka_unit_test(test_accepts_what_it_can),
        cmocka_unit_test(test_says_what_is_wrong),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_processes_of_any_kind),
        cmocka_unit_test(test_many_processes),
        cmocka_unit_test(test_bomb),
        cmocka_unit_test(test_files),
    };

    return cmocka_run_group_tests(tests, enter, leave);
}
