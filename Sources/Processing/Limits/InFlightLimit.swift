/// Bounds the work in flight: submissions read or due, and rows of the outbox, in number, bytes and purchases.
///
/// Records, due rows and outbox rows have an allowance each, so that none takes the room that another needs to drain.
/// Records that were demanded and have not come yet count, too.
struct InFlightLimit: Sendable {
    /// Where something in flight comes from.
    enum Source: Sendable {
        case record, due
    }

    private struct Usage: Sendable {
        var count = 0
        var bytes: Int64 = 0
    }

    /// With so many in flight for each of an endpoint's calls, the endpoint's gate may make all calls at once. Three
    /// eighths are records at gates, and one gate makes calls for a third of these.
    static let submissionsPerCall = 8

    let count: Int
    let bytes: Int64
    let purchases: Int
    private var records = Usage()
    private var due = Usage()
    private(set) var purchasesInFlight = 0
    private(set) var demand = Demand()
    private var delivered = Demand()

    init(count: Int, bytes: Int64, purchases: Int) {
        self.count = max(count, 16)
        self.bytes = max(bytes, 1)
        self.purchases = max(purchases, 1)
    }

    /// An eighth of all is for due rows, and an eighth for rows of the outbox.
    var dueCount: Int { count / 8 }
    var outboxCount: Int { count / 8 }
    var recordCount: Int { count - dueCount - outboxCount }
    private var dueBytes: Int64 { bytes / 8 }
    private var recordBytes: Int64 { bytes - dueBytes }
    /// Submissions that all gates together may hold. The other half is for submissions that need no gate.
    var gateCount: Int { count / 2 }
    /// The records among them.
    var gateRecordCount: Int { gateCount - dueCount }

    /// How much of their allowance records at gates use, in number or in bytes, whichever is more.
    func crowding(recordsAtGates: Int, bytesAtGates: Int64) -> Crowding {
        let share = max(Double(recordsAtGates) / Double(gateRecordCount), Double(bytesAtGates) / Double(recordBytes))
        return share >= Crowding.mostlyFrom ? .mostly : share >= Crowding.halfFrom ? .half : .little
    }

    var bytesInFlight: Int64 { records.bytes + due.bytes }

    /// The consumer delivered records, whatever becomes of them.
    mutating func countDelivered(records: Int, bytes: Int64) {
        delivered.records += Int64(records)
        delivered.bytes += bytes
    }

    mutating func take(_ source: Source, bytes: Int64) {
        switch source {
        case .record:
            records.count += 1
            records.bytes += bytes
        case .due:
            due.count += 1
            due.bytes += bytes
        }
    }

    mutating func release(_ source: Source, bytes: Int64, purchases: Int) {
        switch source {
        case .record:
            records.count -= 1
            records.bytes -= bytes
        case .due:
            due.count -= 1
            due.bytes -= bytes
        }
        purchasesInFlight -= purchases
    }

    /// Purchases are known once a submission is verified.
    mutating func take(purchases: Int) { purchasesInFlight += purchases }

    /// Due rows that may be taken. One is beyond the bound of purchases, too: submissions with more of them may wait for
    /// room in `retries`, which due rows alone make.
    var dueRoom: Int { max(0, (purchasesInFlight > purchases ? 1 : dueCount) - due.count) }
    var dueBytesRoom: Int64 { max(0, dueBytes - due.bytes) }
    /// Whether a quarter of what due rows may have is free.
    var isDueRoomWorthACall: Bool { dueRoom * 4 >= dueCount && dueBytesRoom * 4 >= dueBytes }

    private func room(undecided: Int) -> Int {
        min(recordCount - records.count, gateRecordCount - undecided)
    }

    /// Whether no record may be read before something has left.
    func isUsedUp(undecided: Int) -> Bool {
        purchasesInFlight > purchases || room(undecided: undecided) <= 0 || recordBytes <= records.bytes
    }

    /// Raises the demand to the rest of the limit, if that is worth a message to the consumer.
    /// - Parameter undecided: records that wait for Apple, or may have to. They may fill the gates' part beside the due
    ///   rows, and demanded records may be more of them.
    mutating func raiseDemand(undecided: Int) -> Demand? {
        guard purchasesInFlight <= purchases else { return nil }
        let asked = max(0, demand.records - delivered.records)
        let askedBytes = max(0, demand.bytes - delivered.bytes)
        let room = room(undecided: undecided)
        let bytesRoom = recordBytes - records.bytes
        // One record of any size passes alone.
        guard room > 0, bytesRoom > 0 else { return nil }
        let isLow = asked * 2 < Int64(room) || askedBytes * 2 < bytesRoom
        let next = Demand(
            records: max(demand.records, delivered.records + Int64(room)),
            bytes: max(demand.bytes, delivered.bytes + bytesRoom))
        guard isLow, next != demand else { return nil }
        demand = next
        return demand
    }

    /// Whether records are asked for that have not been delivered.
    var isDemanding: Bool { demand.records > delivered.records && demand.bytes > delivered.bytes }

    /// Takes back the undelivered demand: nothing more is to come for now.
    mutating func withdrawDemand() -> Demand? {
        guard demand.records > delivered.records else { return nil }
        demand = delivered
        return demand
    }
}
