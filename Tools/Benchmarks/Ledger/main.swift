// Measures time and bytes of a grant in a ledger, with all indexes. Of SQLite it also measures the library's own part of
// the time.
//
//     ledger-bench FILE|URL [ROWS] [ROWS A COMMIT]
//
// The files FILE and FILE.bare must not exist yet, and the database of a URL (postgres://…) must be empty. Its bytes are
// what `SELECT pg_total_relation_size('grants')` says, its server's time what the system says of the server's process.
// Transaction ids ascend as Apple's do. Submissions have UUIDs of
// version 7, as producers should use. Users have random UUIDs, so each row changes a different page of their index,
// which is half of SQLite's part. With random submissions it is two pages.
import Contract
import Glibc
import Ledger
import LedgerPostgres
import LedgerSQLite

struct Bench {
    let rows: Int
    let batch: Int
    let ledger: any LedgerConnection & LedgerOperator
    let ownership = PartitionOwnership(
        partition: TopicPartition(topic: "receipts.submitted", partition: 0), generation: Generation(rawValue: 1))
    private var random = SystemRandomNumberGenerator()

    init(path: String, rows: Int, batch: Int) throws(LedgerError) {
        if path.hasPrefix("postgres") {
            let configuration = try PostgresLedgerConfiguration(url: path)
            try PostgresLedger.migrate(configuration)
            ledger = try PostgresLedger(configuration)
        } else {
            let configuration = SQLiteLedgerConfiguration(path: path)
            try SQLiteLedger.migrate(configuration)
            ledger = try SQLiteLedger(configuration)
        }
        self.rows = rows
        self.batch = batch
    }

    /// - Parameter first: The first 64 bits.
    private mutating func uuid(_ first: UInt64) -> String {
        let digits = Array(hex(first) + hex(random.next()))
        return [digits[0..<8], digits[8..<12], digits[12..<16], digits[16..<20], digits[20..<32]]
            .map { String($0) }.joined(separator: "-")
    }

    private func hex(_ word: UInt64) -> String {
        let text = String(word, radix: 16)
        return String(repeating: "0", count: 16 - text.count) + text
    }

    private mutating func decision(_ number: Int, _ product: Product) -> Decision? {
        let now = SQLiteLedgerConfiguration.wallClock()
        let purchase = Purchase(
            transactionID: TransactionID("\(2_000_000_000_000_000 + number)"),
            originalTransactionID: TransactionID("\(2_000_000_000_000_000 + number)"), productID: product.id,
            environment: .production, purchasedAt: Timestamp(milliseconds: now.milliseconds - 30_000),
            payment: Payment(price: 990, currency: "EUR", storefront: "DEU"))
        guard let granted = GrantablePurchase(purchase, of: product) else { return nil }
        let submission = Submission(
            claimant: Claimant(
                submissionID: SubmissionID(uuid(UInt64(now.milliseconds) << 16 | 0x7000 | UInt64(number & 0xfff))),
                userID: UserID(uuid(random.next())), bundleID: "com.example.game", orderID: nil),
            evidence: .signedTransaction(""),
            origin: Origin(topic: "receipts.submitted", partition: 0, offset: Int64(number)), receivedAt: now)
        return Decision(
            subject: .submission(submission), source: .record(ownership),
            content: .grant([granted], by: .signedTransaction),
            attempts: 1, decidedAt: now)
    }

    mutating func run() throws(LedgerError) {
        _ = try ledger.takeOver([TakeOver(ownership: ownership, owner: "bench", committed: nil)])
        let product = Product(
            id: "com.example.gems.100", type: .consumable, items: [Item(item: "gems", quantity: 100)])
        var clock = Stopwatch()
        for number in stride(from: 0, to: rows, by: batch) {
            let decisions = (0..<batch).compactMap { decision(number + $0, product) }
            clock.start()
            let results = try ledger.write(decisions)
            clock.stop()
            guard results.allSatisfy({ if case .written(.granted(created: 1), _, _) = $0 { true } else { false } })
            else {
                print("a decision was not written")
                exit(1)
            }
        }
        print("\(rows) rows, \(batch) a commit: \(clock.perItem(rows))")
        try renderEvents()
    }

    /// The part of the above that makes events of rows.
    private func renderEvents() throws(LedgerError) {
        let grants = try ledger.grants(GrantQuery(limit: batch)).map(\.grant)
        var clock = Stopwatch()
        var bytes = 0
        clock.start()
        for number in 0..<rows { bytes += GrantedEvent.event(of: grants[number % grants.count]).value?.count ?? 0 }
        clock.stop()
        print("of it the events, \(bytes / rows) bytes each: \(clock.perItem(rows))")
    }
}

/// Processor and elapsed time of what lies between its starts and stops.
struct Stopwatch {
    private var elapsed: Int64 = 0
    private var processor: Int64 = 0

    private static func now(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    mutating func start() {
        elapsed -= Self.now(CLOCK_MONOTONIC)
        processor -= Self.now(CLOCK_THREAD_CPUTIME_ID)
    }

    mutating func stop() {
        elapsed += Self.now(CLOCK_MONOTONIC)
        processor += Self.now(CLOCK_THREAD_CPUTIME_ID)
    }

    func perItem(_ count: Int) -> String {
        func tenths(_ time: Int64) -> String {
            let tenths = time / 100 / Int64(count)
            return "\(tenths / 10).\(tenths % 10)"
        }
        return "\(tenths(processor)) us of CPU, \(tenths(elapsed)) us elapsed each"
    }
}

let arguments = CommandLine.arguments
guard arguments.count > 1 else {
    print("usage: ledger-bench FILE|URL [ROWS] [ROWS A COMMIT]")
    exit(64)
}
do {
    let (path, counts) = (arguments[1], arguments.dropFirst(2).map { max(1, Int($0) ?? 1) })
    let batch = counts.count > 1 ? counts[1] : 100
    var bench = try Bench(path: path, rows: counts.first ?? 100_000, batch: batch)
    try bench.run()
    if !path.hasPrefix("postgres") { try BareCopy(path: path, batch: batch).run() }
} catch {
    print("\(error)")
    exit(1)
}
