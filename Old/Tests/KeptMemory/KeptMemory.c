#include "KeptMemory.h"

#include <malloc.h>
#include <stdlib.h>

// glibc's own free, under the name by which programs that replace it reach it.
extern void __libc_free(void *memory);

// A group's member takes 80 to 120 bytes, by version.
static const size_t least = 72;
static const size_t most = 136;

void free(void *memory) {
    if (memory != NULL) {
        const size_t size = malloc_usable_size(memory);
        if (size >= least && size <= most) return;
    }
    __libc_free(memory);
}
