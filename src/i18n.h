/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* _() translates a message, N_() only marks it for translation.  With --disable-nls
   they are what they are. */
#ifndef MEMTOP_I18N_H
#define MEMTOP_I18N_H

#if ENABLE_NLS
#include <libintl.h>
#else
#define gettext(message)           (message)
#define ngettext(one, more, count) ((count) == 1 ? (one) : (more))
#endif

#define _(message) gettext(message)
#define N_(message) message

#endif
