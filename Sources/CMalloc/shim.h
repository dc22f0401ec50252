#ifndef GRANTOR_CMALLOC_SHIM_H
#define GRANTOR_CMALLOC_SHIM_H

// Not in the Glibc module that Swift imports: mallopt(3).
#include <malloc.h>

#endif
