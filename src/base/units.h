/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Numbers for people: sizes, counts, rates and times as short text, with the locale's
 * digit grouping, decimal point and translated unit names.  Programs get plain integers
 * elsewhere (json.h).
 *
 * Every function writes at most size bytes including the final NUL and returns buf.
 * UNITS_MAX bytes hold any result.  The value UNITS_UNKNOWN becomes "-".
 */
#ifndef MEMTOP_UNITS_H
#define MEMTOP_UNITS_H

#include <stddef.h>
#include <stdint.h>

#define UNITS_MAX     64
#define UNITS_UNKNOWN UINT64_MAX   /* the same as HISTORY_UNKNOWN */

/* UNIT_SI may be added to the first three: powers of 1000 and kB, MB... */
enum unit { UNIT_AUTO, UNIT_KIB, UNIT_MIB, UNIT_BYTES, UNIT_SI };

/* The unit after this one: auto, KiB, MiB, bytes, auto; keeps UNIT_SI. */
enum unit units_next(enum unit unit);

/* "248.3 MiB": four significant digits; "254261.3 KiB" in a fixed unit;
   "260 358 144 B". */
char *units_bytes(char *buf, size_t size, uint64_t bytes, enum unit unit);

/* "400 MiB", "2.5 MiB", "0 B": no more digits than needed, at most three; for the labels
   of an axis.  Compact, for narrow axes: "400M", "2.5M", "0B". */
char *units_axis(char *buf, size_t size, uint64_t bytes, enum unit unit);
char *units_axis_compact(char *buf, size_t size, uint64_t bytes, enum unit unit);

/* The label of an axis whose steps are round in the unit of step (0 B, 1 KiB, 2 MiB...):
   "0", "0.5 MiB", "1.0 MiB". */
char *units_tick(char *buf, size_t size, double value, unsigned step, int decimals,
                 enum unit unit);

/* "46.1 MiB/s": three significant digits; more would be noise. */
char *units_rate(char *buf, size_t size, double bytes_per_second, enum unit unit);

/* "24 537" with the locale's digit grouping; compact "24.5k", "1.20M". */
char *units_count(char *buf, size_t size, uint64_t count);
char *units_count_compact(char *buf, size_t size, uint64_t count);

/* "00:02:24"; from one day on "1d 02:03". */
char *units_duration(char *buf, size_t size, int64_t ns);

/* A position on a time axis: "-35s", "-2m", "-1h30m", "2.5s", "250ms", "0s"; at most two
   parts. */
char *units_offset(char *buf, size_t size, int64_t ns);

/* The label at ns of a time axis up to end_ns with a label every step_ns.  All labels of
   an axis have the same unit, and as many decimals as the step needs: "50ms", "100ms";
   "0.5s", "1.0s"; "45s", "90s".  Steps of a minute or more are formatted like
   units_offset(). */
char *units_time_tick(char *buf, size_t size, int64_t ns, int64_t step_ns,
                      int64_t end_ns);

#endif
