import Foundation
import Synchronization

/// Headers of transactions whose signature held, by their bytes: Apple writes the same one into every transaction that a
/// leaf signs, and most of a warm verification would be spent on reading it again.
///
/// A list and not a dictionary: hashing three kilobytes costs more than comparing them with the few there are. The
/// signature is over the header, too, so only Apple can make an entry. May be used from all cores at once.
final class HeaderCache: Sendable {
    /// Most headers that are kept; the oldest gives way.
    static let maxCount = 16

    private struct Entry {
        /// `Data` is compared by memcmp, an array byte by byte.
        let header: Data
        let key: SigningKey
    }

    /// Newest first.
    private let entries = Mutex<[Entry]>([])
    private let hitCount = Atomic(0)

    /// How often a header was known.
    var hits: Int { hitCount.load(ordering: .relaxed) }

    /// Headers that are kept.
    var count: Int { entries.withLock { $0.count } }

    /// The key that a header names; nil for a header that is not known.
    func key(of header: ArraySlice<UInt8>) -> SigningKey? {
        let header = Data(header)
        // Compared outside of the lock, on a snapshot that costs a reference.
        let entries = entries.withLock { $0 }
        guard let entry = entries.first(where: { $0.header == header }) else { return nil }
        hitCount.add(1, ordering: .relaxed)
        return entry.key
    }

    /// Keeps the header of a transaction whose signature held.
    func remember(_ header: ArraySlice<UInt8>, _ key: SigningKey) {
        // A copy of its own: a slice would keep the whole text it was cut from.
        let entry = Entry(header: Data(header), key: key)
        entries.withLock { entries in
            guard !entries.contains(where: { $0.header == entry.header }) else { return }
            if entries.count == Self.maxCount { entries.removeLast() }
            entries.insert(entry, at: 0)
        }
    }
}
