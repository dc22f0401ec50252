import Ledger

/// A record whose fate is decided and not yet in the ledger.
struct Settled: Sendable {
    /// Indirect, so that lists of them hand on references.
    indirect enum Fate: Sendable {
        case submission(Settlement)
        case quarantine(Quarantine)
    }

    /// Nil for a submission that came from the ledger: it holds no offset, and no place in the window.
    let ticket: Ticket?
    /// What the record weighs in the window.
    let weight: Int
    let fate: Fate
}
