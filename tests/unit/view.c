/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pages of a scripted process: at every kind of size they draw only where they may,
   and at the usual sizes they are compared word for word. */
#include "config.h"

#include <locale.h>

#include "pages.h"

#include "monitor/process-list.h"
#include "tui/picker.h"
#include "tui/processes.h"

/* Changes after 2 s, to be seen with a mark. */
static const char changed[] =
    "program ./prog\n"
    "pid 24817\n"
    "0 heap=10M blocks=200 rss=12M malloc=200 malloc.bytes=10M size.24=150 size.100=50\n"
    "2000 heap=100M blocks=24537 stack=12K rss=130M threads=4 malloc=1204871"
    " malloc.bytes=200M realloc=88210 realloc.bytes=30M calloc=10442 calloc.failed=2 "
    "free=1180334 total=280M"
    " size.1=312044 size.24=401882 size.40=288310 size.70=120551 size.300=44110"
    " size.70000=31\n"
    "4000 heap=60M blocks=20000 free=1184901 malloc.bytes=201M malloc=1204901"
    " calloc.failed=5 size.24=411882 size.40=288300 size.5000=12\n";

/* A shell script that runs programs, among them a chain of wrappers. */
static const char family[] =
    "program sh ./run.sh\n"
    "pid 24817\n"
    "0 heap=4K rss=1863K\n"
    "1000 process 24901 24817 heap=120M peak=311M rss=350M allocations=94612 start=200"
    " before=bash>env : python3.11 app.py --workers 2\n"
    "1000 process 24910 24901 heap=60M peak=61M rss=340M allocations=0 start=900"
    " state=idle : python3.11 app.py --workers 2\n"
    "1000 process 24911 24901 heap=59M peak=61M rss=341M allocations=12 start=910"
    " : python3.11 app.py --workers 2\n"
    "1000 process 24930 24817 rss=1M start=1000 state=not-measured : busybox sleep 60\n"
    "1000 process 24820 24817 heap=0 peak=2M start=20 state=exited : ls -R /usr\n"
    "1000 process 24821 24817 heap=0 peak=2M start=21 state=exited : sort\n"
    "1000 process 24822 24817 heap=4K peak=9M start=22 state=gone : uniq -c\n"
    "1000 process 24823 24817 heap=0 peak=1M start=23 state=exited : wc\n"
    "1000 process 24824 24823 heap=0 peak=1M start=24 state=exited : true\n"
    "1000 process 24950 24817 heap=1K peak=1M start=1100 state=stopped :"
    " \346\227\245\346\234\254\350\252\236 \033[31m\n"
    "60000 heap=4K\n";

static void
check_sizes(void)
{
    for (int rows = 1; rows <= 80; rows += rows < 30 ? 1 : 7)
        for (int cols = 1; cols <= 250; cols += cols < 25 ? 1 : 5 + rows % 9) {
            const struct cell *last;

            draw(rows, cols);
            last = &screen.canvas.cells[(size_t)rows * (size_t)cols - 1];
            assert_int_equal(last->text[0], L' ');
            assert_int_equal(view_scroll_limit(&screen, &view, &scene) < 0, 0);
        }
}

static void
every_page_fits_every_size(void **state)
{
    static const char *const scripts[] = { running, unmeasured, sampled,
                                           "program x\n9000 heap=1\n" };

    (void)state;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        for (int style = 0; style < GRAPH_STYLES; style++) {
            struct session *session = play_text(scripts[i], 7 * SECOND);

            view.style = (enum graph_style)style;
            view.log = style == GRAPH_BLOCK;
            for (int page = 0; page < PAGE_COUNT; page++) {
                view.page = (enum page)page;
                check_sizes();
            }
            view.page = PAGE_SITES;
            view.sites.form = PROFILE_CALLEES;
            sites_fill(&sites, &view, -1);
            check_sizes();
            if (style == 0) { /* the help covers the graphs */
                view.help = 1;
                scene.asks = true;
                check_sizes();
            }
            session_free(session);
        }
}

static void
golden_sizes(const char *what, const char *text)
{
    static const int sizes[][2] = { { 3, 20 }, { 10, 40 }, { 24, 80 }, { 40, 120 },
                                    { 60, 200 } };
    char name[64];

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct session *session = play_text(text, 7 * SECOND);

        draw(sizes[i][0], sizes[i][1]);
        snprintf(name, sizeof name, "%s-%dx%d-%s", what, sizes[i][1], sizes[i][0],
                 screen.canvas.unicode ? "utf8" : "ascii");
        expect_golden(name);
        session_free(session);
    }
}

static void
overview_is_as_drawn(void **state)
{
    (void)state;
    golden_sizes("running", running);
    golden_sizes("unmeasured", unmeasured);
    screen.canvas.unicode = false;
    text_ascii_ellipsis(true);
    golden_sizes("running", running);
    screen.canvas.unicode = true;
    text_ascii_ellipsis(false);
}

static void
a_long_reason_ends_in_an_ellipsis(void **state)
{
    struct session *session = play_text("program ./static\npid 7\n"
                                        "0 why ./static is statically linked\n"
                                        "1000 rss=12M state=not-measured\n20000 rss=1M\n",
                                        7 * SECOND);

    (void)state;
    draw(10, 40);
    expect_golden("unmeasured-cut-40x10-utf8");
    session_free(session);
}

static void
pages_are_as_drawn(void **state)
{
    char name[64];

    (void)state;
    for (int page = PAGE_CALLS; page < PAGE_COUNT; page++) {
        struct session *session;

        if (page == PAGE_MEMORY || page == PAGE_SITES)
            continue; /* memory_is_as_drawn(), sites_are_as_drawn() */
        session = play_text(running, 7 * SECOND);
        view.page = (enum page)page;
        draw(24, 80);
        snprintf(name, sizeof name, "%s-80x24-utf8", page_names[page]);
        expect_golden(name);
        session_free(session);
    }
}

/* The pages except those with separate goldens. */
static void
pages_golden(int rows, int cols, bool unicode)
{
    static const enum page pages[] = { PAGE_CALLS, PAGE_SIZES, PAGE_THREADS };
    char name[64];

    screen.canvas.unicode = unicode;
    text_ascii_ellipsis(!unicode);
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        struct session *session = play_text(running, 7 * SECOND);

        view.page = pages[i];
        draw(rows, cols);
        snprintf(name, sizeof name, "%s-%dx%d-%s", page_names[pages[i]], cols, rows,
                 unicode ? "utf8" : "ascii");
        expect_golden(name);
        session_free(session);
    }
    screen.canvas.unicode = true;
    text_ascii_ellipsis(false);
}

static void
pages_have_figures_in_small_windows(void **state)
{
    (void)state;
    pages_golden(3, 20, true);
    pages_golden(10, 40, true);
}

static void
pages_are_as_drawn_in_ascii(void **state)
{
    (void)state;
    pages_golden(24, 80, false);
}

/* In a log without times rates are not known. */
static void
rates_without_a_clock(void **state)
{
    struct session *session = play_text(running, 7 * SECOND);

    (void)state;
    ((struct process *)session_process(session))->missing |= PART_CLOCK;
    draw(40, 120);
    expect_golden("running-untimed-120x40-utf8");
    session_free(session);
}

/* A program that reports its pools: two more rows and one more fact. */
static void
pools_are_as_drawn(void **state)
{
    static const char pools[] =
        "program ./game\n"
        "0 heap=4K\n"
        "1000 heap=8M blocks=8 total=8M malloc=8 malloc.bytes=8M custom_made=1200000"
        " custom_made_bytes=90M custom_freed=1150000 custom_freed_bytes=86M"
        " custom_live=50000 custom_live_bytes=4M\n";
    struct session *session = play_text(pools, 2 * SECOND);

    (void)state;
    view.page = PAGE_CALLS;
    draw(40, 120);
    expect_golden("calls-pools-120x40-utf8");
    session_free(session);
}

static void
processes_are_as_drawn(void **state)
{
    static const int sizes[][2] = { { 3, 20 }, { 10, 40 }, { 24, 80 }, { 40, 120 } };
    char name[64];

    (void)state;
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        struct session *session = play_text(family, 7 * SECOND);

        screen.canvas.unicode = i % 2 == 0;
        text_ascii_ellipsis(i % 2 != 0);
        view.page = PAGE_PROCESSES;
        view.selected = i % 2 ? 24911 : 0;
        draw(sizes[i / 2][0], sizes[i / 2][1]);
        snprintf(name, sizeof name, "processes-tree-%dx%d-%s", sizes[i / 2][1],
                 sizes[i / 2][0], i % 2 ? "ascii" : "utf8");
        expect_golden(name);
        session_free(session);
    }
    screen.canvas.unicode = true;
    text_ascii_ellipsis(false);
}

/* A list that is sorted or filtered is not a tree. */
static void
processes_in_other_orders(void **state)
{
    struct session *session = play_text(family, 7 * SECOND);

    (void)state;
    view.page = PAGE_PROCESSES;
    view.sort[PAGE_PROCESSES] = (struct sort){ 1, false };
    draw(24, 80);
    expect_golden("processes-sorted-80x24-utf8");
    view.sort[PAGE_PROCESSES] = (struct sort){ 0, false };
    snprintf(view.process_filter, sizeof view.process_filter, "app.py");
    view.selected = 24911;
    draw(24, 80);
    expect_golden("processes-filtered-80x24-utf8");
    snprintf(view.process_filter, sizeof view.process_filter, "nobody");
    draw(24, 80);
    view.process_filter[0] = '\0';
    session_free(session);
}

/* The system-wide list, with processes and empty. */
static void
picker_is_as_drawn(void **state)
{
    struct session *session = play_text(family, 7 * SECOND);
    struct process_list *none = process_list_new(false);
    struct processes list = {.process_list = session_processes(session),
                             .selected = 24910};

    (void)state;
    for (int reverse = 0; reverse < 2; reverse++) {
        list.sort = (struct sort){ reverse ? 4 : 0, reverse };
        assert_true(picture_resize(&screen, reverse ? 10 : 24, reverse ? 40 : 80));
        picker_draw(&screen.canvas, &list);
        expect_golden(reverse ? "picker-sorted-40x10-utf8" : "picker-80x24-utf8");
    }
    process_list_arrange(none, 0);
    list.process_list = none;
    list.sort = (struct sort){ 0, false };
    assert_true(picture_resize(&screen, 10, 80));
    picker_draw(&screen.canvas, &list);
    expect_golden("picker-none-80x10-utf8");
    process_list_free(none);
    session_free(session);
}

/* The digits of pages never change. */
static void
digits_name_pages(void **state)
{
    (void)state;
    assert_int_equal(view_page_of_digit(1), PAGE_OVERVIEW);
    assert_int_equal(view_page_of_digit(4), PAGE_THREADS);
    assert_int_equal(view_page_of_digit(5), PAGE_PROCESSES);
    assert_int_equal(view_page_of_digit(6), PAGE_MEMORY);
    assert_int_equal(view_page_of_digit(7), PAGE_OUTPUT);
    assert_int_equal(view_page_of_digit(8), PAGE_MESSAGES);
    assert_int_equal(view_page_of_digit(9), PAGE_SITES);
    assert_int_equal(view_page_of_digit(0), PAGE_BLOCKS);
}

/* An allocator whose memory cannot be told from other memory; a process without
   counters. */
static const char undivided[] =
    "program ./prog\n"
    "pid 24817\n"
    "0 heap=10M rss=20M band.requested=9M band.mmap=3M band.files=96K band.stacks=36K"
    " band.program=6M band.memtop=240K band.other=4K band.pss=18M band.reserve=1\n"
    "20000 heap=1\n";
static const char uncounted[] =
    "program ./static\n"
    "pid 7\n"
    "0 why statically linked\n"
    "1000 rss=12M state=not-measured band.heap=6M band.mmap=3M band.files=0"
    " band.stacks=36K band.program=2M band.memtop=0 band.other=4K\n"
    "20000 rss=1M\n";

/* The page of memory as golden NAME at a size, in either character set. */
static void
memory_golden(const char *name, int rows, int cols, bool unicode)
{
    char file[64];

    screen.canvas.unicode = unicode;
    text_ascii_ellipsis(!unicode);
    view.page = PAGE_MEMORY;
    view.style = unicode ? GRAPH_BRAILLE : GRAPH_ASCII;
    draw(rows, cols);
    snprintf(file, sizeof file, "%s-%dx%d-%s", name, cols, rows,
             unicode ? "utf8" : "ascii");
    expect_golden(file);
    screen.canvas.unicode = true;
    text_ascii_ellipsis(false);
}

static void
memory_is_as_drawn(void **state)
{
    static const int sizes[][2] = { { 3, 20 }, { 10, 40 }, { 24, 80 }, { 40, 120 } };
    static struct mark mark;
    struct session *session = play_text(resident, 0);

    (void)state;
    mark = (struct mark){ scene.process->run_ns, 0, scene.process->now,
                          scene.process->sizes, scene.process->breakdown };
    session_free(session);
    session = play_text(resident, 7 * SECOND);
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++)
        memory_golden("memory", sizes[i / 2][0], sizes[i / 2][1], i % 2 == 0);
    scene.mark = &mark;
    memory_golden("memory-marked", 24, 80, true);
    memory_golden("memory-marked", 10, 40, true);
    view.scroll = 6;
    memory_golden("memory-scrolled", 10, 40, true);
    session_free(session);
    session = play_text(undivided, SECOND);
    memory_golden("memory-undivided", 24, 80, true);
    session_free(session);
    session = play_text(uncounted, 2 * SECOND);
    memory_golden("memory-uncounted", 24, 80, true);
    session_free(session);
}

/* A moment before the first breakdown, or one without a breakdown. */
static void
memory_that_is_not_known_is_said_so(void **state)
{
    struct session *session = play_text(changed, SECOND);

    (void)state;
    view.history = true;
    memory_golden("memory-unknown", 10, 40, true);
    assert_int_equal(view_memory_lines(&scene), 0);
    session_free(session);
}

/* The page of sites as golden NAME at a size, in either character set. */
static void
sites_golden(const char *name, int rows, int cols, bool unicode)
{
    char file[64];

    screen.canvas.unicode = unicode;
    text_ascii_ellipsis(!unicode);
    view.page = PAGE_SITES;
    sites_fill(&sites, &view, -1);
    draw(rows, cols);
    snprintf(file, sizeof file, "%s-%dx%d-%s", name, cols, rows,
             unicode ? "utf8" : "ascii");
    expect_golden(file);
    screen.canvas.unicode = true;
    text_ascii_ellipsis(false);
}

static void
sites_are_as_drawn(void **state)
{
    static const int sizes[][2] = { { 3, 20 }, { 10, 40 }, { 24, 80 }, { 40, 120 } };
    struct session *session = play_text(sampled, 7 * SECOND);

    (void)state;
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++)
        sites_golden("sites", sizes[i / 2][0], sizes[i / 2][1], i % 2 == 0);
    view.sort[PAGE_SITES] = (struct sort){ PROFILE_BY_BLOCKS, true };
    view.sites.mode = PROFILE_MADE;
    sites_golden("sites-sorted", 24, 80, true);
    view.sort[PAGE_SITES] = (struct sort){ 0, false };
    view.sites.toggled.all_open = true;
    view.sites.form = PROFILE_CALLEES;
    view.sites.mode = PROFILE_LIVE;
    view.sites.index = 2;
    view.sites.selected = sites.table.rows[2].key;
    sites_golden("sites-tree", 24, 80, true);
    sites_golden("sites-tree", 24, 80, false);
    sites_golden("sites-tree", 10, 40, true);
    view.sites.form = PROFILE_CALLERS;
    view.sites.survivors_ns = 5 * SECOND;
    snprintf(view.sites.filter_text, sizeof view.sites.filter_text, "-strdup");
    view.sites.filter = (struct profile_filter){
        .rules = { { PROFILE_FORBID, false, "strdup" } }, .rule_count = 1 };
    sites_golden("sites-survivors", 40, 120, true);
    session_free(session);
}

/* One site alone; all of its lines can be scrolled to. */
static void
a_site_is_as_drawn(void **state)
{
    struct session *session = play_text(sampled, 7 * SECOND);
    int lines;

    (void)state;
    view.page = PAGE_SITES;
    view.sites.selected = sites.table.rows[0].key;
    view.sites.opened = true;
    sites_golden("site", 40, 120, true);
    sites_golden("site", 24, 80, true);
    sites_golden("site", 10, 40, true);
    lines = view_site_lines(&screen, &view, &scene);
    assert_int_equal(view_scroll_limit(&screen, &view, &scene),
                     lines - view_page_rest(&screen).rows);
    view.scroll = view_scroll_limit(&screen, &view, &scene);
    sites_golden("site-scrolled", 10, 40, true);
    check_sizes();
    session_free(session);
}

/* The page says what is not known, and what it would need. */
static void
sites_that_are_not_known_are_said_so(void **state)
{
    struct session *session = play_text(running, SECOND);

    (void)state;
    sites_golden("sites-unasked", 24, 80, true);
    sites_golden("sites-unasked", 3, 20, true);
    session_free(session);
    session = play_text(sampled, 7 * SECOND);
    view.sites.mode = PROFILE_SINCE;
    sites_golden("sites-unmarked", 24, 80, true);
    view.sites.mode = PROFILE_LIVE;
    view.sites.filter = (struct profile_filter){ .blocks_min = 1000 };
    sites_golden("sites-few", 24, 80, true);
    session_free(session);
}

/* What each thread has done since the mark: everything for a thread that started since,
   nothing known for one that took another's place. */
static void
threads_are_as_drawn(void **state)
{
    static struct mark mark;
    struct session *session = play_text(running, 2 * SECOND);
    struct thread then = threads[0];

    (void)state;
    view.page = PAGE_THREADS;
    draw(40, 120);
    expect_golden("threads-120x40-utf8");
    mark = (struct mark){ scene.process->run_ns, 0, scene.process->now,
                          scene.process->sizes, scene.process->breakdown };
    then.counters.calls -= 10;
    then.counters.allocated -= 12345;
    then.counters.freed -= 1;
    scene.mark = &mark;
    scene.mark_threads = &then;
    scene.mark_thread_count = 1;
    draw(24, 80);
    expect_golden("threads-marked-80x24-utf8");
    session_free(session);
}

/* Each of a thousand threads can be scrolled to, sorted or not. */
static void
a_thousand_threads_scroll(void **state)
{
    static struct thread many[1000];
    struct session *session = play_text(running, SECOND);
    char line[1024];

    (void)state;
    for (size_t i = 0; i < 1000; i++) {
        many[i].counters = (struct thread_counters){ .tid = 1000 + (pid_t)i,
                                                     .owners = 1,
                                                     .calls = i,
                                                     .place = (unsigned)i + 1 };
        snprintf(many[i].name, sizeof many[i].name, "w%zu", i);
    }
    scene.threads = scene.mark_threads = many;
    scene.thread_count = scene.mark_thread_count = 1000;
    view.page = PAGE_THREADS;
    draw(24, 80);
    view.scroll = view_scroll_limit(&screen, &view, &scene);
    assert_true(view.scroll > 1000 - 24);
    view.scroll = 990;
    for (int sorted = 0; sorted < 2; sorted++) {
        view.sort[PAGE_THREADS] = (struct sort){ (unsigned)sorted, false };
        draw(24, 80);
        canvas_row_text(&screen.canvas, 3 + 9, line);
        assert_non_null(strstr(line, sorted ? " 1000  w0 " : " 1999  w999 "));
    }
    session_free(session);
}

static void
changes_since_the_mark_are_as_drawn(void **state)
{
    static const int sizes[][2] = { { 10, 40 }, { 24, 80 }, { 40, 120 } };
    static struct mark mark;
    char name[64];

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct session *session = play_text(changed, 2 * SECOND);

        mark = (struct mark){ scene.process->run_ns, 0, scene.process->now,
                              scene.process->sizes,
                              scene.process->breakdown };
        session_free(session);
        session = play_text(changed, 7 * SECOND);
        scene.mark = &mark;
        check_sizes();
        draw(sizes[i][0], sizes[i][1]);
        snprintf(name, sizeof name, "marked-%dx%d-utf8", sizes[i][1], sizes[i][0]);
        expect_golden(name);
        session_free(session);
    }
}

/* The moment 2 s into the run at the cursor, with a mark at the beginning. */
static void
moments_of_the_past_are_as_drawn(void **state)
{
    static const int sizes[][2] = { { 3, 20 }, { 10, 40 }, { 24, 80 }, { 40, 120 } };
    static struct process past;
    static struct mark mark;
    char name[64];

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        struct session *session = play_text(changed, 2 * SECOND);

        past = *scene.process;
        session_free(session);
        session = play_text(changed, 0);
        mark = (struct mark){ scene.process->run_ns, 0, scene.process->now,
                              scene.process->sizes,
                              scene.process->breakdown };
        session_free(session);
        session = play_text(changed, 7 * SECOND);
        scene.process = &past;
        scene.mark = &mark;
        view.history = true;
        check_sizes();
        draw(sizes[i][0], sizes[i][1]);
        snprintf(name, sizeof name, "history-%dx%d-utf8", sizes[i][1], sizes[i][0]);
        expect_golden(name);
        session_free(session);
    }
}

/* Wherever the cursor stands, the graphs show that moment. */
static void
the_window_follows_the_cursor(void **state)
{
    struct session *session = play_text(changed, 7 * SECOND);
    static struct process past;

    (void)state;
    past = *scene.process;
    scene.process = &past;
    view.history = true;
    for (scene.shown_ns = SECOND; scene.shown_ns < 7000 * SECOND;
         scene.shown_ns = scene.shown_ns * 7 / 5)
        for (view.window_ns = 0; view.window_ns < 900 * SECOND;
             view.window_ns = view.window_ns * 3 + SECOND)
            for (past.run_ns = 0; past.run_ns <= scene.shown_ns;
                 past.run_ns += scene.shown_ns / 97 + 1) {
                int64_t window = view_window(&view, &scene);
                int64_t right = view_right(&view, &scene);

                assert_true(right - window <= past.run_ns && past.run_ns <= right);
                assert_true(right <= scene.shown_ns);
            }
    past.run_ns = 0;
    view.history = false;
    assert_int_equal(view_right(&view, &scene), scene.shown_ns);
    session_free(session);
}

static void
help_lists_every_key_over_its_pages(void **state)
{
    struct session *session = play_text(running, SECOND);
    int pages;

    (void)state;
    view.help = 1;
    draw(24, 80);
    assert_int_equal(view_help_pages(&screen), 2);
    expect_golden("help-80x24-utf8");
    view.help = 2;
    draw(24, 80);
    expect_golden("help-last-80x24-utf8");
    draw(10, 40);
    pages = view_help_pages(&screen);
    assert_true(pages > 1);
    view.help = pages;
    draw(10, 40);
    expect_golden("help-last-40x10-utf8");
    session_free(session);
}

/* The words after the labels in the lines of the help, one after the other. */
static void
read_help(char *words, size_t size)
{
    char line[16384];
    size_t used = 0;

    words[0] = '\0';
    for (view.help = 1; view.help <= view_help_pages(&screen); view.help++) {
        draw(screen.canvas.rows, screen.canvas.cols);
        for (int row = 1; row < screen.canvas.rows - 1; row++) {
            canvas_row_text(&screen.canvas, row, line);
            if (strlen(line) > 8)
                used += (size_t)snprintf(words + used, size - used, "%s ", line + 8);
            assert_true(used < size);
        }
    }
}

static void
help_is_whole_however_narrow(void **state)
{
    static const int sizes[][2] = { { 10, 40 }, { 24, 80 }, { 7, 30 }, { 12, 25 } };
    struct session *session = play_text(running, SECOND);
    static char words[1 << 16];
    size_t count;
    const struct key *keys = keys_table(&count);

    (void)state;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        draw(sizes[i][0], sizes[i][1]);
        read_help(words, sizeof words);
        for (size_t k = 0; k < count; k++)
            if (keys[k].label[0] != '\0')
                if (strstr(words, keys[k].help) == NULL)
                    fail_msg("%dx%d: %s", sizes[i][1], sizes[i][0], keys[k].help);
    }
    session_free(session);
}

static void
the_interval_is_that_of_the_message(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } intervals[] = { { SECOND, "  1.0 s" }, { SECOND / 2, "  0.5 s" },
                      { SECOND / 4, "  0.25 s" }, { 30 * SECOND, "  30 s" } };
    struct session *session = play_text(running, SECOND);
    char line[16384];

    (void)state;
    for (size_t i = 0; i < sizeof intervals / sizeof *intervals; i++) {
        scene.interval_ns = intervals[i].ns;
        draw(24, 80);
        canvas_row_text(&screen.canvas, 0, line);
        assert_string_equal(line + strlen(line) - strlen(intervals[i].text),
                            intervals[i].text);
    }
    session_free(session);
}

/* Long messages take the lines they need, and all lines can be scrolled to. */
static void
long_messages_are_wrapped(void **state)
{
    struct session *session = play_text(running, 7 * SECOND);

    (void)state;
    view.page = PAGE_MESSAGES;
    draw(10, 40);
    expect_golden("messages-40x10-utf8");
    view.scroll = view_scroll_limit(&screen, &view, &scene);
    assert_int_equal(view.scroll, 6 + 1 + 2 + 1 - view_page_rest(&screen).rows);
    draw(10, 40);
    expect_golden("messages-scrolled-40x10-utf8");
    session_free(session);
}

/* A message that does not fit is shortened by whole parts. */
static void
messages_are_shortened_by_parts(void **state)
{
    struct session *session = play_text(running, SECOND);
    char line[16384];

    (void)state;
    scene.message = "Paused at 1.25; collecting continues, Space resumes";
    draw(10, 60);
    canvas_row_text(&screen.canvas, 8, line);
    assert_string_equal(line, " Paused at 1.25; collecting continues, Space resumes");
    draw(10, 40);
    canvas_row_text(&screen.canvas, 8, line);
    assert_string_equal(line, " Paused at 1.25; collecting continues");
    draw(10, 30);
    canvas_row_text(&screen.canvas, 8, line);
    assert_string_equal(line, " Paused at 1.25");
    scene.message = "Nothing to be left out of this one here";
    draw(10, 30);
    canvas_row_text(&screen.canvas, 8, line);
    assert_string_equal(line, " Nothing to be left out of th\xe2\x80\xa6");
    session_free(session);
}

static void
what_is_typed_is_seen(void **state)
{
    struct session *session = play_text(running, SECOND);
    char line[16384];

    (void)state;
    scene.asks = scene.typing = true;
    scene.message = "Signal to 24817 (Enter for TERM, Esc none): KILL_";
    draw(10, 60);
    canvas_row_text(&screen.canvas, 8, line);
    assert_string_equal(line, " Signal to 24817 (Enter for TERM, Esc none): KILL_");
    draw(10, 40);
    canvas_row_text(&screen.canvas, 8, line);
    assert_string_equal(line, " 24817 (Enter for TERM, Esc none): KILL_");
    session_free(session);
}

/* Number of a graph's cells that change between two drawings, 0.1 s apart. */
static int
changed_cells(int64_t window_ns, int64_t from_ns)
{
    static struct cell before[60 * 200];
    struct session *session = play_text(running, from_ns);
    int64_t first, last;
    int count = 0;

    view.window_ns = window_ns;
    draw(60, 200);
    memcpy(before, screen.canvas.cells, sizeof before);
    session_poll(session, SECOND + from_ns + SECOND / 10, true);
    assert_true(history_span(scene.history, &first, &last));
    scene.shown_ns = last;
    view_draw(&screen, &view, &scene);
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        count += memcmp(&before[i], &screen.canvas.cells[i], sizeof *before) != 0;
    session_free(session);
    return count;
}

/* Young runs fill the window; older ones move now and then. */
static void
graphs_stand_still(void **state)
{
    (void)state;
    assert_in_range(changed_cells(0, 3 * SECOND), 1, 300);
    assert_in_range(changed_cells(5 * SECOND, 15 * SECOND), 1, 300);
}

static void
drawing_twice_gives_the_same(void **state)
{
    struct session *session = play_text(running, 7 * SECOND);
    struct cell *before;
    size_t size;

    (void)state;
    draw(40, 120);
    size = 40 * 120 * sizeof *before;
    before = malloc(size);
    assert_non_null(before);
    memcpy(before, screen.canvas.cells, size);
    view_draw(&screen, &view, &scene);
    assert_memory_equal(before, screen.canvas.cells, size);
    free(before);
    session_free(session);
}

/* Allocations by the code under test and by this test (linked with --wrap). */
static unsigned long allocations;
void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_realloc(void *block, size_t size);

void *
__wrap_malloc(size_t size)
{
    allocations++;
    return __real_malloc(size);
}

void *
__wrap_calloc(size_t count, size_t size)
{
    allocations++;
    return __real_calloc(count, size);
}

void *
__wrap_realloc(void *block, size_t size)
{
    allocations++;
    return __real_realloc(block, size);
}

static void
drawing_allocates_nothing(void **state)
{
    struct session *session = play_text(running, 7 * SECOND);

    (void)state;
    assert_true(picture_resize(&screen, 60, 200));
    allocations = 0;
    for (int page = 0; page < PAGE_COUNT; page++) {
        view.page = (enum page)page;
        view_rescale(&view, &scene);
        view_draw(&screen, &view, &scene);
    }
    assert_int_equal(allocations, 0);
    session_free(session);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_page_fits_every_size),
        cmocka_unit_test(overview_is_as_drawn),
        cmocka_unit_test(a_long_reason_ends_in_an_ellipsis),
        cmocka_unit_test(pages_are_as_drawn),
        cmocka_unit_test(pages_have_figures_in_small_windows),
        cmocka_unit_test(pages_are_as_drawn_in_ascii),
        cmocka_unit_test(rates_without_a_clock),
        cmocka_unit_test(pools_are_as_drawn),
        cmocka_unit_test(processes_are_as_drawn),
        cmocka_unit_test(processes_in_other_orders),
        cmocka_unit_test(picker_is_as_drawn),
        cmocka_unit_test(digits_name_pages),
        cmocka_unit_test(memory_is_as_drawn),
        cmocka_unit_test(memory_that_is_not_known_is_said_so),
        cmocka_unit_test(sites_are_as_drawn),
        cmocka_unit_test(a_site_is_as_drawn),
        cmocka_unit_test(sites_that_are_not_known_are_said_so),
        cmocka_unit_test(threads_are_as_drawn),
        cmocka_unit_test(a_thousand_threads_scroll),
        cmocka_unit_test(changes_since_the_mark_are_as_drawn),
        cmocka_unit_test(moments_of_the_past_are_as_drawn),
        cmocka_unit_test(the_window_follows_the_cursor),
        cmocka_unit_test(help_lists_every_key_over_its_pages),
        cmocka_unit_test(help_is_whole_however_narrow),
        cmocka_unit_test(the_interval_is_that_of_the_message),
        cmocka_unit_test(long_messages_are_wrapped),
        cmocka_unit_test(messages_are_shortened_by_parts),
        cmocka_unit_test(what_is_typed_is_seen),
        cmocka_unit_test(graphs_stand_still),
        cmocka_unit_test(drawing_twice_gives_the_same),
        cmocka_unit_test(drawing_allocates_nothing),
    };
    int failed;

    if (setlocale(LC_ALL, "C.UTF-8") == NULL)
        return 77;
    screen.canvas.unicode = true;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    picture_free(&screen);
    return failed;
}
