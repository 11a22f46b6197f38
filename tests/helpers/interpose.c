/* Put before libc by LD_PRELOAD, it makes its functions fail as the environment says:
 *
 *     FAULT_CALL   read, pread, open, close, fclose, malloc (and its kin), rename, fchmod or
 *                  pthread_create
 *     FAULT_AT     which call of it, from 1
 *     FAULT_ERRNO  with what errno it fails (5, EIO)
 *     FAULT_SIGNAL instead of failing, this signal is raised, and the call goes on
 *     FAULT_FOR_GOOD  every later call of it fails, too
 *     FAULT_MARK   a file that gets a byte for every call that fails
 *     FAULT_CLOCK  the wall clock is ahead by so many seconds: as if it had been set back by these
 *                  as soon as the program had read it
 *     FAULT_SHORT  every read and pread gives 1 to so many bytes
 *     FAULT_EINTR  every other read and pread fails with EINTR
 *
 * What libc calls inside itself, as printf does write, is not seen. */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifdef __GLIBC__
extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *old, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);
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
#endif

static const char *call, *mark;
static long fail_at;
static int fail_errno = EIO, fail_signal;
static size_t most;
static bool interrupt, for_good;
static time_t clock_ahead;
static atomic_long calls, reads;

static void begin(void)
{
    const char *text;
    mark = getenv("FAULT_MARK");
    if ((text = getenv("FAULT_AT")))
        fail_at = atol(text);
    if ((text = getenv("FAULT_ERRNO")))
        fail_errno = atoi(text);
    if ((text = getenv("FAULT_SIGNAL")))
        fail_signal = atoi(text);
    if ((text = getenv("FAULT_SHORT")))
        most = strtoul(text, NULL, 10);
    if ((text = getenv("FAULT_CLOCK")))
        clock_ahead = atol(text);
    interrupt = getenv("FAULT_EINTR") != NULL;
    for_good = getenv("FAULT_FOR_GOOD") != NULL;
    call = getenv("FAULT_CALL"); /* last: from here on calls are counted */
}

typedef int main_function(int argc, char **argv, char **environment);
static main_function *real_main;

static int main_behind(int argc, char **argv, char **environment)
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
    return start(main_behind, argc, argv, init, fini, rtld_fini, stack_end);
}

/* Whether this call of `name` fails; errno is then set. */
static bool struck(const char *name)
{
    if (!call || strcmp(call, name) != 0)
        return false;
    long made = atomic_fetch_add(&calls, 1) + 1;
    if (made < fail_at || (made > fail_at && !for_good))
        return false;
    if (mark) {
        long fd = syscall(SYS_openat, AT_FDCWD, mark, O_CREAT | O_APPEND | O_WRONLY, 0600);
        syscall(SYS_write, fd, "x", 1);
        syscall(SYS_close, fd);
    }
    if (fail_signal) {
        raise(fail_signal);
        return false;
    }
    errno = fail_errno;
    return true;
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
    if (!most)
        return len;
    size_t few = 1 + atomic_fetch_add(&turn, 7) % most;
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

int close(int fd)
{
    return struck("close") ? -1 : (int)syscall(SYS_close, fd);
}

/* The stream is closed all the same, as when a disk turns out to be full. */
int fclose(FILE *file)
{
    int (*next)(FILE *) = (int (*)(FILE *))dlsym(RTLD_NEXT, "fclose");
    bool fail = struck("fclose");
    int saved = errno, rc = next(file);
    errno = fail ? saved : errno;
    return fail ? EOF : rc;
}

int rename(const char *from, const char *to)
{
    return struck("rename") ? -1 : (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0);
}

int fchmod(int fd, mode_t mode)
{
    return struck("fchmod") ? -1 : (int)syscall(SYS_fchmod, fd, mode);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                   void *arg)
{
    typedef int creator(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    creator *next = (creator *)dlsym(RTLD_NEXT, "pthread_create");
    return struck("pthread_create") ? errno : next(thread, attributes, run, arg);
}

int clock_gettime(clockid_t clock, struct timespec *time)
{
    long rc = syscall(SYS_clock_gettime, clock, time);
    if (rc == 0 && clock == CLOCK_REALTIME)
        time->tv_sec += clock_ahead;
    return (int)rc;
}

void *malloc(size_t size)
{
    return struck("malloc") ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return struck("malloc") ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return struck("malloc") ? NULL : __libc_realloc(old, size);
}

void *aligned_alloc(size_t alignment, size_t size)
{
    return struck("malloc") ? NULL : __libc_memalign(alignment, size);
}
