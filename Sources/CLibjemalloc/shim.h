#ifndef GRANTOR_CLIBJEMALLOC_SHIM_H
#define GRANTOR_CLIBJEMALLOC_SHIM_H

#include <jemalloc/jemalloc.h>

#endif
