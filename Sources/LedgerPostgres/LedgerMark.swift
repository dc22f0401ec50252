import Synchronization

/// The database behind a session: the ledger's id, and the timeline of its write-ahead log, which rises with each
/// promotion of a standby.
struct LedgerPlace: Hashable, Sendable {
    let id: String
    /// Eight hexadecimal digits, which the text's order compares; ``standby`` for a standby's.
    let timeline: String

    static let standby = "standby"
}

/// The database that the connections of one process work with.
///
/// Behind a proxy a promoted standby looks like the same session: the worker's generations hold, and nobody misses the
/// lost writes. So every transaction compares its ``LedgerPlace`` with the session's, and the sessions of a process
/// compare theirs with each other.
final class LedgerMark: Sendable {
    private let place = Mutex<LedgerPlace?>(nil)

    /// Most decisions that are written at once: half of a batch that took the server too long, and one more after each
    /// part. A session that was closed for it hands that on to the next one.
    let mostWritten = Mutex(Int.max)

    /// Whether a session of this process was opened before.
    var wasOpened: Bool { place.withLock { $0 != nil } }

    /// Remembers where a new session is. The other sessions are lost if that is a later timeline.
    /// - Throws: `.unreachable` for a ``LedgerPlace`` that a later one has replaced: a primary that does not know of
    ///   its end. The error is `.another` for another ledger: all work of this process is the former ledger's. A new
    ///   process looks whether the group's offsets go with it.
    func open(_ found: LedgerPlace) throws(PostgresFailure) {
        try place.withLock { (place) throws(PostgresFailure) in
            if let known = place {
                guard known.id == found.id else {
                    throw .another("it is the ledger \(found.id) now, and was the ledger \(known.id)")
                }
                guard found.timeline >= known.timeline else {
                    throw .unreachable("this server does not know that a standby has taken its place")
                }
            }
            place = found
        }
    }

    /// Whether a session's ``LedgerPlace`` is the process's.
    func isPresent(_ session: LedgerPlace) -> Bool { place.withLock { $0 == session } }
}
