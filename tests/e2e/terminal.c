/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What memtop sends to its terminal, as a terminal emulator (libvterm) sees it:
   attributes, double width, bytes per frame, no flicker, answers to keys, and the
   terminal restored.  Needs ./memtop-scripted. */
#include "config.h"

#include <errno.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <cmocka.h>
#include <vterm.h>

#define MS       INT64_C(1000000)
#define CAP_MS   50000   /* waits at most; slow, the next sample would come later */
#define QUIET_MS 500     /* silence that counts as the end of output */
#define KEPT     (1 << 20)

static struct {
    pid_t pid;
    int master;
    VTerm *vterm;
    VTermScreen *screen;
    int rows, cols;
    bool alternate;
    char sent[KEPT];      /* what memtop has sent since mark() */
    size_t sent_length;
} terminal;

static int64_t
now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / MS;
}

static int
set_property(VTermProp property, VTermValue *value, void *user)
{
    (void)user;
    if (property == VTERM_PROP_ALTSCREEN)
        terminal.alternate = value->boolean != 0;
    return 1;
}

static const VTermScreenCallbacks callbacks = { .settermprop = set_property };

static char script_name[] = "/tmp/memtop-terminal-XXXXXX";

static void
write_script(const char *text)
{
    FILE *file = fopen(script_name, "w");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fclose(file), 0);
}

/* Starts memtop on the script; more arguments may follow, ended by NULL. */
static void
start(int rows, int cols, const char *no_color, const char *const arguments[])
{
    struct winsize size = { .ws_row = (unsigned short)rows,
                            .ws_col = (unsigned short)cols };
    char source[128];
    const char *argv[16] = { "./memtop-scripted", source };

    snprintf(source, sizeof source, "--source=script:%s", script_name);
    for (int i = 0; arguments[i] != NULL; i++)
        argv[2 + i] = arguments[i];
    terminal.rows = rows;
    terminal.cols = cols;
    terminal.sent_length = 0;
    terminal.alternate = false;
    terminal.vterm = vterm_new(rows, cols);
    assert_non_null(terminal.vterm);
    vterm_set_utf8(terminal.vterm, 1);
    terminal.screen = vterm_obtain_screen(terminal.vterm);
    vterm_screen_set_callbacks(terminal.screen, &callbacks, NULL);
    vterm_screen_enable_altscreen(terminal.screen, 1);
    vterm_screen_reset(terminal.screen, 1);
    terminal.pid = forkpty(&terminal.master, NULL, NULL, &size);
    assert_true(terminal.pid >= 0);
    if (terminal.pid == 0) {
        setenv("TERM", "xterm-256color", 1);
        setenv("LC_ALL", "C.UTF-8", 1);
        if (no_color != NULL)
            setenv("NO_COLOR", no_color, 1);
        else
            unsetenv("NO_COLOR");
        unsetenv("LANGUAGE");
        execv(argv[0], (char *const *)argv);
        _exit(127);
    }
}

/* Takes what memtop sends, until there is silence for ms milliseconds; returns false
   once the terminal is closed. */
static bool
receive(int ms)
{
    struct pollfd source = { .fd = terminal.master, .events = POLLIN };
    char bytes[4096];
    ssize_t got;

    if (poll(&source, 1, ms) <= 0)
        return true;
    got = read(terminal.master, bytes, sizeof bytes);
    if (got <= 0)
        return false;
    vterm_input_write(terminal.vterm, bytes, (size_t)got);
    if (terminal.sent_length + (size_t)got <= sizeof terminal.sent) {
        memcpy(terminal.sent + terminal.sent_length, bytes, (size_t)got);
        terminal.sent_length += (size_t)got;
    }
    return true;
}

static VTermScreenCell
cell_at(int row, int col)
{
    const VTermPos position = { row, col };
    VTermScreenCell cell;

    assert_true(vterm_screen_get_cell(terminal.screen, position, &cell));
    return cell;
}

/* The position of the text on the screen (ASCII only). */
static bool
find(const char *text, int *at_row, int *at_col)
{
    int length = (int)strlen(text);

    for (int row = 0; row < terminal.rows; row++)
        for (int col = 0; col + length <= terminal.cols; col++) {
            int i = 0;

            while (i < length && cell_at(row, col + i).chars[0] == (uint32_t)text[i])
                i++;
            if (i == length) {
                *at_row = row;
                *at_col = col;
                return true;
            }
        }
    return false;
}

#define RECEIVE_UNTIL(condition, what)                                                   \
    do {                                                                                 \
        for (int64_t since = now_ms(); !(condition);)                                    \
            if (now_ms() - since > CAP_MS || !receive(20))                               \
                fail_msg("in vain: %s", what);                                           \
    } while (0)

/* Waits for the text; returns how many ms that took. */
static int64_t
wait_for(const char *text)
{
    int64_t begin = now_ms();
    int row, col;

    RECEIVE_UNTIL(find(text, &row, &col), text);
    return now_ms() - begin;
}

/* Does memtop send nothing for a while? */
static bool
is_quiet(void)
{
    size_t before = terminal.sent_length;

    assert_true(receive(QUIET_MS));
    return terminal.sent_length == before;
}

static VTermScreenCell
cell_of(const char *text)
{
    int row, col;

    wait_for(text);
    assert_true(find(text, &row, &col));
    return cell_at(row, col);
}

static void
type(const char *keys)
{
    assert_int_equal(write(terminal.master, keys, strlen(keys)), (ssize_t)strlen(keys));
}

static bool
was_sent(const char *bytes)
{
    return memmem(terminal.sent, terminal.sent_length, bytes, strlen(bytes)) != NULL;
}

/* Ends memtop and returns its wait status. */
static int
finish(void)
{
    int64_t begin = now_ms();
    int status;

    type("q");
    while (receive(20))
        if (now_ms() - begin > CAP_MS)
            kill(terminal.pid, SIGKILL);
    assert_int_equal(waitpid(terminal.pid, &status, 0), terminal.pid);
    close(terminal.master);
    vterm_free(terminal.vterm);
    return status;
}

static const char *const slow[] = { "-i", "60", NULL };
static const char *const fast[] = { "-i", "0.1", NULL };

static void
roles_have_their_attributes(void **state)
{
    VTermScreenCell cell;

    (void)state;
    write_script("program ./prog\npid 7\n0 heap=10M malloc=200 calloc.failed=2\n");
    start(24, 80, NULL, slow);
    cell = cell_of("./prog");
    assert_true(cell.attrs.bold);
    wait_for("calloc");
    type(" ");
    cell = cell_of("PAUSED");
    assert_true(cell.attrs.reverse);
    cell = cell_of("Failed calls");
    assert_true(cell.attrs.reverse);
    assert_true(VTERM_COLOR_IS_INDEXED(&cell.fg) && !VTERM_COLOR_IS_DEFAULT_FG(&cell.fg));
    /* The background is not changed. */
    cell = cell_of("Live");
    assert_true(VTERM_COLOR_IS_DEFAULT_BG(&cell.bg));
    assert_int_equal(finish(), 0);
}

static void
no_color_leaves_attributes_only(void **state)
{
    VTermScreenCell cell;

    (void)state;
    write_script("program ./prog\npid 7\n0 heap=10M malloc=200 calloc.failed=2\n");
    start(24, 80, "1", slow);
    cell = cell_of("Failed calls");
    assert_true(cell.attrs.reverse);
    for (int row = 0; row < 24; row++)
        for (int col = 0; col < 80; col++) {
            cell = cell_at(row, col);
            assert_true(VTERM_COLOR_IS_DEFAULT_FG(&cell.fg));
            assert_true(VTERM_COLOR_IS_DEFAULT_BG(&cell.bg));
        }
    assert_int_equal(finish(), 0);
}

static void
double_width_keeps_columns(void **state)
{
    int row, col;

    (void)state;
    write_script("program ./漢字 прог\npid 7\n0 heap=10M malloc=200\n");
    start(24, 80, NULL, slow);
    wait_for("pid 7");
    assert_true(find("./", &row, &col));
    assert_int_equal(cell_at(row, col + 2).chars[0], 0x6f22);
    assert_int_equal(cell_at(row, col + 2).width, 2);
    assert_int_equal(cell_at(row, col + 4).chars[0], 0x5b57);
    assert_int_equal(cell_at(row, col + 7).chars[0], 0x43f);
    assert_int_equal(finish(), 0);
}

static void
frames_are_small_and_never_clear(void **state)
{
    char script[8192];
    size_t used = (size_t)snprintf(script, sizeof script, "program ./prog\npid 7\n");
    int64_t begin;

    (void)state;
    for (int i = 0; i < 60; i++)
        used += (size_t)snprintf(script + used, sizeof script - used,
                                 "%d heap=%dM stack=%dK malloc=%d malloc.bytes=%dM\n",
                                 i * 100, 10 + i * i % 50, 4 + i % 7, 200 * (i + 1), i);
    write_script(script);
    start(60, 200, NULL, fast);
    wait_for("Sampling every 0.1 s");
    terminal.sent_length = 0;
    for (begin = now_ms(); now_ms() - begin < 2000;)
        assert_true(receive(20));
    assert_true(terminal.sent_length > 0);
    /* Twenty frames of moving graphs; a full screen is 200x60 cells. */
    assert_true(terminal.sent_length < 20 * 6000);
    assert_false(was_sent("\033[2J"));
    assert_false(was_sent("\033[J"));
    printf("%zu bytes in 2 s of 10 frames a second at 200x60\n", terminal.sent_length);
    assert_int_equal(finish(), 0);
}

static void
nothing_new_sends_nothing(void **state)
{
    (void)state;
    write_script("program ./prog\npid 7\n0 heap=10M malloc=200\n");
    start(24, 80, NULL, slow);
    wait_for("pid 7");
    /* The fast samples of the first second may still change something. */
    RECEIVE_UNTIL(is_quiet(), "silence");
    assert_int_equal(finish(), 0);
}

static void
keys_are_answered_between_samples(void **state)
{
    (void)state;
    write_script("program ./prog\npid 7\n0 heap=10M malloc=200\n");
    start(24, 80, NULL, slow);
    wait_for("pid 7");
    type("?");
    printf("key to screen: %d ms\n", (int)wait_for("any key: more"));
    type("q");
    assert_int_equal(finish(), 0);
}

static void
terminal_is_given_back(void **state)
{
    (void)state;
    write_script("program ./prog\npid 7\n0 heap=10M malloc=200\n100 exit=3\n");
    start(24, 80, NULL, fast);
    wait_for("EXITED 3");
    assert_true(terminal.alternate);
    assert_true(was_sent("\033[?25l"));
    terminal.sent_length = 0;
    type("q");
    RECEIVE_UNTIL(!terminal.alternate, "the other screen");
    RECEIVE_UNTIL(was_sent("\033[?25h") || was_sent("\033[?12l\033[?25h"), "the cursor");
    assert_int_equal(WEXITSTATUS(finish()), 3);
}

static void
first_picture_comes_at_once(void **state)
{
    int64_t begin = now_ms();

    (void)state;
    write_script("program ./prog\npid 7\n0 heap=10M malloc=200\n");
    start(24, 80, NULL, slow);
    wait_for("Sampling every 60 s");
    printf("first picture: %d ms\n", (int)(now_ms() - begin));
    assert_int_equal(finish(), 0);
}

/* Sends a press of a mouse button, as the terminal reports it if asked: 1 is the left
   button, 4 and 5 are the wheel. */
static void
press(int button, int row, int col)
{
    char bytes[64];
    size_t count;

    vterm_mouse_move(terminal.vterm, row, col, VTERM_MOD_NONE);
    vterm_mouse_button(terminal.vterm, button, true, VTERM_MOD_NONE);
    vterm_mouse_button(terminal.vterm, button, false, VTERM_MOD_NONE);
    count = vterm_output_read(terminal.vterm, bytes, sizeof bytes);
    assert_int_equal(write(terminal.master, bytes, count), (ssize_t)count);
}

static void
click_on(const char *text)
{
    int row, col;

    wait_for(text);
    assert_true(find(text, &row, &col));
    press(1, row, col + 1);
}

static void
mouse_does_what_keys_do(void **state)
{
    (void)state;
    write_script("program ./prog\npid 7\n0 heap=10M malloc=200\n"
                 "300 heap=20M\n600 heap=30M\n");
    start(24, 80, NULL, fast);
    wait_for("30.00 MiB");
    /* Mouse events are off until they are asked for. */
    assert_false(was_sent("\033[?1006;1000h"));
    type("m");
    wait_for("Mouse on");
    assert_true(was_sent("\033[?1006;1000h"));
    click_on(" Calls ");
    wait_for("posix_memalign");
    type("1");
    click_on("Space Pause");
    wait_for("PAUSED");
    click_on("Space Pause");
    wait_for("live again");
    /* The wheel zooms; a click into the middle of the graph shows the past. */
    press(4, 7, 40);
    wait_for("The graphs show");
    press(1, 7, 12);
    wait_for("HISTORY");
    type("\033");
    wait_for("live again");
    click_on("q Quit");
    assert_int_equal(finish(), 0);
    assert_true(was_sent("\033[?1006;1000l"));
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(roles_have_their_attributes),
        cmocka_unit_test(no_color_leaves_attributes_only),
        cmocka_unit_test(double_width_keeps_columns),
        cmocka_unit_test(frames_are_small_and_never_clear),
        cmocka_unit_test(nothing_new_sends_nothing),
        cmocka_unit_test(keys_are_answered_between_samples),
        cmocka_unit_test(terminal_is_given_back),
        cmocka_unit_test(first_picture_comes_at_once),
        cmocka_unit_test(mouse_does_what_keys_do),
    };
    int descriptor = mkstemp(script_name);
    int failed;

    if (descriptor < 0)
        return 99;
    close(descriptor);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(script_name);
    return failed;
}
