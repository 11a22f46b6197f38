// SPDX-License-Identifier: MIT
// transcript [--rewrite] FILE.test: runs the commands of the file in one shell, and compares what
// each prints with what the file has after it. tests/README.md describes the format. --rewrite
// writes what they printed to the file.
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_VARIANTS = 32 };
enum { SECONDS_MAX = 300 }; // of a command, with a sanitizer and other tests beside it

static const char *path; // the file
static unsigned commands;
static unsigned failures;

static const char *running; // command
static unsigned running_line;

// A command that hangs: the shell, or what it waits for, is left to whoever runs the test.
static void tell_of_hang(int signal)
{
    char text[400];
    int length = snprintf(text, sizeof(text), "%s:%u: FAILED: it hangs: %.200s\n", path,
                          running_line, running);

    (void)signal;
    if (write(STDOUT_FILENO, text, (size_t)length) != length)
        _exit(99);
    _exit(1);
}

static _Noreturn void broken(unsigned line, const char *what, const char *of)
{
    printf("%s:%u: broken test: %s%s\n", path, line, what, of);
    exit(99);
}

// Returns all of a file, and a zero byte.
static char *read_all(FILE *file, size_t *size)
{
    struct stat status;

    if (fstat(fileno(file), &status) != 0)
        broken(0, "a file cannot be read", "");
    *size = (size_t)status.st_size;
    char *text = calloc(*size + 1, 1);
    if (!text || pread(fileno(file), text, *size, 0) != status.st_size)
        broken(0, "a file cannot be read", "");
    return text;
}

// --- the shell ---

static FILE *to_shell;
static FILE *statuses;
static FILE *output; // of the last command
static FILE *errors;
static FILE *failed; // exit statuses of its runs of gpuhisto, but for 0

// Starts a shell, which sources transcript.sh. It writes exit statuses to descriptor 3, and has
// files for what commands print at 4 and 5, and for statuses of gpuhisto at 6.
static void start_shell(void)
{
    int to[2];
    int from[2];

    output = tmpfile();
    errors = tmpfile();
    failed = tmpfile();
    if (!output || !errors || !failed || pipe(to) != 0 || pipe(from) != 0)
        broken(0, "no shell can be started", "");
    fcntl(fileno(output), F_SETFL, O_APPEND);
    fcntl(fileno(errors), F_SETFL, O_APPEND);
    fcntl(fileno(failed), F_SETFL, O_APPEND);
    if (fork() == 0) {
        const int wanted[] = {to[0], from[1], fileno(output), fileno(errors), fileno(failed)};
        const int numbers[] = {0, 3, 4, 5, 6};
        for (int i = 0; i < 5; i++) // out of the way of what is to be 3 to 6
            dup2(wanted[i], 20 + i);
        for (int i = 0; i < 5; i++)
            dup2(20 + i, numbers[i]);
        for (int fd = 7; fd < 25; fd++)
            close(fd);
        execlp("sh", "sh", "-s", path, (char *)NULL);
        _exit(127);
    }
    close(to[0]);
    close(from[1]);
    to_shell = fdopen(to[1], "w");
    statuses = fdopen(from[0], "r");
    const char *srcdir = getenv("srcdir");
    fprintf(to_shell, ". '%s/tests/helpers/transcript.sh'\n", srcdir ? srcdir : ".");
}

// Has the shell run a command; returns its exit status.
static int run(const char *command, unsigned line)
{
    int status;

    if (ftruncate(fileno(output), 0) != 0 || ftruncate(fileno(errors), 0) != 0 ||
        ftruncate(fileno(failed), 0) != 0)
        broken(line, "a temporary file cannot be emptied", "");
    running = command;
    running_line = line;
    alarm(SECONDS_MAX);
    fprintf(to_shell, "{ %s\n} </dev/null >&4 2>&5 3>&- 4>&- 5>&-\necho $? >&3\n", command);
    fflush(to_shell);
    if (fscanf(statuses, "%d", &status) == 1)
        return status;
    wait(&status);
    if (WIFEXITED(status) && WEXITSTATUS(status) == 77 && commands == 0)
        exit(77); // transcript.sh has said why
    broken(line, "the shell ended at ", command);
}

// --- results, as the file has them ---

static bool is_shown(char byte)
{
    return ((unsigned char)byte >= ' ' && byte != 0x7f) || byte == '\t';
}

static void write_escaped(FILE *to, char byte)
{
    fprintf(to, byte == '\\' ? "\\\\" : is_shown(byte) ? "%c" : "\\x%02x", (unsigned char)byte);
}

// Writes a line on a line of its own: after a backslash, if it could be taken for something else,
// or with escapes after an &, if it has to have some.
static void write_line(FILE *to, const char *mark, const char *line, size_t length,
                       bool has_newline)
{
    bool is_plain = has_newline;

    for (size_t i = 0; i < length; i++)
        is_plain = is_plain && is_shown(line[i]);
    if (is_plain) {
        bool is_special =
            !*mark && (length == 0 || strchr("$%!?[#@&\\", line[0]) || strncmp(line, "> ", 2) == 0);
        fprintf(to, "%s%s%.*s\n", is_special ? "\\" : "", mark, (int)length, line);
        return;
    }
    fprintf(to, "&%s", mark);
    for (size_t i = 0; i < length; i++)
        write_escaped(to, line[i]);
    fputs(has_newline ? "\n" : "\\c\n", to);
}

// Writes a line after others on the same line, with blanks for tabs.
static void append_line(FILE *to, const char *mark, const char *line, size_t length,
                        bool has_newline)
{
    fputs(mark, to);
    for (size_t i = 0; i < length; i++) {
        if (line[i] == '\t' || line[i] == '\\')
            putc(line[i] == '\t' ? ' ' : '\\', to);
        else
            write_escaped(to, line[i]);
    }
    fputs(has_newline ? "" : "\\c", to);
}

// Writes what the last command printed: lines of standard output, or of standard error with "! "
// for "gpuhisto: ".
static void write_lines(FILE *to, FILE *from, bool on_one_line)
{
    size_t size;
    char *text = read_all(from, &size);

    for (size_t at = 0; at < size;) {
        const char *line = text + at;
        const char *end = memchr(line, '\n', size - at);
        size_t length = end ? (size_t)(end - line) : size - at;
        bool is_ours = from == errors && length > 10 && memcmp(line, "gpuhisto: ", 10) == 0;

        at += length + 1;
        // AddressSanitizer warns so of the emulated GPU, although that announces each switch of
        // stacks.
        if (from == errors && memmem(line, length, "ASan doesn't fully support makecontext", 38))
            continue;
        if (is_ours) {
            line += 10;
            length -= 10;
        }
        if (on_one_line)
            append_line(to,
                        from == output ? line == text ? " " : " / "
                        : is_ours      ? " ! "
                                       : " !! ",
                        line, length, end);
        else
            write_line(to, from == output ? "" : is_ours ? "! " : "!! ", line, length, end);
    }
    free(text);
}

// Writes "[STATUS]" if the command failed; and "[STATUS: LIST]" if its runs of gpuhisto have ended
// otherwise, with the statuses of those that failed, in ascending order.
static void write_statuses(FILE *to, int status, bool on_one_line)
{
    size_t size;
    char *text = read_all(failed, &size);
    unsigned of[256] = {0};
    unsigned count = 0;

    for (char *at = text; *at; count++)
        of[strtol(at, &at, 10) & 0xff]++, at += strcspn(at, "0123456789");
    free(text);
    if (status == 0 && count == 0)
        return;
    fprintf(to, "%s[%d", on_one_line ? " " : "", status);
    if (count > 0 && !(count == 1 && of[status & 0xff] == 1)) {
        putc(':', to);
        for (int i = 0; i < 256; i++)
            for (; of[i] > 0; of[i]--)
                fprintf(to, " %d", i);
    }
    fputs(on_one_line ? "]" : "]\n", to);
}

// Runs a command; returns its result.
static char *result_of(const char *command, unsigned line, bool on_one_line)
{
    int status = run(command, line);
    char *text;
    size_t size;
    FILE *to = open_memstream(&text, &size);

    write_lines(to, output, on_one_line);
    write_lines(to, errors, on_one_line);
    write_statuses(to, status, on_one_line);
    if (on_one_line)
        putc('\n', to);
    fclose(to);
    return text;
}

// --- comparing ---

// True if the text up to its newline is the pattern up to its own, of which * is any characters.
static bool matches_pattern(const char *pattern, const char *text)
{
    for (; *pattern && *pattern != '\n'; pattern++, text++) {
        if (*pattern == '*') {
            while (!matches_pattern(pattern + 1, text)) {
                if (!*text || *text++ == '\n')
                    return false;
            }
            return true;
        }
        if (*pattern != *text)
            return false;
    }
    return !*text || *text == '\n';
}

// True if each line is as expected, or matches the pattern of an expected line "? PATTERN".
static bool matches(const char *expected, const char *actual)
{
    while (*expected && *actual) {
        size_t length = strcspn(expected, "\n");

        if (strncmp(expected, "? ", 2) == 0 ? !matches_pattern(expected + 2, actual)
                                            : strncmp(expected, actual, length + 1) != 0)
            return false;
        expected += length + 1;
        actual += strcspn(actual, "\n") + 1;
    }
    return !*expected && !*actual;
}

// Prints the lines of one text that differ from the other's, without those that both begin and end
// with.
static void print_difference(char side, const char *text, const char *other)
{
    size_t size = strlen(text);
    size_t other_size = strlen(other);
    size_t begin = 0;
    size_t end = 0;

    for (size_t i = 0; i < size && i < other_size && text[i] == other[i]; i++)
        begin = text[i] == '\n' ? i + 1 : begin;
    for (size_t i = 1;
         begin + i < size && begin + i < other_size && text[size - i] == other[other_size - i]; i++)
        end = text[size - i - 1] == '\n' && other[other_size - i - 1] == '\n' ? i : end;
    for (const char *line = text + begin; line < text + size - end; line += strcspn(line, "\n") + 1)
        printf("%c%.*s\n", side, (int)strcspn(line, "\n"), line);
}

// What @each has: each command is run with all of these, and has one result.
static const char *variants[MAX_VARIANTS] = {""};
static size_t variant_count = 1;
static char *variant_names; // where these are

static void set_variant(const char *words, unsigned line)
{
    char command[200];

    if (snprintf(command, sizeof(command), "variant '%s'", words) >= (int)sizeof(command))
        broken(line, "too long: ", words);
    run(command, line);
}

// Runs a command with each variant, and prints what differs from the result expected. Returns that,
// or the first one that differs.
static char *check(const char *command, char *expected, unsigned line, bool on_one_line)
{
    for (size_t i = 0; i < variant_count; i++) {
        if (variant_count > 1)
            set_variant(variants[i], line);
        char *actual = result_of(command, line, on_one_line);
        commands++;
        if (matches(expected, actual)) {
            free(actual);
            continue;
        }
        failures++;
        const char *variant = variants[i] + strspn(variants[i], " ");
        printf("FAILED: %s:%u: %s%s%s: expected (-), actual (+)\n", path, line, command,
               *variant ? ", with " : "", variant);
        print_difference('-', expected, actual);
        print_difference('+', actual, expected);
        free(expected);
        expected = actual;
    }
    return expected;
}

// --- the file ---

static char *next; // line
static unsigned line_number;
static bool is_needed = true;
static bool left_out; // something was

// Returns the next line without its newline.
static char *take_line(void)
{
    char *line = next;

    next += strcspn(next, "\n");
    if (*next)
        *next++ = '\0';
    line_number++;
    return line;
}

// % COMMAND => RESULT, or ?> and a pattern
static void check_line(char *line, FILE *to)
{
    char *exact = strstr(line, " =>");
    char *pattern = strstr(line, " ?>");
    char *end = !exact || (pattern && pattern < exact) ? pattern : exact;

    if (!end)
        broken(line_number, "no => in ", line);
    *end = '\0';
    char *expected;
    if (asprintf(&expected, "%s%s\n", end == pattern ? "? " : "", end + 3) < 0)
        abort();
    if (is_needed)
        expected = check(line + 2, expected, line_number, true);
    bool is_pattern = strncmp(expected, "? ", 2) == 0;
    fprintf(to, "%s %s%s", line, is_pattern ? "?>" : "=>", expected + 2 * is_pattern);
    free(expected);
}

// $ COMMAND, perhaps more lines of it after "> ", and lines of output up to the next command or
// comment
static void check_lines(char *line, FILE *to)
{
    unsigned begin = line_number;
    unsigned blank_lines = 0;
    char *command;
    char *expected;
    size_t size;
    FILE *text = open_memstream(&command, &size);

    fprintf(to, "%s\n", line);
    fputs(line + 2, text);
    while (strncmp(next, "> ", 2) == 0) {
        line = take_line();
        fprintf(to, "%s\n", line);
        fprintf(text, "\n%s", line + 2);
    }
    fclose(text);
    text = open_memstream(&expected, &size);
    while (*next && !strchr("$%#@", *next)) {
        line = take_line();
        if (*line && blank_lines > 0)
            broken(line_number, "a blank line within output is written as a backslash: ", line);
        blank_lines += !*line;
        if (*line)
            fprintf(text, "%s\n", line);
    }
    fclose(text);
    if (is_needed)
        expected = check(command, expected, begin, false);
    fputs(expected, to);
    while (blank_lines-- > 0)
        putc('\n', to);
    free(command);
    free(expected);
}

// @each VARIANT | ...
static void set_variants(const char *line)
{
    size_t size;
    char command[400];

    if (snprintf(command, sizeof(command), "variants '%s'", line + strlen("@each")) >=
        (int)sizeof(command))
        broken(line_number, "too long: ", line);
    run(command, line_number);
    free(variant_names);
    variant_names = read_all(output, &size);
    variant_count = 0;
    for (char *name = strtok(variant_names, "\n"); name && variant_count < MAX_VARIANTS;
         name = strtok(NULL, "\n"))
        variants[variant_count++] = name;
    if (variant_count == 0)
        broken(line_number, "no variant is there: ", line);
    set_variant(variants[0], line_number);
}

// Runs the file's commands, and writes it as it would be if all had given what is expected.
static void run_file(FILE *to)
{
    while (*next) {
        char *line = take_line();

        if (strncmp(line, "% ", 2) == 0) {
            check_line(line, to);
            continue;
        }
        if (strncmp(line, "$ ", 2) == 0) {
            check_lines(line, to);
            continue;
        }
        fprintf(to, "%s\n", line);
        if (strncmp(line, "@needs ", 7) == 0) {
            int status = run(line + 1, line_number);
            is_needed = status == 0;
            left_out |= status != 0;
            if (status == 1)
                printf("%s: left out: from line %u on: needs %s\n", path, line_number, line + 7);
        } else if (strncmp(line, "@each", 5) == 0) {
            set_variants(line);
        } else if (*line && *line != '#') {
            broken(line_number, "neither a command nor its output: ", line);
        }
    }
}

int main(int argc, char **argv)
{
    bool rewrites = argc > 2 && strcmp(argv[1], "--rewrite") == 0;
    char *text;
    size_t size;

    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGALRM, tell_of_hang);
    path = argv[argc - 1];
    FILE *file = fopen(path, rewrites ? "r+" : "r");
    if (!file)
        broken(0, "cannot be read", "");
    char *content = next = read_all(file, &size);
    start_shell();
    FILE *to = open_memstream(&text, &size);
    run_file(to);
    fclose(to);
    fclose(to_shell);
    wait(NULL);
    printf("%s: %u cases, %u failed\n", path, commands, failures);
    if (rewrites) {
        rewind(file);
        if (fwrite(text, 1, size, file) != size || fflush(file) != 0 ||
            ftruncate(fileno(file), (off_t)size) != 0)
            broken(0, "cannot be written", "");
    }
    free(text);
    free(content);
    free(variant_names);
    if (commands == 0 && !left_out)
        broken(line_number, "it has no case", "");
    return commands == 0 ? 77 : failures > 0 && !rewrites;
}
