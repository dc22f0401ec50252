import CMalloc

/// Settings of the C library's allocator for a process that runs for months.
enum MemoryAllocator {
    /// Keeps the number of heaps small. By default glibc makes up to eight per core, and buffers of many sizes that live
    /// for seconds leave each of them partly empty and never given back: some 30 MiB with 1,000 calls in flight
    /// (mallopt(3), M_ARENA_MAX).
    ///
    /// Buffers of large receipts get pages of their own, which go back to the system at once. In heaps, where they live
    /// for the seconds that Apple takes among much that is small, they left a third of the memory unusable
    /// (M_MMAP_THRESHOLD). Receipts of the usual 5 to 15 KB stay below it.
    static func limitHeaps() {
        _ = mallopt(M_ARENA_MAX, 2)
        _ = mallopt(M_MMAP_THRESHOLD, 24 << 10)
    }
}
