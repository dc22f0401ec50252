import Contract
import Ledger
import Processing
import Scheduling

/// One worker process from its start to its end, with all that its drivers know.
final class Life {
    /// Which of the fleet's places it has.
    let place: Int
    let name: String
    /// Its name in the ledger.
    var owner = ""
    /// How far its wall clock is off, in milliseconds.
    let clockError: Int64
    var core: WorkerCore
    var isAlive = true
    var isStopping = false

    /// News that the core has not taken yet.
    var inbox: [Input] = []
    /// Its core has nothing in flight, and wants no turn for a while.
    var isIdle = false
    /// Nothing of the process moves before this.
    var frozenUntil: Instant?

    struct Reading {
        let id: AssignmentID
        let partition: Int32
        var position: Int64
        /// The partition has lost its end below the position.
        var isOutOfRange = false
        /// The core hears of it.
        var hasGoneBack = false
    }
    var reading: [Reading] = []
    /// Totals since the process's start.
    var demand = (records: Int64(0), bytes: Int64(0))
    var delivered = (records: Int64(0), bytes: Int64(0))
    /// The consumer's news keep their order.
    var consumerAt = Instant(nanoseconds: 0)
    var isDelivering = false
    /// Batches that the ledger has, for the judge.
    var batches: [BatchID: [Decision]] = [:]
    /// Endpoints that asked for fewer calls, by the submissions whose answers are on their way.
    var limiting: [SubmissionToken: Endpoint] = [:]
    /// Of its latest configuration.
    var version = 0

    /// The differences of its configuration from the fleet's.
    struct Configuration: Sendable {
        /// The verdict on claims on which checks differ; nil if it varies.
        var verifies: Bool?
        /// Whether it knows the fulfilment service.
        var hasService = true
        var repeats: RepeatPolicy?
        /// An app that it does not have yet: its submissions are held.
        var unknownApp: BundleID?
        /// A product that its apps file lacks as yet: submissions whose newest purchase is of it are held.
        var unlisted: ProductID?
    }

    /// Its commits reach the coordinator in order.
    var commitAt = Instant(nanoseconds: 0)
    /// The terms of its partitions, as far as it knows, and those of assignments on their way.
    var terms: [Int32: Int] = [:]
    var coming: [[Int32: Int]] = []

    // The ledger's connections: each takes one call after the other.
    var writerAt = Instant(nanoseconds: 0)
    var sideAt = Instant(nanoseconds: 0)
    /// How often the ledger was lost, as the core knows by now, for each connection.
    var writerEpoch: Int
    var sideEpoch: Int
    /// It learns of that in this turn. It may still begin work of the former ledger.
    var isLearning = false

    init(
        place: Int, core: consuming WorkerCore, clockError: Int64, epoch: Int, number: Int
    ) {
        self.place = place
        name = "worker-\(place)-\(number)"
        self.core = core
        self.clockError = clockError
        writerEpoch = epoch
        sideEpoch = epoch
    }
}

extension Life.Configuration {
    /// As a task carries it; that of a whole fleet where it carries none.
    init(_ apps: AppsSnapshot) { self = apps.content as? Life.Configuration ?? Life.Configuration() }

    /// The verdict on purchases that are genuine.
    func verdict(_ purchases: [GrantablePurchase], by verifiedBy: VerifiedBy) -> Verdict {
        if let unlisted, purchases.last?.product.id == unlisted {
            return .hold(
                .productNotConfigured, detail: "The product is not in the apps file.",
                purchases: purchases.map { NamedPurchase($0.purchase, as: $0.type) })
        }
        return .verified(purchases, by: verifiedBy)
    }
}
