public import Contract
public import Ledger

/// A ledger in memory that decides as the real ones do. They are compared with it, and the simulator gives it to its
/// workers.
///
/// It has no clock of its own, and fails only on request. For one thread.
public final class LedgerModel {
    /// A method of a connection, as faults are chosen by it.
    public enum Call: Hashable, Sendable, CaseIterable {
        case identity, bind, takeOver, knownOutcomes, checkpoint, mark, write, lookUp, takeDue, renew, giveBack, owe,
            takeOutbox
        case report, measure, signOff
    }

    public enum Fault: Hashable, Sendable {
        /// Nothing was done, and the caller does not know it.
        case away
        /// It was done, and the caller does not know it.
        case unknown
        /// Nothing was done and the connection is gone: it stays so until ``ModelConnection/reconnect()``.
        case lost
    }

    /// The rows as they are now. A copy of an earlier moment may take their place, see ``setBack(to:)``.
    public internal(set) var tables: ModelTables
    /// The ledger's clock, by which rows are due and leases end.
    public var now: Timestamp
    /// Chooses the fault of each call.
    public var fault: ((Call) -> Fault?)?
    /// The next write in full form runs it once, between reading the answers and inserting the grants. It can write
    /// there by another connection, as two sessions whose statements have separate snapshots do.
    public var beforeInsertion: (() -> Void)?
    /// The next write in full form runs it once, between reading what is there and inserting the answers.
    public var beforeAnswering: (() -> Void)?
    /// The next write in full form does not see the holders of the keys that it was refused. Their transactions are not
    /// visible to its statement yet.
    public var hidesHolders = false
    /// Transactions that another session has added and not committed. Others are refused these keys, nobody sees them,
    /// and in the end they are rolled back.
    public var heldElsewhere: Set<GrantReference> = []
    /// Decisions whose data the database refuses.
    public var refuses: ((Decision) -> Bool)?
    /// Rises when every connection is lost.
    private(set) var epoch = 0

    public init(id: String = "model", now: Timestamp) {
        tables = ModelTables(id: id)
        self.now = now
    }

    /// Puts an earlier state in place of the present one, as a failover or a restored backup does. Every connection is
    /// lost.
    public func setBack(to tables: ModelTables) {
        self.tables = ModelTables(copying: tables)
        epoch += 1
    }

    public func connection() -> ModelConnection { ModelConnection(self) }
}

/// A connection to a ``LedgerModel``.
public final class ModelConnection {
    let model: LedgerModel
    /// The model does not know this host's clock: a caller that wants a difference sets it.
    public var clockLead: Int64 = 0
    private var epoch: Int
    private var isLost = false

    init(_ model: LedgerModel) {
        self.model = model
        epoch = model.epoch
    }

    /// Connects anew after `.disconnected`.
    public func reconnect() {
        epoch = model.epoch
        isLost = false
    }

    var now: Int64 { model.now.milliseconds }

    func call<Value>(_ call: LedgerModel.Call, _ body: () -> Value) throws(LedgerError) -> Value {
        guard !isLost, epoch == model.epoch else {
            isLost = true
            throw .disconnected(detail: "the connection is gone")
        }
        switch model.fault?(call) {
        case nil: return body()
        case .away: throw .unavailable(detail: "away")
        case .unknown:
            _ = body()
            throw .unavailable(detail: "the answer was lost")
        case .lost:
            isLost = true
            throw .disconnected(detail: "the connection is gone")
        }
    }

    func isOwned(_ ownership: PartitionOwnership) -> Bool {
        model.tables.partitions[ownership.partition]?.generation == ownership.generation
    }

    func isOwned(_ lease: RetryLease) -> Bool { model.tables.retries.isOwned(lease) }

    func isOwned(_ lease: OutboxLease) -> Bool {
        guard let row = model.tables.outbox[lease.key] else { return false }
        return row.lease == lease.number && row.step == lease.step
    }
}
