#ifndef GRANTOR_CJEMALLOC_H
#define GRANTOR_CJEMALLOC_H

// jemalloc(3): mallctl, by which the allocator tells what it is set to and what it holds.
#include <jemalloc/jemalloc.h>

#endif
