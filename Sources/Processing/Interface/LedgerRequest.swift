public import Contract
public import Ledger

/// A call to the ledger's second connection: ``LedgerConnection`` has one method for each case.
public struct LedgerRequest: Sendable {
    /// The method, with its parameters.
    public enum Call: Sendable {
        case takeOver([TakeOver])
        case knownOutcomes([Origin])
        case checkpoint([OffsetCheckpoint])
        case mark([CheckMark])
        case lookUp([GrantLookup])
        case takeDue([DueRequest], bytes: Int)
        case renew([LeaseRenewal])
        case giveBack(retries: [RetryLease], outbox: [OutboxLease])
        case owe([OutboxEntry])
        case takeOutbox([OutboxRequest])
        case report([OutboxReport])
        case measure(WorkerSign)
        case signOff(WorkerSign)
    }

    public let id: RequestID
    public let call: Call
}

/// The result of a ``LedgerRequest/Call``.
public enum LedgerResult: Sendable {
    case takenOver([TakeOverResult])
    case knownOutcomes([KnownOutcome])
    /// For each checkpoint, whether it still belongs to its generation.
    case checkpointed([Bool])
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

extension LedgerRequest.Call {
    /// Calls the ledger's method of this case.
    public func perform(on connection: any LedgerConnection) throws(LedgerError) -> LedgerResult {
        switch self {
        case .takeOver(let requests): return .takenOver(try connection.takeOver(requests))
        case .knownOutcomes(let origins): return .knownOutcomes(try connection.knownOutcomes(of: origins))
        case .checkpoint(let checkpoints): return .checkpointed(try connection.checkpoint(checkpoints))
        case .mark(let marks): return .marked(try connection.mark(marks))
        case .lookUp(let questions): return .lookedUp(try connection.lookUp(questions))
        case .takeDue(let requests, let bytes): return .due(try connection.takeDue(requests, bytes: bytes))
        case .renew(let renewals): return .renewed(try connection.renew(renewals))
        case .giveBack(let retries, let outbox):
            try connection.giveBack(retries: retries, outbox: outbox)
            return .done
        case .owe(let entries): return .owed(try connection.owe(entries))
        case .takeOutbox(let requests): return .outbox(try connection.takeOutbox(requests))
        case .report(let reports):
            try connection.report(reports)
            return .done
        case .measure(let worker): return .measured(try connection.measure(as: worker))
        case .signOff(let worker):
            try connection.signOff(worker)
            return .done
        }
    }
}
