/* SPDX-License-Identifier: MIT */
/* The sandbox (src/sandbox): what it refuses, and what it must not. Each case is tried by a process
 * of its own, in the sandbox and without it: only what is possible without counts as refused. */
#include "src/sandbox/sandbox.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

static unsigned cases, failures;
static char folder[] = "/tmp/gpuhisto-sandbox-XXXXXX";
static struct sandbox sandbox; /* as it is in the child */
static unsigned short tcp_port;
static pid_t sleeper;    /* another process, */
static int sleeper_pipe; /* and a pipe that it has open, */
static int found_pipe;   /* found with O_PATH before the sandbox is entered */

static int result(long rc)
{
    return rc < 0 ? errno : 0;
}

/* --- what lets code out: 0 or an errno. Standard input is an input, which is open --- */

#define ATTEMPT(name, call)                                                                        \
    static int name(void)                                                                          \
    {                                                                                              \
        return result(call);                                                                       \
    }

ATTEMPT(read_other, open("secret", O_RDONLY))
ATTEMPT(read_outside, open("/etc/passwd", O_RDONLY))
ATTEMPT(write_other, open("secret", O_WRONLY))
ATTEMPT(write_own, open("input", O_RDWR))
ATTEMPT(write_output, open("written/other", O_WRONLY))
ATTEMPT(create, open("created", O_WRONLY | O_CREAT, 0600))
ATTEMPT(create_outside, open("../created", O_WRONLY | O_CREAT | O_EXCL, 0600))
ATTEMPT(create_to_read, open("created", O_RDONLY | O_CREAT, 0600))
ATTEMPT(open_and_truncate, open("secret", O_RDONLY | O_TRUNC))
ATTEMPT(truncate_other, truncate("secret", 1))
ATTEMPT(unlink_other, unlink("secret"))
ATTEMPT(rename_other, rename("secret", "renamed"))
ATTEMPT(link_other, link("secret", "linked"))
ATTEMPT(symlink_other, symlink("secret", "linked"))
ATTEMPT(make_folder, mkdir("made", 0700))
ATTEMPT(make_fifo, mkfifo("made", 0600))
ATTEMPT(chmod_other, chmod("secret", 0666))
ATTEMPT(chown_other, chown("secret", geteuid(), getegid()))
ATTEMPT(touch_other, utimensat(AT_FDCWD, "secret", NULL, 0))
ATTEMPT(chmod_input, fchmod(STDIN_FILENO, 0666))
ATTEMPT(chown_input, fchown(STDIN_FILENO, geteuid(), getegid()))
ATTEMPT(touch_input, futimens(STDIN_FILENO, NULL))
ATTEMPT(mark_input, fsetxattr(STDIN_FILENO, "user.mark", "x", 1, 0))
ATTEMPT(lock_input, flock(STDIN_FILENO, LOCK_EX | LOCK_NB))
ATTEMPT(lease_input, fcntl(STDIN_FILENO, F_SETLEASE, F_WRLCK))
ATTEMPT(own_input, fcntl(STDIN_FILENO, F_SETOWN, sleeper))
ATTEMPT(kill_other, kill(sleeper, 0))
ATTEMPT(tgkill_other, syscall(SYS_tgkill, sleeper, sleeper, 0))
ATTEMPT(trace_other, ptrace(PTRACE_SEIZE, sleeper, NULL, NULL))
ATTEMPT(limits_of_other, prlimit(sleeper, RLIMIT_CORE, NULL, &(struct rlimit){0}))
ATTEMPT(pair_of_sockets, socketpair(AF_UNIX, SOCK_STREAM, 0, (int[2]){0}))
ATTEMPT(use_io_uring, syscall(425, 1, (char[120]){0}))
ATTEMPT(use_openat2, syscall(437, AT_FDCWD, "secret", (uint64_t[3]){O_RDONLY}, 24))

static int flags_of_input(void)
{
    int flags;
    if (ioctl(STDIN_FILENO, FS_IOC_GETFLAGS, &flags) != 0)
        return errno;
    return result(ioctl(STDIN_FILENO, FS_IOC_SETFLAGS, &flags));
}

/* What is asked for is given back; in the sandbox that cannot be asked, either. */
static int project_of_input(void)
{
    struct fsxattr attributes = {0};
    if (ioctl(STDIN_FILENO, FS_IOC_FSGETXATTR, &attributes) != 0)
        return errno;
    return result(ioctl(STDIN_FILENO, FS_IOC_FSSETXATTR, &attributes));
}

static int read_by_proc(void)
{
    const int fd = open("secret", O_PATH);
    char path[40];
    if (fd < 0)
        return errno;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return result(open(path, O_RDONLY));
}

static int list_folder(void)
{
    char entries[1024];
    const int fd = open(".", O_RDONLY | O_DIRECTORY);
    return fd < 0 ? errno : result(syscall(SYS_getdents64, fd, entries, sizeof entries));
}

static int run_program(void)
{
    execv("/bin/true", (char *[]){(char[]){"true"}, NULL});
    return errno;
}

static int fork_process(void)
{
    const pid_t child = fork();
    if (child == 0)
        _exit(0);
    return result(child);
}

static int clone_process(void)
{
    const long child = syscall(435, (uint64_t[8]){[4] = SIGCHLD}, 64);
    if (child == 0)
        _exit(0);
    return result(child);
}

static int connect_tcp(void)
{
    const struct sockaddr_in to = {.sin_family = AF_INET,
                                   .sin_port = htons(tcp_port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd < 0 ? errno : result(connect(fd, (const struct sockaddr *)&to, sizeof to));
}

static int connect_unix(void)
{
    const struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = "socket"};
    const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return fd < 0 ? errno : result(connect(fd, (const struct sockaddr *)&to, sizeof to));
}

static int call_newest(void)
{
    char unused[8];
    errno = 0;
    syscall(451, -1, unused, unused, 0); /* cachestat, since Linux 6.5 */
    return errno == EBADF || errno == EFAULT ? 0 : errno;
}

static int open_of_sleeper(const char *what, int flags)
{
    char name[64];
    snprintf(name, sizeof name, "/proc/%d/%s", (int)sleeper, what);
    return open(name, flags | O_NONBLOCK);
}

/* It is a file that may be read by its own name. */
static int read_through_process(void)
{
    return result(open_of_sleeper("cwd/read", O_RDONLY));
}

static int open_sleeper_pipe(int flags)
{
    char what[24];
    snprintf(what, sizeof what, "fd/%d", sleeper_pipe);
    return open_of_sleeper(what, flags);
}

ATTEMPT(read_pipe_of_other, open_sleeper_pipe(O_RDONLY))

/* --- what must work --- */

ATTEMPT(read_allowed, open("read", O_RDONLY))

/* What an attempt comes to in a thread that is started for it. */
struct threaded {
    int (*attempt)(void);
    int error;
};

static void *run_threaded(void *arg)
{
    struct threaded *threaded = arg;
    threaded->error = threaded->attempt();
    return NULL;
}

static int by_thread(int (*attempt)(void))
{
    struct threaded threaded = {attempt, ECHILD};
    pthread_t thread;
    const int rc = pthread_create(&thread, NULL, run_threaded, &threaded);
    if (rc != 0)
        return rc;
    pthread_join(thread, NULL);
    return threaded.error;
}

static int start_thread(void)
{
    return by_thread(read_allowed);
}

static int read_by_thread(void)
{
    return by_thread(read_other);
}

static int read_preopened(void)
{
    char byte;
    return pread(STDIN_FILENO, &byte, 1, 0) == 1 ? 0 : errno;
}

static int read_found(void)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", found_pipe);
    return result(open(path, O_RDONLY | O_NONBLOCK));
}

static int find_missing(void)
{
    return open("missing", O_RDONLY) < 0 && errno == ENOENT ? 0 : errno;
}

static int use_time_and_memory(void)
{
    struct timespec now = {0, 1000};
    void *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || munmap(memory, 1 << 20) != 0 || nanosleep(&now, NULL) != 0)
        return errno;
    free(malloc(8 << 20));
    return result(clock_gettime(CLOCK_MONOTONIC, &now));
}

static int ask_for_a_terminal(void)
{
    return !isatty(STDIN_FILENO) && errno == ENOTTY ? 0 : errno;
}

static volatile sig_atomic_t raised;

static void record_signal(int number)
{
    raised = number;
}

static int raise_signal(void)
{
    signal(SIGUSR1, record_signal);
    return raise(SIGUSR1) == 0 && raised == SIGUSR1 ? 0 : EINVAL;
}

/* The new file is standard output, which is open. */
static int replace_output(void)
{
    if (write(STDOUT_FILENO, "new", 3) != 3 || fsync(STDOUT_FILENO) != 0 ||
        rename("written/.new", "written/output") != 0)
        return errno;
    const int fd = open("written", O_RDONLY | O_DIRECTORY);
    return fd < 0 ? errno : result(fsync(fd));
}

static int name_output(void)
{
    return result(
        linkat(AT_FDCWD, "/proc/self/fd/1", AT_FDCWD, "written/named", AT_SYMLINK_FOLLOW));
}

static int write_device(void)
{
    const int fd = open("/dev/null", O_WRONLY | O_TRUNC);
    return fd < 0 ? errno : result(write(fd, "x", 1));
}

/* --- how a case is run --- */

/* What may be written in a sandbox. */
enum writing { NOTHING, A_FILE, A_DEVICE };

/* Puts the process in a sandbox. */
static void enter(enum writing writing)
{
    found_pipe = open_sleeper_pipe(O_PATH);
    sandbox_begin(&sandbox);
    sandbox_allow_path(&sandbox, "read");
    const int written = open(writing == A_FILE ? "written" : "/dev/null", O_PATH | O_CLOEXEC);
    if (writing != NOTHING)
        sandbox_allow(&sandbox, written, writing == A_FILE ? SANDBOX_REPLACE : SANDBOX_WRITE);
    close(written);
    sandbox_enter(&sandbox);
}

/* What an attempt comes to in a process of its own: 0 or an errno. */
static int run(int (*attempt)(void), bool inside, enum writing writing)
{
    int status;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        dup2(open("input", O_RDONLY), STDIN_FILENO);
        dup2(open("written/.new", O_WRONLY | O_CREAT, 0600), STDOUT_FILENO);
        if (inside)
            enter(writing);
        _exit(attempt());
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* Makes the files, and undoes what an attempt without a sandbox has done. */
static void build_files(void)
{
    if (system("rm -rf created ../created linked made renamed read written secret input && "
               "mkdir written && echo 12 >read && echo 678 >secret && echo 90 >input && "
               "echo old >written/output && echo other >written/other") != 0)
        perror("test_sandbox");
}

static void check(const char *what, bool good, int got)
{
    cases++;
    if (good)
        return;
    failures++;
    printf("FAILED: %s: %s\n", what, got < 0 ? "a signal" : strerror(got));
}

/* --- the cases --- */

enum part {
    LANDLOCK = 1,
    CALLS = 2,
    NO_OUTPUT = 4, /* only where nothing is written */
};

static const struct {
    const char *what;
    int (*attempt)(void);
    unsigned parts; /* any of which refuses it */
} refused[] = {
    {"to read another file", read_other, LANDLOCK},
    {"to read /etc/passwd", read_outside, LANDLOCK},
    {"to read another file through /proc", read_by_proc, LANDLOCK},
    {"to read another file in a thread", read_by_thread, LANDLOCK},
    {"to read through another process", read_through_process, LANDLOCK},
    {"to read a pipe of another process", read_pipe_of_other, LANDLOCK},
    {"openat2", use_openat2, LANDLOCK | CALLS},
    {"to list the folder", list_folder, LANDLOCK | CALLS},
    {"to write to another file", write_other, LANDLOCK},
    {"to write to another file (calls)", write_other, CALLS},
    {"to write to an input", write_own, LANDLOCK},
    {"to write to an input (calls)", write_own, CALLS},
    {"to write beside the output", write_output, LANDLOCK},
    {"to create a file", create, LANDLOCK},
    {"to create a file (calls)", create, CALLS},
    {"to create a file, opened for reading", create_to_read, CALLS},
    {"to create a file elsewhere", create_outside, LANDLOCK},
    {"to truncate a file that is opened", open_and_truncate, CALLS},
    {"to truncate", truncate_other, CALLS},
    {"to unlink", unlink_other, LANDLOCK},
    {"to unlink (calls)", unlink_other, CALLS | NO_OUTPUT},
    {"to rename", rename_other, LANDLOCK},
    {"to rename (calls)", rename_other, CALLS | NO_OUTPUT},
    {"to link", link_other, LANDLOCK},
    {"to link (calls)", link_other, CALLS | NO_OUTPUT},
    {"to make a symbolic link", symlink_other, LANDLOCK | CALLS},
    {"to make a folder", make_folder, LANDLOCK | CALLS},
    {"to make a fifo", make_fifo, LANDLOCK | CALLS},
    {"chmod", chmod_other, CALLS},
    {"chown", chown_other, CALLS},
    {"utimensat", touch_other, CALLS},
    {"fchmod of an input", chmod_input, CALLS},
    {"fchown of an input", chown_input, CALLS},
    {"futimens of an input", touch_input, CALLS},
    {"fsetxattr of an input", mark_input, CALLS},
    {"FS_IOC_SETFLAGS of an input", flags_of_input, CALLS},
    {"FS_IOC_FSSETXATTR of an input", project_of_input, CALLS},
    {"flock of an input", lock_input, CALLS},
    {"a lease of an input", lease_input, CALLS},
    {"to have signals sent", own_input, CALLS},
    {"execve", run_program, LANDLOCK | CALLS},
    {"fork", fork_process, CALLS},
    {"clone3", clone_process, CALLS},
    {"a TCP connection", connect_tcp, CALLS},
    {"a connection to a Unix socket", connect_unix, CALLS},
    {"socketpair", pair_of_sockets, CALLS},
    {"kill", kill_other, CALLS},
    {"tgkill", tgkill_other, CALLS},
    {"ptrace", trace_other, CALLS},
    {"prlimit", limits_of_other, CALLS},
    {"io_uring", use_io_uring, CALLS},
    {"a call that is newer than the list", call_newest, CALLS},
};

static const struct {
    const char *what;
    int (*attempt)(void);
    enum writing writing;
} works[] = {
    {"a thread", start_thread, NOTHING},
    {"to read what is open", read_preopened, NOTHING},
    {"to read a file that is opened later", read_allowed, NOTHING},
    {"to read what was found before", read_found, NOTHING},
    {"that a file is missing", find_missing, NOTHING},
    {"time and memory", use_time_and_memory, NOTHING},
    {"isatty", ask_for_a_terminal, NOTHING},
    {"raise", raise_signal, NOTHING},
    {"to replace the output", replace_output, A_FILE},
    {"an output that gets another name", name_output, A_FILE},
    {"to write to a device", write_device, A_DEVICE},
};

/* That an attempt is refused, if it succeeds without a sandbox. */
static void check_refused(const char *what, int (*attempt)(void), unsigned parts, unsigned has)
{
    build_files();
    const int without = run(attempt, false, NOTHING);
    if (!(parts & has) || without != 0) {
        printf("test_sandbox: left out: %s: %s\n", what,
               !(parts & has) ? "the kernel lacks what refuses it" : "fails here anyway");
        return;
    }
    for (int writing = NOTHING; writing <= (parts & NO_OUTPUT ? NOTHING : A_FILE); writing++) {
        build_files();
        const int error = run(attempt, true, (enum writing)writing);
        check(what, error == EPERM || error == EACCES || error == ENOSYS, error);
    }
}

static void make_servers(void)
{
    const struct sockaddr_un path = {.sun_family = AF_UNIX, .sun_path = "socket"};
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof any;
    const int by_path = socket(AF_UNIX, SOCK_STREAM, 0), tcp = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(by_path, (const struct sockaddr *)&path, sizeof path) == 0)
        listen(by_path, 5);
    if (bind(tcp, (struct sockaddr *)&any, sizeof any) == 0 && listen(tcp, 5) == 0 &&
        getsockname(tcp, (struct sockaddr *)&any, &size) == 0)
        tcp_port = ntohs(any.sin_port);
}

/* What a process that enters it says of it. */
static int ask_landlock(void)
{
    return sandbox.rules >= 0 ? 0 : sandbox.version;
}

static int ask_calls(void)
{
    return sandbox.seccomp_error;
}

int main(void)
{
    char command[80];
    int ends[2];
    if (!mkdtemp(folder) || chdir(folder) != 0 || mkdir("work", 0700) != 0 || chdir("work") != 0 ||
        pipe(ends) != 0) {
        perror("test_sandbox");
        return 1;
    }
    make_servers();
    sleeper_pipe = ends[0];
    if ((sleeper = fork()) == 0) {
        pause();
        _exit(0);
    }
    build_files();
    const unsigned has = (run(ask_landlock, true, NOTHING) == 0 ? LANDLOCK : 0) |
                         (run(ask_calls, true, NOTHING) == 0 ? CALLS : 0);
    printf("test_sandbox: Landlock: %s, seccomp: %s\n", has & LANDLOCK ? "yes" : "no",
           has & CALLS ? "yes" : "no");
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
        check_refused(refused[i].what, refused[i].attempt, refused[i].parts, has);
    for (size_t i = 0; i < sizeof works / sizeof works[0]; i++) {
        build_files();
        const int error = run(works[i].attempt, true, works[i].writing);
        check(works[i].what, error == 0, error);
    }
    kill(sleeper, SIGKILL);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (chdir("/") != 0 || system(command) != 0)
        printf("test_sandbox: %s is left\n", folder);
    if (has == 0) {
        printf("skipped: the kernel, or this build, has neither Landlock nor seccomp\n");
        return failures == 0 ? 77 : 1;
    }
    printf("test_sandbox: %u cases, %u failed\n", cases, failures);
    return failures > 0;
}
