/* SPDX-License-Identifier: MIT */
#include "lines.h"
#include "src/base/error.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_SHOWN 64 /* bytes of a record in a message */

struct line_failure {
    pthread_mutex_t lock;
    atomic_bool is_set;
    struct error error;
};

/* True for /REGEX/. */
static bool is_expression(const struct line_string *string)
{
    return string->len > 2 && string->text[0] == '/' && string->text[string->len - 1] == '/';
}

/* Expressions come after strings, which take less time. */
static int compare_strings(const struct line_string *a, const struct line_string *b)
{
    if (a->is_unwanted != b->is_unwanted)
        return (int)a->is_unwanted - (int)b->is_unwanted;
    const bool a_is_expression = is_expression(a), b_is_expression = is_expression(b);
    return a_is_expression != b_is_expression ? (int)a_is_expression - (int)b_is_expression
                                              : strcmp(a->text, b->text);
}

bool line_filter_add(struct line_filter *filter, const char *text, bool is_unwanted)
{
    const struct line_string added = {text, strlen(text), is_unwanted, NULL};
    struct line_string *strings = filter->strings;
    size_t at = 0;
    while (at < filter->count && compare_strings(&strings[at], &added) < 0)
        at++;
    if (at < filter->count && compare_strings(&strings[at], &added) == 0)
        return true;
    if (filter->count == LINE_STRINGS_MAX)
        return false;
    memmove(&strings[at + 1], &strings[at], (filter->count - at) * sizeof strings[0]);
    strings[at] = added;
    filter->count++;
    return true;
}

/* Orders conditions by what was typed. */
static int compare_conditions(const struct condition *a, const struct condition *b)
{
    const struct where_value *one = &a->operand, *other = &b->operand;
    int order = strcmp(a->name, b->name);
    if (order == 0)
        order = (int)a->comparison - (int)b->comparison;
    if (order == 0)
        order = (int)one->kind - (int)other->kind;
    if (order == 0)
        order = memcmp(one->text, other->text, one->len < other->len ? one->len : other->len);
    return order != 0 ? order : (one->len > other->len) - (one->len < other->len);
}

bool line_filter_add_condition(struct line_filter *filter, const struct condition *condition)
{
    struct condition *conditions = filter->conditions;
    size_t at = 0;
    while (at < filter->condition_count && compare_conditions(&conditions[at], condition) < 0)
        at++;
    if (at < filter->condition_count && compare_conditions(&conditions[at], condition) == 0)
        return true;
    if (filter->condition_count == CONDITIONS_MAX)
        return false;
    memmove(&conditions[at + 1], &conditions[at],
            (filter->condition_count - at) * sizeof conditions[0]);
    conditions[at] = *condition;
    filter->condition_count++;
    return true;
}

int line_filter_open(struct line_filter *filter, struct error *error)
{
    bool has_expressions = false;
    for (size_t i = 0; i < filter->count; i++) {
        struct line_string *string = &filter->strings[i];
        if (!is_expression(string))
            continue;
        char *pattern = strndup(string->text + 1, string->len - 2);
        struct error why = {.text = "out of memory"};
        const int rc = pattern ? regex_open(&string->regex, pattern, &why) : REGEX_FAILED;
        free(pattern);
        if (rc != 0) {
            error_of_option(error, string->is_unwanted ? "--lines-without" : "--lines-with",
                            string->text, "%s", why.text);
            return rc;
        }
        has_expressions = true;
    }
    if (!has_expressions)
        return 0;
    filter->failure = calloc(1, sizeof *filter->failure);
    if (!filter->failure) {
        error_set(error, "out of memory");
        return REGEX_FAILED;
    }
    pthread_mutex_init(&filter->failure->lock, NULL);
    return 0;
}

void line_filter_close(struct line_filter *filter)
{
    for (size_t i = 0; i < filter->count; i++) {
        regex_close(filter->strings[i].regex);
        filter->strings[i].regex = NULL;
    }
    if (filter->failure)
        pthread_mutex_destroy(&filter->failure->lock);
    free(filter->failure);
    filter->failure = NULL;
}

/* Returns the end of a record without the carriage return before it. */
static const unsigned char *content_end(const unsigned char *begin, const unsigned char *end)
{
    return end > begin && end[-1] == '\r' ? end - 1 : end;
}

enum regex_found line_string_match(const struct line_string *string, struct regex_matcher *matcher,
                                   const unsigned char *begin, const unsigned char *end)
{
    return regex_match(string->regex, matcher, begin, (size_t)(content_end(begin, end) - begin));
}

/* Sets the failure to why an expression could not be decided for a record. */
static void describe(const struct line_string *string, const struct regex_matcher *matcher,
                     const unsigned char *begin, const unsigned char *end, struct error *failure)
{
    char shown[RECORD_SHOWN];
    show_text((const char *)begin, (size_t)(content_end(begin, end) - begin), shown, sizeof shown);
    error_of_option(failure, string->is_unwanted ? "--lines-without" : "--lines-with", string->text,
                    "%s in the line '%s'; possessive repeats such as [a-z]++ take none",
                    regex_describe(matcher), shown);
}

bool line_filter_keeps(const struct line_filter *filter, const unsigned char *begin,
                       const unsigned char *end, struct error *failure)
{
    struct regex_matcher matcher = {.data = NULL};
    bool keeps = true;
    for (size_t i = 0; keeps && i < filter->count; i++) {
        const struct line_string *string = &filter->strings[i];
        if (!string->regex) {
            const bool has =
                memmem(begin, (size_t)(end - begin), string->text, string->len) != NULL;
            keeps = has != string->is_unwanted;
            continue;
        }
        const enum regex_found found = line_string_match(string, &matcher, begin, end);
        if (found == REGEX_UNDECIDED && failure)
            describe(string, &matcher, begin, end, failure);
        keeps = found == (string->is_unwanted ? REGEX_MISSING : REGEX_FOUND);
    }
    regex_matcher_close(&matcher);
    for (size_t i = 0; keeps && i < filter->condition_count; i++)
        keeps = condition_holds(&filter->conditions[i], begin, end);
    return keeps;
}

void line_filter_fail(const struct line_filter *filter, const struct error *failure)
{
    struct line_failure *first = filter->failure;
    pthread_mutex_lock(&first->lock);
    if (!atomic_load(&first->is_set))
        first->error = *failure;
    atomic_store(&first->is_set, true);
    pthread_mutex_unlock(&first->lock);
}

int line_filter_check(const struct line_filter *filter, struct error *error)
{
    if (!filter->failure || !atomic_load(&filter->failure->is_set))
        return 0;
    *error = filter->failure->error;
    return -1;
}
