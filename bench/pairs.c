/* pairs [-n PAIRS] COMMAND_A COMMAND_B: runs two shell commands in turn and compares them.
 *
 * Machines are noisy, and drift: so A and B alternate, each pair gives one ratio, and the median of
 * the ratios is what counts. Prints wall and CPU seconds of both (the median; the CPU's are those
 * of the whole pipeline), then A's wall time over B's, with the least and the largest. One pair
 * goes before, unmeasured. Exit status 1 if a command fails. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAIRS_MAX 1000

struct cost {
    double wall, cpu; /* seconds */
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
    double cpu = cpu_of_children();
    int status;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    pid_t child = fork();
    if (child == 0) {
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
        fprintf(stderr, "pairs: failed: %s\n", command);
        exit(1);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (struct cost){(double)(end.tv_sec - begin.tv_sec) +
                             (double)(end.tv_nsec - begin.tv_nsec) / 1e9,
                         cpu_of_children() - cpu};
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

int main(int argc, char **argv)
{
    static double walls[2][PAIRS_MAX], cpus[2][PAIRS_MAX], ratios[PAIRS_MAX];
    int pairs = 7, option;
    while ((option = getopt(argc, argv, "n:")) == 'n')
        pairs = atoi(optarg);
    if (option != -1 || argc - optind != 2 || pairs < 1 || pairs > PAIRS_MAX) {
        fprintf(stderr, "usage: pairs [-n PAIRS] COMMAND_A COMMAND_B\n");
        return 2;
    }
    for (int pair = -1; pair < pairs; pair++)
        for (int side = 0; side < 2; side++) {
            struct cost cost = run(argv[optind + side]);
            if (pair < 0)
                continue;
            walls[side][pair] = cost.wall;
            cpus[side][pair] = cost.cpu;
        }
    for (int pair = 0; pair < pairs; pair++)
        ratios[pair] = walls[0][pair] / walls[1][pair];
    for (int side = 0; side < 2; side++)
        printf("%c: wall %.4f s, cpu %.4f s: %s\n", 'A' + side, median(walls[side], pairs),
               median(cpus[side], pairs), argv[optind + side]);
    double middle = median(ratios, pairs);
    printf("A/B: %.3f (%.3f to %.3f, %d pairs)\n", middle, ratios[0], ratios[pairs - 1], pairs);
    return 0;
}
