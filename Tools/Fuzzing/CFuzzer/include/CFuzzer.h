#ifndef GRANTOR_CFUZZER_H
#define GRANTOR_CFUZZER_H

#include <stddef.h>
#include <stdint.h>

// libFuzzer's entry point for programs with a main of their own (llvm.org/docs/LibFuzzer.html, "Using libFuzzer as a
// library"); it is linked in by -sanitize=fuzzer.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));

#endif
