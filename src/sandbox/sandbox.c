/* SPDX-License-Identifier: MIT */
#include "sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* --- seccomp: the system calls that are refused, and the program that does it ---
 *
 * A list of calls that are needed would have to know what each version of each C library calls,
 * perhaps only when memory is short. So the list has the calls that let code out of the process or
 * do harm from within; gpuhisto makes none of them. Calls that are newer than the list fail with
 * ENOSYS: C libraries do without them, as on an older kernel. A refused call fails with EPERM, so
 * the message says what failed, and nothing is left half done. */

/* Not for programs whose longs have 32 bits (x32), which have call numbers of their own, nor for
 * big-endian machines, on which the upper half of an argument comes first. */
#if defined HAVE_SANDBOX && (defined __x86_64__ || defined __aarch64__) && defined __LP64__ &&     \
    __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/sched.h>
#include <linux/seccomp.h>

#define CALL_CLONE3 435
#define CALL_OPENAT2 437
#define CALLS_KNOWN 451 /* all from here on are unknown to the list */

/* Of programs and sockets. A socket that is already open is read and written as a file. */
#define OF_PROGRAMS SYS_execve, SYS_execveat
#define OF_SOCKETS                                                                                 \
    SYS_socket, SYS_socketpair, SYS_connect, SYS_bind, SYS_listen, SYS_accept, SYS_accept4,        \
        SYS_sendto, SYS_sendmsg, SYS_sendmmsg

#define OF_PROCESSES                                                                               \
    SYS_ptrace, SYS_process_vm_readv, SYS_process_vm_writev, SYS_kcmp, SYS_kill,                   \
        SYS_rt_sigqueueinfo, SYS_rt_tgsigqueueinfo, SYS_setpriority, SYS_ioprio_set,               \
        SYS_sched_setparam, SYS_sched_setscheduler, SYS_sched_setattr, SYS_sched_setaffinity,      \
        SYS_migrate_pages, SYS_move_pages, SYS_setpgid, SYS_setsid

#define OF_MESSAGES                                                                                \
    SYS_shmget, SYS_shmat, SYS_shmctl, SYS_msgget, SYS_msgsnd, SYS_msgrcv, SYS_msgctl, SYS_semget, \
        SYS_semop, SYS_semctl, SYS_semtimedop, SYS_mq_open, SYS_mq_unlink

/* Names and attributes of files: by name, and by descriptor, as inputs are open. */
#define OF_NAMES                                                                                   \
    SYS_mkdirat, SYS_mknodat, SYS_symlinkat, SYS_fchmodat, SYS_fchownat, SYS_utimensat,            \
        SYS_truncate, SYS_setxattr, SYS_lsetxattr, SYS_removexattr, SYS_lremovexattr,              \
        SYS_name_to_handle_at, SYS_open_by_handle_at, SYS_getdents64, SYS_inotify_init1,           \
        SYS_inotify_add_watch, SYS_fanotify_init, SYS_fanotify_mark
#define OF_FILES SYS_fchmod, SYS_fchown, SYS_fsetxattr, SYS_fremovexattr, SYS_ftruncate, SYS_flock

#define OF_IDENTITIES                                                                              \
    SYS_setuid, SYS_setgid, SYS_setreuid, SYS_setregid, SYS_setresuid, SYS_setresgid,              \
        SYS_setgroups, SYS_setfsuid, SYS_setfsgid, SYS_capset
#define OF_MOUNTS                                                                                  \
    SYS_unshare, SYS_setns, SYS_chroot, SYS_pivot_root, SYS_mount, SYS_umount2, SYS_quotactl,      \
        SYS_swapon, SYS_swapoff
#define OF_THE_MACHINE                                                                             \
    SYS_bpf, SYS_perf_event_open, SYS_userfaultfd, SYS_add_key, SYS_request_key, SYS_keyctl,       \
        SYS_init_module, SYS_finit_module, SYS_delete_module, SYS_kexec_load, SYS_reboot,          \
        SYS_syslog, SYS_acct, SYS_settimeofday, SYS_clock_settime, SYS_adjtimex,                   \
        SYS_clock_adjtime, SYS_sethostname, SYS_setdomainname, SYS_vhangup, SYS_personality

/* pidfd_send_signal, io_uring_setup, io_uring_enter, io_uring_register, open_tree, move_mount,
 * fsopen, fsconfig, fsmount, fspick, pidfd_open; pidfd_getfd, process_madvise, mount_setattr,
 * quotactl_fd, process_mrelease: the headers may be older than the kernel. */
#define OF_NEW_ONES 424, 425, 426, 427, 428, 429, 430, 431, 432, 433, 434, 438, 440, 442, 443, 448

/* What AArch64 does not have. */
#ifdef __x86_64__
#define OF_THE_PAST                                                                                \
    , SYS_fork, SYS_vfork, SYS_mkdir, SYS_rmdir, SYS_mknod, SYS_symlink, SYS_chmod, SYS_chown,     \
        SYS_lchown, SYS_utime, SYS_utimes, SYS_futimesat, SYS_creat, SYS_getdents,                 \
        SYS_inotify_init, SYS_iopl, SYS_ioperm, SYS_modify_ldt, SYS_kexec_file_load
#define OF_PAST_NAMES , SYS_link, SYS_unlink, SYS_rename
#else
#define OF_THE_PAST
#define OF_PAST_NAMES
#endif

/* Other C libraries raise signals with it. */
#ifdef __GLIBC__
#define OF_GLIBC , SYS_tkill
#else
#define OF_GLIBC
#endif

static const short refused[] = {
    OF_PROGRAMS, OF_SOCKETS,    OF_PROCESSES, OF_MESSAGES,    OF_NAMES,
    OF_FILES,    OF_IDENTITIES, OF_MOUNTS,    OF_THE_MACHINE, OF_NEW_ONES OF_THE_PAST OF_GLIBC};

/* Calls that rename a file. */
static const short renaming[] = {SYS_linkat, SYS_unlinkat, SYS_renameat,
                                 SYS_renameat2 OF_PAST_NAMES};

/* --- the program --- */

/* One bit for each call, in words that are constants of the program. It is short, as its cost is
 * that the kernel translates it. */
#define WORDS ((CALLS_KNOWN + 31) / 32)
#define PROGRAM_MAX 160

/* Without it some kernels before 5.16 slow down all loads after stores. */
#ifndef SECCOMP_FILTER_FLAG_SPEC_ALLOW
#define SECCOMP_FILTER_FLAG_SPEC_ALLOW 4u
#endif

#ifdef __x86_64__
#define OWN_ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define OWN_ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

#define FAILING(error) (SECCOMP_RET_ERRNO | (error))
#define OFFSET(member) ((uint32_t)offsetof(struct seccomp_data, member))

struct program {
    struct sock_filter code[PROGRAM_MAX];
    unsigned len;
};

static void add(struct program *program, unsigned code, uint32_t value)
{
    if (program->len < PROGRAM_MAX)
        program->code[program->len++] =
            (struct sock_filter){.code = (unsigned short)code, .k = value};
}

/* Adds a jump over the next `skipped` instructions, unless the condition holds. */
static void add_unless(struct program *program, unsigned condition, uint32_t value,
                       unsigned skipped)
{
    add(program, BPF_JMP | BPF_K | condition, value);
    program->code[program->len - 1].jf = (unsigned char)skipped;
}

/* Adds a return if the condition holds. */
static void add_return(struct program *program, unsigned condition, uint32_t value,
                       uint32_t returned)
{
    add_unless(program, condition, value, 1);
    add(program, BPF_RET | BPF_K, returned);
}

/* A call that is allowed only with a certain argument: equal to one of `count` values, or with one
 * of the bits of value[0], or with none of them. The kernel uses the lower 32 bits, which come
 * first. */
struct checked {
    int call;
    unsigned argument;
    enum { ONE_OF, HAS, LACKS } test;
    unsigned count;
    uint32_t value[8];
};

static void add_check(struct program *program, const struct checked *check)
{
    const unsigned first = program->len;
    add_unless(program, BPF_JEQ, (uint32_t)check->call, 0);
    add(program, BPF_LD | BPF_W | BPF_ABS, OFFSET(args[check->argument]));
    if (check->test == LACKS)
        add_return(program, BPF_JSET, check->value[0], FAILING(EPERM));
    for (unsigned i = 0; check->test != LACKS && i < check->count; i++)
        add_return(program, check->test == HAS ? BPF_JSET : BPF_JEQ, check->value[i],
                   SECCOMP_RET_ALLOW);
    add(program, BPF_RET | BPF_K, check->test == LACKS ? SECCOMP_RET_ALLOW : FAILING(EPERM));
    program->code[first].jf = (unsigned char)(program->len - first - 1);
}

static void add_checks(struct program *program, bool opens)
{
    const struct checked checks[] = {
        /* Threads, but no processes; raise and abort. */
        {SYS_clone, 0, HAS, 1, {CLONE_THREAD}},
        {SYS_tgkill, 0, ONE_OF, 1, {(uint32_t)getpid()}},
        {SYS_prlimit64, 0, ONE_OF, 1, {0}},
        /* To find out whether it is a terminal, how large, and how much can be read. */
        {SYS_ioctl, 1, ONE_OF, 4, {TCGETS, 0x802c542a /* TCGETS2 */, TIOCGWINSZ, FIONREAD}},
        {SYS_fcntl,
         1,
         ONE_OF,
         7,
         {F_GETFD, F_SETFD, F_GETFL, F_SETFL, F_DUPFD_CLOEXEC, F_GETPIPE_SZ, F_SETPIPE_SZ}},
        {SYS_openat, 2, LACKS, 1, {O_ACCMODE | O_CREAT | O_TRUNC}},
#ifdef __x86_64__
        {SYS_open, 1, LACKS, 1, {O_ACCMODE | O_CREAT | O_TRUNC}},
#endif
    };
    for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
        if (checks[i].test != LACKS || !opens)
            add_check(program, &checks[i]);
    /* Their flags are in memory, which a filter cannot read. C libraries then use clone, openat. */
    add_return(program, BPF_JEQ, CALL_CLONE3, FAILING(ENOSYS));
    add_return(program, BPF_JEQ, CALL_OPENAT2, FAILING(ENOSYS));
}

static void mark(uint32_t words[WORDS], const short *calls, size_t count)
{
    for (size_t i = 0; i < count; i++)
        words[calls[i] / 32] |= 1u << calls[i] % 32;
}

/* Adds the look-up of the call's bit. */
static void add_list(struct program *program, bool replaces)
{
    uint32_t words[WORDS] = {0};
    unsigned left = 0;
    mark(words, refused, sizeof refused / sizeof refused[0]);
    if (!replaces)
        mark(words, renaming, sizeof renaming / sizeof renaming[0]);
    for (unsigned i = 0; i < WORDS; i++)
        left += words[i] != 0;
    add(program, BPF_ALU | BPF_AND | BPF_K, 31);
    add(program, BPF_MISC | BPF_TAX, 0);
    add(program, BPF_LD | BPF_W | BPF_ABS, OFFSET(nr));
    add(program, BPF_ALU | BPF_RSH | BPF_K, 5);
    for (unsigned i = 0; i < WORDS; i++) {
        if (words[i] == 0)
            continue;
        left--;
        add_unless(program, BPF_JEQ, i, 2);
        add(program, BPF_LD | BPF_IMM, words[i]);
        add(program, BPF_JMP | BPF_JA, 3 * left + 1);
    }
    add(program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    add(program, BPF_ALU | BPF_RSH | BPF_X, 0);
    add_return(program, BPF_JSET, 1, FAILING(EPERM));
    add(program, BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
}

/* Enforces the filter. 0, or an errno. */
static int enter_seccomp(const struct sandbox *sandbox)
{
    struct program program = {.len = 0};
    add(&program, BPF_LD | BPF_W | BPF_ABS, OFFSET(arch));
    /* A process can make the calls of another architecture, such as those of 32 bits. */
    add_unless(&program, BPF_JEQ, OWN_ARCHITECTURE, 3);
    add(&program, BPF_LD | BPF_W | BPF_ABS, OFFSET(nr));
    add_unless(&program, BPF_JGE, CALLS_KNOWN, 2);
    add(&program, BPF_RET | BPF_K, FAILING(ENOSYS));
    add(&program, BPF_RET | BPF_K, FAILING(EPERM));
    add_checks(&program, sandbox->writes);
    add_list(&program, sandbox->replaces);
    if (program.len == PROGRAM_MAX)
        return E2BIG;
    const struct sock_fprog filter = {(unsigned short)program.len, program.code};
    if (syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_SPEC_ALLOW, &filter) ==
            0 ||
        syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &filter) == 0)
        return 0;
    return errno;
}

#else

static int enter_seccomp(const struct sandbox *sandbox)
{
    (void)sandbox;
    return ENOSYS;
}

#endif

/* --- Landlock: the same on all machines that this is built for; the headers may be older --- */

#define CALL_CREATE_RULES 444
#define CALL_ADD_RULE 445
#define CALL_RESTRICT_SELF 446
#define ASK_VERSION 1u
#define RULE_OF_PATH 1

enum {
    RIGHT_WRITE_FILE = 1 << 1,
    RIGHT_READ_FILE = 1 << 2,
    RIGHT_READ_DIR = 1 << 3,
    RIGHT_REMOVE_FILE = 1 << 5,
    RIGHT_MAKE_REG = 1 << 8,
    RIGHT_TRUNCATE = 1 << 14,
    RIGHT_IOCTL_DEV = 1 << 15,

    NET_BIND_AND_CONNECT = 3,    /* TCP, version 4 */
    SCOPE_SOCKET_AND_SIGNAL = 3, /* version 6 */
};

/* What is refused unless a rule allows it. Kernels take a longer structure than they know if they
 * find zeros there. */
struct handled {
    uint64_t files;
    uint64_t net;
    uint64_t scopes;
};

struct rule {
    uint64_t rights;
    int32_t fd;
} __attribute__((packed));

/* Returns all rights on files that a version knows. */
static uint64_t rights_of_version(int version)
{
    static const unsigned char bits[] = {13, 14, 15, 15, 16};
    const int newest = (int)sizeof bits;
    return ((uint64_t)1 << bits[(version < newest ? version : newest) - 1]) - 1;
}

/* Continues without Landlock. */
static void drop_rules(struct sandbox *sandbox, int error)
{
    if (sandbox->rules >= 0)
        close(sandbox->rules);
    sandbox->rules = -1;
    sandbox->version = error;
}

void sandbox_begin(struct sandbox *sandbox)
{
    *sandbox = (struct sandbox){.rules = -1, .version = ENOSYS, .seccomp_error = ENOSYS};
#ifdef HAVE_SANDBOX
    const int version = (int)syscall(CALL_CREATE_RULES, NULL, 0, ASK_VERSION);
    if (version < 0)
        sandbox->version = errno;
    if (version <= 0)
        return;
    const struct handled handled = {
        .files = rights_of_version(version),
        .net = version >= 4 ? NET_BIND_AND_CONNECT : 0,
        .scopes = version >= 6 ? SCOPE_SOCKET_AND_SIGNAL : 0,
    };
    sandbox->rules = (int)syscall(CALL_CREATE_RULES, &handled, sizeof handled, 0);
    sandbox->version = sandbox->rules < 0 ? errno : version;
#endif
}

void sandbox_allow(struct sandbox *sandbox, int fd, enum sandbox_use use)
{
    static const uint64_t rights[] = {
        [SANDBOX_READ] = RIGHT_READ_FILE,
        [SANDBOX_WRITE] = RIGHT_WRITE_FILE | RIGHT_TRUNCATE | RIGHT_IOCTL_DEV,
        /* Files are renamed within the folder, so no right to move them elsewhere is needed. */
        [SANDBOX_REPLACE] = RIGHT_READ_DIR | RIGHT_MAKE_REG | RIGHT_REMOVE_FILE,
    };
    sandbox->writes |= use == SANDBOX_WRITE;
    sandbox->replaces |= use == SANDBOX_REPLACE;
    if (sandbox->rules < 0)
        return;
    const struct rule rule = {.rights = rights[use] & rights_of_version(sandbox->version),
                              .fd = fd};
    if (syscall(CALL_ADD_RULE, sandbox->rules, RULE_OF_PATH, &rule, 0) != 0 && errno == ENOMEM)
        drop_rules(sandbox, ENOMEM); /* it would refuse what can be opened without it */
}

void sandbox_allow_path(struct sandbox *sandbox, const char *path)
{
    const int found = sandbox->rules < 0 ? -1 : open(path, O_PATH | O_CLOEXEC);
    if (found < 0)
        return;
    sandbox_allow(sandbox, found, SANDBOX_READ);
    close(found);
}

/* --- both --- */

void sandbox_enter(struct sandbox *sandbox)
{
#ifndef HAVE_SANDBOX
    sandbox->seccomp_error = ENOSYS;
    return;
#endif
    /* First, programs that are run gain no privileges: both parts need that. */
    const int error = prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 ? 0 : errno;
    if (error != 0)
        drop_rules(sandbox, error);
    else if (sandbox->rules >= 0 && syscall(CALL_RESTRICT_SELF, sandbox->rules, 0) != 0)
        drop_rules(sandbox, errno);
    else if (sandbox->rules >= 0)
        close(sandbox->rules);
    sandbox->seccomp_error = error != 0 ? error : enter_seccomp(sandbox);
}

bool sandbox_is_whole(const struct sandbox *sandbox)
{
    return sandbox->rules >= 0 && sandbox->seccomp_error == 0;
}

void sandbox_describe(const struct sandbox *sandbox, struct error *text)
{
    char landlock[80], seccomp[80] = "seccomp", named[80] = "";
    if (sandbox->rules >= 0)
        snprintf(landlock, sizeof landlock, "Landlock (ABI %d)", sandbox->version);
    else
        snprintf(landlock, sizeof landlock, "no Landlock: %s", strerror(sandbox->version));
    if (sandbox->seccomp_error != 0)
        snprintf(seccomp, sizeof seccomp, "no seccomp: %s", strerror(sandbox->seccomp_error));
    if (sandbox->rules >= 0 && sandbox->named > 0)
        snprintf(named, sizeof named, "; %u file%s can be opened by name", sandbox->named,
                 sandbox->named == 1 ? "" : "s");
#ifndef HAVE_SANDBOX
    error_set(text, "none: this build has none");
    return;
#endif
    const bool none = sandbox->rules < 0 && sandbox->seccomp_error != 0;
    error_set(text, "%s%s%s%s%s%s", none ? "none: " : "", landlock,
              sandbox_is_whole(sandbox) ? " and " : "; ", seccomp, named,
              sandbox->rules >= 0 && sandbox->replaces
                  ? "; files in the directory of --output can be replaced"
                  : "");
}
