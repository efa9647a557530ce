/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Reads an ELF file's headers, symbols and notes with libelf.
 *
 * The user may name any file.  libelf checks offsets against the file's size, and tables
 * are bounded here before libelf reads them, because a sparse file of terabytes may claim
 * any size.  The file is read, not mapped, because it may be truncated meanwhile.
 */
#include "config.h"

#include "system/elffile.h"

#include <errno.h>
#include <gelf.h>
#include <libelf.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The largest symbol table seen in practice (a browser with debugging symbols) has 120
   MiB, its names 400 MiB. */
#define TABLE_MAX (UINT64_C(512) << 20)
#define FILE_MAX (UINT64_C(16) << 30)
#define SECTIONS_MAX 100000u
#define NOTES_MAX (UINT64_C(1) << 20)

static const struct {
    const char *symbol;
    const char *library;
    const char *name;
} sanitizers[] = {
    {"__asan_init", "libasan.so", "AddressSanitizer"},
    {"__hwasan_init", "libhwasan.so", "HWAddressSanitizer"},
    {"__tsan_init", "libtsan.so", "ThreadSanitizer"},
    {"__msan_init", "libmsan.so", "MemorySanitizer"},
    {"__lsan_init", "liblsan.so", "LeakSanitizer"},
};

static const struct {
    const char *symbol;
    enum elffile_allocator allocator;
} allocators[] = {
    {"malloc", ELFFILE_ALLOCATOR_MALLOC},
    {"je_malloc", ELFFILE_ALLOCATOR_JEMALLOC},
    {"_rjem_malloc", ELFFILE_ALLOCATOR_JEMALLOC},
    {"mi_malloc", ELFFILE_ALLOCATOR_MIMALLOC},
    {"tc_malloc", ELFFILE_ALLOCATOR_TCMALLOC},
};

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static bool
starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* Gets the section's header; false if its contents must not be read. */
static bool
readable_section(Elf_Scn *section, GElf_Shdr *header)
{
    return section != NULL && gelf_getshdr(section, header) != NULL
           && header->sh_type != SHT_NOBITS && header->sh_size <= TABLE_MAX;
}

static bool
readable_strings(Elf *elf, size_t index)
{
    GElf_Shdr header;

    return readable_section(elf_getscn(elf, index), &header)
           && header.sh_type == SHT_STRTAB;
}

static void
judge_symbol(const char *name, const GElf_Sym *symbol, void *context)
{
    struct elffile *out = context;

    if (starts_with(name, "__")) {
        for (size_t i = 0; i < ARRAY_SIZE(sanitizers); i++)
            if (strcmp(name, sanitizers[i].symbol) == 0)
                out->sanitizer = sanitizers[i].name;
        return;
    }
    /* An undefined symbol with a value is a PLT entry, not a definition. */
    if (symbol->st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol->st_info) != STT_FUNC)
        return;
    if (out->allocator == ELFFILE_ALLOCATOR_MALLOC)
        return;
    for (size_t i = 0; i < ARRAY_SIZE(allocators); i++)
        if (strcmp(name, allocators[i].symbol) == 0)
            out->allocator = allocators[i].allocator;
    if (out->allocator == ELFFILE_ALLOCATOR_MALLOC
        && (GELF_ST_BIND(symbol->st_info) == STB_LOCAL
            || GELF_ST_VISIBILITY(symbol->st_other) == STV_HIDDEN))
        out->allocator = ELFFILE_ALLOCATOR_PRIVATE;
}

/* Reads a section whose entries refer to names in another, and their number; NULL if it
   cannot be read. */
static Elf_Data *
read_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, size_t *count)
{
    Elf_Data *data = NULL;

    if (header->sh_entsize != 0 && readable_strings(elf, header->sh_link))
        data = elf_getdata(section, NULL);
    *count = data != NULL ? data->d_size / header->sh_entsize : 0;
    return data;
}

/* Calls visit with every symbol of the table that has a name. */
typedef void visit_symbol(const char *name, const GElf_Sym *symbol, void *context);

static void
each_symbol(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, visit_symbol *visit,
            void *context)
{
    size_t count;
    Elf_Data *data = read_table(elf, section, header, &count);

    for (size_t i = 1; i < count; i++) {
        GElf_Sym symbol;
        if (gelf_getsym(data, (int)i, &symbol) == NULL)
            return;
        const char *name = elf_strptr(elf, header->sh_link, symbol.st_name);
        if (name != NULL && name[0] != '\0')
            visit(name, &symbol, context);
    }
}

static void
read_needed(const char *library, struct elffile *out)
{
    for (size_t i = 0; i < ARRAY_SIZE(sanitizers); i++)
        if (starts_with(library, sanitizers[i].library))
            out->sanitizer = sanitizers[i].name;
}

static void
read_dynamic(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct elffile *out)
{
    size_t count;
    Elf_Data *data = read_table(elf, section, header, &count);

    for (size_t i = 0; i < count; i++) {
        GElf_Dyn entry;
        if (gelf_getdyn(data, (int)i, &entry) == NULL || entry.d_tag == DT_NULL)
            return;
        if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_SONAME)
            continue;
        const char *name = elf_strptr(elf, header->sh_link, entry.d_un.d_val);
        if (name == NULL)
            continue;
        if (entry.d_tag == DT_NEEDED)
            read_needed(name, out);
        else if (starts_with(name, "ld-linux") || starts_with(name, "ld64.")
                 || starts_with(name, "ld.so"))
            out->is_loader = true;
    }
}

/* Go marks its programs by a note of their own; they have no malloc. */
static void
read_name(Elf *elf, const GElf_Shdr *header, struct elffile *out)
{
    size_t names;

    if (elf_getshdrstrndx(elf, &names) != 0 || !readable_strings(elf, names))
        return;
    const char *name = elf_strptr(elf, names, header->sh_name);
    if (name != NULL && out->allocator == ELFFILE_ALLOCATOR_NONE
        && (strcmp(name, ".note.go.buildid") == 0 || strcmp(name, ".gopclntab") == 0))
        out->allocator = ELFFILE_ALLOCATOR_GO;
}

static void
read_sections(Elf *elf, struct elffile *out)
{
    Elf_Scn *section = NULL;
    unsigned seen = 0;

    while ((section = elf_nextscn(elf, section)) != NULL && seen++ < SECTIONS_MAX) {
        GElf_Shdr header;
        if (!readable_section(section, &header))
            continue;
        read_name(elf, &header, out);
        if (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB)
            each_symbol(elf, section, &header, judge_symbol, out);
        else if (header.sh_type == SHT_DYNAMIC)
            read_dynamic(elf, section, &header, out);
    }
}

/* PT_INTERP makes a program dynamic; a program without it is static, whether or not it is
   position independent. */
static void
read_program_headers(Elf *elf, int descriptor, struct elffile *out)
{
    size_t count;

    if (elf_getphdrnum(elf, &count) != 0 || count > UINT16_MAX)
        return;
    for (size_t i = 0; i < count; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) == NULL)
            return;
        if (header.p_type == PT_LOAD)
            out->runnable = true;
        if (header.p_type != PT_INTERP || header.p_filesz < 2
            || header.p_filesz > sizeof out->loader)
            continue;
        ssize_t got =
            pread(descriptor, out->loader, header.p_filesz, (off_t)header.p_offset);
        out->loader[got > 0 ? got - 1 : 0] = '\0';
        out->dynamic = out->loader[0] != '\0';
    }
}

static int
read_header(Elf *elf, struct elffile *out)
{
    GElf_Ehdr header;

    if (elf_kind(elf) != ELF_K_ELF || gelf_getehdr(elf, &header) == NULL)
        return -ENOEXEC;
    if (header.e_type != ET_EXEC && header.e_type != ET_DYN)
        return -ENOEXEC;
    out->class_bits = header.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
    out->big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
    out->machine = header.e_machine;
    return 0;
}

/* Begins reading a file that is not too large.  Returns 0 or -errno.  End it with
   elf_end(). */
static int
begin(int descriptor, Elf **out)
{
    struct stat st;

    if (fstat(descriptor, &st) != 0)
        return -errno;
    if ((uint64_t)st.st_size > FILE_MAX)
        return -EFBIG;
    if (elf_version(EV_CURRENT) == EV_NONE)
        return -ENOTSUP;
    *out = elf_begin(descriptor, ELF_C_READ, NULL);
    return *out != NULL ? 0 : -ENOEXEC;
}

int
elffile_read(int descriptor, struct elffile *out)
{
    Elf *elf;
    int error;

    memset(out, 0, sizeof *out);
    error = begin(descriptor, &elf);
    if (error != 0)
        return error;
    error = read_header(elf, out);
    if (error == 0) {
        read_program_headers(elf, descriptor, out);
        read_sections(elf, out);
    }
    elf_end(elf);
    return error != 0 ? error : out->runnable ? 0 : -ENOEXEC;
}

/* ---- functions ---- */

struct visitor {
    elffile_visit *visit;
    void *context;
};

static void
visit_function(const char *name, const GElf_Sym *symbol, void *context)
{
    const struct visitor *visitor = context;
    unsigned type = GELF_ST_TYPE(symbol->st_info);
    const struct elffile_function function = {
        .name = name,
        .address = symbol->st_value,
        .size = symbol->st_size,
        .global = GELF_ST_BIND(symbol->st_info) != STB_LOCAL,
    };

    if (symbol->st_shndx != SHN_UNDEF && (type == STT_FUNC || type == STT_GNU_IFUNC))
        visitor->visit(&function, visitor->context);
}

int
elffile_functions(int descriptor, elffile_visit *visit, void *context)
{
    struct visitor visitor = {visit, context};
    Elf_Scn *section = NULL;
    unsigned seen = 0;
    Elf *elf;
    int error = begin(descriptor, &elf);

    if (error != 0)
        return error;
    while ((section = elf_nextscn(elf, section)) != NULL && seen++ < SECTIONS_MAX) {
        GElf_Shdr header;
        if (readable_section(section, &header)
            && (header.sh_type == SHT_DYNSYM || header.sh_type == SHT_SYMTAB))
            each_symbol(elf, section, &header, visit_function, &visitor);
    }
    error = elf_kind(elf) == ELF_K_ELF ? 0 : -ENOEXEC;
    elf_end(elf);
    return error;
}

/* ---- the build id ---- */

/* Finds the build id in the notes of one segment or section; returns 0 if there is
   none. */
static int
find_build_id(Elf_Data *notes, uint8_t *out, size_t size)
{
    size_t offset = 0, name, content;
    GElf_Nhdr header;

    while (notes != NULL
           && (offset = gelf_getnote(notes, offset, &header, &name, &content)) > 0) {
        const uint8_t *bytes = notes->d_buf;
        if (header.n_type != NT_GNU_BUILD_ID || header.n_namesz != sizeof ELF_NOTE_GNU
            || memcmp(bytes + name, ELF_NOTE_GNU, sizeof ELF_NOTE_GNU) != 0)
            continue;
        size_t length = header.n_descsz < size ? header.n_descsz : size;
        memcpy(out, bytes + content, length);
        return (int)length;
    }
    return 0;
}

int
elffile_build_id(int descriptor, uint8_t *out, size_t size)
{
    size_t count;
    Elf *elf;
    int length = begin(descriptor, &elf);

    if (length != 0)
        return length;
    if (elf_kind(elf) != ELF_K_ELF)
        length = -ENOEXEC;
    if (elf_getphdrnum(elf, &count) != 0 || count > UINT16_MAX)
        count = 0;
    for (size_t i = 0; length == 0 && i < count; i++) {
        GElf_Phdr header;
        if (gelf_getphdr(elf, (int)i, &header) == NULL)
            break;
        if (header.p_type == PT_NOTE && header.p_filesz <= NOTES_MAX)
            length = find_build_id(elf_getdata_rawchunk(elf, (int64_t)header.p_offset,
                                                        header.p_filesz, ELF_T_NHDR),
                                   out, size);
    }
    elf_end(elf);
    return length;
}
