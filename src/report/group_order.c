/* SPDX-License-Identifier: MIT */
#include "format.h"

#include "src/base/system.h"
#include "src/text/number.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The statistics of numbers by name (modes.c), without quantiles. */
static const char *const of_numbers[] = {GROUP_ORDER_COUNT, "invalid", "min", "max", "sum", "mean",
                                         "stddev"};

#define OF_NUMBERS (sizeof of_numbers / sizeof of_numbers[0])

/* A number that is shown. Doubles that are equal differ in the whole numbers that they stand for;
 * beyond 38 digits none are told apart. */
struct shown {
    double nearest; /* NaN: there is no number */
    int128 whole;   /* 0 of fractions */
};

struct ranked {
    struct shown value, upper; /* upper is `value` but for quantiles */
    size_t group;
};

static bool is_column(const struct group_order *order, const char *name)
{
    return strcmp(order->column, name) == 0;
}

bool group_order_needs_moments(const struct group_order *order)
{
    return order->column && !is_column(order, GROUP_ORDER_KEY) &&
           !is_column(order, GROUP_ORDER_COUNT);
}

/* --- checking --- */

#define LIST_MAX 512
#define LIST_MORE ", ..." /* ends a list that is too long */

/* Appends a name to a list, which has room for LIST_MORE besides; that if the name does not fit. */
static void append_name(char *list, size_t size, const char *name)
{
    const size_t len = strlen(list), more = strlen(LIST_MORE);
    const bool is_ended = len >= more && strcmp(list + len - more, LIST_MORE) == 0;
    const bool is_room = len + strlen(", ") + strlen(name) + more < size;
    if (!is_ended)
        snprintf(list + len, size - len, "%s%s", is_room ? ", " : LIST_MORE, is_room ? name : "");
}

int group_order_check(const struct group_order *order, bool is_binned,
                      const struct probability *quantiles, size_t count, struct error *error)
{
    char list[LIST_MAX] = GROUP_ORDER_KEY, value[ERROR_SUBJECT_MAX];
    bool is_known = is_column(order, GROUP_ORDER_KEY);
    if (!is_binned)
        append_name(list, sizeof list, GROUP_ORDER_COUNT);
    for (size_t i = 0; is_binned && i < OF_NUMBERS; i++) {
        append_name(list, sizeof list, of_numbers[i]);
        is_known |= is_column(order, of_numbers[i]);
    }
    for (size_t i = 0; is_binned && i < count; i++) {
        append_name(list, sizeof list, quantiles[i].name);
        is_known |= is_column(order, quantiles[i].name);
    }
    if (is_known || is_column(order, GROUP_ORDER_COUNT))
        return 0;
    snprintf(value, sizeof value, "%s%s", order->is_reversed ? "-" : "", order->column);
    return error_of_option(error, "--sort", value, "must be one of %s%s", list,
                           is_binned ? "" : "; with --field=N also a statistic, such as mean");
}

/* --- numbers --- */

#define WHOLE_FROM 0x1p53 /* whole doubles below this have no neighbours that round to them */
#define WHOLE_END 0x1p126 /* less than the greatest int128 */

static struct shown shown_of_double(double number)
{
    const bool is_whole = fabs(number) < WHOLE_END && trunc(number) == number;
    return (struct shown){number, is_whole ? (int128)number : 0};
}

static struct shown shown_of_text(const char *text)
{
    double number;
    if (!read_shown_double(text, &number))
        return (struct shown){NAN, 0};
    struct shown shown = shown_of_double(number);
    if (fabs(number) >= WHOLE_FROM && fabs(number) < WHOLE_END)
        read_shown_whole(text, &shown.whole);
    return shown;
}

static bool is_whole(const struct shown *shown)
{
    return fabs(shown->nearest) < WHOLE_END && (shown->whole != 0 || shown->nearest == 0);
}

/* Returns the difference: exactly, if both numbers are whole; 0 if both are infinite alike. */
static struct shown subtract(const struct shown *from, const struct shown *shown, bool is_size)
{
    const bool is_same = from->nearest == shown->nearest;
    struct shown left = shown_of_double(is_same ? 0 : from->nearest - shown->nearest);
    if (is_whole(from) && is_whole(shown)) {
        left.whole = from->whole - shown->whole;
        left.nearest = (double)left.whole;
    }
    return is_size && left.nearest < 0 ? (struct shown){-left.nearest, -left.whole} : left;
}

static struct shown shown_of_count(uint64_t count)
{
    return (struct shown){(double)count, (int128)count};
}

static int compare_shown(const struct shown *a, const struct shown *b)
{
    if (a->nearest < b->nearest || a->nearest > b->nearest)
        return a->nearest < b->nearest ? -1 : 1;
    return a->whole < b->whole ? -1 : a->whole > b->whole;
}

/* Compares two keys, for qsort_r. */
static int compare(const void *one, const void *other, void *arg)
{
    const struct ranked *a = one, *b = other;
    const struct group_order *order = arg;
    const int by_name = a->group < b->group ? -1 : a->group > b->group;
    const bool is_nan = isnan(a->value.nearest) != 0, is_other_nan = isnan(b->value.nearest) != 0;
    if (is_nan || is_other_nan)
        return is_nan != is_other_nan ? is_nan - is_other_nan : by_name;
    int rc = compare_shown(&a->value, &b->value);
    rc = rc != 0 ? rc : compare_shown(&a->upper, &b->upper);
    return rc == 0 ? by_name : order->is_reversed ? rc : -rc;
}

/* --- ranking --- */

struct ranking {
    const struct group_order *order;
    const struct group_columns *columns;
    const struct groups *groups;
    const struct probability *quantile; /* NULL: another column */
    struct ranked *list;
    struct group_tally *memory; /* of each part */
    size_t parts;
};

/* Ranks a group whose counts are loaded. */
static void rank_by_statistic(const struct ranking *ranking, const struct tally *tally,
                              struct ranked *ranked)
{
    const struct histogram_spec *spec = ranking->columns->spec;
    if (ranking->quantile) {
        struct quantiles quantiles = quantiles_of(spec, tally);
        const struct quantile found = quantiles_find(&quantiles, ranking->quantile);
        ranked->value = shown_of_text(found.lower_text);
        ranked->upper = shown_of_text(found.upper_text);
        return;
    }
    if (is_column(ranking->order, GROUP_ORDER_COUNT)) {
        ranked->value = shown_of_count(tally->samples - tally->counts[ROW_INVALID(&spec->binning)]);
        ranked->upper = ranked->value;
        return;
    }
    struct statistics statistics = {.count = 0};
    spec->mode->add_statistics(spec, tally, &statistics);
    for (size_t i = 0; i < statistics.count; i++)
        if (is_column(ranking->order, statistics.list[i].name))
            ranked->value = ranked->upper = shown_of_text(statistics.list[i].value);
}

/* Ranks the groups of a part. */
static void rank_part(void *arg, size_t part)
{
    const struct ranking *ranking = arg;
    const struct groups *groups = ranking->groups;
    const size_t each = groups->all / ranking->parts + 1, begin = each * part;
    const size_t end = begin + each < groups->all ? begin + each : groups->all;
    const struct group_columns *columns = ranking->columns;
    struct tally *tally = &ranking->memory[part].tally;
    for (size_t group = begin; group < end; group++) {
        struct ranked *ranked = &ranking->list[group];
        groups_load(groups, group, columns->spec, tally);
        rank_by_statistic(ranking, tally, ranked);
        if (columns->before) {
            struct ranked before = {.group = group};
            groups_load(columns->before, group, columns->spec, tally);
            rank_by_statistic(ranking, tally, &before);
            ranked->value = subtract(&ranked->value, &before.value, columns->is_by_size);
            ranked->upper = subtract(&ranked->upper, &before.upper, columns->is_by_size);
        }
    }
}

/* Ranks all groups by a statistic. 0, or -1: memory is short. */
static int rank_all(struct ranking *ranking)
{
    const unsigned threads = ranking->groups->threads > 0 ? ranking->groups->threads : 1;
    ranking->memory = calloc(threads, sizeof ranking->memory[0]);
    while (ranking->memory && ranking->parts < threads && /* fewer will do */
           group_tally_open(&ranking->memory[ranking->parts], ranking->columns->spec) == 0)
        ranking->parts++;
    parallel_loop(threads, ranking->parts, rank_part, ranking);
    for (size_t i = 0; i < ranking->parts; i++)
        tally_close(&ranking->memory[i].tally);
    free(ranking->memory);
    return ranking->parts > 0 ? 0 : -1;
}

/* Ranks all groups by what is known without their rows. */
static void rank_by_samples(const struct ranking *ranking)
{
    const bool is_count = is_column(ranking->order, GROUP_ORDER_COUNT);
    const struct groups *before = is_count ? ranking->columns->before : NULL;
    for (size_t group = 0; group < ranking->groups->all; group++) {
        /* Each name differs, so the first name has the greatest number. */
        const uint64_t number =
            is_count ? groups_samples(ranking->groups, group) : ranking->groups->all - group;
        const struct shown old = shown_of_count(before ? groups_samples(before, group) : 0);
        const struct shown shown = shown_of_count(number);
        ranking->list[group].value = subtract(&shown, &old, ranking->columns->is_by_size);
        ranking->list[group].upper = ranking->list[group].value;
    }
}

static const struct probability *find_quantile(const struct group_order *order,
                                               const struct group_columns *columns)
{
    for (size_t i = 0; i < columns->quantile_count; i++)
        if (is_column(order, columns->quantiles[i].name))
            return &columns->quantiles[i];
    return NULL;
}

int group_order_list(const struct group_order *order, const struct group_columns *columns,
                     const struct groups *groups, size_t **list)
{
    struct ranking ranking = {.order = order,
                              .columns = columns,
                              .groups = groups,
                              .quantile = find_quantile(order, columns),
                              .list = calloc(groups->all + 1, sizeof ranking.list[0])};
    int rc = ranking.list ? 0 : -1;
    *list = malloc((groups->all + 1) * sizeof **list);
    if (rc == 0 && (group_order_needs_moments(order) ||
                    (columns->has_numbers && is_column(order, GROUP_ORDER_COUNT))))
        rc = rank_all(&ranking);
    else if (rc == 0)
        rank_by_samples(&ranking);
    if (rc == 0 && *list) {
        for (size_t i = 0; i < groups->all; i++)
            ranking.list[i].group = i;
        qsort_r(ranking.list, groups->all, sizeof ranking.list[0], compare, (void *)order);
        for (size_t i = 0; i < groups->all; i++)
            (*list)[i] = ranking.list[i].group;
    }
    free(ranking.list);
    return *list ? rc : -1;
}
