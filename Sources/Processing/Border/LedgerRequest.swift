public import Contract
public import Ledger

/// A call to the ledger's second connection: ``LedgerConnection`` has one method for each case.
public struct LedgerRequest: Sendable {
    public enum Call: Sendable {
        case takeOver([TakeOver])
        case knownOutcomes([Origin])
        case note([OffsetNote])
        case mark([CheckMark])
        case lookUp([GrantLookup])
        case takeDue([DueRequest], bytes: Int)
        case renew([RetryLease])
        case giveBack(retries: [RetryLease], outbox: [OutboxLease])
        case owe([OutboxEntry])
        case takeOutbox([OutboxRequest])
        case report([OutboxReport])
        case measure
    }

    public let id: RequestID
    public let call: Call
}

/// What ``LedgerRequest/Call`` returned.
public enum LedgerAnswer: Sendable {
    case takenOver([TakeOverResult])
    case knownOutcomes([KnownOutcome])
    /// For each note, whether it still belongs to its generation.
    case noted([Bool])
    case marked([Bool])
    case lookedUp([GrantReference?])
    case due([DueRetry])
    /// For each lease, whether it is still this worker's.
    case renewed([Bool])
    /// For each entry, whether its generation still counts.
    case owed([Bool])
    case outbox([OutboxItem])
    case measured(LedgerMeasure)
    /// Of calls that return nothing.
    case done
}
