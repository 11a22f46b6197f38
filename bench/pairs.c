/* SPDX-License-Identifier: MIT */
/* pairs [-um] [-n ROUNDS] [-c LABEL] COMMAND_A COMMAND_B...: runs shell commands in turn and
 * compares A with each of the others.
 *
 * Machines are noisy and drift. So the commands alternate, each round gives one ratio, and the
 * median of the ratios is the result. Every other round runs in reverse order, and every two rounds
 * start with another command, so that what one command leaves to be done, such as tearing down a
 * GPU, does not always slow down the same one. Prints wall and CPU seconds of each command
 * (medians; CPU seconds are those of the whole pipeline), then A's wall time divided by each
 * other's, with the smallest and the largest ratio. With -c it prints a row of comma-separated
 * values for each ratio instead: LABEL, A's wall and CPU seconds, the other's, the ratio, the
 * smallest, the largest, the rounds, and which other (B is 1). With -u the same three numbers
 * follow for the ratio of CPU seconds, before the rounds: that ratio is good on a busy machine,
 * too. With -m two more columns follow, last before the rounds: the most memory in MiB that a
 * process of A and of the other had. An unmeasured round comes first. Exit status 1 if a command
 * fails. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define ROUNDS_MAX 1000
#define COMMANDS_MAX 8

struct cost {
    double wall, cpu; /* seconds */
    double peak;      /* MiB, of the largest process */
};

struct columns {
    const char *label; /* NULL: lines for people */
    bool with_cpu, with_peak;
};

static double cpu_of_children(void)
{
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static struct cost run(const char *command)
{
    struct timespec begin, end;
    struct rusage usage;
    double cpu = cpu_of_children();
    int status;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &usage) != child || status != 0) {
        fprintf(stderr, "pairs: failed: %s\n", command);
        exit(1);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (struct cost){(double)(end.tv_sec - begin.tv_sec) +
                             (double)(end.tv_nsec - begin.tv_nsec) / 1e9,
                         cpu_of_children() - cpu, (double)usage.ru_maxrss / 1024};
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Sorts the values. */
static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, ascending);
    return (values[(count - 1) / 2] + values[count / 2]) / 2;
}

static double walls[COMMANDS_MAX][ROUNDS_MAX], cpus[COMMANDS_MAX][ROUNDS_MAX];
static double peaks[COMMANDS_MAX][ROUNDS_MAX];

/* A's cost over the command's. */
static double wall_ratios[COMMANDS_MAX][ROUNDS_MAX], cpu_ratios[COMMANDS_MAX][ROUNDS_MAX];

/* The command whose turn it is. The order of three is ABC CBA, BCA ACB, CAB BAC. */
static int command_for(int round, int turn, int count)
{
    int position = round % 2 ? count - 1 - turn : turn;
    return (round / 2 + position) % count;
}

static void measure(char **commands, int count, int rounds)
{
    for (int round = -1; round < rounds; round++)
        for (int turn = 0; turn < count; turn++) {
            int i = command_for(round + 1, turn, count);
            struct cost cost = run(commands[i]);
            if (round < 0)
                continue;
            walls[i][round] = cost.wall;
            cpus[i][round] = cost.cpu;
            peaks[i][round] = cost.peak;
        }
    for (int i = 0; i < count; i++)
        for (int round = 0; round < rounds; round++) {
            wall_ratios[i][round] = walls[0][round] / walls[i][round];
            cpu_ratios[i][round] = cpus[0][round] / cpus[i][round];
        }
}

/* Prints the median, the least and the greatest of a command's ratios, for people or as three
 * columns. Sorts them. */
static void print_ratio(double *ratios, int rounds, const char *what, int command, bool as_columns)
{
    double middle = median(ratios, rounds), min = ratios[0], max = ratios[rounds - 1];
    if (as_columns)
        printf("%.3f,%.3f,%.3f,", middle, min, max);
    else
        printf("A/%c%s: %.3f (%.3f to %.3f, %d rounds)\n", 'A' + command, what, middle, min, max,
               rounds);
}

/* A row of comma-separated values. Sorts the ratios. */
static void print_row(int command, int rounds, const struct cost *costs,
                      const struct columns *columns)
{
    const struct cost *a = &costs[0], *b = &costs[command];
    printf("%s,%.5f,%.5f,%.5f,%.5f,", columns->label, a->wall, a->cpu, b->wall, b->cpu);
    print_ratio(wall_ratios[command], rounds, "", command, true);
    if (columns->with_cpu)
        print_ratio(cpu_ratios[command], rounds, ", CPU", command, true);
    if (columns->with_peak)
        printf("%.1f,%.1f,", a->peak, b->peak);
    printf("%d,%d\n", rounds, command);
}

static void print(char **commands, int count, int rounds, const struct columns *columns)
{
    struct cost costs[COMMANDS_MAX];
    for (int i = 0; i < count; i++) {
        costs[i] = (struct cost){median(walls[i], rounds), median(cpus[i], rounds),
                                 median(peaks[i], rounds)};
        if (!columns->label)
            printf("%c: wall %.4f s, cpu %.4f s, %.1f MiB: %s\n", 'A' + i, costs[i].wall,
                   costs[i].cpu, costs[i].peak, commands[i]);
    }
    for (int i = 1; i < count; i++) {
        if (columns->label) {
            print_row(i, rounds, costs, columns);
            continue;
        }
        print_ratio(wall_ratios[i], rounds, "", i, false);
        if (columns->with_cpu)
            print_ratio(cpu_ratios[i], rounds, ", CPU", i, false);
    }
}

int main(int argc, char **argv)
{
    struct columns columns = {NULL, false, false};
    int rounds = 7, option;
    while ((option = getopt(argc, argv, "umn:c:")) != -1) {
        if (option == 'u')
            columns.with_cpu = true;
        else if (option == 'm')
            columns.with_peak = true;
        else if (option == 'n')
            rounds = atoi(optarg);
        else if (option == 'c')
            columns.label = optarg;
        else
            rounds = 0;
    }
    int count = argc - optind;
    if (count < 2 || count > COMMANDS_MAX || rounds < 1 || rounds > ROUNDS_MAX) {
        fprintf(stderr, "usage: pairs [-um] [-n ROUNDS] [-c LABEL] COMMAND_A COMMAND_B...\n");
        return 2;
    }
    measure(argv + optind, count, rounds);
    print(argv + optind, count, rounds, &columns);
    return 0;
}
