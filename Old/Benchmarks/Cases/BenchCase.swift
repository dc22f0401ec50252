/// What a run submits, how fast Apple is, and what the worker has for it.
struct BenchCase: Codable, Sendable {
    enum Evidence: String, Codable, CaseIterable, Sendable {
        /// App Store receipts, verified by Apple's verifyReceipt over HTTPS.
        case receipt
        /// StoreKit 2 signed transactions, verified in the worker.
        case signedTransaction
    }

    enum Ledger: String, Codable, CaseIterable, Sendable {
        /// A file of the worker's own.
        case sqlite
        /// A server of the run's own, every commit synced.
        case postgres
    }

    /// How long is measured.
    enum Window: Codable, Sendable {
        case submissions(Int)
        case seconds(Double)
    }

    static let partitions = 48

    var evidence = Evidence.receipt
    var ledger = Ledger.sqlite
    /// What Apple takes for each call; nothing is called for signed transactions.
    var latencyMilliseconds = 0
    var inFlight = 1000
    /// Bytes of a receipt before base64.
    var receiptBytes = 8_000
    var partitions = Self.partitions
    /// The processor cores that the worker may use, as taskset(1) takes them; nil for all.
    var cores: String?
    /// The cores of everybody else; nil for all.
    var otherCores: String?
    /// Grants in the ledger beforehand.
    var rows = 0
    /// Seconds before the measurement begins: groups are assigned, connections stand, certificates are known.
    var warmUpSeconds = 2.0
    var window = Window.submissions(20_000)

    /// For people.
    var name: String {
        switch (evidence, ledger) {
        case (.receipt, .sqlite): "receipts, \(latencyMilliseconds) ms"
        case (.receipt, .postgres): "receipts, \(latencyMilliseconds) ms, PostgreSQL"
        case (.signedTransaction, .sqlite): "signed, SQLite"
        case (.signedTransaction, .postgres): "signed, PostgreSQL"
        }
    }

    /// In flight divided by latency: no worker can be faster (Little's law); nil where nothing is waited for.
    var ceiling: Double? {
        latencyMilliseconds == 0 || evidence != .receipt
            ? nil : Double(inFlight) * 1000 / Double(latencyMilliseconds)
    }

    /// Submissions handed to the broker and not answered yet, at most: what the mock cluster holds with room to spare. It
    /// drops the oldest records of a partition beyond 5 MiB.
    var maxAhead: Int {
        // Signed transactions share their certificates, which compression leaves little of.
        let bytesEach = evidence == .receipt ? receiptBytes * 3 / 2 : 2_300
        return min(8_000, partitions * (5 << 20) * 3 / 4 / bytesEach)
    }
}
