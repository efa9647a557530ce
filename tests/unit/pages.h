/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The pages of a scripted process, drawn without a terminal, and compared with goldens.
   Included by tests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "monitor/blocksizes.h"
#include "monitor/tracked.h"
#include "segment/layout.h"
#include "tui/blocks.h"
#include "tui/view.h"
#include "support/script.h"

#define SECOND INT64_C(1000000000)

/* Parts of the names of goldens. */
static const char *const page_names[PAGE_COUNT] = {
    [PAGE_OVERVIEW] = "overview",
    [PAGE_CALLS] = "calls",
    [PAGE_SIZES] = "sizes",
    [PAGE_THREADS] = "threads",
    [PAGE_PROCESSES] = "processes",
    [PAGE_MEMORY] = "memory",
    [PAGE_OUTPUT] = "output",
    [PAGE_MESSAGES] = "messages",
    [PAGE_SITES] = "sites",
    [PAGE_BLOCKS] = "blocks",
};

static struct screen screen;
static struct view view;
static struct scene scene;
static struct sites_shown sites;
static const struct thread threads[] = {
    { { 24817, 1, 1204871, 200u << 20, 180u << 20, 4096, 8192, 8u << 20, 0, 1 }, "prog",
      'R', 12288 },
    { { 24818, 3, 88210, 30u << 20, 1u << 20, 0, 40960, 0, 0, 2 }, "wor\033ker", 'S', 0 },
    { { 24819, 1, 7, 100, 0, 512, 600, 65536, 0, 3 }, "", '\0', 4096 },
};

static struct session *
play(const char *script, int64_t to_ns)
{
    struct session *session = script_session(script);
    int64_t first, last;

    assert_non_null(session);
    assert_true(session_keep_profile(session));
    for (int64_t now = SECOND; now <= SECOND + to_ns; now += SECOND / 2)
        session_poll(session, now, true);
    view = (struct view){0};
    scene = (struct scene){0};
    view.style = screen.canvas.unicode ? GRAPH_BRAILLE : GRAPH_ASCII;
    scene.process = session_process(session);
    scene.history = session_history(session);
    scene.session = session;
    scene.command = session_command(session);
    scene.interval_ns = SECOND;
    scene.threads = threads;
    scene.thread_count = 3;
    scene.output_end = UINT64_MAX;
    scene.message = "Sampling every 1 s";
    if (history_span(scene.history, &first, &last))
        scene.shown_ns = last;
    sites.profile = session_shown(session)->profile;
    if (session_namer(session) != NULL)
        profile_resolve(sites.profile, session_namer(session));
    scene.sites = &sites;
    sites_fill(&sites, &view, -1);
    return session;
}

static char *
script_file(const char *text)
{
    static char name[64];
    int fd;

    strcpy(name, "/tmp/memtop-view-XXXXXX");
    fd = mkstemp(name);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
    return name;
}

static const char running[] =
    "program ./prog --size 100000 \033[31m\xff\n"
    "pid 24817\n"
    "0 heap=10M blocks=200 stack=4K rss=12M rss_anon=11M threads=1 malloc=200"
    " malloc.bytes=10M total=10M size.24=150 size.100=50\n"
    "2000 heap=100M blocks=24537 stack=12K rss=130M rss_anon=120M threads=4"
    " malloc=1204871 malloc.bytes=200M realloc=88210 realloc.bytes=30M calloc=10442"
    " calloc.bytes=50M calloc.failed=2 free=1180334 free.bytes=180M total=280M"
    " size.1=312044 size.24=401882 size.40=288310 size.70=120551 size.300=44110"
    " size.70000=31 children=2\n"
    "4000 heap=60M\n"
    "5000 say calloc failed 2 times\n"
    "6000 heap=62M stack=8K\n"
    "20000 heap=1M\n";

/* The RSS breakdown; from 2 s on all parts are larger, and some memory is not
   resident. */
static const char resident[] =
    "program ./prog\n"
    "pid 24817\n"
    "0 heap=10M rss=20M band.requested=9M band.slack=512K band.held=1M band.mmap=3M"
    " band.files=96K band.stacks=36K band.program=6M band.memtop=240K band.other=4K"
    " band.pss=18M\n"
    "2000 heap=100M rss=130M band.requested=62M band.slack=3M band.held=31M"
    " band.mmap=24M band.files=1M band.stacks=336K band.program=8M band.swap=2M"
    " band.absent=38M band.unsure=7M band.pss=125M\n"
    "20000 heap=1\n";

static const char unmeasured[] =
    "program ./static\n"
    "pid 7\n"
    "0 why statically linked\n"
    "1000 rss=12M rss_anon=8M state=not-measured\n"
    "20000 rss=1M\n";

/* Sampled allocations: three stacks at 1 s, one that grows, and long names. */
static const char sampled[] =
    "program ./server --port 80\n"
    "pid 24817\n"
    "0 heap=10M blocks=200 malloc=200 malloc.bytes=10M\n"
    "0 sites every=512K unwinder=1\n"
    "1000 site size=48K made=400 live=220 peak=230 gone.2=180 born=500"
    " : std::vector<Row, std::allocator<Row> >::push_back(Row const&)@row.h:112"
    " < table_load@table.cc:71 < main@server.c:210 < __libc_start_call_main\n"
    "1000 site size=96 made=40 live=31 peak=31 gone.0=9 born=800"
    " : strdup < config_parse@config.c:33 < main@server.c:190"
    " < __libc_start_call_main\n"
    "1000 site size=4K made=900 live=12 peak=40 gone.0=700 gone.1=188 born=900"
    " : request_new@http.c:51 < accept_loop@http.c:301 < worker@pool.c:12"
    " < start_thread\n"
    "7000 site size=4K made=1200 live=30 peak=40 gone.0=900 gone.1=270 born=900"
    " : request_new@http.c:51 < accept_loop@http.c:301 < worker@pool.c:12"
    " < start_thread\n"
    "7000 sites lost=3 lost_bytes=1500K\n"
    "20000 heap=1M\n";

static struct session *
play_text(const char *text, int64_t to_ns)
{
    char *name = script_file(text);
    struct session *session = play(name, to_ns);

    unlink(name);
    return session;
}

/* The table of exact sizes of a small run: ten blocks of 1000 bytes are made and freed,
   one of 500 stays, there are pulses of 24, and one large block. */
static struct block_table block_table;

static inline void
count_blocks(void)
{
    struct counts counts;
    struct blocksizes *blocks;
    struct block_call call = {.kind = FN_MALLOC};

    counts_default(&counts);
    blocks = blocksizes_new(&counts, 1);
    assert_non_null(blocks);
    for (uint64_t i = 0; i < 40; i++) {
        call.time_ns = i * 10000000;
        call.address = 16 * (i + 1);
        call.size = i < 10 ? 1000 : i == 10 ? 500 : i == 39 ? 123456789 : 24;
        call.kind = FN_MALLOC;
        assert_true(blocksizes_call(blocks, &call));
        call.kind = FN_FREE;
        call.time_ns += i < 10 ? 0 : 3000000;
        if (i > 10 && i < 39) /* all at the same time */
            assert_true(blocksizes_call(blocks, &call));
        call.address = 16 * (i - 14);
        if (i >= 15 && i < 25) /* the blocks of 1000 bytes */
            assert_true(blocksizes_call(blocks, &call));
    }
    blocksizes_pass(blocks, 500000000);
    assert_true(blocks_take(&block_table, blocks, 0));
    blocks_arrange(&block_table, &view.sort[PAGE_BLOCKS], view.sizes_shown);
    scene.blocks = &block_table;
    blocksizes_free(blocks);
}

static void
draw(int rows, int cols)
{
    assert_true(picture_resize(&screen, rows, cols));
    view_rescale(&view, &scene);
    view_draw(&screen, &view, &scene);
}

/* Goldens must not depend on the version. */
static void
hide_version(char *line)
{
    char *version = strstr(line, PACKAGE_VERSION);

    if (version != NULL) {
        memmove(version + 1, version + strlen(PACKAGE_VERSION),
                strlen(version + strlen(PACKAGE_VERSION)) + 1);
        *version = 'V';
    }
}

/* Compares the screen with tests/golden/NAME; MEMTOP_GOLDEN=write writes it. */
static void
expect_golden(const char *name)
{
    const char *directory = getenv("srcdir");
    char path[512], line[16384], expected[16384];
    bool writing = getenv("MEMTOP_GOLDEN") != NULL;
    FILE *file;

    snprintf(path, sizeof path, "%s/tests/golden/%s", directory != NULL ? directory : ".",
             name);
    file = fopen(path, writing ? "w" : "r");
    assert_non_null(file);
    assert_true(canvas_row_bytes(&screen.canvas) <= sizeof line);
    for (int row = 0; row < screen.canvas.rows; row++) {
        canvas_row_text(&screen.canvas, row, line);
        hide_version(line);
        if (writing) {
            fprintf(file, "%s\n", line);
            continue;
        }
        assert_non_null(fgets(expected, sizeof expected, file));
        expected[strcspn(expected, "\n")] = '\0';
        assert_string_equal(line, expected);
    }
    assert_int_equal(fclose(file), 0);
}
