import Synchronization

/// The database behind a session: the ledger's id, and the timeline of its write-ahead log, which rises with each
/// promotion of a standby.
struct LedgerPlace: Hashable, Sendable {
    let id: String
    /// Eight hexadecimal digits, which the text's order compares.
    let timeline: String
}

/// The database that the connections of one process work with.
///
/// Behind a proxy a promoted standby looks like the same session: the worker's generations hold, and the writes that it
/// lost are missed by nobody. So every transaction compares its place with the session's, and the sessions of a process
/// compare theirs with each other.
final class LedgerMark: Sendable {
    private let place = Mutex<LedgerPlace?>(nil)

    /// Whether a session of this process was opened before.
    var wasOpened: Bool { place.withLock { $0 != nil } }

    /// Notes where a new session is. The other sessions are lost if that is another place.
    /// - Returns: False for a place that a later one has replaced: a primary that does not know of its end.
    func open(_ found: LedgerPlace) -> Bool {
        place.withLock { place in
            if let known = place, known.id == found.id, found.timeline < known.timeline { return false }
            place = found
            return true
        }
    }

    /// Whether a session's place is the process's.
    func isPresent(_ session: LedgerPlace) -> Bool { place.withLock { $0 == session } }
}
