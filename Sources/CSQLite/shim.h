#ifndef GRANTOR_CSQLITE_SHIM_H
#define GRANTOR_CSQLITE_SHIM_H

#include <fcntl.h>
#include <linux/stat.h>
#include <sqlite3.h>
#include <sys/syscall.h>
#include <unistd.h>

// sqlite3_config is variadic, which Swift cannot call.
static inline int grantor_sqlite_stop_counting_memory(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

// Whether a file is mounted by itself, without its folder (statx(2)). Swift sees no statx.
static inline int grantor_is_mounted_alone(const char *path) {
    struct statx found;
    if (syscall(SYS_statx, AT_FDCWD, path, 0, 0, &found) != 0) return 0;
    return (found.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

#endif
