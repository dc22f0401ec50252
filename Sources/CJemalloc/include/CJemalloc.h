#ifndef GRANTOR_CJEMALLOC_H
#define GRANTOR_CJEMALLOC_H

// SwiftPM wants a header of every C target. Nobody calls jemalloc by its name.

#endif
