/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The keys of the display: one table from keys to actions and help texts.  The help page
 * and the footer are made from it.
 */
#ifndef MEMTOP_TUI_KEYS_H
#define MEMTOP_TUI_KEYS_H

#include <stdbool.h>
#include <stddef.h>
#include <wchar.h>

/* A key: a character, or one of these, which are beyond Unicode. */
enum input_key {
    INPUT_NONE = 0,
    INPUT_ESCAPE = 27,
    INPUT_SPECIAL = 0x200000,
    INPUT_UP,
    INPUT_DOWN,
    INPUT_LEFT,
    INPUT_RIGHT,
    INPUT_SHIFT_LEFT,
    INPUT_SHIFT_RIGHT,
    INPUT_PAGE_UP,
    INPUT_PAGE_DOWN,
    INPUT_HOME,
    INPUT_END,
    INPUT_ENTER,
    INPUT_BACKSPACE,
    INPUT_BACKTAB,
    INPUT_DELETE,
    INPUT_RESIZE,
    INPUT_CLICK,
    INPUT_WHEEL_UP,
    INPUT_WHEEL_DOWN,
    INPUT_MOUSE, /* any other mouse event */
    INPUT_F1,
    INPUT_F9 = INPUT_F1 + 8,
    INPUT_F10,
    INPUT_F12 = INPUT_F1 + 11,
    INPUT_OTHER,
};

#define INPUT_CTRL(letter) ((letter) & 0x1f)

/*
 * Action, label of the key, up to four keys, word in the footer ("": not shown there)
 * and help text.  The footer shows them in this order, as many as fit.
 */
#define KEYS(X)                                                                       \
    X(HELP, "?", '?', 'h', INPUT_F1, 0, N_("Help"), N_("this help"))                  \
    X(QUIT, "q", 'q', INPUT_F10, 0, 0, N_("Quit"),                                    \
      N_("quit; asks what to do with a running program"))                             \
    /* TRANSLATORS: Tab, Space, Left, Up, Enter, Esc: names of keys, in the footer. */ \
    X(NEXT_VIEW, N_("Tab"), '\t', 0, 0, 0, N_("View"),                                \
      N_("next page (Shift-Tab: previous; a digit: that page)"))                        \
    X(PREVIOUS_VIEW, "", INPUT_BACKTAB, 0, 0, 0, "", "")                              \
    X(PAUSE, N_("Space"), ' ', 0, 0, 0, N_("Pause"),                                  \
      N_("freeze the picture; collecting goes on"))                                   \
    X(MARK, "p", 'p', 0, 0, 0, N_("Mark"),                                            \
      N_("set a mark, to see changes since then; again: clear it"))                   \
    X(BACK, N_("Left"), INPUT_LEFT, 0, 0, 0, N_("History"),                           \
      N_("look back in the run (also Right, Home, End; Shift: ten steps)"))           \
    X(FORTH, "", INPUT_RIGHT, 0, 0, 0, "", "")                                        \
    X(FAR_BACK, "", INPUT_SHIFT_LEFT, '<', 0, 0, "", "")                              \
    X(FAR_FORTH, "", INPUT_SHIFT_RIGHT, '>', 0, 0, "", "")                            \
    X(FASTER, "+ -", '+', '=', 0, 0, N_("Interval"),                                  \
      N_("sample twice, half as often"))                                              \
    X(SLOWER, "", '-', '_', 0, 0, "", "")                                             \
    X(ASK_INTERVAL, "d", 'd', 0, 0, 0, "", N_("type the interval"))                   \
    X(SAVE_SESSION, "S", 'S', 0, 0, 0, N_("Save"),                                    \
      N_("save the whole session, to be opened again"))                               \
    X(SAVE_TEXT, "w J", 'w', 0, 0, 0, "",                                             \
      N_("save a report as text, figures as JSON"))                                   \
    X(SAVE_JSON, "", 'J', 0, 0, 0, "", "")                                            \
    X(SAVE_PICTURE, "P", 'P', 0, 0, 0, "PNG", N_("save the graph as PNG"))            \
    X(SAVE_BLOCKS, "b", 'b', 0, 0, 0, "", N_("save the reports by block size"))       \
    X(EXPORT, "x", 'x', 0, 0, 0, "",                                                  \
      N_("export the sites for pprof, ms_print, flame graphs"))                       \
    X(OUTPUT, "o", 'o', 0, 0, 0, N_("Output"), N_("what the program printed"))        \
    X(INTERACT, "i", 'i', 0, 0, 0, "",                                                \
      N_("on that page: type to the program; ^] ends it"))                            \
    X(SEARCH, "/", '/', '.', 0, 0, "",                                                \
      N_("search the output; threads, processes, sites, sizes: filter"))                 \
    X(NEXT_MATCH, "n N", 'n', 0, 0, 0, "", N_("next match further up, down"))         \
    X(PREVIOUS_MATCH, "", 'N', 0, 0, 0, "", "")                                       \
    X(SORT, "s R", 's', 0, 0, 0, "", N_("sort a table by the next column, reverse it")) \
    X(REVERSE, "", 'R', 0, 0, 0, "", "")                                              \
    X(SITES_FORM, "t", 't', 0, 0, 0, "",                                              \
      N_("sites: call stacks, a tree of callers, a tree of callees"))                 \
    X(SITES_MODE, "a", 'a', 0, 0, 0, "",                                              \
      N_("sites: alive now, alive at the peak, allocated, since the mark"))             \
    X(EXPAND, "c C", 'c', 0, 0, 0, "",                                                \
      N_("sites: open or close a row of a tree, all rows"))                           \
    X(EXPAND_ALL, "", 'C', 0, 0, 0, "", "")                                           \
    X(WRAPPERS, "W", 'W', 0, 0, 0, "",                                                \
      N_("sites: show or leave out xmalloc and the like in call stacks"))             \
    X(TOGETHER, "A", 'A', 0, 0, 0, "",                                                \
      N_("sites: of all processes together, or of the one shown"))                    \
    X(SURVIVORS, "u", 'u', 0, 0, 0, "",                                               \
      N_("sites: only what has been alive for long, sorted by growth"))               \
    X(RESET_PEAK, "r", 'r', 0, 0, 0, "",                                              \
      N_("show the peak from now on; again: that of the run"))                        \
    X(LOG, "l", 'l', 0, 0, 0, "", N_("logarithmic or linear scale"))                  \
    X(STYLE, "g", 'g', 0, 0, 0, "", N_("graphs in braille, blocks or ASCII"))         \
    X(UNIT, "e", 'e', 0, 0, 0, "", N_("unit: automatic, KiB, MiB, bytes"))            \
    X(ZOOM_OUT, "[ ]", '[', 0, 0, 0, "", N_("graphs of a longer, shorter time"))      \
    X(ZOOM_IN, "", ']', 0, 0, 0, "", "")                                              \
    X(STOP, "Z", 'Z', 0, 0, 0, "",                                                    \
      N_("stop the process shown (or selected), or continue it"))                     \
    X(SIGNAL, "K", 'K', INPUT_F9, 0, 0, "", N_("send it a signal"))                   \
    X(UP, N_("Up"), INPUT_UP, 'k', 0, 0, "",                                          \
      N_("scroll (also j, k, PgUp, PgDn, Home, End)"))                                \
    X(DOWN, "", INPUT_DOWN, 'j', 0, 0, "", "")                                        \
    X(FOLLOW, N_("Enter"), INPUT_ENTER, 0, 0, 0, "",                                  \
      N_("processes, sites: show the selected one"))                          \
    X(PAGE_UP, "", INPUT_PAGE_UP, INPUT_CTRL('u'), 0, 0, "", "")                      \
    X(PAGE_DOWN, "", INPUT_PAGE_DOWN, INPUT_CTRL('d'), 0, 0, "", "")                  \
    X(HOME, "", INPUT_HOME, 0, 0, 0, "", "")                                          \
    X(END, "", INPUT_END, 'G', 0, 0, "", "")                                          \
    X(MOUSE, "m", 'm', 0, 0, 0, "",                                                   \
      N_("mouse: click on keys, titles and graphs; the wheel scrolls"))               \
    X(REDRAW, "^L", INPUT_CTRL('l'), 0, 0, 0, "", N_("draw the screen again"))        \
    X(INTERRUPT, "^C", INPUT_CTRL('c'), 0, 0, 0, "",                                  \
      N_("interrupt the program; twice: quit"))                                       \
    X(SUSPEND, "^Z", INPUT_CTRL('z'), 0, 0, 0, "",                                    \
      N_("suspend memtop; the program runs on"))                                      \
    X(CANCEL, N_("Esc"), INPUT_ESCAPE, 0, 0, 0, "",                                   \
      N_("leave the history, a question, help"))

enum action {
    ACTION_NONE,
#define X(id, label, k1, k2, k3, k4, footer, help) ACTION_##id,
    KEYS(X)
#undef X
    ACTION_VIEW,   /* a digit: shows that page */
    ACTION_ROW,    /* a click in a list */
};

struct key {
    enum action action;
    const char *label;    /* untranslated; "": not listed in the help */
    int input[4];         /* 0: none */
    const char *footer;   /* untranslated; "": not in the footer */
    const char *help;     /* untranslated */
};

/* The table; *count is its length. */
const struct key *keys_table(size_t *count);

/* The key's label in the user's language.  Names of keys are translated, characters are
   not. */
const char *keys_label(const struct key *key);

/*
 * The action of a key.  Letters of the Russian keyboard count as the Latin letters on
 * the same keys.  A digit returns ACTION_VIEW and sets *digit.
 */
enum action keys_action(int input, int *digit);

/* The Latin character on the key that types this Russian one; other characters are
   returned unchanged. */
int keys_latin(int input);

#endif
