import CMalloc

/// Settings of the C library's allocator for a process that runs for months.
enum MemoryAllocator {
    /// Keeps the number of heaps small. By default glibc makes up to eight per core, and buffers of many sizes that live
    /// for seconds leave each of them partly empty and never given back: some 30 MiB with 1,000 calls in flight
    /// (mallopt(3), M_ARENA_MAX).
    static func limitHeaps() {
        _ = mallopt(M_ARENA_MAX, 2)
    }
}
