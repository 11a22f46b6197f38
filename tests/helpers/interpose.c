/* SPDX-License-Identifier: MIT */
/* Loaded before libc by LD_PRELOAD, it makes functions of libc fail as the environment says:
 *
 *     FAULT_CALL       read, pread, write, open, openat, linkat, renameat, close, fsync, fchmod,
 *                      fchown, getxattr, fsetxattr, malloc (and its kin) or pthread_create
 *     FAULT_AT         which call of it, from 1
 *     FAULT_FOR_GOOD   every later call of it fails, too
 *     FAULT_FD         only calls with this descriptor count (write, close, fsync)
 *     FAULT_ERRNO      the errno that it fails with (5, EIO)
 *     FAULT_SIGNAL     instead of failing, this signal is raised, and the call goes on
 *     FAULT_SLEEP      instead of failing, the call returns only after so many milliseconds
 *                      (openat that creates a file, linkat, renameat)
 *     FAULT_MARK       a file that gets a byte for every call that fails, and is made in any case
 *     FAULT_CLOCK      the wall clock is ahead by so many seconds: as if it had been set back by
 *                      these as soon as the program had read it
 *     FAULT_SIZE       fstat of a regular file reports this size and no blocks, as in /sys
 *     FAULT_SHORT      every read, pread and write does 1 to so many bytes
 *     FAULT_EINTR      every other read, pread and write fails with EINTR
 *     FAULT_NO_TMPFILE openat with O_TMPFILE fails with EOPNOTSUPP, as where there is none
 *     FAULT_HEAP       all blocks of 64 KiB and more together take no more bytes than this
 *     FAULT_STOP       the process stops before main, so that a tracer sees the program's own calls
 *
 * Calls that libc makes inside itself, such as printf's of write, are not seen. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

#ifdef __GLIBC__
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
extern void __libc_free(void *block);
#else
/* Other libraries have no such names, but in them dlsym() does not allocate. */
static void *__libc_malloc(size_t size)
{
    return ((void *(*)(size_t))dlsym(RTLD_NEXT, "malloc"))(size);
}

static void *__libc_calloc(size_t count, size_t size)
{
    return ((void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc"))(count, size);
}

static void *__libc_realloc(void *old, size_t size)
{
    return ((void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc"))(old, size);
}

static void *__libc_memalign(size_t alignment, size_t size)
{
    return ((void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "aligned_alloc"))(alignment, size);
}

static void __libc_free(void *block)
{
    ((void (*)(void *))dlsym(RTLD_NEXT, "free"))(block);
}
#endif

#define MARK_MIN 100 /* a descriptor that no test counts with */

static const char *call;
static int mark = -1; /* open from the beginning: later, a sandbox may refuse it */
static long fail_at, sleep_ms;
static int fail_errno = EIO, fail_signal, fail_fd = -1;
static size_t max;
static bool interrupt, for_good, no_tmpfile;
static time_t clock_ahead;
static long stated_size = -1;
static long heap_max;
static atomic_long heap; /* bytes of large blocks */
static atomic_long calls, reads;

static void begin(void)
{
    const char *text;
    if ((text = getenv("FAULT_MARK"))) {
        int fd = (int)syscall(SYS_openat, AT_FDCWD, text, O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC,
                              0600);
        mark = fcntl(fd, F_DUPFD_CLOEXEC, MARK_MIN);
        syscall(SYS_close, fd);
    }
    if ((text = getenv("FAULT_AT")))
        fail_at = atol(text);
    if ((text = getenv("FAULT_ERRNO")))
        fail_errno = atoi(text);
    if ((text = getenv("FAULT_SIGNAL")))
        fail_signal = atoi(text);
    if ((text = getenv("FAULT_FD")))
        fail_fd = atoi(text);
    if ((text = getenv("FAULT_SLEEP")))
        sleep_ms = atol(text);
    if ((text = getenv("FAULT_SHORT")))
        max = strtoul(text, NULL, 10);
    if ((text = getenv("FAULT_CLOCK")))
        clock_ahead = atol(text);
    if ((text = getenv("FAULT_SIZE")))
        stated_size = atol(text);
    interrupt = getenv("FAULT_EINTR") != NULL;
    no_tmpfile = getenv("FAULT_NO_TMPFILE") != NULL;
    for_good = getenv("FAULT_FOR_GOOD") != NULL;
    if ((text = getenv("FAULT_HEAP")))
        heap_max = atol(text);
    if (getenv("FAULT_STOP")) {
        prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY); /* its parent's other child may trace it */
        raise(SIGSTOP);
    }
    call = getenv("FAULT_CALL"); /* last: from here on calls are counted */
}

typedef int main_function(int argc, char **argv, char **environment);
static main_function *real_main;

static int counted_main(int argc, char **argv, char **environment)
{
    begin();
    return real_main(argc, argv, environment);
}

/* Calls are counted from main on: what runs before it (CUDA's runtime registers its kernels, and
 * dies without memory) is not the program's own. */
extern int __libc_start_main(main_function *program_main, int argc, char **argv, void (*init)(void),
                             void (*fini)(void), void (*rtld_fini)(void), void *stack_end);

int __libc_start_main(main_function *program_main, int argc, char **argv, void (*init)(void),
                      void (*fini)(void), void (*rtld_fini)(void), void *stack_end)
{
    __typeof__(&__libc_start_main) start;
    *(void **)&start = dlsym(RTLD_NEXT, "__libc_start_main");
    real_main = program_main;
    return start(counted_main, argc, argv, init, fini, rtld_fini, stack_end);
}

/* True if this is a call of `name` that the environment means. */
static bool is_meant(const char *name)
{
    if (!call || strcmp(call, name) != 0)
        return false;
    long made = atomic_fetch_add(&calls, 1) + 1;
    return made == fail_at || (made > fail_at && for_good);
}

/* True if this call of `name` fails; errno is then set. */
static bool struck(const char *name)
{
    if (!is_meant(name))
        return false;
    if (mark >= 0)
        syscall(SYS_write, mark, "x", 1);
    if (fail_signal) {
        raise(fail_signal);
        return false;
    }
    errno = fail_errno;
    return true;
}

static bool struck_on(const char *name, int fd)
{
    return (fail_fd < 0 || fail_fd == fd) && struck(name);
}

/* True if the call returns late; if not, it may fail. */
static bool is_late(const char *name)
{
    return sleep_ms > 0 && is_meant(name);
}

/* Returns what a call returned, late. */
static int late(int result)
{
    struct timespec left = {sleep_ms / 1000, sleep_ms % 1000 * 1000000};
    int saved = errno;
    while (nanosleep(&left, &left) != 0)
        ;
    errno = saved;
    return result;
}

static bool interrupted(void)
{
    if (!interrupt || atomic_fetch_add(&reads, 1) % 2 != 0)
        return false;
    errno = EINTR;
    return true;
}

static size_t shortened(size_t len)
{
    static atomic_ulong turn;
    if (!max)
        return len;
    size_t few = 1 + atomic_fetch_add(&turn, 7) % max;
    return few < len ? few : len;
}

ssize_t read(int fd, void *buf, size_t len)
{
    if (struck("read") || interrupted())
        return -1;
    return syscall(SYS_read, fd, buf, shortened(len));
}

ssize_t pread(int fd, void *buf, size_t len, off_t offset)
{
    if (struck("pread") || interrupted())
        return -1;
    return syscall(SYS_pread64, fd, buf, shortened(len), offset);
}

#ifdef __GLIBC__
ssize_t pread64(int fd, void *buf, size_t len, off_t offset)
{
    return pread(fd, buf, len, offset);
}
#endif

ssize_t write(int fd, const void *buf, size_t len)
{
    if (struck_on("write", fd) || interrupted())
        return -1;
    return syscall(SYS_write, fd, buf, shortened(len));
}

int open(const char *name, int flags, ...)
{
    return struck("open") ? -1 : (int)syscall(SYS_openat, AT_FDCWD, name, flags, 0600);
}

#ifdef __GLIBC__
int open64(const char *name, int flags, ...)
{
    return open(name, flags);
}
#endif

static bool takes_mode(int flags)
{
    return (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
}

int openat(int directory, const char *name, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    unsigned mode = takes_mode(flags) ? va_arg(args, unsigned) : 0;
    va_end(args);
    if (no_tmpfile && (flags & O_TMPFILE) == O_TMPFILE) {
        errno = EOPNOTSUPP;
        return -1;
    }
    if (sleep_ms == 0 && struck("openat"))
        return -1;
    int fd = (int)syscall(SYS_openat, directory, name, flags, mode);
    return takes_mode(flags) && is_late("openat") ? late(fd) : fd;
}

#ifdef __GLIBC__ /* musl has macros of these names */
int openat64(int directory, const char *name, int flags, ...)
{
    va_list args;
    va_start(args, flags);
    unsigned mode = takes_mode(flags) ? va_arg(args, unsigned) : 0;
    va_end(args);
    return openat(directory, name, flags, mode);
}
#endif

int close(int fd)
{
    return struck_on("close", fd) ? -1 : (int)syscall(SYS_close, fd);
}

int fsync(int fd)
{
    return struck_on("fsync", fd) ? -1 : (int)syscall(SYS_fsync, fd);
}

int linkat(int from_directory, const char *from, int directory, const char *to, int flags)
{
    if (is_late("linkat"))
        return late((int)syscall(SYS_linkat, from_directory, from, directory, to, flags));
    return struck("linkat") ? -1
                            : (int)syscall(SYS_linkat, from_directory, from, directory, to, flags);
}

int renameat(int from_directory, const char *from, int directory, const char *to)
{
    if (is_late("renameat"))
        return late((int)syscall(SYS_renameat2, from_directory, from, directory, to, 0));
    return struck("renameat") ? -1
                              : (int)syscall(SYS_renameat2, from_directory, from, directory, to, 0);
}

int fchown(int fd, uid_t owner, gid_t group)
{
    return struck("fchown") ? -1 : (int)syscall(SYS_fchown, fd, owner, group);
}

int fchmod(int fd, mode_t mode)
{
    return struck("fchmod") ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

ssize_t getxattr(const char *path, const char *name, void *value, size_t size)
{
    return struck("getxattr") ? -1 : syscall(SYS_getxattr, path, name, value, size);
}

int fsetxattr(int fd, const char *name, const void *value, size_t size, int flags)
{
    return struck("fsetxattr") ? -1 : (int)syscall(SYS_fsetxattr, fd, name, value, size, flags);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *arg)
{
    typedef int creator(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    creator *next = (creator *)dlsym(RTLD_NEXT, "pthread_create");
    return struck("pthread_create") ? errno : next(thread, attributes, run, arg);
}

int fstat(int fd, struct stat *status)
{
    int rc = fstatat(fd, "", status, AT_EMPTY_PATH);
    if (rc == 0 && stated_size >= 0 && S_ISREG(status->st_mode)) {
        status->st_size = stated_size;
        status->st_blocks = 0;
    }
    return rc;
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    long rc = syscall(SYS_clock_gettime, clock, time);
    if (rc == 0 && clock == CLOCK_REALTIME)
        time->tv_sec += clock_ahead;
    return (int)rc;
}

#define LARGE ((size_t)64 << 10)

static long large(void *block)
{
    size_t size = block && heap_max ? malloc_usable_size(block) : 0;
    return size >= LARGE ? (long)size : 0;
}

/* True if there is room for a block of `size` bytes. */
static bool fits(size_t size)
{
    if (!heap_max || size < LARGE || atomic_load(&heap) + (long)size <= heap_max)
        return true;
    errno = ENOMEM;
    return false;
}

static void *noted(void *block)
{
    atomic_fetch_add(&heap, large(block));
    return block;
}

void *malloc(size_t size)
{
    return struck("malloc") || !fits(size) ? NULL : noted(__libc_malloc(size));
}

void *calloc(size_t count, size_t size)
{
    return struck("malloc") || !fits(count * size) ? NULL : noted(__libc_calloc(count, size));
}

void *realloc(void *old, size_t size)
{
    long before = large(old);
    if (struck("malloc") || !fits(size))
        return NULL;
    void *block = __libc_realloc(old, size);
    if (block)
        atomic_fetch_sub(&heap, before);
    return block ? noted(block) : NULL;
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return struck("malloc") || !fits(size) ? NULL : noted(__libc_memalign(alignment, size));
}

void free(void *block)
{
    atomic_fetch_sub(&heap, large(block));
    __libc_free(block);
}
