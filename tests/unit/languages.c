/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The pages in other languages: in some of the catalogues word for word, and in an
 * artificial language with double-width letters, in which everything stays in its
 * columns and nothing is cut in the middle of a cell.  Messages are translated here, so
 * that no locale must be installed: calls of gettext are linked to __wrap_gettext.
 */
#include "config.h"

#include <locale.h>
#include <wchar.h>

#include "pages.h"

struct language {
    const char *name;   /* of its catalogue; also the beginning of its goldens' names */
    unsigned (*form)(unsigned long n);   /* chooses the catalogue's plural form */
};

static unsigned
one_form(unsigned long n)
{
    (void)n;
    return 0;
}

static unsigned
russian_form(unsigned long n)
{
    if (n % 10 == 1 && n % 100 != 11)
        return 0;
    return n % 10 >= 2 && n % 10 <= 4 && (n % 100 < 10 || n % 100 >= 20) ? 1 : 2;
}

static unsigned
french_form(unsigned long n)
{
    return n > 1;
}

static const struct language russian = {"ru", russian_form},
                             chinese = {"zh_TW", one_form}, french = {"fr", french_form},
                             wide = {"wide", NULL};
static const struct language *const languages[] = { &russian, &chinese, &wide };
static const struct language *language;   /* NULL: English */

/* ---- catalogues ---- */

static struct {
    char *bytes;
    size_t size;
} catalogue;

static uint32_t
word_at(size_t offset)
{
    uint32_t word;

    assert_true(offset + sizeof word <= catalogue.size);
    memcpy(&word, catalogue.bytes + offset, sizeof word);
    return word;
}

static bool
read_catalogue(const char *name)
{
    const char *directory = getenv("srcdir");
    static char bytes[1 << 20];
    char command[1024];
    FILE *compiled;

    snprintf(command, sizeof command, "msgfmt -o - '%s/po/%s.po'",
             directory != NULL ? directory : ".", name);
    compiled = popen(command, "r");
    if (compiled == NULL)
        return false;
    catalogue.bytes = bytes;
    catalogue.size = fread(bytes, 1, sizeof bytes, compiled);
    return pclose(compiled) == 0 && catalogue.size > 28;
}

/* The translation, NULL if there is none; several forms follow one another, each with a
   NUL at its end.  The originals are sorted. */
static const char *
translated(const char *message)
{
    uint32_t originals = word_at(12), translations = word_at(16);

    for (uint32_t from = 0, to = word_at(8); from < to;) {
        uint32_t i = from + (to - from) / 2;
        int order = strcmp(message, catalogue.bytes + word_at(originals + 8 * i + 4));

        if (order == 0)
            return catalogue.bytes + word_at(translations + 8 * i + 4);
        if (order < 0)
            to = i;
        else
            from = i + 1;
    }
    return NULL;
}

static void
speak(const struct language *other)
{
    language = other;
    if (other != NULL && other != &wide)
        assert_true(read_catalogue(other->name));
}

/* ---- double width ---- */

static bool
is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Makes letters wide, except conversions of printf(). */
static void
widen(const char *message, char *text)
{
    mbstate_t state = {0};

    while (*message != '\0') {
        if (message[0] == '%' && message[1] == '%') {
            *text++ = *message++;
            *text++ = *message++;
        } else if (*message == '%') {
            do
                *text++ = *message++;
            while (*message != '\0' && *message != '%' && !is_letter(message[-1]));
            while (message[-1] == 'l' || message[-1] == 'z')
                *text++ = *message++;
        } else if (is_letter(*message)) {
            text += wcrtomb(text, (wchar_t)(0xff01 + *message++ - '!'), &state);
        } else {
            *text++ = *message++;
        }
    }
    *text = '\0';
}

static const char *
widened(const char *message)
{
    static struct {
        const char *message;
        char *text;
    } known[2000];
    size_t i = 0;

    while (known[i].message != NULL && strcmp(known[i].message, message) != 0)
        i++;
    if (known[i].message == NULL) {
        assert_true(i + 1 < sizeof known / sizeof *known);
        known[i].text = malloc(4 * strlen(message) + 1);
        known[i].message = message;
        widen(message, known[i].text);
    }
    return known[i].text;
}

/* ---- replacements for gettext ---- */

static char *
translate(const char *message, const char *plural, unsigned long n)
{
    const char *text = NULL;

    if (language != NULL && language != &wide && (text = translated(message)) != NULL) {
        for (unsigned form = plural != NULL ? language->form(n) : 0; form > 0; form--)
            text += strlen(text) + 1;
        return (char *)text;
    }
    if (plural != NULL && n != 1)
        message = plural;
    return (char *)(language == &wide ? widened(message) : message);
}

char *__wrap_gettext(const char *message);
char *
__wrap_gettext(const char *message)
{
    return translate(message, NULL, 0);
}

char *__wrap_dcgettext(const char *domain, const char *message, int category);
char *
__wrap_dcgettext(const char *domain, const char *message, int category)
{
    (void)domain;
    (void)category;
    return translate(message, NULL, 0);
}

char *__wrap_ngettext(const char *message, const char *plural, unsigned long n);
char *
__wrap_ngettext(const char *message, const char *plural, unsigned long n)
{
    return translate(message, plural, n);
}

char *__wrap_dcngettext(const char *domain, const char *message, const char *plural,
                        unsigned long n, int category);
char *
__wrap_dcngettext(const char *domain, const char *message, const char *plural,
                  unsigned long n, int category)
{
    (void)domain;
    (void)category;
    return translate(message, plural, n);
}

/* ---- the pages ---- */

/* Wide characters have both halves, and halves belong to a wide character. */
static void
check_cells(void)
{
    for (int row = 0; row < screen.canvas.rows; row++)
        for (int col = 0; col < screen.canvas.cols; col++) {
            const struct cell *cell =
                &screen.canvas.cells[row * screen.canvas.cols + col];
            bool half = col > 0 && cell[-1].columns == 2;

            if ((cell->columns == 0) != half
                || (cell->columns == 2 && col + 1 == screen.canvas.cols))
                fail_msg("half a character at row %d, column %d", row, col);
        }
}

/* The footer has complete items: a word for each key, and no ellipsis. */
static void
check_footer(void)
{
    const struct rect *footer = &screen.layout.block[BLOCK_FOOTER];
    char line[16384];

    if (footer->rows == 0)
        return;
    canvas_row_text(&screen.canvas, footer->row, line);
    assert_null(strstr(line, "…"));
    assert_null(strstr(line, "  \xef\xbc\x9f"));
    assert_true(line[0] == '?');
}

/* Tests some combinations of width, height and page, each of them in some. */
static int
wider(int cols, int seed)
{
    return cols + (cols < 20 ? 1 : 7 + seed % 5);
}

static void
check_sizes(int seed)
{
    for (int rows = 1; rows <= 60; rows += rows < 12 ? 1 : 6)
        for (int cols = 1; cols <= 200; cols = wider(cols, rows + seed)) {
            draw(rows, cols);
            check_cells();
            check_footer();
        }
}

/* The help covers the page, so testing it once is enough. */
static void
nothing_is_cut_at_any_size(void **state)
{
    static const char *const scripts[] = { running, unmeasured, resident };

    (void)state;
    for (size_t i = 0; i < sizeof scripts / sizeof *scripts; i++)
        for (size_t k = 0; k < sizeof languages / sizeof *languages; k++) {
            struct session *session = play_text(scripts[i], 7 * SECOND);

            speak(languages[k]);
            for (int page = 0; page < PAGE_COUNT; page++) {
                view.page = (enum page)page;
                check_sizes(page);
            }
            view.help = 1;
            check_sizes(PAGE_COUNT);
            session_free(session);
        }
    speak(NULL);
}

static void
expect_page(enum page page, int rows, int cols)
{
    struct session *session = play_text(page == PAGE_MEMORY  ? resident
                                        : page == PAGE_SITES ? sampled
                                                             : running,
                                        7 * SECOND);
    char name[64];

    view.page = page;
    if (page == PAGE_BLOCKS)
        count_blocks();
    draw(rows, cols);
    snprintf(name, sizeof name, "%s-%s-%dx%d", language->name, page_names[page], cols,
             rows);
    expect_golden(name);
    session_free(session);
}

/* One allocation site; its labels are the longest of all. */
static void
expect_site(int rows, int cols)
{
    struct session *session = play_text(sampled, 7 * SECOND);
    char name[64];

    view.page = PAGE_SITES;
    view.sites.selected = sites.table.rows[0].key;
    view.sites.opened = true;
    sites_fill(&sites, &view, -1);
    draw(rows, cols);
    snprintf(name, sizeof name, "%s-site-%dx%d", language->name, cols, rows);
    expect_golden(name);
    session_free(session);
}

/* The first page of the help and, if there are more, the last. */
static void
expect_help(int rows, int cols)
{
    struct session *session = play_text(running, SECOND);
    char name[64];

    view.help = 1;
    draw(rows, cols);
    snprintf(name, sizeof name, "%s-help-%dx%d", language->name, cols, rows);
    expect_golden(name);
    view.help = view_help_pages(&screen);
    if (view.help > 1) {
        draw(rows, cols);
        snprintf(name, sizeof name, "%s-help-last-%dx%d", language->name, cols, rows);
        expect_golden(name);
    }
    view.help = 0;
    session_free(session);
}

static void
expect_pages(const struct language *in)
{
    speak(in);
    for (int page = 0; page < PAGE_COUNT; page++)
        expect_page((enum page)page, 24, 80);
    expect_page(PAGE_OVERVIEW, 3, 20);
    expect_page(PAGE_OVERVIEW, 10, 40);
    expect_page(PAGE_OVERVIEW, 40, 120);
    expect_site(40, 80);
    speak(NULL);
}

/* Compares pages at several sizes. */
static void
russian_is_as_drawn(void **state)
{
    static const struct {
        int rows, cols;
    } sizes[] = {{24, 80}, {40, 120}, {10, 40}};

    (void)state;
    speak(&russian);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (int page = 0; page < PAGE_COUNT; page++)
            expect_page((enum page)page, sizes[i].rows, sizes[i].cols);
        expect_site(sizes[i].rows, sizes[i].cols);
        expect_help(sizes[i].rows, sizes[i].cols);
    }
    expect_page(PAGE_OVERVIEW, 3, 20);
    expect_page(PAGE_OVERVIEW, 50, 160);   /* with all graphs */
    expect_site(40, 80);
    speak(NULL);
}

static void
chinese_is_as_drawn(void **state)
{
    (void)state;
    expect_pages(&chinese);
}

static void
french_is_as_drawn(void **state)
{
    (void)state;
    expect_pages(&french);
    speak(&french);
    expect_help(24, 80); /* names of keys differ in length from the English ones */
    speak(NULL);
}

static void
double_width_is_as_drawn(void **state)
{
    (void)state;
    speak(&wide);
    expect_page(PAGE_OVERVIEW, 24, 80);
    expect_page(PAGE_OVERVIEW, 3, 20);
    expect_page(PAGE_OVERVIEW, 10, 40);
    expect_page(PAGE_CALLS, 24, 80);
    expect_page(PAGE_THREADS, 24, 80);
    expect_page(PAGE_MEMORY, 24, 80);
    expect_page(PAGE_MEMORY, 40, 120);
    expect_page(PAGE_MEMORY, 10, 40);
    expect_page(PAGE_PROCESSES, 24, 80);
    expect_page(PAGE_PROCESSES, 10, 40);
    speak(NULL);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_cut_at_any_size),
        cmocka_unit_test(russian_is_as_drawn),
        cmocka_unit_test(chinese_is_as_drawn),
        cmocka_unit_test(french_is_as_drawn),
        cmocka_unit_test(double_width_is_as_drawn),
    };
    int failed;

#if !ENABLE_NLS
    puts("built without native language support");
    return 77;
#endif
    if (setlocale(LC_ALL, "C.UTF-8") == NULL || !read_catalogue("ru"))
        return 77;
    screen.canvas.unicode = true;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    picture_free(&screen);
    return failed;
}
