/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Texts in a picture, their positions, and the PNG made from it. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake-process.h"
#include "report/plot-layout.h"
#include "report/png.h"

#define SECOND INT64_C(1000000000)
#define MIB    (UINT64_C(1) << 20)

static struct history *history;

static int
setup(void **state)
{
    history = history_new(64);
    return history == NULL || fake_reset(state) != 0;
}

static int
teardown(void **state)
{
    (void)state;
    history_free(history);
    return 0;
}

static void
push(int64_t time_ns, uint64_t heap, uint64_t stack, uint64_t rss)
{
    const struct sample sample = {
        .time_ns = time_ns,
        .max = {[SERIES_HEAP] = heap, [SERIES_STACK] = stack, [SERIES_RSS] = rss},
        .last = {[SERIES_HEAP] = heap, [SERIES_STACK] = stack, [SERIES_RSS] = rss},
    };

    history_push(history, &sample);
    fake.run_ns = time_ns;
}

static struct plot *
plotted(int width, int height)
{
    const struct plot_options options = {.width = width, .height = height};
    struct plot *plot = plot_new(&fake, history, "./prog\033 жук\xff", &options);

    assert_non_null(plot);
    return plot;
}

/* A font in which every character is half as wide as high. */
static int
ruler_width(void *context, const char *text, int height)
{
    (void)context;
    return (int)strlen(text) * height / 2;
}

static const struct plot_ruler ruler = {ruler_width, NULL};

static void
scales_are_round(void **state)
{
    static const struct {
        double highest;
        unsigned most;
        enum unit unit;
        double step;
        unsigned intervals;
    } cases[] = {
        {0, 5, UNIT_AUTO, 1, 1},
        {1, 5, UNIT_AUTO, 1, 1},
        {180, 5, UNIT_AUTO, 40, 5},
        {1300, 5, UNIT_AUTO, 1024 * 0.4, 4},
        {248.3 * 1048576, 5, UNIT_AUTO, 50.0 * 1048576, 5},
        {248.3 * 1048576, 4, UNIT_AUTO, 80.0 * 1048576, 4},
        {248.3 * 1048576, 1, UNIT_AUTO, 400.0 * 1048576, 1},
        {1e6, 5, UNIT_AUTO | UNIT_SI, 2e5, 5},
        {1.8e19, 5, UNIT_AUTO, 4 * 1152921504606846976.0, 4},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct plot_scale scale
            = plot_scale_new(cases[i].highest, cases[i].most, cases[i].unit);
        double off = scale.step / cases[i].step - 1;

        assert_true(off < 1e-9 && off > -1e-9);
        assert_int_equal(scale.intervals, cases[i].intervals);
        assert_true(plot_scale_top(&scale) >= cases[i].highest * (1 - 1e-9));
    }
}

static void
matched_scale_shares_the_grid(void **state)
{
    struct plot_scale scale = plot_scale_match(100, 5, UNIT_AUTO);

    (void)state;
    assert_int_equal(scale.intervals, 5);
    assert_true(scale.step == 20);
    scale = plot_scale_match(0, 7, UNIT_AUTO);
    assert_int_equal(scale.intervals, 7);
}

static void
time_steps_are_round(void **state)
{
    (void)state;
    assert_true(plot_time_step(144 * SECOND, 10) == 15 * SECOND);
    assert_true(plot_time_step(10 * SECOND, 11) == SECOND);
    assert_true(plot_time_step(20000000, 11) == 2000000);
    assert_true(plot_time_step(3 * 3600 * SECOND, 5) == 3600 * SECOND);
    assert_true(plot_time_step(30 * 86400 * SECOND, 8) == 5 * 86400 * SECOND);
    assert_true(plot_time_step(0, 0) > 0);
    assert_true(plot_time_step(INT64_MAX, 1) > 0);
}

static void
text_of_a_picture(void **state)
{
    struct plot *plot;

    (void)state;
    push(SECOND, 5 * MIB, 4096, 8 * MIB);
    push(2 * SECOND, 3 * MIB, 4096, 8 * MIB);
    fake.state = STATE_EXITED;
    fake.wait_status = 3 << 8;
    fake.now.peak_bytes = 5 * MIB;
    fake.now.total_bytes = 6 * MIB;
    fake_calls(FN_MALLOC, 100, 7);
    fake_calls(FN_VALLOC, 100, 1);
    plot = plotted(0, 0);
    assert_int_equal(plot->width, PLOT_WIDTH);
    assert_int_equal(plot->height, PLOT_HEIGHT);
    assert_string_equal(plot->title, "./prog? жук?");
    assert_string_equal(plot->subtitle, "pid 24817, exit status 3 after 2s, heap peak "
                                        "5.000 MiB, total 6.000 MiB");
    assert_string_equal(plot->note, "");
    assert_true(plot->has_peak);
    assert_string_equal(plot->peak_text, "peak 5.000 MiB");
    assert_true(plot->peak_at == SECOND);
    assert_int_equal(plot->row_count, 6);
    assert_string_equal(plot->rows[1].cells[0], "malloc");
    assert_string_equal(plot->rows[1].cells[1], "7");
    assert_string_equal(plot->rows[1].cells[2], "700 B");
    assert_string_equal(plot->rows[4].cells[3], ""); /* free cannot fail */
    assert_string_equal(plot->rows[5].cells[0], "valloc");
    assert_int_equal(plot->ranges[3].allocated, 8);
    assert_string_equal(plot->series[PLOT_RSS].legend, "RSS");
    plot_free(plot);
}

static void
state_of_the_end(void **state)
{
    struct plot *plot;

    (void)state;
    fake.state = STATE_KILLED;
    fake.wait_status = 11;
    fake.run_ns = 144 * SECOND;
    fake.measured = false;
    strcpy(fake.why_not, "statically linked");
    plot = plotted(0, 0);
    assert_string_equal(plot->subtitle, "pid 24817, killed by signal 11 after 00:02:24");
    assert_string_equal(plot->note, "not measured: statically linked");
    assert_int_equal(plot->row_count, 0);
    plot_free(plot);
}

static void
rss_does_not_flatten_the_heap(void **state)
{
    struct plot *plot;
    struct plot_layout layout;

    (void)state;
    push(SECOND, MIB, 4096, 80 * MIB);
    plot = plotted(0, 0);
    assert_true(plot->series[PLOT_RSS].off_scale);
    assert_string_equal(plot->series[PLOT_RSS].legend,
                        "RSS up to 80.00 MiB, off the scale");
    plot_layout_new(plot, &ruler, &layout);
    assert_true(plot_scale_top(&layout.left) < 2 * MIB);
    plot_free(plot);
}

static void
unknown_is_not_zero(void **state)
{
    struct plot *plot;

    (void)state;
    push(SECOND, HISTORY_UNKNOWN, HISTORY_UNKNOWN, 4 * MIB);
    plot = plotted(0, 0);
    assert_false(plot->series[PLOT_HEAP].drawn);
    assert_true(plot->series[PLOT_RSS].drawn);
    assert_false(plot->series[PLOT_RSS].off_scale);
    assert_false(plot->has_peak);
    assert_string_equal(plot->note, "no samples");
    plot_free(plot);
}

static void
first_sample_reaches_back_to_the_start(void **state)
{
    struct plot *plot;

    (void)state;
    push(SECOND, MIB, 0, 0);
    push(2 * SECOND, 2 * MIB, 0, 0);
    plot = plotted(100, 100);
    assert_true(plot->series[PLOT_HEAP].columns[0].known);
    assert_true(plot->series[PLOT_HEAP].columns[0].max == MIB);
    plot_free(plot);
}

static void
late_first_sample_leaves_a_gap(void **state)
{
    struct plot *plot;

    (void)state;
    push(3600 * SECOND, MIB, 0, 0);
    push(3601 * SECOND, MIB, 0, 0);
    plot = plotted(100, 100);
    assert_false(plot->series[PLOT_HEAP].columns[0].known);
    plot_free(plot);
}

/* The unit at the end of a label. */
static const char *
unit_of(const struct plot_tick *tick)
{
    return tick->label + strspn(tick->label, "0123456789.");
}

static void
times_have_one_unit(void **state)
{
    static const int64_t spans[] = {30000, 4000000, 130000000, 260000000, 990000000,
                                    1100000000, 9 * SECOND, 75 * SECOND, 144 * SECOND};

    (void)state;
    for (size_t i = 0; i < sizeof spans / sizeof spans[0]; i++) {
        struct plot_layout layout;
        struct plot *plot;

        push(spans[i], MIB, 0, MIB);
        plot = plotted(800, 600);
        plot_layout_new(plot, &ruler, &layout);
        assert_true(layout.x_count > 2);
        for (unsigned k = 1; k < layout.x_count; k++) {
            assert_string_equal(unit_of(&layout.x[k]), unit_of(&layout.x[0]));
            assert_string_not_equal(layout.x[k].label, layout.x[k - 1].label);
        }
        plot_free(plot);
    }
}

static void
check_inside(const struct plot *plot, const struct plot_box *box)
{
    if (box->width == 0)
        return;
    assert_true(box->x >= 0 && box->y >= 0 && box->width > 0 && box->height > 0);
    assert_true(box->x + box->width <= plot->width);
    assert_true(box->y + box->height <= plot->height);
}

static bool
overlap(const struct plot_box *a, const struct plot_box *b)
{
    return a->width > 0 && b->width > 0 && a->x < b->x + b->width
           && b->x < a->x + a->width && a->y < b->y + b->height
           && b->y < a->y + a->height;
}

static void
check_layout(const struct plot *plot)
{
    struct plot_layout layout;

    plot_layout_new(plot, &ruler, &layout);
    assert_true(layout.chart.width > 0 && layout.chart.height > 0);
    check_inside(plot, &layout.chart);
    check_inside(plot, &layout.table);
    check_inside(plot, &layout.ranges);
    assert_false(overlap(&layout.chart, &layout.table));
    assert_false(overlap(&layout.chart, &layout.ranges));
    assert_false(overlap(&layout.table, &layout.ranges));
    assert_true(layout.y_count <= PLOT_TICKS_MAX && layout.x_count <= PLOT_TICKS_MAX);
    for (unsigned i = 1; i < layout.y_count; i++)
        assert_true(layout.y[i].at < layout.y[i - 1].at);
    for (unsigned i = 1; i < layout.x_count; i++)
        assert_true(layout.x[i].at > layout.x[i - 1].at);
    for (unsigned i = 0; i < PLOT_LINES; i++)
        for (int x = 0; x < layout.chart.width; x += 7)
            if (plot_pixel(plot, &layout, i, x).known)
                assert_true(plot_pixel(plot, &layout, i, x).max
                            <= plot->series[i].highest);
}

static void
every_size_has_its_layout(void **state)
{
    static const uint64_t heights[] = {0, 1, 1300, 248 * MIB, UINT64_MAX - 1};

    (void)state;
    for (size_t i = 0; i < sizeof heights / sizeof heights[0]; i++) {
        push((int64_t)(i + 1) * 10 * SECOND, heights[i], heights[i] / 7,
             heights[i] / 3 * 2);
        for (int width = 1; width < 2000; width += 83)
            for (int height = 1; height < 1400; height += 97) {
                struct plot *plot = plotted(width, height);

                check_layout(plot);
                plot_free(plot);
            }
    }
}

static void
coordinates(void **state)
{
    struct plot *plot;
    struct plot_layout layout;
    double bottom;

    (void)state;
    push(SECOND, 90 * MIB, 100, MIB);
    push(10 * SECOND, 100 * MIB, 100, MIB);
    plot = plotted(0, 0);
    plot_layout_new(plot, &ruler, &layout);
    bottom = layout.chart.y + layout.chart.height;
    assert_true(plot_y(&layout, &layout.left, 0) == bottom);
    assert_true(plot_y(&layout, &layout.left, UINT64_MAX) == layout.chart.y);
    assert_true(plot_y(&layout, &layout.left, 100 * MIB) > layout.chart.y);
    assert_true(plot_x(plot, &layout, 0) == layout.chart.x);
    assert_true(plot_x(plot, &layout, INT64_MAX) == layout.chart.x + layout.chart.width);
    assert_true(plot_pixel(plot, &layout, PLOT_HEAP, 0).max == 90 * MIB);
    assert_true(plot_pixel(plot, &layout, PLOT_HEAP, layout.chart.width - 1).max
                == 100 * MIB);
    plot_free(plot);
}

/* A spike in one column is visible at every width. */
static void
spikes_survive(void **state)
{
    struct plot *plot;
    struct plot_layout layout;
    uint64_t highest = 0;

    (void)state;
    for (int i = 1; i <= 60; i++)
        push(i * SECOND, i == 31 ? 100 * MIB : MIB, 0, 0);
    plot = plotted(400, 300);
    plot_layout_new(plot, &ruler, &layout);
    for (int x = 0; x < layout.chart.width; x++)
        if (plot_pixel(plot, &layout, PLOT_HEAP, x).max > highest)
            highest = plot_pixel(plot, &layout, PLOT_HEAP, x).max;
    assert_true(highest == 100 * MIB);
    plot_free(plot);
}

#ifdef HAVE_GD
static char module[] = PNG_MODULE;

static void
check_png(const char *path, uint32_t width, uint32_t height)
{
    unsigned char head[24];
    FILE *file = fopen(path, "r");

    assert_non_null(file);
    assert_int_equal(fread(head, 1, sizeof head, file), sizeof head);
    fclose(file);
    assert_memory_equal(head, "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", 16);
    assert_int_equal(head[18] << 8 | head[19], width);
    assert_int_equal(head[22] << 8 | head[23], height);
}

static void
png_is_written_once(void **state)
{
    char directory[] = "/tmp/memtop-plot-XXXXXX";
    char path[64], error[256] = "";
    struct plot *plot;
    struct stat before, after;

    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/a.png", directory);
    push(SECOND, MIB, 4096, MIB);
    plot = plotted(320, 200);
    assert_true(png_write(plot, module, path, false, error, sizeof error));
    check_png(path, 320, 200);
    assert_int_equal(stat(path, &before), 0);
    assert_false(png_write(plot, module, path, false, error, sizeof error));
    assert_non_null(strstr(error, "a.png"));
    assert_non_null(strstr(error, strerror(EEXIST)));
    assert_int_equal(stat(path, &after), 0);
    assert_int_equal(before.st_size, after.st_size);
    plot_free(plot);
    unlink(path);
    rmdir(directory);
}

static void
png_of_nothing_and_of_anything(void **state)
{
    static const int sizes[][2] = {
        {100, 80}, {0, 0}, {1200, 400}, {333, 777}, {2000, 90}};
    char directory[] = "/tmp/memtop-plot-XXXXXX";
    char path[64], error[256];

    (void)state;
    assert_non_null(mkdtemp(directory));
    snprintf(path, sizeof path, "%s/a.png", directory);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        for (int filled = 0; filled < 2; filled++) {
            struct plot *plot = plotted(sizes[i][0], sizes[i][1]);

            assert_true(png_write(plot, module, path, false, error, sizeof error));
            check_png(path, (uint32_t)plot->width, (uint32_t)plot->height);
            unlink(path);
            plot_free(plot);
            push((int64_t)(i + 1) * SECOND, UINT64_MAX >> (i * 12 + 1), MIB << i, MIB);
        }
    rmdir(directory);
}

static void
png_cannot_be_written(void **state)
{
    char error[256];
    struct plot *plot = plotted(0, 0);

    (void)state;
    assert_false(png_write(plot, module, "/proc/nonexistent/\033.png", false, error,
                           sizeof error));
    assert_non_null(strstr(error, "/proc/nonexistent/?.png"));
    plot_free(plot);
}
#endif

static void
png_without_its_module(void **state)
{
    char error[256] = "";
    struct plot *plot = plotted(0, 0);

    (void)state;
    assert_false(png_write(plot, NULL, "/tmp/never.png", false, error, sizeof error));
    assert_string_equal(error,
                        "memtop-png.so is not installed: memtop cannot draw pictures");
    assert_false(
        png_write(plot, "/nonexistent.so", "/tmp/never.png", false, error, sizeof error));
    assert_non_null(strstr(error, "/nonexistent.so"));
    assert_int_equal(access("/tmp/never.png", F_OK), -1);
    plot_free(plot);
}

int
main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(scales_are_round),
        cmocka_unit_test(matched_scale_shares_the_grid),
        cmocka_unit_test(time_steps_are_round),
        cmocka_unit_test_setup_teardown(times_have_one_unit, setup, teardown),
        cmocka_unit_test_setup_teardown(text_of_a_picture, setup, teardown),
        cmocka_unit_test_setup_teardown(state_of_the_end, setup, teardown),
        cmocka_unit_test_setup_teardown(rss_does_not_flatten_the_heap, setup, teardown),
        cmocka_unit_test_setup_teardown(unknown_is_not_zero, setup, teardown),
        cmocka_unit_test_setup_teardown(first_sample_reaches_back_to_the_start, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(late_first_sample_leaves_a_gap, setup, teardown),
        cmocka_unit_test_setup_teardown(every_size_has_its_layout, setup, teardown),
        cmocka_unit_test_setup_teardown(coordinates, setup, teardown),
        cmocka_unit_test_setup_teardown(spikes_survive, setup, teardown),
        cmocka_unit_test_setup_teardown(png_without_its_module, setup, teardown),
#ifdef HAVE_GD
        cmocka_unit_test_setup_teardown(png_is_written_once, setup, teardown),
        cmocka_unit_test_setup_teardown(png_of_nothing_and_of_anything, setup, teardown),
        cmocka_unit_test_setup_teardown(png_cannot_be_written, setup, teardown),
#endif
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
