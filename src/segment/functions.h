/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Names of the counted functions in reports and on the screen; never translated. */
#ifndef MEMTOP_REPORT_NAMES_H
#define MEMTOP_REPORT_NAMES_H

#include "segment/layout.h"

extern const char *const report_function_names[FN_COUNT];
extern const char *const report_mapping_names[MAPPING_COUNT];

#endif
