/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The table of keys is complete, and Russian letters find their Latin keys. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "tui/keys.h"

static enum action
action(int input)
{
    int digit = -1;

    return keys_action(input, &digit);
}

static void
keys_have_their_actions(void **state)
{
    (void)state;
    assert_int_equal(action('q'), ACTION_QUIT);
    assert_int_equal(action(INPUT_F10), ACTION_QUIT);
    assert_int_equal(action('?'), ACTION_HELP);
    assert_int_equal(action(INPUT_F1), ACTION_HELP);
    assert_int_equal(action(' '), ACTION_PAUSE);
    assert_int_equal(action('='), ACTION_FASTER);
    assert_int_equal(action('k'), ACTION_UP);
    assert_int_equal(action(INPUT_LEFT), ACTION_BACK);
    assert_int_equal(action(L'Ю'), ACTION_FAR_FORTH);
    assert_int_equal(action('K'), ACTION_SIGNAL);
    assert_int_equal(action(INPUT_CTRL('c')), ACTION_INTERRUPT);
    assert_int_equal(action(INPUT_ESCAPE), ACTION_CANCEL);
    assert_int_equal(action('.'), ACTION_SEARCH);   /* the Russian keyboard's / */
    assert_int_equal(action('y'), ACTION_NONE);
    assert_int_equal(action(INPUT_NONE), ACTION_NONE);
    assert_int_equal(action(INPUT_OTHER), ACTION_NONE);
}

static void
digits_are_views(void **state)
{
    int digit = -1;

    (void)state;
    assert_int_equal(keys_action('3', &digit), ACTION_VIEW);
    assert_int_equal(digit, 3);
}

static void
russian_letters_are_the_keys_they_stand_on(void **state)
{
    (void)state;
    assert_int_equal(action(L'й'), ACTION_QUIT);
    assert_int_equal(action(L'щ'), ACTION_OUTPUT);
    assert_int_equal(action(L'З'), ACTION_SAVE_PICTURE);
    assert_int_equal(action(L'з'), ACTION_MARK);
    assert_int_equal(action(L'н'), ACTION_NONE);
    assert_int_equal(action(L'Л'), ACTION_SIGNAL);
    assert_int_equal(action(L'л'), ACTION_UP);
    assert_int_equal(action(L'х'), ACTION_ZOOM_OUT);
    assert_int_equal(keys_latin(L'Ё'), '~');
    assert_int_equal(keys_latin('q'), 'q');
    assert_int_equal(keys_latin(L'є'), L'є');
    assert_int_equal(keys_latin(INPUT_UP), INPUT_UP);
}

static void
no_key_has_two_actions_and_listed_ones_explain_themselves(void **state)
{
    size_t count;
    const struct key *keys = keys_table(&count);

    (void)state;
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(keys[i].label[0] != '\0', keys[i].help[0] != '\0');
        assert_true(keys[i].footer[0] == '\0' || keys[i].label[0] != '\0');
        for (size_t k = 0; k < 4; k++)
            if (keys[i].input[k] != 0)
                assert_int_equal(action(keys[i].input[k]), keys[i].action);
    }
}

static void
manual_explains_every_key(void **state)
{
    const char *directory = getenv("srcdir");
    char path[512];
    static char manual[65536];
    FILE *file;
    size_t count, length;
    const struct key *keys = keys_table(&count);

    (void)state;
    snprintf(path, sizeof path, "%s/doc/memtop.1", directory != NULL ? directory : ".");
    file = fopen(path, "r");
    assert_non_null(file);
    length = fread(manual, 1, sizeof manual - 1, file);
    assert_int_equal(fclose(file), 0);
    manual[length] = '\0';
    for (size_t i = 0; i < count; i++)
        if (keys[i].action != ACTION_HELP && strstr(manual, keys[i].help) == NULL)
            fail_msg("memtop(1) does not say: %s", keys[i].help);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_have_their_actions),
        cmocka_unit_test(digits_are_views),
        cmocka_unit_test(russian_letters_are_the_keys_they_stand_on),
        cmocka_unit_test(no_key_has_two_actions_and_listed_ones_explain_themselves),
        cmocka_unit_test(manual_explains_every_key),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
