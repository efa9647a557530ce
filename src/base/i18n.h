/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* _() translates a message, N_() only marks it for translation.  With --disable-nls both
   return their argument. */
#ifndef MEMTOP_I18N_H
#define MEMTOP_I18N_H

#include <stdint.h>

#if ENABLE_NLS
#include <libintl.h>
#else
#define gettext(message)           (message)
#define ngettext(one, more, count) ((count) == 1 ? (one) : (more))
#endif

#define _(message) gettext(message)
#define N_(message) message

/* The argument for ngettext(), which may be narrower than a counter: no language's plural
   forms depend on more than the last six digits. */
static inline unsigned long
plural(uint64_t count)
{
    return (unsigned long)(count < 1000000 ? count : count % 1000000 + 1000000);
}

#endif
