/* SPDX-License-Identifier: MIT */
#include "constant.h"
#include "field_parser.h"
#include "src/engine/records.h"
#include "src/histogram/histogram.h"

#include <math.h>
#include <string.h>

#define BATCH 1024 /* numbers that are parsed at a time */

/* The numbers of one chunk so far, all of which are the same. */
struct run_of_one {
    const struct binning *binning;
    bool any;
    double value;
};

/* Adds a number. False: it differs from those before it. */
static bool run_add(struct run_of_one *run, double value)
{
    if (isnan(value) || (run->any && value == run->value))
        return true;
    size_t row = binning_row(run->binning, value);
    if (row == ROW_BELOW || row == ROW_ABOVE(run->binning))
        return true;
    if (run->any)
        return false;
    run->any = true;
    run->value = value;
    return true;
}

/* Whether all numbers are the same as those before them, at a glance. */
static bool run_has_all(const struct run_of_one *run, const double *values, size_t count)
{
    unsigned differ = !run->any;
    for (size_t i = 0; i < count; i++)
        differ |= !(values[i] == run->value);
    return !differ;
}

static bool run_add_all(struct run_of_one *run, const double *values, size_t count)
{
    if (run_has_all(run, values, count))
        return true;
    for (size_t i = 0; i < count; i++)
        if (!run_add(run, values[i]))
            return false;
    return true;
}

static bool run_add_text(struct run_of_one *run, const struct field *field,
                         const unsigned char *text, size_t len)
{
    const struct number_parser *parser = number_parser_find();
    double values[BATCH];
    for (size_t at = 0, used; at < len; at += used) {
        size_t count = field->kind == FIELD_NONE
                           ? parser->parse(text + at, len - at, values, BATCH, &used)
                           : fields_parse(parser, field, text + at, len - at, values, BATCH, &used);
        if (!run_add_all(run, values, count))
            return false;
    }
    return true;
}

/* The value of type->size bytes. */
static double value_at(const unsigned char *data, const struct value_type *type)
{
    const bool swapped = type->big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
    uint64_t bits64;
    uint32_t bits32;
    float single;
    double value;
    if (type->size == sizeof value) {
        memcpy(&bits64, data, sizeof bits64);
        bits64 = swapped ? __builtin_bswap64(bits64) : bits64;
        memcpy(&value, &bits64, sizeof value);
        return value;
    }
    memcpy(&bits32, data, sizeof bits32);
    bits32 = swapped ? __builtin_bswap32(bits32) : bits32;
    memcpy(&single, &bits32, sizeof single);
    return single;
}

static bool run_add_values(struct run_of_one *run, const struct value_type *type,
                           const unsigned char *data, size_t len)
{
    if (len > 0 && memcmp(data, data + type->size, len - type->size) == 0)
        return run_add(run, value_at(data, type));
    for (size_t at = 0; at < len; at += type->size)
        if (!run_add(run, value_at(data + at, type)))
            return false;
    return true;
}

static bool run_add_chunk(struct run_of_one *run, const struct histogram *histogram,
                          const struct chunk *chunk)
{
    const size_t begin = records_begin(histogram, chunk), len = chunk->len - begin;
    const unsigned char *data = chunk->data + begin;
    struct field field = histogram->field;
    if (!histogram->mode->is_text)
        return run_add_values(run, &histogram->type, data, len);
    if (chunk->origin.column)
        field.number = chunk->origin.column;
    return run_add_text(run, &field, data, len);
}

void constant_add(struct constant *constant, const struct histogram *histogram,
                  const struct chunk *chunk)
{
    struct run_of_one run = {.binning = &histogram->binning};
    if (atomic_load_explicit(&constant->varies, memory_order_relaxed))
        return;
    bool varies = !run_add_chunk(&run, histogram, chunk);
    pthread_mutex_lock(&constant->lock);
    varies |= run.any && constant->any && run.value != constant->value;
    if (run.any && !constant->any) {
        constant->any = true;
        constant->value = run.value;
    }
    if (varies)
        atomic_store(&constant->varies, true);
    pthread_mutex_unlock(&constant->lock);
}

void constant_give_up(struct constant *constant)
{
    atomic_store(&constant->varies, true);
}

bool constant_holds(struct constant *constant)
{
    return !atomic_load(&constant->varies);
}
