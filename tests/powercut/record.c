// Records what a process does to the files below a folder, and what of it is on the disk, so that tests can make the folder as a power cut
// would have left it at any moment (Support/PowerCut.cs). fsync is recorded and not made: tests are about what is asked for.
// build: cc -O2 -shared -fPIC -o record.so record.c      use: LD_PRELOAD=record.so POWERCUT_FOLDER=/path POWERCUT_LOG=/other/file PROGRAM
// Each record: kind, length of first and second path, 0 (4 bytes each); file (its inode's number), offset, length of data (8 bytes each);
// then the paths and the data. One write each, appended, so several processes may share a log. SQLite's -shm files are left out: they are
// made anew from the log.
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { MADE = 1, FOLDER, WRITE, LENGTH, SYNC, SYNCED, RENAME, LINK, UNLINK, UNKNOWN };

static const char *folder;
static size_t folder_length;
static int log_file = -1;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("POWERCUT_LOG");
  const char *below = getenv("POWERCUT_FOLDER");
  if (!path || !below)
    return;
  int file = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  // Where programs do not close it.
  log_file = syscall(SYS_fcntl, file, F_DUPFD_CLOEXEC, 800);
  syscall(SYS_close, file);
  folder_length = strlen(folder = below);
}

static void note(int kind, uint64_t file, int64_t offset, const char *first, const char *second, const void *data, size_t length) {
  if (log_file < 0)
    return;
  struct { uint32_t kind, first, second, zero; uint64_t file; int64_t offset; uint64_t data; } head = {
    kind, first ? strlen(first) : 0, second ? strlen(second) : 0, 0, file, offset, length };
  struct iovec parts[] = { { &head, sizeof head }, { (void *)first, head.first }, { (void *)second, head.second }, { (void *)data, length } };
  int before = errno;
  if (syscall(SYS_writev, log_file, parts, 4) != (ssize_t)(sizeof head + head.first + head.second + length))
    abort();
  errno = before;
}

static int is_within(const char *path) {
  size_t length = strlen(path);
  return folder && strncmp(path, folder, folder_length) == 0 && (path[folder_length] == '/' || path[folder_length] == 0)
    && !(length > 4 && strcmp(path + length - 4, "-shm") == 0);
}

// The path of a file that is open; null when it is not below the folder.
static const char *path_of(int file, char path[PATH_MAX]) {
  char link[40];
  snprintf(link, sizeof link, "/proc/self/fd/%d", file);
  ssize_t length = log_file < 0 ? -1 : syscall(SYS_readlinkat, AT_FDCWD, link, path, PATH_MAX - 1);
  if (length < 0)
    return NULL;
  path[length] = 0;
  return is_within(path) ? path : NULL;
}

// A path as a call has it, made absolute; null when it is not below the folder.
static const char *full(int at, const char *path, char whole[PATH_MAX]) {
  if (log_file < 0 || !path)
    return NULL;
  if (path[0] == '/')
    return is_within(path) ? path : NULL;
  char base[PATH_MAX];
  if (at == AT_FDCWD ? !getcwd(base, sizeof base) : !path_of(at, base))
    return NULL;
  if (snprintf(whole, PATH_MAX, "%s/%s", base, path) >= PATH_MAX)
    return NULL;
  return is_within(whole) ? whole : NULL;
}

static uint64_t number_of(int file) {
  struct stat is;
  return fstat(file, &is) == 0 ? is.st_ino : 0;
}

static uint64_t number_at(const char *path) {
  struct stat is;
  return lstat(path, &is) == 0 ? is.st_ino : 0;
}

static int opened(int at, const char *path, int flags, mode_t mode) {
  char whole[PATH_MAX];
  const char *within = full(at, path, whole);
  int was_there = within && number_at(within) != 0;
  int file = syscall(SYS_openat, at, path, flags, mode);
  if (file < 0 || !within || (flags & O_TMPFILE) == O_TMPFILE)
    return file;
  if ((flags & O_CREAT) && !was_there)
    note(MADE, number_of(file), 0, within, NULL, NULL, 0);
  else if ((flags & O_TRUNC) && (flags & (O_WRONLY | O_RDWR)))
    note(LENGTH, number_of(file), 0, within, NULL, NULL, 0);
  return file;
}

#define MODE va_list list; va_start(list, flags); mode_t mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, mode_t) : 0; va_end(list)
int open(const char *path, int flags, ...) { MODE; return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE; return opened(AT_FDCWD, path, flags | O_LARGEFILE, mode); }
int openat(int at, const char *path, int flags, ...) { MODE; return opened(at, path, flags, mode); }
int openat64(int at, const char *path, int flags, ...) { MODE; return opened(at, path, flags | O_LARGEFILE, mode); }
int creat(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC, mode); }
int creat64(const char *path, mode_t mode) { return opened(AT_FDCWD, path, O_CREAT | O_WRONLY | O_TRUNC | O_LARGEFILE, mode); }

static void wrote(int file, const struct iovec *parts, int count, int64_t offset, ssize_t length) {
  char path[PATH_MAX];
  if (length <= 0 || !path_of(file, path))
    return;
  // Of what has no place of its own, the place is now behind it.
  int64_t at = offset >= 0 && !(syscall(SYS_fcntl, file, F_GETFL) & O_APPEND) ? offset
    : offset >= 0 ? syscall(SYS_lseek, file, 0, SEEK_END) - length : syscall(SYS_lseek, file, 0, SEEK_CUR) - length;
  for (int i = 0; i < count && length > 0; i++) {
    size_t part = parts[i].iov_len < (size_t)length ? parts[i].iov_len : (size_t)length;
    if (part > 0)
      note(WRITE, number_of(file), at, path, NULL, parts[i].iov_base, part);
    at += part;
    length -= part;
  }
}

ssize_t write(int file, const void *data, size_t length) {
  ssize_t done = syscall(SYS_write, file, data, length);
  wrote(file, &(struct iovec){ (void *)data, length }, 1, -1, done);
  return done;
}
ssize_t pwrite64(int file, const void *data, size_t length, off64_t offset) {
  ssize_t done = syscall(SYS_pwrite64, file, data, length, offset);
  wrote(file, &(struct iovec){ (void *)data, length }, 1, offset, done);
  return done;
}
ssize_t pwrite(int file, const void *data, size_t length, off_t offset) { return pwrite64(file, data, length, offset); }
ssize_t writev(int file, const struct iovec *parts, int count) {
  ssize_t done = syscall(SYS_writev, file, parts, count);
  wrote(file, parts, count, -1, done);
  return done;
}
ssize_t pwritev64(int file, const struct iovec *parts, int count, off64_t offset) {
  ssize_t done = syscall(SYS_pwritev, file, parts, count, offset, 0);
  wrote(file, parts, count, offset, done);
  return done;
}
ssize_t pwritev(int file, const struct iovec *parts, int count, off_t offset) { return pwritev64(file, parts, count, offset); }

static int cut(int file, int64_t length) {
  char path[PATH_MAX];
  int done = syscall(SYS_ftruncate, file, length);
  if (done == 0 && path_of(file, path))
    note(LENGTH, number_of(file), length, path, NULL, NULL, 0);
  return done;
}
int ftruncate(int file, off_t length) { return cut(file, length); }
int ftruncate64(int file, off64_t length) { return cut(file, length); }

static int reserved(int file, int mode, int64_t offset, int64_t length) {
  char path[PATH_MAX];
  struct stat before;
  fstat(file, &before);
  int done = syscall(SYS_fallocate, file, mode, offset, length);
  if (done == 0 && path_of(file, path)) {
    if (mode == 0 && offset + length > before.st_size)
      note(LENGTH, number_of(file), offset + length, path, NULL, NULL, 0);
    else if (mode & ~FALLOC_FL_KEEP_SIZE)
      note(UNKNOWN, number_of(file), mode, path, "fallocate", NULL, 0);
  }
  return done;
}
int fallocate(int file, int mode, off_t offset, off_t length) { return reserved(file, mode, offset, length); }
int fallocate64(int file, int mode, off64_t offset, off64_t length) { return reserved(file, mode, offset, length); }
int posix_fallocate(int file, off_t offset, off_t length) { return reserved(file, 0, offset, length) == 0 ? 0 : errno; }
int posix_fallocate64(int file, off64_t offset, off64_t length) { return reserved(file, 0, offset, length) == 0 ? 0 : errno; }

// What came before the first of these two records is on the disk from the second one on.
static int synced(int file) {
  char path[PATH_MAX];
  if (!path_of(file, path))
    return syscall(SYS_fsync, file);
  uint64_t number = number_of(file);
  note(SYNC, number, 0, path, NULL, NULL, 0);
  note(SYNCED, number, 0, path, NULL, NULL, 0);
  return 0;
}
int fsync(int file) { return synced(file); }
int fdatasync(int file) { return synced(file); }

static int renamed(int from, const char *old, int to, const char *path, unsigned flags) {
  char first[PATH_MAX], second[PATH_MAX];
  const char *a = full(from, old, first), *b = full(to, path, second);
  int done = syscall(SYS_renameat2, from, old, to, path, flags);
  if (done == 0 && (a || b))
    note(a && b && !(flags & ~1u) ? RENAME : UNKNOWN, b ? number_at(b) : 0, 0, a ? a : old, b ? b : path, NULL, 0);
  return done;
}
int rename(const char *old, const char *path) { return renamed(AT_FDCWD, old, AT_FDCWD, path, 0); }
int renameat(int from, const char *old, int to, const char *path) { return renamed(from, old, to, path, 0); }
int renameat2(int from, const char *old, int to, const char *path, unsigned flags) { return renamed(from, old, to, path, flags); }

static int linked(int from, const char *old, int to, const char *path, int flags) {
  char first[PATH_MAX], second[PATH_MAX];
  const char *a = full(from, old, first), *b = full(to, path, second);
  int done = syscall(SYS_linkat, from, old, to, path, flags);
  if (done == 0 && b)
    note(a ? LINK : UNKNOWN, number_at(b), 0, a ? a : old, b, NULL, 0);
  return done;
}
int link(const char *old, const char *path) { return linked(AT_FDCWD, old, AT_FDCWD, path, 0); }
int linkat(int from, const char *old, int to, const char *path, int flags) { return linked(from, old, to, path, flags); }

static int removed(int at, const char *path, int flags) {
  char whole[PATH_MAX];
  const char *within = full(at, path, whole);
  uint64_t number = within ? number_at(within) : 0;
  int done = syscall(SYS_unlinkat, at, path, flags);
  if (done == 0 && within)
    note(UNLINK, number, 0, within, NULL, NULL, 0);
  return done;
}
int unlink(const char *path) { return removed(AT_FDCWD, path, 0); }
int unlinkat(int at, const char *path, int flags) { return removed(at, path, flags); }
int rmdir(const char *path) { return removed(AT_FDCWD, path, AT_REMOVEDIR); }
int remove(const char *path) { int done = unlink(path); return done == 0 || errno != EISDIR ? done : rmdir(path); }

static int made(int at, const char *path, mode_t mode) {
  char whole[PATH_MAX];
  const char *within = full(at, path, whole);
  int done = syscall(SYS_mkdirat, at, path, mode);
  if (done == 0 && within)
    note(FOLDER, number_at(within), 0, within, NULL, NULL, 0);
  return done;
}
int mkdir(const char *path, mode_t mode) { return made(AT_FDCWD, path, mode); }
int mkdirat(int at, const char *path, mode_t mode) { return made(at, path, mode); }

// Programs copy by reading and writing where these can't.
ssize_t copy_file_range(int from, off64_t *start, int to, off64_t *at, size_t length, unsigned flags) {
  char path[PATH_MAX];
  if (!path_of(to, path))
    return syscall(SYS_copy_file_range, from, start, to, at, length, flags);
  errno = ENOSYS;
  return -1;
}
ssize_t sendfile64(int to, int from, off64_t *start, size_t length) {
  char path[PATH_MAX];
  if (!path_of(to, path))
    return syscall(SYS_sendfile, to, from, start, length);
  errno = EINVAL;
  return -1;
}
ssize_t sendfile(int to, int from, off_t *start, size_t length) { return sendfile64(to, from, start, length); }

// A copy that shares its blocks.
int ioctl(int file, unsigned long request, ...) {
  va_list list;
  va_start(list, request);
  void *argument = va_arg(list, void *);
  va_end(list);
  char path[PATH_MAX];
  if ((request == FICLONE || request == FICLONERANGE) && path_of(file, path)) {
    errno = EOPNOTSUPP;
    return -1;
  }
  return syscall(SYS_ioctl, file, request, argument);
}

void *mmap64(void *where, size_t length, int protection, int flags, int file, off64_t offset) {
  char path[PATH_MAX];
  if (file >= 0 && (flags & MAP_SHARED) && (protection & PROT_WRITE) && path_of(file, path))
    note(UNKNOWN, number_of(file), 0, path, "mmap", NULL, 0);
  return (void *)syscall(SYS_mmap, where, length, protection, flags, file, offset);
}
void *mmap(void *where, size_t length, int protection, int flags, int file, off_t offset) {
  return mmap64(where, length, protection, flags, file, offset);
}
