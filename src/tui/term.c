/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The terminal.  There is only one, so its state is static.
 *
 * Curses is used for terminfo, for decoding keys and for finding the shortest way from
 * one screen to the next.  Changed parts of the canvas are handed to it row by row.
 */
#include "config.h"

#include "tui/term.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#define NCURSES_WIDECHAR 1
#include <curses.h>
#include <term.h>
/* Curses defines these macros; memtop uses the names. */
#undef columns
#undef lines

#include "base/i18n.h"
#include "tui/crash.h"
#include "tui/keys.h"

#define ESCAPE_DELAY_MS 25
#define COLOR_DEFAULT   (-1)
#define MAX_ROWS        500
#define MAX_COLS        1000

static struct {
    bool open;
    bool plain;                 /* no curses: lines and keys only */
    int fd;
    FILE *in, *out;
    SCREEN *screen;
    bool colour;
    struct termios before;
    struct canvas shown;        /* what the terminal shows */
    bool forget;
    char restore[256];          /* bytes that make the terminal leave the display */
    size_t restore_length;
    bool mouse;
    int mouse_row, mouse_col;   /* of the latest mouse event */
} term = { .fd = -1 };

static const struct {
    short colour;
    attr_t attributes, mono;
} roles[] = {
#define X(id, colour, attributes, mono) { COLOR_##colour, attributes, mono },
    ROLES(X)
#undef X
};

static bool
can_address_cursor(const char *name, int fd)
{
    int error;
    bool able;
    const char *cup;

    if (setupterm(name, fd, &error) != OK)
        return false;
    cup = tigetstr("cup");
    able = cup != NULL && cup != (char *)-1;
    del_curterm(cur_term);
    return able;
}

bool
term_usable(bool plain, char *why, size_t size)
{
    const char *name = getenv("TERM");
    int fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    bool usable = false;

    if (fd < 0)
        snprintf(why, size, "%s", _("there is no terminal"));
    else if (tcgetpgrp(fd) != getpgrp())
        snprintf(why, size, "%s", _("running in the background"));
    else if (plain)
        usable = true;
    else if (name == NULL || *name == '\0')
        snprintf(why, size, "%s", _("the variable TERM is not set"));
    else if (!can_address_cursor(name, fd))
        snprintf(why, size, _("terminal '%s' cannot show the display"), name);
    else
        usable = true;
    if (fd >= 0)
        close(fd);
    return usable;
}

static int
keep_byte(int byte)
{
    if (term.restore_length < sizeof term.restore)
        term.restore[term.restore_length++] = (char)byte;
    return byte;
}

static void
prepare_restore(void)
{
    static const char *const capabilities[] = { "op", "sgr0", "rmkx", "cnorm", "rmcup" };
    static const char mouse_off[] = "\033[?1006;1000l";

    term.restore_length = 0;
    for (size_t i = 0; term.mouse && i < sizeof mouse_off - 1; i++)
        keep_byte(mouse_off[i]);
    for (size_t i = 0; i < sizeof capabilities / sizeof *capabilities; i++) {
        const char *string = tigetstr(capabilities[i]);

        if (string != NULL && string != (char *)-1)
            tputs(string, 1, keep_byte);
    }
    crash_set_restore(term.restore, term.restore_length);
}

static void
start_colours(void)
{
    if (!term.colour || !has_colors() || start_color() == ERR
        || use_default_colors() == ERR) {
        term.colour = false;
        return;
    }
    for (short i = 0; i < ROLE_COUNT; i++)
        init_pair((short)(i + 1), roles[i].colour, -1);
}

static void
set_modes(void)
{
    raw();
    noecho();
    nonl();
    keypad(stdscr, TRUE);
    nodelay(stdscr, TRUE);
    scrollok(stdscr, FALSE);
    leaveok(stdscr, TRUE);
    /* Do not look for input while writing a screen. */
    typeahead(-1);
    set_escdelay(ESCAPE_DELAY_MS);
    curs_set(0);
}

static int
open_streams(void)
{
    term.fd = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
    if (term.fd < 0)
        return -errno;
    term.in = fdopen(term.fd, "r");
    term.out = fdopen(fcntl(term.fd, F_DUPFD_CLOEXEC, 0), "w");
    if (term.in == NULL || term.out == NULL || tcgetattr(term.fd, &term.before) != 0)
        return -EIO;
    return 0;
}

static void
close_streams(void)
{
    if (term.out != NULL)
        fclose(term.out);
    if (term.in != NULL)
        fclose(term.in);
    else if (term.fd >= 0)
        close(term.fd);
    term.in = term.out = NULL;
    term.fd = -1;
}

static void
set_plain_modes(void)
{
    struct termios attributes = term.before;

    attributes.c_lflag &= (tcflag_t) ~(ICANON | ECHO | ISIG | IEXTEN);
    attributes.c_iflag &= (tcflag_t)~IXON;
    attributes.c_cc[VMIN] = 0;   /* a read never waits */
    attributes.c_cc[VTIME] = 0;
    tcsetattr(term.fd, TCSADRAIN, &attributes);
}

static int
open_screen(bool colour)
{
    int rows, cols;

    /* Take the size from the terminal only: COLUMNS in the environment would stay the
       same after a resize, and terminfo may not know the size (for the Linux console it
       does not). */
    use_env(FALSE);
    use_tioctl(TRUE);
    term.screen = newterm(NULL, term.out, term.in);
    if (term.screen == NULL)
        return -ENODEV;
    term.open = true;
    term.colour = colour;
    /* Before its first return from endwin(), curses writes after every cursor movement:
       70 writes per screen instead of one. */
    endwin();
    set_modes();
    start_colours();
    prepare_restore();
    crash_catch(term.fd, &term.before);
    term_size(&rows, &cols);
    if (term_resize(rows, cols))
        return 0;
    term_close();
    return -ENOMEM;
}

int
term_open(bool colour, bool plain)
{
    int error = open_streams();

    term.plain = plain;
    if (error == 0 && plain) {
        term.open = true;
        set_plain_modes();
        crash_catch(term.fd, &term.before);
    } else if (error == 0) {
        error = open_screen(colour);
    }
    if (error != 0)
        close_streams();
    return error;
}

void
term_close(void)
{
    if (!term.open)
        return;
    term.open = false;
    term_mouse(false);
    if (!term.plain)
        endwin();
    fflush(term.out);
    tcsetattr(term.fd, TCSADRAIN, &term.before);
    crash_release();
    if (!term.plain)
        delscreen(term.screen);
    term.screen = NULL;
    canvas_free(&term.shown);
    close_streams();
}

int
term_fd(void)
{
    return term.fd;
}

static int
limit(int value, int most)
{
    return value < 1 ? 1 : value > most ? most : value;
}

void
term_size(int *rows, int *cols)
{
    struct winsize size;

    if (ioctl(term.fd, TIOCGWINSZ, &size) == 0 && size.ws_row > 0 && size.ws_col > 0) {
        *rows = limit(size.ws_row, MAX_ROWS);
        *cols = limit(size.ws_col, MAX_COLS);
    } else {
        *rows = limit(term.plain ? 24 : LINES, MAX_ROWS);
        *cols = limit(term.plain ? 80 : COLS, MAX_COLS);
    }
}

bool
term_resize(int rows, int cols)
{
    if (term.plain)
        return true;
    if (!canvas_resize(&term.shown, rows, cols))
        return false;
    if (rows != LINES || cols != COLS)
        resizeterm(rows, cols);
    term_forget();
    return true;
}

bool
term_lost(short revents)
{
    int waiting = 0;

    if (revents & (POLLHUP | POLLERR | POLLNVAL))
        return true;
    return (revents & POLLIN)
           && (ioctl(term.fd, FIONREAD, &waiting) != 0 || waiting == 0);
}

static int
special_key(wint_t key)
{
    static const struct {
        wint_t curses;
        int input;
    } keys[] = {
        { KEY_UP, INPUT_UP }, { KEY_DOWN, INPUT_DOWN }, { KEY_LEFT, INPUT_LEFT },
        { KEY_RIGHT, INPUT_RIGHT }, { KEY_SLEFT, INPUT_SHIFT_LEFT },
        { KEY_SRIGHT, INPUT_SHIFT_RIGHT }, { KEY_PPAGE, INPUT_PAGE_UP },
        { KEY_NPAGE, INPUT_PAGE_DOWN }, { KEY_HOME, INPUT_HOME }, { KEY_END, INPUT_END },
        { KEY_ENTER, INPUT_ENTER }, { KEY_BACKSPACE, INPUT_BACKSPACE },
        { KEY_BTAB, INPUT_BACKTAB }, { KEY_DC, INPUT_DELETE },
        { KEY_RESIZE, INPUT_RESIZE },
    };

    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        if (keys[i].curses == key)
            return keys[i].input;
    if (key >= (wint_t)KEY_F(1) && key <= (wint_t)KEY_F(12))
        return INPUT_F1 + (int)key - KEY_F(1);
    return INPUT_OTHER;
}

bool
term_mouse(bool on)
{
    const mmask_t wanted = BUTTON1_PRESSED | BUTTON4_PRESSED | BUTTON5_PRESSED;

    if (on == term.mouse)
        return true;
    if (term.plain)
        return false;
    if (on) {
        mouseinterval(0);   /* do not wait for a double click */
        if (mousemask(wanted, NULL) == 0 || !has_mouse())
            return false;
    } else {
        mousemask(0, NULL);
    }
    term.mouse = on;
    prepare_restore();
    return true;
}

void
term_mouse_place(int *row, int *col)
{
    *row = term.mouse_row;
    *col = term.mouse_col;
}

static int
mouse_input(void)
{
    MEVENT event;

    if (getmouse(&event) != OK)
        return INPUT_MOUSE;
    term.mouse_row = event.y;
    term.mouse_col = event.x;
    if (event.bstate & BUTTON4_PRESSED)
        return INPUT_WHEEL_UP;
    if (event.bstate & BUTTON5_PRESSED)
        return INPUT_WHEEL_DOWN;
    return event.bstate & BUTTON1_PRESSED ? INPUT_CLICK : INPUT_MOUSE;
}

/* Reads what follows ESC.  Returns the key of a common sequence, KEY_MAX for another
   sequence, 0 if nothing follows. */
static wint_t
read_sequence(void)
{
    static const struct {
        char byte;
        wint_t key;
    } known[] = { { 'A', KEY_UP },   { 'B', KEY_DOWN },  { 'C', KEY_RIGHT },
                  { 'D', KEY_LEFT }, { 'H', KEY_HOME },  { 'F', KEY_END },
                  { '5', KEY_PPAGE }, { '6', KEY_NPAGE }, { 'Z', KEY_BTAB } };
    char bytes[8] = "";
    size_t count = term_read_raw(bytes, sizeof bytes);

    for (size_t i = 0; count >= 2 && i < sizeof known / sizeof *known; i++)
        if (known[i].byte == bytes[1])
            return known[i].key;
    return count > 0 ? KEY_MAX : 0;
}

/* Reads and decodes a key without curses. */
static int
read_plain(wint_t *key)
{
    mbstate_t state = {0};
    wchar_t character;
    char byte;

    while (term_read_raw(&byte, 1) == 1) {
        size_t length = mbrtowc(&character, &byte, 1, &state);

        if (length == (size_t)-2)
            /* Incomplete: the character has more bytes. */
            continue;
        if (byte == '\033' && (*key = read_sequence()) != 0)
            return KEY_CODE_YES;
        *key = length == (size_t)-1 ? L'?' : (wint_t)character;
        return OK;
    }
    return ERR;
}

int
term_read(void)
{
    wint_t key;
    int kind = term.plain ? read_plain(&key) : get_wch(&key);

    if (kind == ERR)
        return INPUT_NONE;
    if (kind == KEY_CODE_YES && key == KEY_MOUSE)
        return mouse_input();
    if (kind == KEY_CODE_YES)
        return special_key(key);
    if (key == '\r' || key == '\n')
        return INPUT_ENTER;
    if (key == 0x7f || key == '\b')
        return INPUT_BACKSPACE;
    return key == 0 ? INPUT_OTHER : (int)key;
}

size_t
term_read_raw(void *bytes, size_t size)
{
    int waiting = 0;
    ssize_t got;

    if (ioctl(term.fd, FIONREAD, &waiting) != 0 || waiting <= 0)
        return 0;
    got = read(term.fd, bytes, size < (size_t)waiting ? size : (size_t)waiting);
    return got > 0 ? (size_t)got : 0;
}

/* Hands the cells from..to of a row to curses. */
static void
send_cells(const struct cell *cells, int row, int from, int to)
{
    static cchar_t line[MAX_COLS];
    int count = 0;

    for (int col = from; col <= to; col++) {
        const struct cell *cell = &cells[col];
        wchar_t text[4] = { cell->text[0], cell->text[1], cell->text[2], 0 };

        if (cell->columns == 0)
            continue;
        setcchar(&line[count++], text,
                 term.colour ? roles[cell->role].attributes : roles[cell->role].mono,
                 term.colour ? (short)(cell->role + 1) : 0, NULL);
    }
    mvadd_wchnstr(row, from, line, count);
}

static void
send_row(const struct cell *new, const struct cell *old, int row, int cols)
{
    int from = 0, to = cols - 1;

    if (!term.forget) {
        if (memcmp(new, old, (size_t)cols * sizeof *new) == 0)
            return;
        while (from < cols && memcmp(&new[from], &old[from], sizeof *new) == 0)
            from++;
        while (memcmp(&new[to], &old[to], sizeof *new) == 0)
            to--;
        /* Never start in the middle of a wide character, neither old nor new. */
        while (from > 0 && (new[from].columns == 0 || old[from].columns == 0))
            from--;
        while (to + 1 < cols && (new[to + 1].columns == 0 || old[to + 1].columns == 0))
            to++;
    }
    send_cells(new, row, from, to);
}

void
term_show(const struct canvas *canvas)
{
    size_t count = (size_t)canvas->rows * (size_t)canvas->cols;

    if (!term.open || term.plain || canvas->rows != term.shown.rows
        || canvas->cols != term.shown.cols)
        return;
    if (term.forget)
        clearok(stdscr, TRUE);
    for (int row = 0; row < canvas->rows; row++) {
        size_t start = (size_t)row * (size_t)canvas->cols;

        send_row(canvas->cells + start, term.shown.cells + start, row, canvas->cols);
    }
    memcpy(term.shown.cells, canvas->cells, count * sizeof *canvas->cells);
    term.forget = false;
    wnoutrefresh(stdscr);
    doupdate();
}

void
term_say(const char *line)
{
    if (!term.open || !term.plain)
        return;
    fprintf(term.out, "%s\n", line);
    fflush(term.out);
}

void
term_forget(void)
{
    term.forget = true;
}

void
term_suspend(void)
{
    const struct sigaction stop = { .sa_handler = SIG_DFL };
    struct sigaction before;
    int rows, cols;

    if (!term.plain)
        endwin();
    fflush(term.out);
    tcsetattr(term.fd, TCSADRAIN, &term.before);
    sigaction(SIGTSTP, &stop, &before);
    raise(SIGTSTP);
    /* Either memtop was continued, or there was nobody to continue it and the signal had
       no effect. */
    sigaction(SIGTSTP, &before, NULL);
    tcgetattr(term.fd, &term.before);
    if (term.plain) {
        set_plain_modes();
        return;
    }
    refresh();
    set_modes();
    term_size(&rows, &cols);
    term_resize(rows, cols);
}
