#include <jemalloc/jemalloc.h>

// jemalloc looks for this name before it serves its first allocation (jemalloc(3), TUNING), which is before anything of
// ours runs; it cannot be set later. MALLOC_CONF in the environment goes before it.
//
// narenas: receipts live for the seconds that Apple takes, among much that is small. Each arena would keep room of its own
// for either, and more of them are no faster: threads keep what they free.
// dirty_decay_ms, muzzy_decay_ms: what a burst took is given back to the system within a second instead of ten.
// background_thread: by a thread of jemalloc's own, so that a worker without work gives back, too.
const char *malloc_conf = "narenas:2,dirty_decay_ms:500,muzzy_decay_ms:0,background_thread:true";
