import Glibc

/// Takes facts in any order and gives them back sorted, in bounded memory. As many as fit are sorted at once, and go to
/// a file as a run.
///
/// The file has no name from its first moment, so nothing of it is left whatever ends the process.
final class FactSpool {
    let bound: Int
    private let folder: String
    private var facts: [Fact] = []
    private var file: SpoolFile?
    private var runs: [FactRun] = []
    private var end: Int64 = 0

    /// - Parameter bound: Most facts in memory; each takes 32 bytes.
    init(folder: String, bound: Int) {
        self.folder = folder
        self.bound = bound
        facts.reserveCapacity(min(bound, 1 << 16))
    }

    func add(_ fact: Fact) throws(AuditError) {
        facts.append(fact)
        if facts.count >= bound { try spill() }
    }

    private func spill() throws(AuditError) {
        guard !facts.isEmpty else { return }
        facts.sort()
        if file == nil { file = try SpoolFile(in: folder) }
        try file?.write(facts, at: end)
        runs.append(FactRun(start: end, count: facts.count))
        end += Int64(facts.count * MemoryLayout<Fact>.stride)
        facts.removeAll(keepingCapacity: true)
    }

    /// Everything that was taken, in order; no more is taken.
    func finish() throws(AuditError) -> SortedFacts {
        try spill()
        facts = []
        return SortedFacts(file: file, runs: runs)
    }
}

/// The facts of one spool, as runs in its file.
struct SortedFacts: Sendable {
    fileprivate let file: SpoolFile?
    fileprivate let runs: [FactRun]
}

/// A file without a name, closed and so gone when this goes.
private final class SpoolFile: Sendable {
    private let descriptor: Int32
    private let folder: String

    init(in folder: String) throws(AuditError) {
        self.folder = folder
        let unnamed = open(folder, O_RDWR | O_CLOEXEC | Self.unnamed, 0o600)
        if unnamed >= 0 {
            descriptor = unnamed
            return
        }
        // Some file systems have no files without names: a moment with one, then.
        var name = Array("\(folder)/grantor-audit-XXXXXX".utf8CString)
        descriptor = mkstemp(&name)
        guard descriptor >= 0 else { throw .folder(folder, errno: errno) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        unlink(name)
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// `O_TMPFILE`, which is a macro that Swift does not import.
    private static let unnamed = 0o20_000_000 | O_DIRECTORY

    func write(_ facts: [Fact], at offset: Int64) throws(AuditError) {
        let failure: Int32? = facts.withUnsafeBytes { bytes in
            var done = 0
            while done < bytes.count {
                let rest = UnsafeRawBufferPointer(rebasing: bytes[done...])
                let count = pwrite(descriptor, rest.baseAddress, rest.count, off_t(offset) + off_t(done))
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return count == 0 ? EIO : errno }
                done += count
            }
            return nil
        }
        if let failure { throw .folder(folder, errno: failure) }
    }

    func read(_ count: Int, at offset: Int64) throws(AuditError) -> [Fact] {
        let size = count * MemoryLayout<Fact>.stride
        var failure: Int32?
        let facts = [Fact](unsafeUninitializedCapacity: count) { facts, initialized in
            let bytes = UnsafeMutableRawBufferPointer(facts)
            var done = 0
            while done < size {
                let got = pread(
                    descriptor, bytes.baseAddress?.advanced(by: done), size - done, off_t(offset) + off_t(done))
                if got < 0, errno == EINTR { continue }
                guard got > 0 else {
                    failure = got == 0 ? EIO : errno
                    return
                }
                done += got
            }
            initialized = count
        }
        if let failure { throw .folder(folder, errno: failure) }
        return facts
    }
}

/// A part of a file that is sorted.
private struct FactRun: Sendable {
    let start: Int64
    let count: Int
}

/// All facts of several spools, in order.
struct FactMerge {
    /// Memory of all runs that are read at once. Each has an equal part, and at least one page of a file.
    static let bytes = 64 << 20
    private static let leastFacts = 128
    private static let mostFacts = 1 << 16

    private var readers: [FactReader] = []
    /// A heap of indices of readers, the least fact first.
    private var heap: [Int] = []

    init(_ sorted: [SortedFacts]) throws(AuditError) {
        let runs = sorted.reduce(0) { $0 + $1.runs.count }
        let part = Self.bytes / MemoryLayout<Fact>.stride / max(1, runs)
        for facts in sorted {
            guard let file = facts.file else { continue }
            for run in facts.runs {
                readers.append(try FactReader(file, run, buffer: min(max(part, Self.leastFacts), Self.mostFacts)))
            }
        }
        heap = readers.indices.filter { readers[$0].first != nil }
        for place in (0..<(heap.count / 2)).reversed() { sink(place) }
    }

    /// The next fact; nil after the last.
    mutating func next() throws(AuditError) -> Fact? {
        guard let top = heap.first, let fact = readers[top].first else { return nil }
        try readers[top].advance()
        if readers[top].first == nil {
            heap[0] = heap[heap.count - 1]
            heap.removeLast()
        }
        if !heap.isEmpty { sink(0) }
        return fact
    }

    private mutating func sink(_ place: Int) {
        var place = place
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count {
                if readers[heap[child]].isLess(readers[heap[least]]) { least = child }
            }
            guard least != place else { return }
            heap.swapAt(place, least)
            place = least
        }
    }
}

/// Reads a run from its file.
private struct FactReader {
    /// Keeps it open.
    private let file: SpoolFile
    private var offset: Int64
    private var left: Int
    private let capacity: Int
    private var buffer: [Fact] = []
    private var place = 0
    private(set) var first: Fact?

    init(_ file: SpoolFile, _ run: FactRun, buffer capacity: Int) throws(AuditError) {
        self.file = file
        offset = run.start
        left = run.count
        self.capacity = capacity
        try advance()
    }

    func isLess(_ other: FactReader) -> Bool {
        guard let first, let second = other.first else { return first != nil }
        return first < second
    }

    mutating func advance() throws(AuditError) {
        if place == buffer.count {
            guard left > 0 else { return first = nil }
            let count = min(left, capacity)
            buffer = try file.read(count, at: offset)
            offset += Int64(count * MemoryLayout<Fact>.stride)
            left -= count
            place = 0
        }
        first = buffer[place]
        place += 1
    }
}
