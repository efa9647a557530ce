/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Unwind tables, as compilers write them and as nobody should. */
#include "config.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "preload/sites/cfi.h"

#ifdef ARCH_COLUMNS

/* ---- tables ---- */

/* The code that the tables are about, so far behind them: nobody reads it. */
#define CODE_AT 0x100000
#define CODE_SIZE 0x100

struct image {
    unsigned char bytes[1u << 18];
    size_t size, count_at, cie_at, fde_at;
};

static struct image image;

/* What a test wants in the tables. */
struct wanted {
    const char *letters; /* "zR" */
    unsigned version, column;
    const void *first, *code; /* instructions */
    size_t first_size, code_size;
};

static void
put(const void *bytes, size_t size)
{
    memcpy(image.bytes + image.size, bytes, size);
    image.size += size;
}

static void
put_byte(unsigned byte)
{
    put(&(unsigned char){(unsigned char)byte}, 1);
}

static void
put_number(uint32_t number)
{
    put(&number, sizeof number);
}

/* Sets the length of the entry that begins at a place. */
static void
end_entry(size_t at)
{
    uint32_t length;

    while (image.size % 8 != 4)
        put_byte(0);
    length = (uint32_t)(image.size - at - 4);
    memcpy(image.bytes + at, &length, sizeof length);
}

static void
put_cie(const struct wanted *wanted)
{
    image.cie_at = image.size;
    put_number(0);
    put_number(0);
    put_byte(wanted->version);
    put(wanted->letters, strlen(wanted->letters) + 1);
    put_byte(1);    /* code factor */
    put_byte(0x78); /* data factor: -8 */
    put_byte(wanted->column);
    if (wanted->letters[0] == 'z') {
        put_byte((unsigned)strlen(wanted->letters) - 1);
        for (const char *letter = wanted->letters + 1; *letter != '\0'; letter++)
            put_byte(0x1b); /* relative to its place, 4 bytes */
    }
    put(wanted->first, wanted->first_size);
    end_entry(image.cie_at);
}

static void
put_fde(const struct wanted *wanted)
{
    image.fde_at = image.size;
    put_number(0);
    put_number((uint32_t)(image.size - image.cie_at));
    put_number((uint32_t)(CODE_AT - image.size));
    put_number(CODE_SIZE);
    if (wanted->letters[0] == 'z')
        put_byte(0);
    put(wanted->code, wanted->code_size);
    end_entry(image.fde_at);
}

static void
build(const struct wanted *wanted)
{
    static const unsigned char header[] = {1, 0x1b, 3, 0x3b};
    size_t pair_at;

    image.size = 0;
    put(header, sizeof header);
    put_number(8);
    image.count_at = image.size;
    put_number(1);
    pair_at = image.size;
    put_number(CODE_AT);
    put_number(0);
    put_cie(wanted);
    put_fde(wanted);
    memcpy(image.bytes + pair_at + 4, &(uint32_t){(uint32_t)image.fde_at}, 4);
}

/* Asks about the address at an offset of the code, with the first size bytes of the
   image, so that a sanitizer sees what is read past them. */
static struct cfi_tables
tables_of(unsigned char **copy, size_t size)
{
    *copy = malloc(size > 0 ? size : 1);
    assert_non_null(*copy);
    memcpy(*copy, image.bytes, size);
    return (struct cfi_tables){(uintptr_t)*copy,
                               {(uintptr_t)*copy, (uintptr_t)*copy + size}};
}

static enum cfi_answer
ask_part(size_t size, uintptr_t offset, struct cfi_frame *frame)
{
    unsigned char *copy;
    struct cfi_tables tables = tables_of(&copy, size);
    enum cfi_answer answer = cfi_find(&tables, tables.header + CODE_AT + offset, frame);

    free(copy);
    return answer;
}

static enum cfi_answer
ask(uintptr_t offset, struct cfi_frame *frame)
{
    return ask_part(image.size, offset, frame);
}

/* def_cfa rsp + 8; the return address at CFA - 8 */
static const unsigned char usual_first[] = {0x0c, 7, 8, 0x80 | 16, 1};

static struct wanted
usual(const void *code, size_t size)
{
    return (struct wanted){"zR", 1, 16, usual_first, code, sizeof usual_first, size};
}

#define BUILD(...)                                                                       \
    do {                                                                                 \
        static const unsigned char instructions[] = {__VA_ARGS__};                       \
        struct wanted usual_ones = usual(instructions, sizeof instructions);             \
        build(&usual_ones);                                                              \
    } while (0)

/* ---- rows ---- */

static void
assert_cfa(uintptr_t offset, unsigned column, int value)
{
    struct cfi_frame frame;

    assert_int_equal(CFI_FOUND, ask(offset, &frame));
    assert_int_equal(CFI_VALUE, frame.row.cfa_kind);
    assert_int_equal(column, frame.row.cfa_column);
    assert_int_equal(value, frame.row.cfa_value);
    assert_int_equal(CFI_SAVED, frame.row.kinds[16]);
    assert_int_equal(-8, frame.row.values[16]);
}

/* push %rbp; mov %rsp, %rbp; ... leave; ret; and after that the body again */
static void
test_rows(void **state)
{
    struct cfi_frame frame;

    (void)state;
    BUILD(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x02, 0x60, 0x0a, 0x0c, 7, 8, 0xc6,
          0x41, 0x0b);
    assert_cfa(0, 7, 8);
    assert_cfa(1, 7, 16);
    assert_cfa(3, 7, 16);
    assert_cfa(4, 6, 16);
    assert_cfa(0x63, 6, 16);
    assert_int_equal(CFI_FOUND, ask(0x63, &frame));
    assert_int_equal(CFI_SAVED, frame.row.kinds[6]);
    assert_int_equal(-16, frame.row.values[6]);
    assert_cfa(0x64, 7, 8);
    assert_int_equal(CFI_FOUND, ask(0x64, &frame));
    assert_int_equal(CFI_SAME, frame.row.kinds[6]);
    assert_cfa(0x65, 6, 16);
    assert_cfa(CODE_SIZE - 1, 6, 16);
    assert_false(frame.is_signal);
}

/* Instructions that compilers write rarely. */
static void
test_rare(void **state)
{
    struct cfi_frame frame;

    (void)state;
    BUILD(0x05, 3, 4, 0x07, 0, 0x08, 1, 0x09, 12, 13, 0x11, 14, 0x7f, 0x14, 15, 2, 0x15,
          8, 0x7e, 0x2f, 9, 3, 0x2e, 32, 0x80 | 17, 5, 0x05, 0xff, 0x01, 1, 0x12, 6, 0x7c,
          0x13, 0x7d, 0x03, 2, 0, 0x04, 2, 0, 0, 0, 0x06, 3, 0x00);
    assert_int_equal(CFI_FOUND, ask(3, &frame));
    assert_int_equal(6, frame.row.cfa_column);
    assert_int_equal(24, frame.row.cfa_value);
    assert_true(frame.row.kinds[3] == CFI_SAVED && frame.row.values[3] == -32);
    assert_int_equal(CFI_UNDEFINED, frame.row.kinds[0]);
    assert_int_equal(CFI_SAME, frame.row.kinds[1]);
    assert_true(frame.row.kinds[12] == CFI_REGISTER && frame.row.values[12] == 13);
    assert_true(frame.row.kinds[14] == CFI_SAVED && frame.row.values[14] == 8);
    assert_true(frame.row.kinds[15] == CFI_VALUE && frame.row.values[15] == -16);
    assert_true(frame.row.kinds[8] == CFI_VALUE && frame.row.values[8] == 16);
    assert_true(frame.row.kinds[9] == CFI_SAVED && frame.row.values[9] == 24);
    assert_int_equal(CFI_FOUND, ask(4, &frame));
    assert_int_equal(CFI_SAME, frame.row.kinds[3]);
}

/* ---- headers and entries ---- */

static void
test_places(void **state)
{
    struct cfi_frame frame;

    (void)state;
    BUILD(0x00);
    assert_int_equal(CFI_NONE, ask((uintptr_t)-1, &frame));
    assert_int_equal(CFI_FOUND, ask(0, &frame));
    assert_int_equal(CFI_FOUND, ask(CODE_SIZE - 1, &frame));
    assert_int_equal(CFI_NONE, ask(CODE_SIZE, &frame));
}

/* The header with another byte at a place. */
static void
assert_byte_unknown(size_t at, unsigned byte)
{
    struct cfi_frame frame;
    unsigned char before = image.bytes[at];

    image.bytes[at] = (unsigned char)byte;
    assert_int_equal(CFI_UNKNOWN, ask(0, &frame));
    image.bytes[at] = before;
}

static void
test_headers(void **state)
{
    (void)state;
    BUILD(0x00);
    assert_byte_unknown(0, 2);                /* version */
    assert_byte_unknown(1, 0xff);             /* no pointer */
    assert_byte_unknown(1, 0x0d);             /* no such encoding */
    assert_byte_unknown(2, 0xff);             /* no count */
    assert_byte_unknown(3, 0x1b);             /* another table */
    assert_byte_unknown(image.count_at, 200); /* a longer table */
    assert_byte_unknown(image.count_at + 3, 0x80);
    assert_byte_unknown(image.cie_at, 0); /* lengths */
    assert_byte_unknown(image.cie_at + 3, 0x7f);
    assert_byte_unknown(image.fde_at, 0);
    assert_byte_unknown(image.fde_at + 1, 0x7f);
    assert_byte_unknown(image.fde_at + 4, 0); /* it is its own CIE */
    assert_byte_unknown(image.fde_at + 6, 1); /* its CIE is elsewhere */
    assert_byte_unknown(image.cie_at + 4, 1); /* its CIE is none */
    image.bytes[3] = 0xff; /* no table */
    assert_int_equal(CFI_NONE, ask(0, &(struct cfi_frame){.is_signal = false}));
    image.bytes[3] = 0x3b;
    image.bytes[image.count_at] = 0;
    assert_int_equal(CFI_NONE, ask(0, &(struct cfi_frame){.is_signal = false}));
}

static enum cfi_answer
ask_kind(const char *letters, unsigned version, unsigned column, bool *is_signal)
{
    struct wanted wanted = usual("", 1);
    struct cfi_frame frame = {.is_signal = false};
    enum cfi_answer answer;

    wanted.letters = letters;
    wanted.version = version;
    wanted.column = column;
    build(&wanted);
    answer = ask(0, &frame);
    *is_signal = frame.is_signal;
    return answer;
}

static void
test_kinds(void **state)
{
    bool is_signal;

    (void)state;
    assert_int_equal(CFI_FOUND, ask_kind("zRS", 1, 16, &is_signal));
    assert_true(is_signal);
    assert_int_equal(CFI_FOUND, ask_kind("zRL", 3, 16, &is_signal));
    assert_false(is_signal);
    assert_int_equal(CFI_UNKNOWN, ask_kind("zR", 4, 16, &is_signal));
    assert_int_equal(CFI_UNKNOWN, ask_kind("zR", 1, 30, &is_signal));
    assert_int_equal(CFI_UNKNOWN, ask_kind("zRX", 1, 16, &is_signal));
    assert_int_equal(CFI_UNKNOWN, ask_kind("eh", 1, 16, &is_signal));
}

/* ---- damage ---- */

/* However much is missing, nothing else is read. */
static void
test_cut_off(void **state)
{
    struct cfi_frame frame;

    (void)state;
    BUILD(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x10, 3, 3, 0x76, 0x70, 0x06);
    for (size_t size = 0; size < image.size; size++)
        assert_int_not_equal(CFI_FOUND, ask_part(size, 8, &frame));
    assert_int_equal(CFI_FOUND, ask(8, &frame));
}

/* Every byte of the entries changed to every value. */
static void
test_changed(void **state)
{
    struct cfi_frame frame;

    (void)state;
    BUILD(0x41, 0x0e, 16, 0x86, 2, 0x43, 0x0d, 6, 0x10, 3, 3, 0x76, 0x70, 0x06);
    for (size_t at = 0; at < image.size; at++) {
        unsigned char before = image.bytes[at];
        for (unsigned byte = 0; byte < 256; byte++) {
            image.bytes[at] = (unsigned char)byte;
            assert_in_range(ask(8, &frame), CFI_FOUND, CFI_UNKNOWN);
        }
        image.bytes[at] = before;
    }
}

#define ASSERT_UNKNOWN(...)                                                              \
    do {                                                                                 \
        struct cfi_frame frame;                                                          \
        BUILD(__VA_ARGS__);                                                              \
        assert_int_equal(CFI_UNKNOWN, ask(CODE_SIZE - 1, &frame));                       \
    } while (0)

static void
test_not_understood(void **state)
{
    (void)state;
    ASSERT_UNKNOWN(0x1d, 0); /* no such instructions */
    ASSERT_UNKNOWN(0x2d);
    ASSERT_UNKNOWN(0x3f);
    ASSERT_UNKNOWN(0x0b);                         /* nothing was remembered */
    ASSERT_UNKNOWN(0x0a, 0x0a, 0x0a, 0x0a, 0x0a); /* too much */
    ASSERT_UNKNOWN(0x0c, 17, 8);                  /* a register without a column */
    ASSERT_UNKNOWN(0x0f, 2, 0x77, 8, 0x0e, 8);    /* no offset to change */
    ASSERT_UNKNOWN(0x10, 3, 0x7f, 0x77, 8);       /* an expression beyond the end */
    ASSERT_UNKNOWN(0x0e, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                   0xff, 1);                                  /* a number of 90 bits */
    ASSERT_UNKNOWN(0x0e, 0x80, 0x80, 0x80, 0x80, 0x80, 0x20); /* of 41 */
    ASSERT_UNKNOWN(0x86, 0x80, 0x80, 0x80, 0x80, 0x10);
}

/* A list of instructions without end. */
static void
test_endless(void **state)
{
    static unsigned char nothing[1u << 17];
    struct wanted wanted = usual(nothing, sizeof nothing);
    struct cfi_frame frame;

    (void)state;
    build(&wanted);
    assert_int_equal(CFI_UNKNOWN, ask(0, &frame));
    wanted.code_size = 60000;
    build(&wanted);
    assert_int_equal(CFI_FOUND, ask(0, &frame));
}

/* ---- from a frame to its caller ---- */

#define STACK_AT 0x7000u /* what is written in the stack's words, and their number */

static uintptr_t stack[32];

static struct cfi_registers
registers_here(void)
{
    struct cfi_registers registers = {.known = ARCH_PRESERVED | 1u << 7 | 1u << 16};

    for (unsigned i = 0; i < 32; i++)
        stack[i] = STACK_AT + i;
    for (unsigned i = 0; i < ARCH_COLUMNS; i++)
        registers.values[i] = i;
    registers.values[7] = (uintptr_t)&stack[0];
    registers.values[6] = (uintptr_t)&stack[8];
    registers.values[16] = 0x400000;
    return registers;
}

/* Steps from a frame of the image; the stack that may be read is the first words. */
static enum cfi_step
step_with(struct cfi_registers *registers, size_t words)
{
    struct cfi_range range = {(uintptr_t)stack, (uintptr_t)&stack[words]};
    unsigned char *copy;
    struct cfi_tables tables = tables_of(&copy, image.size);
    struct cfi_frame frame;
    enum cfi_step step;

    assert_int_equal(CFI_FOUND, cfi_find(&tables, tables.header + CODE_AT, &frame));
    step = cfi_step(&tables, &frame, &range, registers);
    free(copy);
    return step;
}

static void
test_step(void **state)
{
    struct cfi_registers registers = registers_here();

    (void)state;
    BUILD(0x0e, 32, 0x86, 2, 0x83, 9, 0x8c, 1);
    assert_int_equal(CFI_STEPPED, step_with(&registers, 32));
    assert_int_equal(STACK_AT + 3, registers.values[16]);
    assert_true(registers.values[7] == (uintptr_t)&stack[4]);
    assert_int_equal(STACK_AT + 2, registers.values[6]);
    assert_int_equal(STACK_AT + 3, registers.values[12]);
    assert_int_equal(13, registers.values[13]);
    /* rbx lies below the stack; the scratch registers are anyone's */
    assert_int_equal((0xf << 12 | 1 << 6 | 1 << 7 | 1 << 16), registers.known);
}

static void
test_no_step(void **state)
{
    struct cfi_registers registers = registers_here(), before = registers;

    (void)state;
    BUILD(0x0e, 32);
    assert_int_equal(CFI_LOST, step_with(&registers, 3)); /* it ends below */
    BUILD(0x07, 16);
    assert_int_equal(CFI_OUTERMOST, step_with(&registers, 32));
    BUILD(0x08, 16);
    assert_int_equal(CFI_LOST, step_with(&registers, 32));
    BUILD(0x0d, 10);
    assert_int_equal(CFI_NEEDS, step_with(&registers, 32));
    BUILD(0x09, 16, 10);
    assert_int_equal(CFI_NEEDS, step_with(&registers, 32));
    BUILD(0x09, 16, 77);
    assert_int_equal(CFI_LOST, step_with(&registers, 32));
    assert_memory_equal(&before, &registers, sizeof registers);
}

/* ---- expressions ---- */

/* Computes the CFA by the bytes of an expression. */
static enum cfi_step
compute(const unsigned char *bytes, size_t size, uintptr_t *result)
{
    struct cfi_range range = {(uintptr_t)stack, (uintptr_t)&stack[32]};
    struct cfi_registers registers = registers_here();
    struct cfi_tables tables;
    unsigned char *copy;
    enum cfi_step step;

    image.size = 0;
    put_byte((unsigned)size & 0x7f);
    if (size > 0x7f)
        image.bytes[0] |= 0x80, put_byte((unsigned)size >> 7);
    put(bytes, size);
    tables = tables_of(&copy, image.size);
    step = cfi_compute(&tables, 0, &registers, &range, NULL, result);
    free(copy);
    return step;
}

#define COMPUTE(result, ...)                                                             \
    compute((const unsigned char[]){__VA_ARGS__},                                        \
            sizeof(const unsigned char[]){__VA_ARGS__}, result)

#define ASSERT_COMPUTED(value, ...)                                                      \
    do {                                                                                 \
        uintptr_t result;                                                                \
        assert_int_equal(CFI_STEPPED, COMPUTE(&result, __VA_ARGS__));                    \
        assert_true((uintptr_t)(value) == result);                                       \
    } while (0)

#define ASSERT_NOT_COMPUTED(why, ...)                                                    \
    do {                                                                                 \
        uintptr_t result;                                                                \
        assert_int_equal(why, COMPUTE(&result, __VA_ARGS__));                            \
    } while (0)

static void
test_expressions(void **state)
{
    (void)state;
    ASSERT_COMPUTED(&stack[1], 0x77, 8);           /* breg7 8 */
    ASSERT_COMPUTED(STACK_AT + 2, 0x77, 16, 0x06); /* deref */
    ASSERT_COMPUTED(7, 0x92, 12, 0x7b);            /* bregx 12 -5 */
    ASSERT_COMPUTED(-2, 0x09, 0xfe);               /* const1s */
    ASSERT_COMPUTED(0xfffe, 0x0a, 0xfe, 0xff);
    ASSERT_COMPUTED(-1, 0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff);
    ASSERT_COMPUTED(300, 0x10, 0xac, 0x02);
    ASSERT_COMPUTED(-3, 0x11, 0x7d);
    ASSERT_COMPUTED(8, 0x35, 0x33, 0x12, 0x13, 0x22);    /* 5 3 dup drop plus */
    ASSERT_COMPUTED(5, 0x35, 0x33, 0x14);                /* over */
    ASSERT_COMPUTED(4, 0x34, 0x35, 0x33, 0x15, 2, 0x96); /* pick 2, nop */
    ASSERT_COMPUTED(2, 0x35, 0x33, 0x1c);                /* minus */
    ASSERT_COMPUTED(15, 0x35, 0x33, 0x1e);               /* mul */
    ASSERT_COMPUTED(7, 0x35, 0x33, 0x1a, 0x35, 0x33, 0x27, 0x22, 0x34, 0x21);
    ASSERT_COMPUTED(-5, 0x35, 0x1f);
    ASSERT_COMPUTED(-6, 0x35, 0x20);
    ASSERT_COMPUTED(40, 0x35, 0x33, 0x24);
    ASSERT_COMPUTED(-1, 0x09, 0xf8, 0x08, 200, 0x26); /* shra by 200 */
    ASSERT_COMPUTED(0, 0x35, 0x08, 200, 0x25);
    ASSERT_COMPUTED(12, 0x35, 0x23, 7);
    ASSERT_COMPUTED(1, 0x09, 0xff, 0x31, 0x2d); /* -1 < 1 */
}

/* As in .plt: 8 bytes more in the second half of an entry of 16. */
static void
test_plt(void **state)
{
    const unsigned char plt[] = {0x77, 8,    0x80, 0,    0x3f, 0x1a,
                                 0x3b, 0x2a, 0x33, 0x24, 0x22};
    uintptr_t result;

    (void)state;
    assert_int_equal(CFI_STEPPED, compute(plt, sizeof plt, &result));
    assert_true(result == (uintptr_t)&stack[1]);
}

static void
test_odd_expressions(void **state)
{
    unsigned char many[200];

    (void)state;
    ASSERT_NOT_COMPUTED(CFI_LOST, 0x06); /* of nothing */
    ASSERT_NOT_COMPUTED(CFI_LOST, 0x35, 0x22);
    ASSERT_NOT_COMPUTED(CFI_LOST, 0x35, 0x13);
    ASSERT_NOT_COMPUTED(CFI_LOST, 0x35, 0x15, 9);
    ASSERT_NOT_COMPUTED(CFI_LOST, 0x35, 0x06);             /* not on the stack */
    ASSERT_NOT_COMPUTED(CFI_LOST, 0x77, 0x78, 0x06);       /* just below */
    ASSERT_NOT_COMPUTED(CFI_LOST, 0x77, 0xf9, 0x01, 0x06); /* its last byte is above */
    ASSERT_NOT_COMPUTED(CFI_NEEDS, 0x7a, 0);               /* breg10 */
    ASSERT_NOT_COMPUTED(CFI_LOST, 0x81, 0);                /* breg17 */
    ASSERT_NOT_COMPUTED(CFI_LOST, 0x31, 0x28, 0, 0); /* bra, skip: loops are not read */
    ASSERT_NOT_COMPUTED(CFI_LOST, 0x2f, 0xfd, 0xff);
    ASSERT_NOT_COMPUTED(CFI_LOST, 0xe0);
    ASSERT_NOT_COMPUTED(CFI_LOST, 0x0e, 1, 2); /* cut off */
    ASSERT_NOT_COMPUTED(CFI_LOST, 0x77, 0x80);
    memset(many, 0x31, sizeof many);
    assert_int_equal(CFI_LOST, compute(many, 17, &(uintptr_t){0}));
    assert_int_equal(CFI_STEPPED, compute(many, 16, &(uintptr_t){0}));
    memset(many + 1, 0x96, sizeof many - 1);
    assert_int_equal(CFI_LOST, compute(many, 100, &(uintptr_t){0}));
}

/* A register's place and its value by an expression, which begins with the CFA. */
static void
test_rules_by_expression(void **state)
{
    struct cfi_registers registers = registers_here();

    (void)state;
    BUILD(0x0f, 2, 0x77, 32, 0x10, 12, 2, 0x23, 8, 0x16, 13, 1, 0x20, 0x10, 14, 1, 0x31,
          0x16, 7, 3, 0x77, 0xc0, 0);
    assert_int_equal(CFI_STEPPED, step_with(&registers, 32));
    assert_int_equal(STACK_AT + 5, registers.values[12]);
    assert_true(registers.values[13] == ~(uintptr_t)&stack[4]);
    assert_true(registers.values[7] == (uintptr_t)&stack[8]);
    assert_int_equal(0, registers.known >> 14 & 1);
    assert_int_equal(STACK_AT + 3, registers.values[16]);
}

int
main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),
        cmocka_unit_test(test_rare),
        cmocka_unit_test(test_places),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_cut_off),
        cmocka_unit_test(test_changed),
        cmocka_unit_test(test_not_understood),
        cmocka_unit_test(test_endless),
        cmocka_unit_test(test_step),
        cmocka_unit_test(test_no_step),
        cmocka_unit_test(test_expressions),
        cmocka_unit_test(test_plt),
        cmocka_unit_test(test_odd_expressions),
        cmocka_unit_test(test_rules_by_expression),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

#else

int
main(void)
{
    return 77; /* stacks are walked on x86-64 only */
}

#endif
