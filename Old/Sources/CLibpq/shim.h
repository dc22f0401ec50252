#ifndef GRANTOR_CLIBPQ_SHIM_H
#define GRANTOR_CLIBPQ_SHIM_H

#include <libpq-fe.h>

// Swift's Glibc module leaves this one out.
#include <sys/prctl.h>

// Variadic, which Swift cannot call: names the calling thread for debuggers.
static inline void grantor_name_database_thread(const char *name) {
    prctl(PR_SET_NAME, name, 0, 0, 0);
}

#endif
