// What a grant costs in the embedded ledger: time and bytes, with all indexes.
//
//     ledger-bench FILE [ROWS] [ROWS A COMMIT]
//
// The file must not be there yet. Transactions ascend as Apple's do, submissions have UUIDs of version 7 as producers are
// recommended, and users have random ones. With random submissions a row touches one more page, which costs half as much again.
import Contract
import Glibc
import Ledger
import LedgerSQLite

struct Bench {
    let rows: Int
    let batch: Int
    let ledger: SQLiteLedger
    let ownership = PartitionOwnership(
        partition: TopicPartition(topic: "receipts.submitted", partition: 0), generation: Generation(rawValue: 1))
    private var random = SystemRandomNumberGenerator()

    init(path: String, rows: Int, batch: Int) throws(LedgerError) {
        let configuration = SQLiteLedgerConfiguration(path: path)
        try SQLiteLedger.migrate(configuration)
        ledger = try SQLiteLedger(configuration)
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
            submission: submission, source: .record(ownership), content: .grant([granted], by: .signedTransaction),
            attempts: 1, decidedAt: now)
    }

    mutating func run() throws(LedgerError) {
        _ = try ledger.takeOver([TakeOver(ownership: ownership, owner: "bench", committed: nil)])
        let product = Product(
            id: "com.example.gems.100", type: .consumable, items: [Item(item: "gems", quantity: 100)])
        var wall: Int64 = 0
        var cpu: Int64 = 0
        var number = 0
        while number < rows {
            let decisions = (0..<batch).compactMap { decision(number + $0, product) }
            number += batch
            let (began, beganCPU) = (time(CLOCK_MONOTONIC), time(CLOCK_THREAD_CPUTIME_ID))
            let results = try ledger.write(decisions)
            wall += time(CLOCK_MONOTONIC) - began
            cpu += time(CLOCK_THREAD_CPUTIME_ID) - beganCPU
            guard results.allSatisfy({ if case .written(.granted(created: 1), _) = $0 { true } else { false } }) else {
                print("a decision was not written")
                exit(1)
            }
        }
        print("\(rows) rows, \(batch) a commit: \(micros(cpu)) us of CPU and \(micros(wall)) us a row, events rendered")
    }

    private func time(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    private func micros(_ nanoseconds: Int64) -> String {
        let tenths = nanoseconds / 100 / Int64(max(1, rows))
        return "\(tenths / 10).\(tenths % 10)"
    }
}

let arguments = CommandLine.arguments
guard arguments.count > 1 else {
    print("usage: ledger-bench FILE [ROWS] [ROWS A COMMIT]")
    exit(64)
}
do {
    var bench = try Bench(
        path: arguments[1], rows: arguments.count > 2 ? Int(arguments[2]) ?? 100_000 : 100_000,
        batch: arguments.count > 3 ? max(1, Int(arguments[3]) ?? 100) : 100)
    try bench.run()
} catch {
    print("\(error)")
    exit(1)
}
