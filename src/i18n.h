/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* _() translates a message, N_() only marks it for translation. */
#ifndef MEMTOP_I18N_H
#define MEMTOP_I18N_H

#include <libintl.h>

#define _(message) gettext(message)
#define N_(message) message

#endif
