/* SPDX-License-Identifier: MIT */
#include "calls.h"

#include <errno.h>

/* Not for programs whose longs have 32 bits (x32), which have call numbers of their own, nor for
 * big-endian machines, whose arguments are the other way round. */
#if (defined __x86_64__ || defined __aarch64__) && defined __LP64__ &&                             \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#include "calls_refused.h"

#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>
#include <linux/sockios.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#ifdef __x86_64__
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/* Without it some kernels before 5.16 slow down all loads after stores. */
#ifndef SECCOMP_FILTER_FLAG_SPEC_ALLOW
#define SECCOMP_FILTER_FLAG_SPEC_ALLOW 4u
#endif

#define FAILING(error) (SECCOMP_RET_ERRNO | (error))

/* --- calls that depend on an argument --- */

enum test {
    IS,     /* refused if the argument is this value */
    IS_NOT, /* refused if it is another one */
    HAS,    /* refused if it has any of these bits */
    LACKS,  /* refused if it has none of them */
};

struct checked {
    int call;
    unsigned argument;
    enum test test;
    uint32_t value;  /* all that the kernel looks at is in the lower 32 bits */
    bool is_reading; /* holds only where nothing is written */
};

#define OPENS_TO_WRITE (O_ACCMODE | O_CREAT | O_TRUNC)
#define OWN_PROCESS UINT32_MAX /* stands for its id */

/* Rows of a call follow each other. */
static const struct checked checked[] = {
    /* Threads, but no processes. */
    {SYS_clone, 0, LACKS, CLONE_THREAD, false},
    {SYS_openat, 2, HAS, OPENS_TO_WRITE, true},
#ifdef __x86_64__
    {SYS_open, 1, HAS, OPENS_TO_WRITE, true},
#endif
    /* raise and abort. */
    {SYS_tgkill, 0, IS_NOT, OWN_PROCESS, false},
    {SYS_prlimit64, 0, IS_NOT, 0, false},
    /* What others would read as typed, and signals when something can be read. */
    {SYS_ioctl, 1, IS, TIOCSTI, false},
    {SYS_ioctl, 1, IS, 0x541c, false}, /* TIOCLINUX */
    {SYS_ioctl, 1, IS, FIOSETOWN, false},
    {SYS_ioctl, 1, IS, SIOCSPGRP, false},
    {SYS_fcntl, 1, IS, F_SETOWN, false},
    {SYS_fcntl, 1, IS, F_SETOWN_EX, false},
};

#define CHECKED_COUNT (sizeof checked / sizeof checked[0])

/* --- what to do with each call --- */

enum {
    ALLOWED,
    REFUSED,
    UNKNOWN,       /* as if the kernel did not have it */
    FIRST_CHECKED, /* and the number of a row */
};

struct actions {
    unsigned char of[CALLS_KNOWN];
};

static void refuse_all(struct actions *actions, const short *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        actions->of[calls[i]] = REFUSED;
}

static void find_actions(struct actions *actions, bool writes)
{
    memset(actions, ALLOWED, sizeof *actions);
    refuse_all(actions, calls_refused, sizeof calls_refused / sizeof calls_refused[0]);
    if (!writes)
        refuse_all(actions, calls_of_output, sizeof calls_of_output / sizeof calls_of_output[0]);
    /* Their flags are in memory, where a filter cannot look. C libraries then take clone, openat.
     */
    actions->of[CALL_CLONE3] = UNKNOWN;
    actions->of[CALL_OPENAT2] = UNKNOWN;
    for (size_t i = CHECKED_COUNT; i-- > 0;)
        if (!writes || !checked[i].is_reading)
            actions->of[checked[i].call] = (unsigned char)(FIRST_CHECKED + i);
}

/* --- the program --- */

/* Each instruction costs time when the program is put in force, because the kernel translates it.
 * Kernels since 5.11 also find out once which calls are allowed whatever their arguments, by
 * running the program for each. So it is a tree, has only such instructions as that knows, and ends
 * with one return for each outcome, which all jumps share. */
#define PROGRAM_MAX 250 /* jumps reach so far */

enum outcome {
    GOES_ON, /* not yet: the next instruction */
    ALLOWS,
    REFUSES,
    KNOWS_NOT,
    OUTCOMES,
};

struct program {
    struct sock_filter code[PROGRAM_MAX + OUTCOMES];
    unsigned char if_true[PROGRAM_MAX], if_false[PROGRAM_MAX]; /* outcomes of jumps */
    unsigned len;
    bool is_too_long;
};

static void add(struct program *program, unsigned short code, uint32_t value)
{
    program->is_too_long |= program->len == PROGRAM_MAX;
    if (program->is_too_long)
        return;
    program->if_true[program->len] = program->if_false[program->len] = GOES_ON;
    program->code[program->len++] = (struct sock_filter){.code = code, .k = value};
}

static void add_load(struct program *program, size_t offset)
{
    add(program, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset);
}

static void add_jump(struct program *program, unsigned short condition, uint32_t value,
                     enum outcome if_true, enum outcome if_false)
{
    const unsigned at = program->len;
    add(program, BPF_JMP | BPF_K | condition, value);
    if (program->is_too_long)
        return;
    program->if_true[at] = (unsigned char)if_true;
    program->if_false[at] = (unsigned char)if_false;
}

/* Adds what rows say of a call, from the first of them on. */
static void add_checks(struct program *program, size_t first)
{
    for (size_t i = first; i < CHECKED_COUNT && checked[i].call == checked[first].call; i++) {
        const struct checked *row = &checked[i];
        const bool is_equal = row->test == IS || row->test == IS_NOT;
        const bool if_true = row->test == IS || row->test == HAS;
        const uint32_t value = row->value == OWN_PROCESS ? (uint32_t)getpid() : row->value;
        /* The lower half comes first, as both machines are little-endian. */
        if (i == first || row->argument != checked[i - 1].argument)
            add_load(program, offsetof(struct seccomp_data, args[row->argument]));
        add_jump(program, is_equal ? BPF_JEQ : BPF_JSET, value, if_true ? REFUSES : GOES_ON,
                 if_true ? GOES_ON : REFUSES);
    }
    add(program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
}

/* Calls that follow each other and are treated alike: runs, each up to the next one. */
struct runs {
    unsigned short first[CALLS_KNOWN];
    unsigned char action[CALLS_KNOWN];
    unsigned count;
};

static void find_runs(struct runs *runs, bool writes)
{
    struct actions actions;
    find_actions(&actions, writes);
    runs->count = 0;
    for (unsigned call = 0; call < CALLS_KNOWN; call++) {
        if (call > 0 && actions.of[call] == actions.of[call - 1])
            continue;
        runs->first[runs->count] = (unsigned short)call;
        runs->action[runs->count++] = actions.of[call];
    }
}

/* The outcome of the runs [first, end), if they are one that needs no arguments. */
static enum outcome outcome_of(const struct runs *runs, unsigned first, unsigned end)
{
    static const enum outcome outcomes[] = {
        [ALLOWED] = ALLOWS, [REFUSED] = REFUSES, [UNKNOWN] = KNOWS_NOT};
    const unsigned action = runs->action[first];
    return end - first == 1 && action < FIRST_CHECKED ? outcomes[action] : GOES_ON;
}

/* Adds the tree for the runs [first, end), whose number has been loaded, and which have no common
 * outcome. */
static void add_tree(struct program *program, const struct runs *runs, unsigned first, unsigned end)
{
    if (end - first == 1) {
        add_checks(program, runs->action[first] - (size_t)FIRST_CHECKED);
        return;
    }
    const unsigned middle = first + (end - first) / 2, jump = program->len;
    const enum outcome below = outcome_of(runs, first, middle);
    const enum outcome above = outcome_of(runs, middle, end);
    add_jump(program, BPF_JGE, runs->first[middle], above, below);
    if (below == GOES_ON)
        add_tree(program, runs, first, middle);
    if (above != GOES_ON || program->is_too_long)
        return;
    program->code[jump].jt = (unsigned char)(program->len - jump - 1);
    add_tree(program, runs, middle, end);
}

/* Adds the returns, and has jumps lead to them. */
static void add_outcomes(struct program *program)
{
    static const uint32_t returned[OUTCOMES] = {
        [ALLOWS] = SECCOMP_RET_ALLOW, [REFUSES] = FAILING(EPERM), [KNOWS_NOT] = FAILING(ENOSYS)};
    const unsigned jumps = program->len;
    for (unsigned outcome = ALLOWS; outcome < OUTCOMES; outcome++) {
        for (unsigned i = 0; i < jumps; i++) {
            const unsigned char distance = (unsigned char)(program->len - i - 1);
            if (program->if_true[i] == outcome)
                program->code[i].jt = distance;
            if (program->if_false[i] == outcome)
                program->code[i].jf = distance;
        }
        program->code[program->len++] =
            (struct sock_filter){.code = BPF_RET | BPF_K, .k = returned[outcome]};
    }
}

static void make_program(struct program *program, bool writes)
{
    struct runs runs;
    find_runs(&runs, writes);
    program->len = 0;
    program->is_too_long = false;
    /* A process can make the calls of another machine, such as those of 32 bits. */
    add_load(program, offsetof(struct seccomp_data, arch));
    add_jump(program, BPF_JEQ, OWN_ARCHITECTURE, GOES_ON, REFUSES);
    add_load(program, offsetof(struct seccomp_data, nr));
    add_jump(program, BPF_JGE, CALLS_KNOWN, KNOWS_NOT, GOES_ON);
    add_tree(program, &runs, 0, runs.count);
    add_outcomes(program);
}

int calls_enter(bool writes)
{
    struct program program;
    make_program(&program, writes);
    if (program.is_too_long)
        return E2BIG;
    const struct sock_fprog filter = {(unsigned short)program.len, program.code};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &filter) ==
            0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0)
        return 0;
    return errno;
}

#else

int calls_enter(bool writes)
{
    (void)writes;
    return ENOSYS;
}

#endif
