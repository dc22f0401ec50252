#ifndef GRANTOR_CSQLITE_SHIM_H
#define GRANTOR_CSQLITE_SHIM_H

#include <sqlite3.h>

// sqlite3_config is variadic, which Swift cannot call.
static inline int grantor_sqlite_stop_counting_memory(void) {
    return sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

#endif
