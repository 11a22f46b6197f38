/* SPDX-License-Identifier: MIT */
#include "table_lines.h"
#include "table_json.h"

#include "src/report/format.h"

#include <string.h>

#define SHARE_COLUMNS 2 /* of --percent */
#define FIELDS_MAX (3 + SHARE_COLUMNS)

/* A field of a line. */
struct text_field {
    const char *at;
    size_t len;
    bool is_quoted; /* the quotes are not part of it, and a quote in it is doubled */
};

/* What the first row says of all. */
struct text_form {
    char separator;
    bool has_notes, has_shares;
};

/* A line, in fields. */
struct text_line {
    size_t number; /* from 1 */
    struct text_field name;
    char note[ROW_TEXT]; /* without quotes */
    uint64_t count;
};

static int text_refuse(struct reason *why, size_t line, const char *text)
{
    reason_set(why, "line %zu: %s", line, text);
    return -1;
}

static int text_error(struct reason *why, enum read_table_error error)
{
    reason_set(why, error == READ_TABLE_NO_MEMORY ? "out of memory" : "the table is too long");
    return -1;
}

static bool text_read_count(const char *digits, size_t len, uint64_t *count)
{
    *count = 0;
    for (size_t i = 0; i < len; i++) {
        const unsigned digit = (unsigned)(digits[i] - '0');
        if (digit > 9 || *count > (UINT64_MAX - digit) / 10)
            return false;
        *count = *count * 10 + digit;
    }
    return len > 0;
}

/* The end of the field at `at`. */
static const char *field_end(const char *at, const char *end, char separator)
{
    const char *found = memchr(at, separator, (size_t)(end - at));
    return found ? found : end;
}

/* The quote that ends the field which begins at `at`, after its first one; NULL if none does. */
static const char *text_find_quote(const char *at, const char *end)
{
    for (; at < end; at++) {
        if (*at == '"' && (at + 1 == end || at[1] != '"'))
            return at;
        at += *at == '"';
    }
    return NULL;
}

/* Cuts a line into fields; how many there are, or 0 if there are too many or quotes are wrong. */
static size_t text_cut(const char *at, const char *end, char separator,
                       struct text_field fields[FIELDS_MAX])
{
    for (size_t count = 0; count < FIELDS_MAX; at++) {
        struct text_field *field = &fields[count++];
        field->is_quoted = separator == ',' && at < end && *at == '"';
        field->at = at += field->is_quoted;
        const char *field_ends =
            field->is_quoted ? text_find_quote(at, end) : field_end(at, end, separator);
        if (!field_ends)
            return 0;
        field->len = (size_t)(field_ends - at);
        at = field_ends + field->is_quoted;
        if (at == end)
            return count;
        if (*at != separator)
            return 0;
    }
    return 0;
}

/* Copies a field without its quotes; false if it is too long. */
static bool text_copy_note(const struct text_field *field, char note[ROW_TEXT])
{
    size_t len = 0;
    for (size_t i = 0; i < field->len; i++) {
        if (len + 1 == ROW_TEXT)
            return false;
        note[len++] = field->at[i];
        i += field->is_quoted && field->at[i] == '"';
    }
    note[len] = '\0';
    return true;
}

/* Whether a field is a share of --percent, as share_show writes it. */
static bool text_is_share(const struct text_field *field)
{
    const size_t places = SHARE_DIGITS;
    if (field->len < places + 2 || field->at[field->len - places - 1] != '.')
        return false;
    for (size_t i = 0; i < field->len; i++)
        if (i != field->len - places - 1 && !memchr("0123456789", field->at[i], 10))
            return false;
    return true;
}

bool table_lines_are_letters(const char *name, size_t len)
{
    return len > 0 && name[0] == 'a' &&
           (len == 1 || (len == 3 && name[1] == '-' && name[2] > 'a' && name[2] <= 'z'));
}

/* Reads a line; false if it is not a row of this form. */
static bool text_read_row(const char *at, const char *end, const struct text_form *form,
                          struct text_line *line)
{
    struct text_field fields[FIELDS_MAX];
    const size_t count = text_cut(at, end, form->separator, fields);
    const size_t first_share = form->has_notes ? 3 : 2;
    /* TSV leaves an empty note out, where nothing follows. */
    const bool has_no_note =
        form->has_notes && !form->has_shares && form->separator == '\t' && count == 2;
    line->note[0] = '\0';
    if (count != first_share + (form->has_shares ? SHARE_COLUMNS : 0) && !has_no_note)
        return false;
    for (size_t i = first_share; i < count; i++)
        if (!text_is_share(&fields[i]))
            return false;
    line->name = fields[0];
    return line->name.len > 0 && line->name.len < ROW_TEXT && !line->name.is_quoted &&
           text_read_count(fields[1].at, fields[1].len, &line->count) &&
           (!form->has_notes || has_no_note || text_copy_note(&fields[2], line->note));
}

/* Sees by the first row which columns the table has. */
static void text_find_form(const char *at, const char *end, struct text_form *form)
{
    struct text_field fields[FIELDS_MAX];
    const size_t count = text_cut(at, end, form->separator, fields);
    form->has_notes = count == 0 || !table_lines_are_letters(fields[0].at, fields[0].len);
    form->has_shares = count == (form->has_notes ? 3 : 2) + SHARE_COLUMNS;
}

static bool text_is_header(const char *at, char separator)
{
    return (strncmp(at, "bin", 3) == 0 && at[3] == separator) ||
           (strncmp(at, "lo", 2) == 0 && at[2] == separator);
}

/* Puts a line among the table's rows; the row "invalid" is a total. */
static int text_add(struct read_table *table, const struct text_line *line, struct reason *why)
{
    enum read_table_error error;
    if (table->has & HAS_INVALID)
        return text_refuse(why, line->number, "a row after 'invalid'");
    if (line->name.len == 7 && memcmp(line->name.at, "invalid", 7) == 0) {
        if (line->note[0])
            return text_refuse(why, line->number, "'invalid' ends nowhere");
        table->has |= HAS_INVALID;
        table->totals.invalid = line->count;
        return 0;
    }
    if ((error = read_table_add_row(table)) != READ_TABLE_OK)
        return text_error(why, error);
    struct read_row *row = &table->rows[table->row_count - 1];
    if ((error = read_table_add_text(table, line->name.at, line->name.len, &row->lo)) !=
            READ_TABLE_OK ||
        (error = read_table_add_text(table, line->note, strlen(line->note), &row->hi)) !=
            READ_TABLE_OK ||
        (error = read_table_add_count(table, line->count)) != READ_TABLE_OK)
        return text_error(why, error);
    return 0;
}

int table_lines_read(struct read_table *table, const char *text, size_t len, struct reason *why)
{
    const char *at = text, *end = text + len, *line_end;
    const char *first_end = field_end(text, end, '\n');
    struct text_form form = {.separator =
                                 memchr(text, '\t', (size_t)(first_end - text)) ? '\t' : ','};
    struct text_line line = {.number = 1};
    bool is_first = true;
    if (len == 0 || memchr(text, '\0', len)) {
        reason_set(why, "there is no table");
        return -1;
    }
    if (end[-1] != '\n') {
        reason_set(why, "the last line has no newline: the table is cut short");
        return -1;
    }
    for (; at < end; at = line_end + 1, line.number++) {
        line_end = field_end(at, end, '\n');
        if (line.number == 1 && text_is_header(at, form.separator))
            continue;
        if (is_first)
            text_find_form(at, line_end, &form);
        is_first = false;
        if (!text_read_row(at, line_end, &form, &line))
            return text_refuse(why, line.number,
                               "not a row of a table of one channel, or of other columns than the "
                               "rows before");
        if (text_add(table, &line, why) != 0)
            return -1;
    }
    return 0;
}
