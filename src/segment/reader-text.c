/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Texts about a segment or a reader's error, marked for translation.  Numbers from a
 * segment may have any value.
 */
#include "config.h"

#include "segment/reader.h"

#include <errno.h>
#include <string.h>

#include "base/i18n.h"

const char *
segment_reason_text(enum segment_reason reason)
{
    switch (reason) {
    case REASON_NONE:
        return "";
    case REASON_OWN_MALLOC:
        return _("the program defines its own malloc");
    case REASON_NO_USABLE_SIZE:
        return _("the allocator has no malloc_usable_size");
    case REASON_NO_MEMORY_FS:
        return _("no private directory on a memory file system");
    case REASON_FILE_LIMIT:
        return _("the file size limit (ulimit -f) is below the segment's size");
    case REASON_NO_ROOM:
        return _("the memory file system is full");
    case REASON_MAP_FAILED:
        return _("the segment could not be mapped (address space limit?)");
    case REASON_OTHER_PROGRAM:
        return _("only another program is to be measured");
    case REASON_SANITIZER:
        return _("the program is built with a sanitizer");
    case REASON_LOADED_LATE:
        return _("the library was loaded after the start, when malloc was bound already");
    }
    return _("unknown reason");
}

const char *
reader_error_text(int error)
{
    switch (error) {
    case -EPROTO:
        return _("not a segment of libmemtop");
    case -EPROTONOSUPPORT:
        return _("a segment of another version: restart the program under this memtop");
    case -EMSGSIZE:
        return _("the segment was cut short");
    case -EPERM:
        return _("the segment belongs to another user");
    }
    return strerror(-error);
}
