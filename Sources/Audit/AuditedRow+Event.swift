import Contract
import Ledger

extension AuditedRow {
    /// The submission that it is about, where it has an event.
    var claimant: Claimant? {
        switch content {
        case .grant(let grant): grant.claimant
        case .failure(let failure): failure.claimant
        case .later(let later): later?.claimant
        case .repeated, .waiting, .owed: nil
        }
    }

    /// When it was decided, if rows stand in the order of that: imported ones were written long afterwards.
    var orderedAt: Timestamp? {
        if case .grant(let grant) = content, grant.isImported { return nil }
        return decidedAt
    }

    /// When it was decided; nil for rows without such a moment, and those of a later version.
    var decidedAt: Timestamp? {
        switch content {
        case .grant(let grant): grant.grantedAt
        case .failure(let failure): failure.failedAt
        case .repeated(let repeated, _): repeated.answeredAt
        case .waiting, .owed, .later: nil
        }
    }

    var event: Event? {
        switch content {
        case .grant(let grant): GrantedEvent.event(of: grant)
        case .failure(let failure): FailedEvent.event(of: failure)
        case .repeated, .waiting, .owed, .later: nil
        }
    }

    /// The event that this row would make if it had been decided at another moment.
    /// - Parameter attempts: Of a failure, whose event says them; nil for those of the row.
    func event(decidedAt time: Timestamp, attempts: Int?) -> Event? {
        switch content {
        case .grant(let grant): GrantedEvent.event(of: grant.decided(at: time))
        case .failure(let failure): FailedEvent.event(of: failure.decided(at: time, attempts: attempts))
        case .repeated, .waiting, .owed, .later: nil
        }
    }

    /// The key under which the outbox owes its event.
    var outboxKey: OutboxKey? {
        switch content {
        case .grant(let grant): .granted(grant.reference, repeatOf: nil)
        case .failure(let failure): .failed(failure.claimant.submissionKey)
        case .repeated, .waiting, .owed, .later: nil
        }
    }

    var reference: GrantReference? {
        switch content {
        case .grant(let grant): grant.reference
        case .later(let later): later?.reference
        default: nil
        }
    }
}
