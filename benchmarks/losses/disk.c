/* Loaded into a program with LD_PRELOAD: records what it writes below one folder, in order, and plays a full disk.
 *
 * LOSSES_ROOT   the folder; everything else is left alone
 * LOSSES_ACKED  a file: what is written to it is recorded as an acknowledgement
 * LOSSES_LOG    where the record goes: operation, inode, offset, length, bytes
 * LOSSES_FULL   while a file of this name exists, nothing below the folder grows: ENOSPC
 *
 * Seen: write, pwrite, writev, pwritev, ftruncate, fsync, fdatasync, open with O_CREAT or O_TRUNC, rename, link, unlink,
 * rmdir. Not seen: memory maps and the C library's own streams; disk.py counts what it has no record of as kept.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
static char root[PATH_MAX], acked[PATH_MAX], full[PATH_MAX];
static int record = -1, ready = 0;

static void setting(const char *name, char *into) {
    const char *value = getenv(name);
    if (value) snprintf(into, PATH_MAX, "%s", value);
}

static void prepare(void) {
    if (ready) return;
    ready = 1;
    setting("LOSSES_ROOT", root);
    setting("LOSSES_ACKED", acked);
    setting("LOSSES_FULL", full);
    const char *log = getenv("LOSSES_LOG");
    if (log) {
        int low = syscall(SYS_openat, AT_FDCWD, log, O_CREAT | O_WRONLY | O_APPEND | O_CLOEXEC, 0600);
        record = syscall(SYS_fcntl, low, F_DUPFD_CLOEXEC, 900); /* out of the way of programs that close low numbers */
        if (record >= 0) syscall(SYS_close, low); else record = low;
    }
}

/* One record is one writev to a file opened with O_APPEND: records of several processes never mix. */
static void note(char operation, uint64_t inode, int64_t offset, const void *data, uint32_t length) {
    if (record < 0) return;
    struct __attribute__((packed)) { char operation; uint64_t inode; int64_t offset; uint32_t length; } head
        = {operation, inode, offset, length};
    struct iovec parts[2] = {{&head, sizeof head}, {(void *)data, length}};
    syscall(SYS_writev, record, parts, length ? 2 : 1);
}

static int below(const char *path) {
    size_t length = strlen(root);
    return length && strncmp(path, root, length) == 0 && (path[length] == '/' || path[length] == 0);
}

static int shared_memory(const char *path) { /* SQLite's index of the write-ahead log: rebuilt, never durable */
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, "-shm") == 0;
}

static int path_of(int fd, char *into) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, into, PATH_MAX - 1);
    if (length < 0) return 0;
    into[length] = 0;
    return 1;
}

static int whole(int folder, const char *path, char *into) {
    char start[PATH_MAX];
    if (path[0] == '/') { snprintf(into, PATH_MAX, "%s", path); return 1; }
    if (folder == AT_FDCWD ? !getcwd(start, sizeof start) : !path_of(folder, start)) return 0;
    if (strlen(start) + strlen(path) + 2 > PATH_MAX) return 0;
    strcpy(into, start); strcat(into, "/"); strcat(into, path);
    return 1;
}

static int watched(int fd, char *path) { return path_of(fd, path) && below(path) && !shared_memory(path); }

static int no_room(void) {
    struct stat found;
    return full[0] && stat(full, &found) == 0;
}

static int grows(int fd, off_t end) {
    struct stat found;
    return fstat(fd, &found) == 0 && end > found.st_size;
}

static int refused(void) { pthread_mutex_unlock(&one_at_a_time); errno = ENOSPC; return -1; }

static ssize_t written(int fd, const struct iovec *parts, int count, off_t offset, int placed) {
    prepare();
    char path[PATH_MAX];
    int below_it = watched(fd, path), told = !below_it && acked[0] && path_of(fd, path) && !strcmp(path, acked);
    if (!below_it && !told)
        return placed ? syscall(SYS_pwritev, fd, parts, count, offset, 0) : syscall(SYS_writev, fd, parts, count);
    pthread_mutex_lock(&one_at_a_time);
    struct stat found;
    fstat(fd, &found);
    if (below_it && no_room()) {
        size_t wanted = 0;
        for (int i = 0; i < count; i++) wanted += parts[i].iov_len;
        off_t from = placed ? offset : (fcntl(fd, F_GETFL) & O_APPEND) ? found.st_size : lseek(fd, 0, SEEK_CUR);
        if (grows(fd, from + wanted)) return refused();
    }
    ssize_t done = placed ? syscall(SYS_pwritev, fd, parts, count, offset, 0) : syscall(SYS_writev, fd, parts, count);
    int failed = errno;
    if (done > 0) {
        if (!placed) offset = told ? 0 : lseek(fd, 0, SEEK_CUR) - done;
        ssize_t left = done;
        for (int i = 0; i < count && left > 0; i++) {
            size_t length = (size_t)left < parts[i].iov_len ? (size_t)left : parts[i].iov_len;
            note(told ? 'A' : 'W', found.st_ino, offset, parts[i].iov_base, length);
            offset += length;
            left -= length;
        }
    }
    pthread_mutex_unlock(&one_at_a_time);
    errno = failed;
    return done;
}

ssize_t write(int fd, const void *data, size_t length) {
    struct iovec part = {(void *)data, length};
    return written(fd, &part, 1, 0, 0);
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t offset) {
    struct iovec part = {(void *)data, length};
    return written(fd, &part, 1, offset, 1);
}
ssize_t pwrite64(int fd, const void *data, size_t length, off_t offset) { return pwrite(fd, data, length, offset); }
ssize_t writev(int fd, const struct iovec *parts, int count) { return written(fd, parts, count, 0, 0); }
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t offset) { return written(fd, parts, count, offset, 1); }
ssize_t pwritev64(int fd, const struct iovec *parts, int count, off_t offset) { return pwritev(fd, parts, count, offset); }

int ftruncate(int fd, off_t length) {
    prepare();
    char path[PATH_MAX];
    if (!watched(fd, path)) return syscall(SYS_ftruncate, fd, length);
    pthread_mutex_lock(&one_at_a_time);
    if (no_room() && grows(fd, length)) return refused();
    struct stat found;
    fstat(fd, &found);
    int done = syscall(SYS_ftruncate, fd, length), failed = errno;
    if (done == 0) note('T', found.st_ino, length, "", 0);
    pthread_mutex_unlock(&one_at_a_time);
    errno = failed;
    return done;
}
int ftruncate64(int fd, off_t length) { return ftruncate(fd, length); }

static int synced(int fd, int number) {
    prepare();
    char path[PATH_MAX];
    if (!watched(fd, path)) return syscall(number, fd);
    pthread_mutex_lock(&one_at_a_time);
    struct stat found;
    fstat(fd, &found);
    if (S_ISDIR(found.st_mode)) note('D', found.st_ino, 0, path, strlen(path));
    else note('F', found.st_ino, 0, "", 0);
    pthread_mutex_unlock(&one_at_a_time);
    return 0; /* the record is the disk: the real one need not be waited for */
}
int fsync(int fd) { return synced(fd, SYS_fsync); }
int fdatasync(int fd) { return synced(fd, SYS_fdatasync); }

static int opened(int folder, const char *given, int flags, mode_t mode) {
    prepare();
    char path[PATH_MAX];
    if (!(flags & (O_CREAT | O_TRUNC)) || !whole(folder, given, path) || !below(path) || shared_memory(path))
        return syscall(SYS_openat, folder, given, flags, mode);
    pthread_mutex_lock(&one_at_a_time);
    struct stat found;
    int there = stat(path, &found) == 0;
    if (!there && no_room()) return refused();
    int fd = syscall(SYS_openat, folder, given, flags, mode), failed = errno;
    if (fd >= 0) {
        fstat(fd, &found);
        if (!there) note('C', found.st_ino, 0, path, strlen(path));
        else if (flags & O_TRUNC) note('T', found.st_ino, 0, "", 0);
    }
    pthread_mutex_unlock(&one_at_a_time);
    errno = failed;
    return fd;
}
#define MODE_OF(flags) mode_t mode = 0; if (flags & (O_CREAT | O_TMPFILE)) { va_list more; va_start(more, flags); mode = va_arg(more, mode_t); va_end(more); }
int open(const char *path, int flags, ...) { MODE_OF(flags) return opened(AT_FDCWD, path, flags, mode); }
int open64(const char *path, int flags, ...) { MODE_OF(flags) return opened(AT_FDCWD, path, flags, mode); }
int openat(int folder, const char *path, int flags, ...) { MODE_OF(flags) return opened(folder, path, flags, mode); }
int openat64(int folder, const char *path, int flags, ...) { MODE_OF(flags) return opened(folder, path, flags, mode); }

static int moved(char operation, int from, const char *old, int to, const char *new) {
    prepare();
    char both[2 * PATH_MAX + 1], first[PATH_MAX], second[PATH_MAX];
    int known = whole(from, old, first) && whole(to, new, second) && (below(first) || below(second));
    if (known) pthread_mutex_lock(&one_at_a_time);
    int done = operation == 'R' ? syscall(SYS_renameat2, from, old, to, new, 0) : syscall(SYS_linkat, from, old, to, new, 0);
    int failed = errno;
    if (known && done == 0) {
        int length = snprintf(both, sizeof both, "%s%c%s", first, 1, second);
        note(operation, 0, 0, both, length);
    }
    if (known) pthread_mutex_unlock(&one_at_a_time);
    errno = failed;
    return done;
}
int rename(const char *old, const char *new) { return moved('R', AT_FDCWD, old, AT_FDCWD, new); }
int renameat(int from, const char *old, int to, const char *new) { return moved('R', from, old, to, new); }
int link(const char *old, const char *new) { return moved('L', AT_FDCWD, old, AT_FDCWD, new); }

static int removed(int folder, const char *given, int flags) {
    prepare();
    char path[PATH_MAX];
    int known = whole(folder, given, path) && below(path) && !shared_memory(path);
    if (known) pthread_mutex_lock(&one_at_a_time);
    int done = syscall(SYS_unlinkat, folder, given, flags), failed = errno;
    if (known && done == 0) note('U', 0, 0, path, strlen(path));
    if (known) pthread_mutex_unlock(&one_at_a_time);
    errno = failed;
    return done;
}
int unlink(const char *path) { return removed(AT_FDCWD, path, 0); }
int unlinkat(int folder, const char *path, int flags) { return removed(folder, path, flags); }
int rmdir(const char *path) { return removed(AT_FDCWD, path, AT_REMOVEDIR); }
