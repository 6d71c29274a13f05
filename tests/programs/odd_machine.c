/* A library to preload: a wall clock that jumps and a disk that refuses, at the word of a file.
 *
 * ODD_MACHINE names the file, which this maps: what it says counts at once, and in all that the
 * program starts. The monotonic clock is left alone, as adjusting the time leaves it.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct odd {
  int64_t clock_seconds; /* added to the wall clock */
  int32_t disk_error;    /* errno of what would change something below `disk`; 0 = none */
  int32_t refused;       /* how often that was so */
  char disk[4080];       /* a directory, without a slash at its end */
};

static struct odd none;
static volatile struct odd* now = &none;

__attribute__((constructor)) static void begin(void) {
  const char* path = getenv("ODD_MACHINE");
  const int fd = path == NULL ? -1 : open(path, O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    return;
  }
  void* mapped = mmap(NULL, sizeof none, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped != MAP_FAILED) {
    now = mapped;
  }
  close(fd);
}

static void* next(const char* name) {
  return dlsym(RTLD_NEXT, name);
}

/* The clock */

int clock_gettime(clockid_t clock, struct timespec* time) {
  static int (*real)(clockid_t, struct timespec*);
  if (real == NULL) {
    *(void**)&real = next("clock_gettime");
  }
  const int status = real(clock, time);
  if (status == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) {
    time->tv_sec += now->clock_seconds;
  }
  return status;
}

int gettimeofday(struct timeval* restrict time, void* restrict zone) {
  (void)zone;
  struct timespec precise;
  const int status = clock_gettime(CLOCK_REALTIME, &precise);
  time->tv_sec = precise.tv_sec;
  time->tv_usec = precise.tv_nsec / 1000;
  return status;
}

time_t time(time_t* where) {
  struct timespec precise;
  clock_gettime(CLOCK_REALTIME, &precise);
  if (where != NULL) {
    *where = precise.tv_sec;
  }
  return precise.tv_sec;
}

/* The disk */

static int is_below(const char* path) {
  const size_t length = strlen((const char*)now->disk);
  return strncmp(path, (const char*)now->disk, length) == 0 &&
         (path[length] == '/' || path[length] == '\0');
}

static int refuses(const char* path) {
  if (now->disk_error == 0 || !is_below(path)) {
    return 0;
  }
  __sync_fetch_and_add((int32_t*)&now->refused, 1);
  errno = now->disk_error;
  return 1;
}

static int refuses_at(int fd, const char* name) {
  char link[64];
  char path[8192];
  if (now->disk_error == 0 || name == NULL || name[0] == '/' || fd < 0) {
    return now->disk_error != 0 && name != NULL && refuses(name);
  }
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  const ssize_t length = readlink(link, path, sizeof path / 2);
  if (length <= 0) {
    return 0;
  }
  snprintf(path + length, sizeof path - (size_t)length, "/%s", name);
  return refuses(path);
}

/* Existing FIFOs can be opened and written on any disk. */
static int changes(int flags) {
  return (flags & (O_CREAT | O_TRUNC)) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
}

static int is_file(int fd) {
  struct stat what;
  return now->disk_error != 0 && fstat(fd, &what) == 0 && S_ISREG(what.st_mode);
}

static mode_t mode_of(int flags, va_list arguments) {
  return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(arguments, mode_t) : 0;
}

#define OPEN(name)                                                         \
  int name(const char* path, int flags, ...) {                             \
    static int (*real)(const char*, int, ...);                             \
    va_list arguments;                                                     \
    va_start(arguments, flags);                                            \
    const mode_t mode = mode_of(flags, arguments);                         \
    va_end(arguments);                                                     \
    if (real == NULL) {                                                    \
      *(void**)&real = next(#name);                                        \
    }                                                                      \
    return changes(flags) && refuses(path) ? -1 : real(path, flags, mode); \
  }
OPEN(open)
OPEN(open64)

#define OPENAT(name)                                                                  \
  int name(int fd, const char* path, int flags, ...) {                                \
    static int (*real)(int, const char*, int, ...);                                   \
    va_list arguments;                                                                \
    va_start(arguments, flags);                                                       \
    const mode_t mode = mode_of(flags, arguments);                                    \
    va_end(arguments);                                                                \
    if (real == NULL) {                                                               \
      *(void**)&real = next(#name);                                                   \
    }                                                                                 \
    return changes(flags) && refuses_at(fd, path) ? -1 : real(fd, path, flags, mode); \
  }
OPENAT(openat)
OPENAT(openat64)

ssize_t write(int fd, const void* bytes, size_t size) {
  static ssize_t (*real)(int, const void*, size_t);
  if (real == NULL) {
    *(void**)&real = next("write");
  }
  return is_file(fd) && refuses_at(fd, "") ? -1 : real(fd, bytes, size);
}

#define PWRITE(name)                                                               \
  ssize_t name(int fd, const void* bytes, size_t size, off_t offset) {             \
    static ssize_t (*real)(int, const void*, size_t, off_t);                       \
    if (real == NULL) {                                                            \
      *(void**)&real = next(#name);                                                \
    }                                                                              \
    return is_file(fd) && refuses_at(fd, "") ? -1 : real(fd, bytes, size, offset); \
  }
PWRITE(pwrite)
PWRITE(pwrite64)

int mkdir(const char* path, mode_t mode) {
  static int (*real)(const char*, mode_t);
  if (real == NULL) {
    *(void**)&real = next("mkdir");
  }
  return refuses(path) ? -1 : real(path, mode);
}

int mkfifoat(int fd, const char* path, mode_t mode) {
  static int (*real)(int, const char*, mode_t);
  if (real == NULL) {
    *(void**)&real = next("mkfifoat");
  }
  return refuses_at(fd, path) ? -1 : real(fd, path, mode);
}

int rename(const char* from, const char* to) {
  static int (*real)(const char*, const char*);
  if (real == NULL) {
    *(void**)&real = next("rename");
  }
  return refuses(from) ? -1 : real(from, to);
}
