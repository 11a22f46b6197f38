/* SPDX-License-Identifier: MIT */
/* The sandbox (src/sandbox): what it refuses, and what it must not. Each case is tried by a process
 * of its own, in the sandbox and without it: only what is possible without counts as refused. */
#include "src/sandbox/sandbox.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static unsigned cases, failures;
static char folder[] = "/tmp/gpuhisto-sandbox-XXXXXX";
static struct sandbox sandbox; /* as it is in the child */
static int unix_server, tcp_server;
static unsigned short tcp_port;
static pid_t sleeper;
static int sleeper_pipe; /* one that it has open, */
static int found_pipe;   /* and the same, found with O_PATH before the sandbox is entered */

/* An attempt: 0, or an errno. */
typedef int attempt(void);

static int result(long rc)
{
    return rc < 0 ? errno : 0;
}

/* --- what lets code out --- */

static int try_read_other(void)
{
    return result(open("secret", O_RDONLY));
}

static int try_read_outside(void)
{
    return result(open("/etc/passwd", O_RDONLY));
}

static int try_read_by_proc(void)
{
    int fd = open("secret", O_PATH);
    char path[40];
    if (fd < 0)
        return errno;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return result(open(path, O_RDONLY));
}

static int try_openat2(void)
{
    uint64_t how[3] = {O_RDONLY, 0, 0};
    return result(syscall(437, AT_FDCWD, "secret", how, sizeof how));
}

static int try_write_other(void)
{
    return result(open("secret", O_WRONLY));
}

static int try_write_own(void)
{
    return result(open("input", O_RDWR));
}

static int try_create(void)
{
    return result(open("created", O_WRONLY | O_CREAT, 0600));
}

static int try_create_outside(void)
{
    return result(open("../created", O_WRONLY | O_CREAT | O_EXCL, 0600));
}

static int try_creat_without_writing(void)
{
    return result(open("created", O_RDONLY | O_CREAT, 0600));
}

static int try_truncating_open(void)
{
    return result(open("secret", O_RDONLY | O_TRUNC));
}

static int try_truncate(void)
{
    return result(truncate("secret", 1));
}

static int try_unlink(void)
{
    return result(unlink("secret"));
}

static int try_rename(void)
{
    return result(rename("secret", "renamed"));
}

static int try_link(void)
{
    return result(link("secret", "linked"));
}

static int try_symlink(void)
{
    return result(symlink("secret", "linked"));
}

static int try_mkdir(void)
{
    return result(mkdir("made", 0700));
}

static int try_mknod(void)
{
    return result(mkfifo("made", 0600));
}

static int try_chmod(void)
{
    return result(chmod("secret", 0666));
}

static int try_fchmod(void)
{
    return result(fchmod(STDOUT_FILENO, 0666));
}

static int try_chown(void)
{
    return result(chown("secret", geteuid(), getegid()));
}

static int try_utimes(void)
{
    return result(utimensat(AT_FDCWD, "secret", NULL, 0));
}

static int try_list(void)
{
    char entries[1024];
    int fd = open(".", O_RDONLY | O_DIRECTORY);
    return fd < 0 ? errno : result(syscall(SYS_getdents64, fd, entries, sizeof entries));
}

static int try_execve(void)
{
    char *argv[] = {(char[]){"true"}, NULL};
    execv("/bin/true", argv);
    return errno;
}

static int try_fork(void)
{
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    return result(child);
}

static int try_clone3(void)
{
    uint64_t arguments[8] = {[4] = SIGCHLD};
    long child = syscall(435, arguments, sizeof arguments);
    if (child == 0)
        _exit(0);
    return result(child);
}

static int try_tcp(void)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons(tcp_port),
                             .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd < 0 ? errno : result(connect(fd, (struct sockaddr *)&to, sizeof to));
}

static int try_unix(void)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX, .sun_path = "socket"};
    int fd = socket(AF_UNIX, SOCK_STREAM, 0);
    return fd < 0 ? errno : result(connect(fd, (struct sockaddr *)&to, sizeof to));
}

static int try_udp(void)
{
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(9), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_DGRAM, 0);
    return fd < 0 ? errno : result(sendto(fd, "x", 1, 0, (struct sockaddr *)&to, sizeof to));
}

static int try_kill(void)
{
    return result(kill(sleeper, 0));
}

static int try_tgkill(void)
{
    return result(syscall(SYS_tgkill, sleeper, sleeper, 0));
}

static int try_ptrace(void)
{
    return result(ptrace(PTRACE_SEIZE, sleeper, NULL, NULL));
}

static int try_limits_of_other(void)
{
    struct rlimit limit;
    return result(prlimit(sleeper, RLIMIT_CORE, NULL, &limit));
}

static int try_io_uring(void)
{
    char parameters[120] = {0};
    return result(syscall(425, 1, parameters));
}

static int try_newest(void)
{
    char unused[8];
    errno = 0;
    /* cachestat, since Linux 6.5 */
    syscall(451, -1, unused, unused, 0);
    return errno == EBADF || errno == EFAULT ? 0 : errno;
}

static int try_signals_on_input(void)
{
    return result(fcntl(STDIN_FILENO, F_SETOWN, sleeper));
}

/* The path of something that the sleeper has. */
static void name_of_sleeper(char name[64], const char *what)
{
    snprintf(name, 64, "/proc/%d/%s", (int)sleeper, what);
}

/* It is a file that may be read by its own name. */
static int try_read_through_process(void)
{
    char name[64];
    name_of_sleeper(name, "cwd/read/input");
    return result(open(name, O_RDONLY));
}

static int open_sleeper_pipe(int flags)
{
    char name[64], what[24];
    snprintf(what, sizeof what, "fd/%d", sleeper_pipe);
    name_of_sleeper(name, what);
    return open(name, flags | O_NONBLOCK);
}

static int try_pipe_of_other(void)
{
    return result(open_sleeper_pipe(O_RDONLY));
}

/* --- what must work --- */

static void *note_run(void *arg)
{
    atomic_store((atomic_int *)arg, 1);
    return NULL;
}

static int try_thread(void)
{
    static atomic_int ran;
    pthread_t thread;
    int error = pthread_create(&thread, NULL, note_run, &ran);
    if (error == 0)
        error = pthread_join(thread, NULL);
    return error != 0 ? error : atomic_load(&ran) ? 0 : ECHILD;
}

static void *read_other(void *arg)
{
    atomic_store((atomic_int *)arg, result(open("secret", O_RDONLY)));
    return NULL;
}

/* A thread that is started later is in the sandbox too. */
static int try_read_by_thread(void)
{
    static atomic_int error;
    pthread_t thread;
    if (pthread_create(&thread, NULL, read_other, &error) != 0)
        return ECHILD;
    pthread_join(thread, NULL);
    return atomic_load(&error);
}

static int try_read_held(void)
{
    char byte;
    return pread(STDIN_FILENO, &byte, 1, 0) == 1 ? 0 : errno;
}

static int try_read_allowed(void)
{
    return result(open("read/input", O_RDONLY));
}

static int try_read_beside(void)
{
    return result(open("read/later", O_RDONLY));
}

static int try_read_found(void)
{
    char path[40];
    snprintf(path, sizeof path, "/proc/self/fd/%d", found_pipe);
    return result(open(path, O_RDONLY | O_NONBLOCK));
}

static int try_missing(void)
{
    return open("read/missing", O_RDONLY) < 0 && errno == ENOENT ? 0 : errno;
}

static int try_folder(void)
{
    return result(open("listed", O_RDONLY));
}

static int try_time_and_memory(void)
{
    struct timespec now = {0, 1000};
    void *memory = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || munmap(memory, 1 << 20) != 0 || nanosleep(&now, NULL) != 0)
        return errno;
    free(malloc(8 << 20));
    return result(clock_gettime(CLOCK_MONOTONIC, &now));
}

static volatile sig_atomic_t raised;

static void note_signal(int number)
{
    raised = number;
}

static int try_raise(void)
{
    signal(SIGUSR1, note_signal);
    return raise(SIGUSR1) == 0 && raised == SIGUSR1 ? 0 : EINVAL;
}

static int try_replace(void)
{
    int fd = open("written/.new", O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (fd < 0 || write(fd, "new", 3) != 3 || fchmod(fd, 0644) != 0 || fsync(fd) != 0 ||
        close(fd) != 0 || rename("written/.new", "written/output") != 0)
        return errno;
    fd = open("written", O_RDONLY | O_DIRECTORY);
    return fd < 0 ? errno : result(fsync(fd));
}

static int try_nameless(void)
{
    char path[40];
    int fd = open("written", O_TMPFILE | O_WRONLY, 0600);
    if (fd < 0)
        return errno == EOPNOTSUPP ? 0 : errno;
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return result(linkat(AT_FDCWD, path, AT_FDCWD, "written/named", AT_SYMLINK_FOLLOW));
}

static int try_write_device(void)
{
    int fd = open("/dev/null", O_WRONLY | O_TRUNC);
    return fd < 0 ? errno : result(write(fd, "x", 1));
}

/* --- how a case is run --- */

/* Puts the process in a sandbox. Its standard input is the file "input". */
static void enter(bool writes)
{
    found_pipe = open_sleeper_pipe(O_PATH);
    sandbox_begin(&sandbox);
    sandbox_allow_name(&sandbox, "read/input");
    sandbox_allow_name(&sandbox, "listed");
    if (writes) {
        int written = open("written", O_PATH | O_CLOEXEC), null = open("/dev/null", O_PATH);
        sandbox_allow(&sandbox, written, SANDBOX_REPLACE);
        sandbox_allow(&sandbox, null, SANDBOX_WRITE);
        close(written);
        close(null);
    }
    sandbox_enter(&sandbox);
}

/* What an attempt comes to in a process of its own: 0 or an errno. */
static int run(attempt *try, bool inside, bool writes)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        dup2(open("input", O_RDWR), STDIN_FILENO);
        dup2(STDIN_FILENO, STDOUT_FILENO);
        if (inside)
            enter(writes);
        _exit(try());
    }
    if (child < 0 || waitpid(child, &status, 0) != child)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int run_command(const char *command)
{
    return system(command) == 0 ? 0 : -1;
}

/* Makes the files, and undoes what an attempt without a sandbox has done. */
static int lay_files(void)
{
    return run_command(
        "rm -rf created ../created linked made renamed read listed written secret input && "
        "mkdir read listed written && echo 12 >read/input && echo 345 >read/later && "
        "echo 678 >secret && echo 90 >input && echo old >written/output");
}

static void check(const char *what, bool good, int got)
{
    cases++;
    if (good)
        return;
    failures++;
    printf("FAILED: %s: %s\n", what, got < 0 ? "a signal" : strerror(got));
}

enum part {
    BY_LANDLOCK = 1,
    BY_CALLS = 2,
    WHILE_WRITING = 4, /* also where something is written */
};

static bool has_landlock, has_calls;

/* That an attempt is refused, by one of these parts, if it succeeds without. */
static void refused(const char *what, attempt *try, unsigned parts)
{
    if (!(parts & BY_LANDLOCK && has_landlock) && !(parts & BY_CALLS && has_calls)) {
        printf("test_sandbox: left out: %s: the kernel lacks what refuses it\n", what);
        return;
    }
    if (lay_files() != 0) {
        check("files", false, EIO);
        return;
    }
    int without = run(try, false, false);
    if (without != 0) {
        printf("test_sandbox: left out: %s: fails here anyway: %s\n", what,
               without < 0 ? "a signal" : strerror(without));
        return;
    }
    lay_files();
    for (int writes = 0; writes <= !!(parts & WHILE_WRITING); writes++) {
        int error = run(try, true, writes);
        check(what, error == EPERM || error == EACCES || error == ENOSYS, error);
    }
}

static void works(const char *what, attempt *try, bool writes)
{
    lay_files();
    int error = run(try, true, writes);
    check(what, error == 0, error);
}

/* --- the cases --- */

static void check_files(void)
{
    const unsigned files = BY_LANDLOCK | WHILE_WRITING;
    refused("to read another file", try_read_other, files);
    refused("to read /etc/passwd", try_read_outside, files);
    refused("to read another file through /proc", try_read_by_proc, files);
    refused("to read another file in a thread", try_read_by_thread, files);
    refused("openat2", try_openat2, files | BY_CALLS);
    refused("to read through another process", try_read_through_process, files);
    refused("to read a pipe of another process", try_pipe_of_other, files);
    refused("to list the folder", try_list, files | BY_CALLS);
    refused("to write to another file", try_write_other, files);
    refused("to write to another file (calls)", try_write_other, BY_CALLS);
    refused("to write to an input", try_write_own, files);
    refused("to write to an input (calls)", try_write_own, BY_CALLS);
    refused("to create a file", try_create, files);
    refused("to create a file (calls)", try_create, BY_CALLS);
    refused("to create a file, opened for reading", try_creat_without_writing, BY_CALLS);
    refused("to create a file elsewhere", try_create_outside, files);
    refused("to truncate a file that is opened", try_truncating_open, BY_CALLS);
    refused("to truncate", try_truncate, BY_CALLS | WHILE_WRITING);
    refused("to unlink", try_unlink, files);
    refused("to unlink (calls)", try_unlink, BY_CALLS);
    refused("to rename", try_rename, files);
    refused("to rename (calls)", try_rename, BY_CALLS);
    refused("to link", try_link, files);
    refused("to link (calls)", try_link, BY_CALLS);
    refused("to make a symbolic link", try_symlink, files | BY_CALLS);
    refused("to make a folder", try_mkdir, files | BY_CALLS);
    refused("to make a fifo", try_mknod, files | BY_CALLS);
    refused("chmod", try_chmod, BY_CALLS | WHILE_WRITING);
    refused("fchmod", try_fchmod, BY_CALLS);
    refused("chown", try_chown, BY_CALLS | WHILE_WRITING);
    refused("utimensat", try_utimes, BY_CALLS | WHILE_WRITING);
}

static void check_others(void)
{
    const unsigned calls = BY_CALLS | WHILE_WRITING;
    refused("execve", try_execve, calls | BY_LANDLOCK);
    refused("fork", try_fork, calls);
    refused("clone3", try_clone3, calls);
    refused("a TCP connection", try_tcp, calls);
    refused("a connection to a Unix socket", try_unix, calls);
    refused("a datagram", try_udp, calls);
    refused("kill", try_kill, calls);
    refused("tgkill", try_tgkill, calls);
    refused("ptrace", try_ptrace, calls);
    refused("prlimit", try_limits_of_other, calls);
    refused("io_uring", try_io_uring, calls);
    refused("a call that is newer than the list", try_newest, calls);
    refused("to have signals sent", try_signals_on_input, calls);
}

static void leads(bool wanted, const char *name)
{
    const bool found = sandbox_allow_name(&sandbox, name);
    cases++;
    if (found == wanted)
        return;
    failures++;
    printf("FAILED: '%s' %s in the sandbox\n", name, found ? "leads on" : "leads nowhere");
}

/* Which names lead nowhere, whatever is allowed. Nothing is in force yet. */
static void check_names(void)
{
    char name[64];
    lay_files();
    sandbox_begin(&sandbox);
    if (sandbox.rules < 0)
        return;
    if (symlink("read/input", "linked") != 0 || chdir("read") != 0)
        perror("test_sandbox");
    leads(true, "input");
    leads(true, "../linked");
    leads(true, "missing");
    leads(true, "../listed");
    leads(true, "/dev/null");
    leads(true, "/nowhere/at/all");
    const unsigned before = sandbox.folders;
    leads(false, "/proc/version");
    leads(false, "/proc/self/cwd/input");
    for (int i = 0; i < 2; i++) { /* the folder is remembered */
        name_of_sleeper(name, "cwd/read/input");
        leads(false, name);
    }
    check("nothing is allowed for these", sandbox.folders == before, 0);
    leads(true, "input");
    name_of_sleeper(name, "cwd/listed");
    leads(false, name);
    name_of_sleeper(name, "environ");
    leads(false, name);
    name_of_sleeper(name, "cwd/read/missing");
    leads(false, name);
    if (symlink(name, "missing") != 0)
        perror("test_sandbox");
    leads(false, "missing");
    sandbox_missed(&sandbox, 0);
    sandbox_missed(&sandbox, ENOENT);
    leads(false, name);
    sandbox_missed(&sandbox, EMFILE);
    leads(true, name);
    if (chdir("..") != 0)
        perror("test_sandbox");
    lay_files();
}

static void check_what_works(void)
{
    works("a thread", try_thread, false);
    works("to read what is open", try_read_held, false);
    works("to read a FILE", try_read_allowed, false);
    works("to read the file beside it, which may have its name by then", try_read_beside, false);
    works("to read what was found before", try_read_found, false);
    works("that a FILE is missing", try_missing, false);
    works("to open a folder that is a FILE", try_folder, false);
    works("time and memory", try_time_and_memory, false);
    works("raise", try_raise, false);
    works("to replace the output", try_replace, true);
    works("an output without a name", try_nameless, true);
    works("to write to a device", try_write_device, true);
}

static void make_servers(void)
{
    struct sockaddr_un path = {.sun_family = AF_UNIX, .sun_path = "socket"};
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof any;
    unix_server = socket(AF_UNIX, SOCK_STREAM, 0);
    tcp_server = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(unix_server, (struct sockaddr *)&path, sizeof path) == 0)
        listen(unix_server, 5);
    if (bind(tcp_server, (struct sockaddr *)&any, sizeof any) == 0 && listen(tcp_server, 5) == 0 &&
        getsockname(tcp_server, (struct sockaddr *)&any, &size) == 0)
        tcp_port = ntohs(any.sin_port);
}

/* What a process that enters it says of it. */
static int ask_landlock(void)
{
    return sandbox.rules >= 0 ? 0 : sandbox.version;
}

static int ask_calls(void)
{
    return sandbox.calls_error;
}

int main(void)
{
    struct reason text;
    if (!mkdtemp(folder) || chdir(folder) != 0 || mkdir("work", 0700) != 0 || chdir("work") != 0) {
        perror("test_sandbox");
        return 1;
    }
    make_servers();
    int ends[2];
    if (pipe(ends) != 0)
        perror("test_sandbox");
    sleeper_pipe = ends[0];
    if ((sleeper = fork()) == 0) {
        pause();
        _exit(0);
    }
    lay_files();
    sandbox_begin(&sandbox);
    if (sandbox.rules >= 0)
        close(sandbox.rules);
    has_landlock = sandbox.rules >= 0 && run(ask_landlock, true, false) == 0;
    has_calls = run(ask_calls, true, false) == 0;
    sandbox_describe(&sandbox, &text);
    printf("test_sandbox: Landlock: %s, seccomp: %s\n", has_landlock ? "yes" : "no",
           has_calls ? "yes" : "no");
    check_names();
    check_files();
    check_others();
    check_what_works();
    kill(sleeper, SIGKILL);
    if (chdir("/") != 0 || snprintf(text.text, sizeof text.text, "rm -rf %s", folder) < 0 ||
        run_command(text.text) != 0)
        printf("test_sandbox: %s is left\n", folder);
    if (!has_landlock && !has_calls) {
        printf("skipped: the kernel, or this build, has neither Landlock nor seccomp\n");
        return failures == 0 ? 77 : 1;
    }
    printf("test_sandbox: %u cases, %u failed\n", cases, failures);
    return failures > 0;
}
