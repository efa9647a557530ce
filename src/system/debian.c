/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Each package has a file "NAME.list" or "NAME:ARCHITECTURE.list" with the paths of its
 * files, one a line.  Systems whose /bin is a link to /usr/bin have either path there.
 */
#include "config.h"

#include "system/debian.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The longest list that is read, in bytes: linux-headers has 2 MB. */
#define LIST_MAX ((size_t)16 << 20)

/* Memory for one list after the other. */
struct list_text {
    char *bytes;
    size_t length, room;
};

static bool
read_list(int directory, const char *name, struct list_text *text)
{
    int descriptor = openat(directory, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct stat st;
    ssize_t got = 0;

    text->length = 0;
    if (descriptor < 0)
        return false;
    if (fstat(descriptor, &st) == 0 && S_ISREG(st.st_mode)
        && (uint64_t)st.st_size <= LIST_MAX) {
        if (text->room < (size_t)st.st_size + 1) {
            free(text->bytes);
            text->room = (size_t)st.st_size + 1;
            text->bytes = malloc(text->room);
        }
        if (text->bytes == NULL)
            text->room = 0;
        else
            got = read(descriptor, text->bytes, (size_t)st.st_size);
    }
    close(descriptor);
    text->length = got > 0 ? (size_t)got : 0;
    return got > 0;
}

static bool
has_line(const struct list_text *text, const char *line)
{
    const char *at = text->bytes, *end = text->bytes + text->length;
    size_t length = strlen(line);

    while (length > 0
           && (at = memmem(at, (size_t)(end - at), line, length)) != NULL) {
        if ((at == text->bytes || at[-1] == '\n')
            && (at + length == end || at[length] == '\n'))
            return true;
        at += length;
    }
    return false;
}

/* "git.list", "libc6:amd64.list": copies the name of the package. */
static bool
package_of_list(const char *name, char *package, size_t size)
{
    size_t length = strlen(name), colon = strcspn(name, ":");

    if (length <= 5 || strcmp(name + length - 5, ".list") != 0)
        return false;
    length = colon < length - 5 ? colon : length - 5;
    if (length >= size)
        return false;
    memcpy(package, name, length);
    package[length] = '\0';
    return true;
}

bool
debian_package(const char *lists, const char *path, char *package, size_t size)
{
    const char *other = strncmp(path, "/usr/", 5) == 0 ? path + 4 : "";
    DIR *directory = opendir(lists);
    struct list_text text = {.bytes = NULL};
    const struct dirent *entry;
    bool found = false;

    if (directory == NULL)
        return false;
    while (!found && (entry = readdir(directory)) != NULL)
        found = package_of_list(entry->d_name, package, size)
                && read_list(dirfd(directory), entry->d_name, &text)
                && (has_line(&text, path) || has_line(&text, other));
    closedir(directory);
    free(text.bytes);
    return found;
}
