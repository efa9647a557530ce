/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Reads unwind tables, see cfi.h. */
#include "config.h"

#include "preload/sites/cfi.h"

#ifdef ARCH_COLUMNS

#include <string.h>

/* Compilers nest these no deeper than once or twice. */
#define REMEMBERED_MAX 4u

/* The longest list of instructions: clang's largest function has some ten thousand. */
#define INSTRUCTIONS_MAX (1u << 16)

#define EXPRESSION_STACK 16u
#define EXPRESSION_MAX 64u /* operations */

/* ---- reading ---- */

/* A place in a table.  A read past the end gives 0 and sets bad. */
struct cfi_cursor {
    const unsigned char *at, *end;
    bool bad;
};

/* A cursor at an address of the tables, up to their end. */
static struct cfi_cursor
cursor_at(const struct cfi_tables *tables, uintptr_t address)
{
    struct cfi_cursor cursor = {(const void *)address, (const void *)tables->readable.end,
                                address < tables->readable.start
                                    || address >= tables->readable.end};

    if (cursor.bad)
        cursor.end = cursor.at;
    return cursor;
}

static void
skip(struct cfi_cursor *cursor, uint64_t bytes)
{
    if (bytes > (uint64_t)(cursor->end - cursor->at)) {
        cursor->bad = true;
        cursor->at = cursor->end;
    } else {
        cursor->at += bytes;
    }
}

/* Little-endian, as all machines of arch.h. */
static uint64_t
read_number(struct cfi_cursor *cursor, unsigned bytes)
{
    const unsigned char *from = cursor->at;
    uint64_t number = 0;

    skip(cursor, bytes);
    if (!cursor->bad)
        memcpy(&number, from, bytes);
    return number;
}

static uint8_t
read_byte(struct cfi_cursor *cursor)
{
    if (cursor->at == cursor->end) {
        cursor->bad = true;
        return 0;
    }
    return *cursor->at++;
}

static int64_t
read_signed(struct cfi_cursor *cursor, unsigned bytes)
{
    unsigned unused = 64 - 8 * bytes;

    return (int64_t)(read_number(cursor, bytes) << unused) >> unused;
}

/* A LEB128 number of at most 64 bits; *bits is how many it had. */
static uint64_t
read_leb(struct cfi_cursor *cursor, unsigned *bits)
{
    uint64_t number = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = read_byte(cursor);
        if (shift > 63) {
            cursor->bad = true;
            return 0;
        }
        number |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while (byte & 0x80);
    *bits = shift;
    return number;
}

static uint64_t
read_uleb(struct cfi_cursor *cursor)
{
    unsigned bits;

    return read_leb(cursor, &bits);
}

static int64_t
read_sleb(struct cfi_cursor *cursor)
{
    unsigned bits = 0;
    uint64_t number = read_leb(cursor, &bits);

    if (bits < 64 && bits > 0 && number >> (bits - 1) & 1)
        number |= ~UINT64_C(0) << bits;
    return (int64_t)number;
}

/* ---- encoded pointers (LSB 10.5) ---- */

#define ENCODED_OMIT 0xffu
#define ENCODED_FORMAT 0x0fu
#define ENCODED_PCREL 0x10u
#define ENCODED_DATAREL 0x30u
#define ENCODED_ALIGNED 0x50u /* made by nobody, not understood */

static uint64_t
read_formatted(struct cfi_cursor *cursor, unsigned format)
{
    switch (format & ENCODED_FORMAT) {
    case 0x0:
        return read_number(cursor, sizeof(uintptr_t));
    case 0x1:
        return read_uleb(cursor);
    case 0x2:
        return read_number(cursor, 2);
    case 0x3:
        return read_number(cursor, 4);
    case 0x4:
        return read_number(cursor, 8);
    case 0x9:
        return (uint64_t)read_sleb(cursor);
    case 0xa:
        return (uint64_t)read_signed(cursor, 2);
    case 0xb:
        return (uint64_t)read_signed(cursor, 4);
    case 0xc:
        return (uint64_t)read_signed(cursor, 8);
    default:
        cursor->bad = true;
        return 0;
    }
}

/* Absolute, or relative to its own place or to .eh_frame_hdr. */
static uintptr_t
read_pointer(struct cfi_cursor *cursor, unsigned encoding, uintptr_t header)
{
    uintptr_t place = (uintptr_t)cursor->at;
    uint64_t value = read_formatted(cursor, encoding);

    switch (encoding & ~ENCODED_FORMAT) {
    case 0:
        return value;
    case ENCODED_PCREL:
        return place + value;
    case ENCODED_DATAREL:
        return header + value;
    default:
        cursor->bad = true;
        return 0;
    }
}

/* ---- the header's table ---- */

/* The only kind that linkers make: pairs of 32 bits, relative to the header. */
#define TABLE_ENCODING (ENCODED_DATAREL | 0xb)

struct cfi_pair {
    int32_t function, entry;
};

/* Returns the address of the entry of the last function that begins at pc or before it,
   or 0 if there is none. */
static uintptr_t
search(uintptr_t header, const unsigned char *pairs, uint64_t count, uintptr_t pc)
{
    uint64_t low = 0; /* the pair sought is before high, and not before low - 1 */
    uint64_t high = count;
    struct cfi_pair pair;

    while (low < high) {
        uint64_t middle = low + (high - low) / 2;

        memcpy(&pair, pairs + middle * sizeof pair, sizeof pair);
        if (header + (uintptr_t)(intptr_t)pair.function <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    memcpy(&pair, pairs + (low - 1) * sizeof pair, sizeof pair);
    return header + (uintptr_t)(intptr_t)pair.entry;
}

static enum cfi_answer
find_entry(const struct cfi_tables *tables, uintptr_t pc, uintptr_t *entry)
{
    struct cfi_cursor header = cursor_at(tables, tables->header);
    unsigned version = read_byte(&header), frame = read_byte(&header),
             counting = read_byte(&header), encoding = read_byte(&header);
    uint64_t count;

    read_pointer(&header, frame, tables->header);
    if (encoding == ENCODED_OMIT && !header.bad)
        return CFI_NONE; /* the linker did not understand .eh_frame */
    count = read_formatted(&header, counting);
    if (header.bad || version != 1 || encoding != TABLE_ENCODING
        || (counting & ~ENCODED_FORMAT) != 0
        || count > (uint64_t)(header.end - header.at) / sizeof(struct cfi_pair))
        return CFI_UNKNOWN;
    *entry = search(tables->header, header.at, count, pc);
    return *entry != 0 ? CFI_FOUND : CFI_NONE;
}

/* ---- entries: CIE and FDE ---- */

/* What several functions have in common. */
struct cfi_common {
    struct cfi_cursor code; /* their first instructions */
    uint64_t code_factor;
    int64_t data_factor;
    unsigned pointers; /* the encoding of addresses */
    bool augmented;    /* entries have a length of further data */
    bool is_signal;
};

/* An entry's contents, after its length.  Those of more than 4 GiB do not exist. */
static struct cfi_cursor
entry_at(const struct cfi_tables *tables, uintptr_t address)
{
    struct cfi_cursor entry = cursor_at(tables, address);
    uint64_t length = read_number(&entry, 4);

    if (length == 0 || length >= 0xfffffff0 || length > (uint64_t)(entry.end - entry.at))
        entry.bad = true;
    else
        entry.end = entry.at + length;
    return entry;
}

/* Reads what the letters of an augmentation announce. */
static void
read_augmentation(struct cfi_common *common, const char *letters, struct cfi_cursor *data)
{
    unsigned encoding;

    for (; *letters != '\0' && !data->bad; letters++)
        switch (*letters) {
        case 'R':
            common->pointers = read_byte(data);
            break;
        case 'P':
            encoding = read_byte(data);
            data->bad |= encoding == ENCODED_ALIGNED;
            if (encoding != ENCODED_OMIT)
                read_formatted(data, encoding);
            break;
        case 'L':
            read_byte(data);
            break;
        case 'S':
            common->is_signal = true;
            break;
        default:
            data->bad = true;
        }
}

/* Reads the augmentation if there is one, and leaves entry behind it. */
static void
read_augmented(struct cfi_common *common, const char *letters, struct cfi_cursor *entry)
{
    struct cfi_cursor data;
    uint64_t length;

    common->augmented = letters[0] == 'z';
    if (!common->augmented) {
        entry->bad |= letters[0] != '\0';
        return;
    }
    length = read_uleb(entry);
    data = *entry;
    skip(entry, length);
    data.end = entry->at;
    read_augmentation(common, letters + 1, &data);
    entry->bad |= data.bad;
}

static bool
read_common(const struct cfi_tables *tables, uintptr_t address, struct cfi_common *common)
{
    struct cfi_cursor entry = entry_at(tables, address);
    uint64_t id = read_number(&entry, 4), column;
    unsigned version = read_byte(&entry);
    const char *letters = (const char *)entry.at;

    *common = (struct cfi_common){.pointers = 0};
    while (read_byte(&entry) != '\0')
        ;
    if (entry.bad || id != 0 || (version != 1 && version != 3))
        return false;
    common->code_factor = read_uleb(&entry);
    common->data_factor = read_sleb(&entry);
    column = version == 1 ? read_byte(&entry) : read_uleb(&entry);
    read_augmented(common, letters, &entry);
    common->code = entry;
    return !entry.bad && column == ARCH_RETURN;
}

/* A function's own part. */
struct cfi_function {
    uintptr_t start;
    struct cfi_cursor code;
};

static enum cfi_answer
read_function(const struct cfi_tables *tables, uintptr_t address, uintptr_t pc,
              struct cfi_common *common, struct cfi_function *function)
{
    struct cfi_cursor entry = entry_at(tables, address);
    uintptr_t place = (uintptr_t)entry.at;
    uint64_t back = read_number(&entry, 4), size;

    if (entry.bad || back == 0 || !read_common(tables, place - back, common))
        return CFI_UNKNOWN;
    function->start = read_pointer(&entry, common->pointers, tables->header);
    size = read_formatted(&entry, common->pointers);
    if (common->augmented)
        skip(&entry, read_uleb(&entry));
    function->code = entry;
    if (entry.bad)
        return CFI_UNKNOWN;
    return pc - function->start < size ? CFI_FOUND : CFI_NONE;
}

/* ---- instructions (DWARF 6.4.2) ---- */

struct cfi_run {
    const struct cfi_tables *tables;
    const struct cfi_common *common;
    struct cfi_cursor code;
    uintptr_t location, pc; /* stops when location passes pc */
    struct cfi_row *row;
    const struct cfi_row *first; /* what the CIE says; NULL: it is running */
    struct cfi_row *remembered;  /* REMEMBERED_MAX */
    unsigned depth;
};

/* A register of which nothing is to be known (vector registers) is left out. */
static void
set_rule(struct cfi_run *run, uint64_t column, enum cfi_kind kind, int64_t value)
{
    if (column >= ARCH_COLUMNS)
        return;
    run->code.bad |= value != (int32_t)value;
    run->row->kinds[column] = (uint8_t)kind;
    run->row->values[column] = (int32_t)value;
}

static int64_t
factored(const struct cfi_run *run, uint64_t offset)
{
    return (int64_t)(offset * (uint64_t)run->common->data_factor);
}

static void
set_cfa(struct cfi_run *run, uint64_t column, int64_t value)
{
    run->code.bad |= column >= ARCH_COLUMNS || value != (int32_t)value;
    run->row->cfa_kind = CFI_VALUE;
    run->row->cfa_column = (uint8_t)column;
    run->row->cfa_value = (int32_t)value;
}

/* Where the expression is that follows; it is skipped. */
static int64_t
expression_here(struct cfi_run *run)
{
    uintptr_t place = (uintptr_t)run->code.at - run->tables->readable.start;

    skip(&run->code, read_uleb(&run->code));
    return (int64_t)place;
}

static void
set_cfa_expression(struct cfi_run *run)
{
    int64_t place = expression_here(run);

    run->code.bad |= place != (int32_t)place;
    run->row->cfa_kind = CFI_VALUE_BY;
    run->row->cfa_value = (int32_t)place;
}

static void
restore_rule(struct cfi_run *run, uint64_t column)
{
    if (run->first == NULL)
        run->code.bad = true;
    else if (column < ARCH_COLUMNS) {
        run->row->kinds[column] = run->first->kinds[column];
        run->row->values[column] = run->first->values[column];
    }
}

static void
remember(struct cfi_run *run)
{
    if (run->depth == REMEMBERED_MAX)
        run->code.bad = true;
    else
        run->remembered[run->depth++] = *run->row;
}

static void
restore_remembered(struct cfi_run *run)
{
    if (run->depth == 0)
        run->code.bad = true;
    else
        *run->row = run->remembered[--run->depth];
}

static void
advance(struct cfi_run *run, uint64_t delta)
{
    run->location += delta * run->common->code_factor;
}

/* Instructions that say where a register is. */
static bool
run_register(struct cfi_run *run, unsigned instruction)
{
    struct cfi_cursor *code = &run->code;
    uint64_t column = read_uleb(code);

    switch (instruction) {
    case 0x05: /* offset_extended */
        set_rule(run, column, CFI_SAVED, factored(run, read_uleb(code)));
        return true;
    case 0x06: /* restore_extended */
        restore_rule(run, column);
        return true;
    case 0x07:
        set_rule(run, column, CFI_UNDEFINED, 0);
        return true;
    case 0x08:
        set_rule(run, column, CFI_SAME, 0);
        return true;
    case 0x09:
        set_rule(run, column, CFI_REGISTER, (int64_t)read_uleb(code));
        return true;
    case 0x10: /* expression */
        set_rule(run, column, CFI_SAVED_BY, expression_here(run));
        return true;
    case 0x11: /* offset_extended_sf */
        set_rule(run, column, CFI_SAVED, factored(run, (uint64_t)read_sleb(code)));
        return true;
    case 0x14: /* val_offset */
        set_rule(run, column, CFI_VALUE, factored(run, read_uleb(code)));
        return true;
    case 0x15: /* val_offset_sf */
        set_rule(run, column, CFI_VALUE, factored(run, (uint64_t)read_sleb(code)));
        return true;
    case 0x16: /* val_expression */
        set_rule(run, column, CFI_VALUE_BY, expression_here(run));
        return true;
    case 0x2f: /* GNU_negative_offset_extended */
        set_rule(run, column, CFI_SAVED, -factored(run, read_uleb(code)));
        return true;
    default:
        return false;
    }
}

/* Instructions that say where the CFA is. */
static bool
run_cfa(struct cfi_run *run, unsigned instruction)
{
    struct cfi_cursor *code = &run->code;
    const struct cfi_row *row = run->row;
    uint64_t column;

    switch (instruction) {
    case 0x0c: /* def_cfa */
        column = read_uleb(code);
        set_cfa(run, column, (int64_t)read_uleb(code));
        return true;
    case 0x0d: /* def_cfa_register */
        code->bad |= row->cfa_kind != CFI_VALUE;
        set_cfa(run, read_uleb(code), row->cfa_value);
        return true;
    case 0x0e: /* def_cfa_offset */
        code->bad |= row->cfa_kind != CFI_VALUE;
        set_cfa(run, row->cfa_column, (int64_t)read_uleb(code));
        return true;
    case 0x0f:
        set_cfa_expression(run);
        return true;
    case 0x12: /* def_cfa_sf */
        column = read_uleb(code);
        set_cfa(run, column, factored(run, (uint64_t)read_sleb(code)));
        return true;
    case 0x13: /* def_cfa_offset_sf */
        code->bad |= row->cfa_kind != CFI_VALUE;
        set_cfa(run, row->cfa_column, factored(run, (uint64_t)read_sleb(code)));
        return true;
    default:
        return false;
    }
}

/* The others, but for those whose operand is in their own byte. */
static bool
run_other(struct cfi_run *run, unsigned instruction)
{
    struct cfi_cursor *code = &run->code;

    switch (instruction) {
    case 0x00: /* nop */
        return true;
    case 0x01: /* set_loc */
        run->location = read_pointer(code, run->common->pointers, run->tables->header);
        return true;
    case 0x02:
        advance(run, read_number(code, 1));
        return true;
    case 0x03:
        advance(run, read_number(code, 2));
        return true;
    case 0x04:
        advance(run, read_number(code, 4));
        return true;
    case 0x0a:
        remember(run);
        return true;
    case 0x0b:
        restore_remembered(run);
        return true;
    case 0x2e: /* GNU_args_size: only a handler needs it */
        read_uleb(code);
        return true;
    default:
        return false;
    }
}

static void
run_instruction(struct cfi_run *run)
{
    unsigned instruction = read_byte(&run->code), low = instruction & 0x3f;

    switch (instruction & 0xc0) {
    case 0x40:
        advance(run, low);
        return;
    case 0x80: /* offset */
        set_rule(run, low, CFI_SAVED, factored(run, read_uleb(&run->code)));
        return;
    case 0xc0:
        restore_rule(run, low);
        return;
    }
    if (!run_other(run, instruction) && !run_cfa(run, instruction)
        && !run_register(run, instruction))
        run->code.bad = true;
}

/* Runs the instructions up to pc, or to their end.  Returns false if one is not
   understood. */
static bool
run_code(struct cfi_run *run, struct cfi_cursor code)
{
    run->code = code;
    if (code.end - code.at > INSTRUCTIONS_MAX)
        return false;
    while (run->code.at < run->code.end && run->location <= run->pc && !run->code.bad)
        run_instruction(run);
    return !run->code.bad;
}

static bool
run_all(const struct cfi_tables *tables, uintptr_t pc, const struct cfi_common *common,
        const struct cfi_function *function, struct cfi_row *row)
{
    struct cfi_row first, remembered[REMEMBERED_MAX];
    struct cfi_run run = {.tables = tables,
                          .common = common,
                          .location = function->start,
                          .pc = pc,
                          .row = row,
                          .remembered = remembered};

    if (!run_code(&run, common->code))
        return false;
    first = *row;
    run.first = &first;
    run.location = function->start;
    run.depth = 0;
    return run_code(&run, function->code);
}

enum cfi_answer
cfi_find(const struct cfi_tables *tables, uintptr_t pc, struct cfi_frame *frame)
{
    struct cfi_function function;
    struct cfi_common common;
    uintptr_t entry;
    enum cfi_answer answer = find_entry(tables, pc, &entry);

    if (answer == CFI_FOUND)
        answer = read_function(tables, entry, pc, &common, &function);
    if (answer != CFI_FOUND)
        return answer;
    *frame = (struct cfi_frame){.is_signal = common.is_signal};
    return run_all(tables, pc, &common, &function, &frame->row) ? CFI_FOUND : CFI_UNKNOWN;
}

/* ---- expressions (DWARF 2.5) ---- */

struct cfi_machine {
    struct cfi_cursor code;
    const struct cfi_registers *registers;
    const struct cfi_range *stack;
    uintptr_t values[EXPRESSION_STACK];
    unsigned depth;
    enum cfi_step state; /* CFI_STEPPED as long as all is well */
};

static void
give_up(struct cfi_machine *machine, enum cfi_step state)
{
    if (machine->state == CFI_STEPPED)
        machine->state = state;
}

static void
push(struct cfi_machine *machine, uintptr_t value)
{
    if (machine->depth == EXPRESSION_STACK)
        give_up(machine, CFI_LOST);
    else
        machine->values[machine->depth++] = value;
}

static uintptr_t
pop(struct cfi_machine *machine)
{
    if (machine->depth == 0) {
        give_up(machine, CFI_LOST);
        return 0;
    }
    return machine->values[--machine->depth];
}

/* Returns the value that lies so far below the top. */
static uintptr_t
peek(struct cfi_machine *machine, unsigned below)
{
    if (below >= machine->depth) {
        give_up(machine, CFI_LOST);
        return 0;
    }
    return machine->values[machine->depth - 1 - below];
}

static bool
read_stack(const struct cfi_range *stack, uintptr_t address, uintptr_t *value)
{
    if (address < stack->start || address > stack->end
        || stack->end - address < sizeof *value)
        return false;
    memcpy(value, (const void *)address, sizeof *value);
    return true;
}

static void
push_memory(struct cfi_machine *machine, uintptr_t address)
{
    uintptr_t value = 0;

    if (!read_stack(machine->stack, address, &value))
        give_up(machine, CFI_LOST);
    push(machine, value);
}

static void
push_register(struct cfi_machine *machine, uint64_t column, int64_t offset)
{
    if (column >= ARCH_COLUMNS)
        give_up(machine, CFI_LOST);
    else if ((machine->registers->known >> column & 1) == 0)
        give_up(machine, CFI_NEEDS);
    else
        push(machine, machine->registers->values[column] + (uintptr_t)offset);
}

static bool
compute_constant(struct cfi_machine *machine, unsigned operation)
{
    struct cfi_cursor *code = &machine->code;

    switch (operation) {
    case 0x08: /* const1u, 1s, 2u ... 8s */
    case 0x0a:
    case 0x0c:
    case 0x0e:
        push(machine, read_number(code, 1u << (operation - 0x08) / 2));
        return true;
    case 0x09:
    case 0x0b:
    case 0x0d:
    case 0x0f:
        push(machine, (uintptr_t)read_signed(code, 1u << (operation - 0x09) / 2));
        return true;
    case 0x10: /* constu */
        push(machine, read_uleb(code));
        return true;
    case 0x11: /* consts */
        push(machine, (uintptr_t)read_sleb(code));
        return true;
    default:
        if (operation < 0x30 || operation > 0x4f)
            return false;
        push(machine, operation - 0x30); /* lit0 ... lit31 */
        return true;
    }
}

/* Of two values, the upper one last. */
static bool
compute_binary(struct cfi_machine *machine, unsigned operation)
{
    const uintptr_t b = peek(machine, 0), a = peek(machine, 1);
    const intptr_t sa = (intptr_t)a, sb = (intptr_t)b;
    const unsigned bits = 8 * sizeof a;
    uintptr_t result;

    switch (operation) {
    case 0x1a:
        result = a & b;
        break;
    case 0x1c:
        result = a - b;
        break;
    case 0x1e:
        result = a * b;
        break;
    case 0x21:
        result = a | b;
        break;
    case 0x22:
        result = a + b;
        break;
    case 0x24: /* shl, shr, shra */
        result = b < bits ? a << b : 0;
        break;
    case 0x25:
        result = b < bits ? a >> b : 0;
        break;
    case 0x26:
        result = (uintptr_t)(sa >> (b < bits ? b : bits - 1));
        break;
    case 0x27:
        result = a ^ b;
        break;
    case 0x29: /* eq, ge, gt, le, lt, ne: of signed numbers */
        result = a == b;
        break;
    case 0x2a:
        result = sa >= sb;
        break;
    case 0x2b:
        result = sa > sb;
        break;
    case 0x2c:
        result = sa <= sb;
        break;
    case 0x2d:
        result = sa < sb;
        break;
    case 0x2e:
        result = a != b;
        break;
    default:
        return false;
    }
    pop(machine);
    pop(machine);
    push(machine, result);
    return true;
}

static bool
compute_other(struct cfi_machine *machine, unsigned operation)
{
    struct cfi_cursor *code = &machine->code;
    uint64_t column;

    switch (operation) {
    case 0x06: /* deref */
        push_memory(machine, pop(machine));
        return true;
    case 0x12: /* dup */
        push(machine, peek(machine, 0));
        return true;
    case 0x13: /* drop */
        pop(machine);
        return true;
    case 0x14: /* over */
        push(machine, peek(machine, 1));
        return true;
    case 0x15: /* pick */
        push(machine, peek(machine, read_byte(code)));
        return true;
    case 0x1f: /* neg */
        push(machine, 0 - pop(machine));
        return true;
    case 0x20: /* not */
        push(machine, ~pop(machine));
        return true;
    case 0x23: /* plus_uconst */
        push(machine, pop(machine) + read_uleb(code));
        return true;
    case 0x92: /* bregx */
        column = read_uleb(code);
        push_register(machine, column, read_sleb(code));
        return true;
    case 0x96: /* nop */
        return true;
    default:
        if (operation < 0x70 || operation > 0x8f)
            return false;
        push_register(machine, operation - 0x70, read_sleb(code)); /* breg0 ... breg31 */
        return true;
    }
}

enum cfi_step
cfi_compute(const struct cfi_tables *tables, uint32_t offset,
            const struct cfi_registers *registers, const struct cfi_range *stack,
            const uintptr_t *first, uintptr_t *result)
{
    struct cfi_machine machine = {.code =
                                      cursor_at(tables, tables->readable.start + offset),
                                  .registers = registers,
                                  .stack = stack};
    struct cfi_cursor end = machine.code;

    skip(&end, read_uleb(&end));
    read_uleb(&machine.code);
    machine.code.end = end.at;
    machine.code.bad |= end.bad;
    if (first != NULL)
        push(&machine, *first);
    for (unsigned count = 0; machine.code.at < machine.code.end; count++) {
        unsigned operation = read_byte(&machine.code);

        if (machine.code.bad || machine.state != CFI_STEPPED || count == EXPRESSION_MAX)
            return machine.state != CFI_STEPPED ? machine.state : CFI_LOST;
        if (!compute_constant(&machine, operation) && !compute_other(&machine, operation)
            && !compute_binary(&machine, operation))
            return CFI_LOST;
    }
    *result = pop(&machine);
    return machine.code.bad && machine.state == CFI_STEPPED ? CFI_LOST : machine.state;
}

/* ---- from a frame to its caller ---- */

static enum cfi_step
find_cfa(const struct cfi_tables *tables, const struct cfi_row *row,
         const struct cfi_range *stack, const struct cfi_registers *registers,
         uintptr_t *cfa)
{
    switch (row->cfa_kind) {
    case CFI_VALUE:
        if ((registers->known >> row->cfa_column & 1) == 0)
            return CFI_NEEDS;
        *cfa = registers->values[row->cfa_column] + (uintptr_t)(intptr_t)row->cfa_value;
        return CFI_STEPPED;
    case CFI_VALUE_BY:
        return cfi_compute(tables, (uint32_t)row->cfa_value, registers, stack, NULL, cfa);
    default:
        return CFI_LOST;
    }
}

/* The caller's value of one register. */
static enum cfi_step
find_value(const struct cfi_tables *tables, const struct cfi_frame *frame,
           const struct cfi_range *stack, const struct cfi_registers *registers,
           uintptr_t cfa, unsigned column, uintptr_t *value)
{
    const int32_t rule = frame->row.values[column];
    uintptr_t place = cfa + (uintptr_t)(intptr_t)rule;
    enum cfi_step step;

    switch (frame->row.kinds[column]) {
    case CFI_SAVED:
        return read_stack(stack, place, value) ? CFI_STEPPED : CFI_LOST;
    case CFI_VALUE:
        *value = place;
        return CFI_STEPPED;
    case CFI_REGISTER:
        if (rule < 0 || rule >= ARCH_COLUMNS)
            return CFI_LOST;
        *value = registers->values[rule];
        return registers->known >> rule & 1 ? CFI_STEPPED : CFI_NEEDS;
    case CFI_SAVED_BY:
        step = cfi_compute(tables, (uint32_t)rule, registers, stack, &cfa, &place);
        if (step == CFI_STEPPED && !read_stack(stack, place, value))
            return CFI_LOST;
        return step;
    case CFI_VALUE_BY:
        return cfi_compute(tables, (uint32_t)rule, registers, stack, &cfa, value);
    default:
        return CFI_LOST;
    }
}

/* Is a register of which the tables say nothing still as it was? */
static bool
is_kept(const struct cfi_frame *frame, const struct cfi_registers *registers,
        unsigned column)
{
    return frame->row.kinds[column] == CFI_SAME && column != ARCH_STACK
           && column != ARCH_RETURN && (registers->known >> column & 1)
           && (ARCH_PRESERVED >> column & 1 || frame->is_signal);
}

enum cfi_step
cfi_step(const struct cfi_tables *tables, const struct cfi_frame *frame,
         const struct cfi_range *stack, struct cfi_registers *registers)
{
    const uint8_t *kinds = frame->row.kinds;
    struct cfi_registers caller = {.known = 0};
    uintptr_t cfa;
    enum cfi_step step;

    if (kinds[ARCH_RETURN] == CFI_UNDEFINED)
        return CFI_OUTERMOST;
    step = find_cfa(tables, &frame->row, stack, registers, &cfa);
    for (unsigned column = 0; column < ARCH_COLUMNS && step == CFI_STEPPED; column++) {
        uintptr_t *value = &caller.values[column];
        enum cfi_step found = CFI_STEPPED;

        if (is_kept(frame, registers, column))
            *value = registers->values[column];
        else if (column == ARCH_STACK && kinds[column] == CFI_SAME)
            *value = cfa;
        else
            found = find_value(tables, frame, stack, registers, cfa, column, value);
        if (found == CFI_STEPPED)
            caller.known |= 1u << column;
        else if (column == ARCH_STACK || column == ARCH_RETURN)
            step = found;
    }
    if (step == CFI_STEPPED)
        *registers = caller;
    return step;
}

#endif
