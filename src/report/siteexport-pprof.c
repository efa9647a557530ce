/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * Writes a profile for pprof: profile.proto of github.com/google/pprof, compressed with
 * gzip.  Of the protocol buffers' encoding (protobuf.dev/programming-guides/encoding)
 * only numbers and byte strings are needed; that takes less code than a generated file
 * and its library.
 *
 * Each site is a sample with four values, allocated and alive, objects and bytes,
 * labelled with the size of its blocks as in Go's heap profiles.  A location is an
 * address with the functions inlined there; tables are filled as samples need them.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/array.h"
#include "base/intern.h"
#include "monitor/samples.h"
#include "report/siteexport-private.h"
#include "base/textwidth.h"

/* Numbers of the fields that are written. */
enum {
    PROFILE_SAMPLE_TYPE = 1,
    PROFILE_SAMPLE = 2,
    PROFILE_MAPPING = 3,
    PROFILE_LOCATION = 4,
    PROFILE_FUNCTION = 5,
    PROFILE_STRING = 6,
    PROFILE_DURATION_NS = 10,
    PROFILE_PERIOD_TYPE = 11,
    PROFILE_PERIOD = 12,
    PROFILE_COMMENT = 13,
    PROFILE_DEFAULT_TYPE = 14,
    TYPE_NAME = 1,
    TYPE_UNIT = 2,
    SAMPLE_LOCATION = 1,
    SAMPLE_VALUE = 2,
    SAMPLE_LABEL = 3,
    LABEL_KEY = 1,
    LABEL_NUMBER = 3,
    LABEL_UNIT = 4,
    MAPPING_ID = 1,
    MAPPING_START = 2,
    MAPPING_LIMIT = 3,
    MAPPING_FILE = 5,
    MAPPING_BUILD_ID = 6,
    MAPPING_HAS = 7, /* has functions, files, lines, inlined: 7 to 10 */
    LOCATION_ID = 1,
    LOCATION_MAPPING = 2,
    LOCATION_ADDRESS = 3,
    LOCATION_LINE = 4,
    LINE_FUNCTION = 1,
    LINE_LINE = 2,
    FUNCTION_ID = 1,
    FUNCTION_NAME = 2,
    FUNCTION_SYSTEM_NAME = 3,
    FUNCTION_FILE = 4
};

/* A message being built. */
struct wire {
    unsigned char *bytes;
    size_t used, room;
    bool failed;     /* memory is short */
};

struct pprof_writer {
    const struct siteexport *export; /* its live figures are those of the mode */
    const char *usual;       /* the sample type shown by default */
    struct wire out;         /* the profile */
    struct wire part, inner; /* a field of it, and of that one: reused */
    struct intern_table strings, functions, locations; /* by their keys */
    bool *mapped;            /* by module: it is already in the profile */
};

/* ---- messages ---- */

static void
put_bytes(struct wire *wire, const void *bytes, size_t size)
{
    if (!ARRAY_GROW(wire->bytes, wire->room, wire->used + size)) {
        wire->failed = true;
        return;
    }
    if (size > 0)
        memcpy(wire->bytes + wire->used, bytes, size);
    wire->used += size;
}

static void
put_varint(struct wire *wire, uint64_t value)
{
    unsigned char bytes[10];
    size_t size = 0;

    do {
        bytes[size] = (unsigned char)(value & 0x7f);
        value >>= 7;
        bytes[size++] |= value > 0 ? 0x80 : 0;
    } while (value > 0);
    put_bytes(wire, bytes, size);
}

/* Writes a number, unless it is 0. */
static void
put_number(struct wire *wire, unsigned field, uint64_t value)
{
    if (value == 0)
        return;
    put_varint(wire, field << 3 | 0);
    put_varint(wire, value);
}

static void
put_block(struct wire *wire, unsigned field, const void *bytes, size_t size)
{
    put_varint(wire, field << 3 | 2);
    put_varint(wire, size);
    put_bytes(wire, bytes, size);
}

/* Puts the message into the field and empties it. */
static void
put_message(struct wire *wire, unsigned field, struct wire *message)
{
    put_block(wire, field, message->bytes, message->used);
    wire->failed |= message->failed;
    message->used = 0;
}

/* ---- tables ---- */

/* Returns the number of what has that key, from 1; new: it was just added.  0 if memory
   is short. */
static uint64_t
look_up(struct pprof_writer *writer, struct intern_table *table, const void *key,
        size_t length, bool *new)
{
    const size_t before = table->count;
    const struct interned *found = intern_bytes(table, key, length);

    *new = table->count > before;
    writer->out.failed |= found == NULL;
    return found != NULL ? (uint64_t)found->number + 1 : 0;
}

/* The number of a string; 0 for the empty one. */
static uint64_t
string_id(struct pprof_writer *writer, const char *text)
{
    char clean[4096];
    bool new;

    text_utf8(clean, sizeof clean, text);
    if (clean[0] == '\0')
        return 0;
    uint64_t id = look_up(writer, &writer->strings, clean, strlen(clean), &new);
    if (new)
        put_block(&writer->out, PROFILE_STRING, clean, strlen(clean));
    return id;
}

static uint64_t
function_id(struct pprof_writer *writer, const struct profile_place *place)
{
    const char *file = place->file != NULL ? place->file : "";
    struct {
        uint64_t name, file;
    } key;
    char name[4096];
    bool new;

    siteexport_name(writer->export, place, "", name, sizeof name);
    key.name = string_id(writer, name);
    key.file = string_id(writer, file);
    uint64_t id = look_up(writer, &writer->functions, &key, sizeof key, &new);
    if (new) {
        put_number(&writer->inner, FUNCTION_ID, id);
        put_number(&writer->inner, FUNCTION_NAME, key.name);
        put_number(&writer->inner, FUNCTION_SYSTEM_NAME, key.name);
        put_number(&writer->inner, FUNCTION_FILE, key.file);
        put_message(&writer->out, PROFILE_FUNCTION, &writer->inner);
    }
    return id;
}

/* A module is marked as having all symbols: readers must not look for more in files that
   may differ. */
static uint64_t
mapping_id(struct pprof_writer *writer, const struct site_module *module)
{
    const struct sites_reading *reading = profile_digested(writer->export->profile, NULL);
    char build_id[2 * SITE_BUILD_ID_LEN + 1] = "";

    if (module == NULL)
        return 0;
    size_t index = (size_t)(module - reading->modules);
    if (writer->mapped[index])
        return index + 1;
    writer->mapped[index] = true;
    for (size_t i = 0; i < module->build_id_size && i < SITE_BUILD_ID_LEN; i++)
        snprintf(build_id + 2 * i, 3, "%02x", module->build_id[i]);
    uint64_t path = string_id(writer, module->path);
    uint64_t id = string_id(writer, build_id);
    put_number(&writer->inner, MAPPING_ID, index + 1);
    put_number(&writer->inner, MAPPING_START, module->start);
    put_number(&writer->inner, MAPPING_LIMIT, module->end);
    put_number(&writer->inner, MAPPING_FILE, path);
    put_number(&writer->inner, MAPPING_BUILD_ID, id);
    for (unsigned i = 0; i < 4; i++)
        put_number(&writer->inner, MAPPING_HAS + i, 1);
    put_message(&writer->out, PROFILE_MAPPING, &writer->inner);
    return index + 1;
}

/* The module that a site's place is in; NULL: none. */
static const struct site_module *
module_of(const struct pprof_writer *writer, const struct site *site,
          const struct profile_place *place)
{
    return place->address == 0
               ? NULL
               : sites_module(profile_digested(writer->export->profile, NULL),
                              place->address + 1, site->first_ns);
}

/* The number of the location of a site's first place and of those it is inlined into;
 *count is how many places belong to it. */
static uint64_t
location_id(struct pprof_writer *writer, const struct site *site,
            const struct profile_place *places, size_t limit, size_t *count)
{
    const struct site_module *module = module_of(writer, site, places);
    const struct {
        uint64_t address, module;
    } key = {places->address, (uintptr_t)module};
    struct wire *wire = &writer->part;
    bool new;

    uint64_t id = look_up(writer, &writer->locations, &key, sizeof key, &new);
    for (*count = 1; *count < limit && places[*count - 1].inlined;)
        ++*count;
    if (!new)
        return id;
    uint64_t mapping = mapping_id(writer, module);
    put_number(wire, LOCATION_ID, id);
    put_number(wire, LOCATION_MAPPING, mapping);
    put_number(wire, LOCATION_ADDRESS, places->address);
    for (size_t i = 0; i < *count; i++) {
        uint64_t function = function_id(writer, &places[i]);
        put_number(&writer->inner, LINE_FUNCTION, function);
        put_number(&writer->inner, LINE_LINE, places[i].line);
        put_message(wire, LOCATION_LINE, &writer->inner);
    }
    put_message(&writer->out, PROFILE_LOCATION, wire);
    return id;
}

/* ---- the profile ---- */

static void
put_type(struct pprof_writer *writer, unsigned field, const char *name, const char *unit)
{
    uint64_t name_id = string_id(writer, name), unit_id = string_id(writer, unit);

    put_number(&writer->part, TYPE_NAME, name_id);
    put_number(&writer->part, TYPE_UNIT, unit_id);
    put_message(&writer->out, field, &writer->part);
}

/* The program's mapping must come first. */
static void
put_program(struct pprof_writer *writer)
{
    const struct sites_reading *reading = profile_digested(writer->export->profile, NULL);
    const struct identity *identity = &writer->export->tracked->process.identity;
    char started_as[SITE_PATH_LEN + 1];

    samples_started_as(identity, started_as, sizeof started_as);
    for (size_t i = 0; i < reading->module_count; i++)
        if (strcmp(reading->modules[i].path, identity->program) == 0
            || strcmp(reading->modules[i].path, started_as) == 0) {
            mapping_id(writer, &reading->modules[i]);
            return;
        }
}

static void
put_head(struct pprof_writer *writer)
{
    const struct siteexport *export = writer->export;
    const struct sites_reading *reading = profile_digested(export->profile, NULL);
    int64_t run_ns = 0;

    put_block(&writer->out, PROFILE_STRING, "", 0);
    put_type(writer, PROFILE_SAMPLE_TYPE, "alloc_objects", "count");
    put_type(writer, PROFILE_SAMPLE_TYPE, "alloc_space", "bytes");
    put_type(writer, PROFILE_SAMPLE_TYPE, "inuse_objects", "count");
    put_type(writer, PROFILE_SAMPLE_TYPE, "inuse_space", "bytes");
    put_type(writer, PROFILE_PERIOD_TYPE, "space", "bytes");
    put_program(writer);
    if (reading->rate > 0) /* a word has 8 bytes */
        put_number(&writer->out, PROFILE_PERIOD,
                   (uint64_t)siteexport_round(8 / reading->rate));
    profile_known(export->profile, &run_ns);
    put_number(&writer->out, PROFILE_DURATION_NS, (uint64_t)run_ns);
    uint64_t command = string_id(writer, tracked_command(export->tracked));
    put_number(&writer->out, PROFILE_COMMENT, command);
    uint64_t usual = string_id(writer, writer->usual);
    put_number(&writer->out, PROFILE_DEFAULT_TYPE, usual);
}

/* The average size of the site's blocks; if it made none, of those inherited by fork. */
static double
size_of(const struct site *site)
{
    const struct site_figures *figures = site->made.objects > 0   ? &site->made
                                         : site->live.objects > 0 ? &site->live
                                                                  : &site->at_peak;

    return figures->objects > 0 ? figures->bytes / figures->objects : 0;
}

static void
put_size_label(struct pprof_writer *writer, struct wire *sample, const struct site *site)
{
    double size = size_of(site);
    uint64_t key = string_id(writer, "bytes");

    put_number(&writer->inner, LABEL_KEY, key);
    put_number(&writer->inner, LABEL_NUMBER, (uint64_t)siteexport_round(size));
    put_number(&writer->inner, LABEL_UNIT, key);
    put_message(sample, SAMPLE_LABEL, &writer->inner);
}

/* An unknown stack becomes a function of its own. */
static size_t
places_of(struct pprof_writer *writer, const struct site *site,
          struct profile_place *places)
{
    size_t count = siteexport_places(writer->export, site, places);

    if (count > 0)
        return count;
    places[0] = (struct profile_place){.function = PROFILE_NO_STACK};
    return 1;
}

static void
put_sample(struct pprof_writer *writer, size_t index)
{
    static struct profile_place places[SITEEXPORT_PLACES];
    const struct site *site =
        &profile_digested(writer->export->profile, NULL)->sites[index];
    const struct siteexport_figures figures = siteexport_figures(writer->export, index);
    const double values[] = {figures.made_objects, figures.made_bytes, figures.objects,
                             figures.bytes};
    struct wire sample = {.bytes = NULL};
    size_t used;

    if (figures.made_bytes == 0 && figures.bytes == 0)
        return;
    size_t count = places_of(writer, site, places);
    for (size_t at = 0; at < count; at += used) {
        uint64_t id = location_id(writer, site, &places[at], count - at, &used);
        put_varint(&sample, SAMPLE_LOCATION << 3 | 0);
        put_varint(&sample, id);
    }
    for (size_t i = 0; i < 4; i++) {
        put_varint(&sample, SAMPLE_VALUE << 3 | 0);
        put_varint(&sample, (uint64_t)siteexport_round(values[i]));
    }
    put_size_label(writer, &sample, site);
    put_message(&writer->out, PROFILE_SAMPLE, &sample);
    free(sample.bytes);
}

/* Compresses the message and writes it. */
static bool
write_gzip(FILE *out, const struct wire *wire)
{
    z_stream stream = {.next_in = wire->bytes, .avail_in = (uInt)wire->used};
    const int gzip = 15 + 16;

    if (wire->used > UINT32_MAX
        || deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip, 8,
                        Z_DEFAULT_STRATEGY)
               != Z_OK)
        return false;
    size_t room = deflateBound(&stream, wire->used);
    unsigned char *packed = malloc(room);
    bool good = packed != NULL;
    if (good) {
        stream.next_out = packed;
        stream.avail_out = (uInt)room;
        good = deflate(&stream, Z_FINISH) == Z_STREAM_END
               && fwrite(packed, 1, stream.total_out, out) == stream.total_out;
    }
    free(packed);
    deflateEnd(&stream);
    return good;
}

bool
siteexport_pprof(FILE *out, const struct siteexport *export)
{
    const struct sites_reading *reading = profile_digested(export->profile, NULL);
    bool made = export->mode == PROFILE_MADE;
    struct siteexport shown = *export;
    struct pprof_writer writer = {.export = &shown,
                                  .usual = made ? "alloc_space" : "inuse_space",
                                  .mapped =
                                      calloc(reading->module_count + 1, sizeof(bool))};
    bool good = false;

    if (made)
        shown.mode = PROFILE_LIVE;
    if (writer.mapped != NULL) {
        put_head(&writer);
        for (size_t i = 0; i < reading->site_count; i++)
            put_sample(&writer, i);
        errno = ENOMEM;
        good = !writer.out.failed && write_gzip(out, &writer.out);
    }
    intern_free(&writer.strings);
    intern_free(&writer.functions);
    intern_free(&writer.locations);
    free(writer.out.bytes);
    free(writer.part.bytes);
    free(writer.inner.bytes);
    free(writer.mapped);
    return good;
}
