import Contract
import Glibc
import LibcurlCalls
import Scheduling

/// The worker's CPU and memory for submissions that are all there when it goes on, beside the part that cannot be
/// spared: OpenSSL's verification of a signature, or libcurl's call.
struct CostRun {
    /// Most memory, in MB.
    static let memory = 150
    /// Most calls at once, the worker's default.
    private static let connections = 1000
    private static let receiptBytes = 8192
    private let options: Options

    init(_ options: Options) { self.options = options }

    func run() throws -> Bool {
        let world = try World(options)
        let traffic = try Traffic(world)
        var report = Report()
        let isReceipts = options.evidence == .receipt
        // The start and the connections are paid with a first part.
        let first = isReceipts ? 4 * Self.connections : 100
        let all = first + options.submissions
        let receipts = isReceipts ? try (0..<all).map { _ in try traffic.receipt(bytes: Self.receiptBytes) } : []
        func send(_ number: Int) throws {
            if isReceipts {
                traffic.submit("order-\(number)", receipts[number])
            } else {
                try traffic.signed("order-\(number)", app: number)
            }
        }
        for number in 0..<first { try send(number) }
        try traffic.flush()
        let worker = try world.start()
        _ = try TopicJudge(expected: traffic.expected, scan: world.scan).wait(.seconds(60))
        worker.signal(SIGSTOP)
        for number in first..<all { try send(number) }
        try traffic.flush()
        let speed = try isReceipts ? nil : Self.verification()
        let (start, before) = (Instant.now, worker.processorTime)
        worker.signal(SIGCONT)
        let judge = TopicJudge(expected: traffic.expected, scan: world.scan)
        var (memory, descriptors) = (0, 0)
        // Its own grants are counted in the ledger's file, at the price of a query now and then.
        look(every: 200, for: .seconds(300)) {
            (memory, descriptors) = (max(memory, worker.memory), max(descriptors, worker.descriptors))
            return LedgerTables(world.ledger).count("grants") >= traffic.expected.count
        }
        let (used, took) = (worker.processorTime - before, Double((Instant.now - start).wholeMilliseconds) / 1000)
        let each = used * 1_000_000 / Double(options.submissions)
        say(
            "\(options.submissions) \(isReceipts ? "receipts" : "signed transactions"): \(tenths(each)) us of CPU each, "
                + "\(Int(Double(options.submissions) / took)) a second, with \(descriptors) open files")
        if let speed {
            let openssl = (speed + (try Self.verification())) / 2
            say(
                "openssl speed: \(tenths(openssl)) us a verification; the rest is \(tenths(each - openssl)) us, 45 wanted"
            )
        } else {
            let curl = try bareCalls(world, receipts)
            say("libcurl alone: \(tenths(curl)) us a call; the rest is \(tenths(each - curl)) us, 55 wanted")
        }
        say("memory was at most \(worker.peakMemory) MB, seen were \(memory)")
        report.expect(worker.peakMemory <= Self.memory, "memory: \(worker.peakMemory) MB, more than \(Self.memory)")
        _ = try judge.wait(.seconds(60))
        report.stop([worker])
        report.add(try judge.judge(ledger: world.ledger))
        return report.end(world)
    }

    /// The same calls to the same server, over as many connections.
    private func bareCalls(
        _ world: World, _ receipts: [(text: String, transaction: String)]
    ) throws -> Double {
        guard let url = world.environment["GRANTOR_VERIFY_RECEIPT_PRODUCTION_URL"],
            let caFile = world.environment["GRANTOR_APPLE_CA_FILE"]
        else { throw ChaosFailure("the stand-in for Apple has no address") }
        let bodies = receipts.map { Array(#"{"receipt-data":"\#($0.text)","exclude-old-transactions":false}"#.utf8) }
        return try LibcurlCalls(url: url, caFile: caFile, bodies: bodies, connections: Self.connections).run()
    }

    /// Microseconds of a verification by `openssl speed`.
    private static func verification() throws(ChaosFailure) -> Double {
        guard let output = popen("openssl speed -seconds 3 ecdsap256 2>/dev/null", "r") else {
            throw ChaosFailure("cannot start openssl")
        }
        defer { pclose(output) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, output) != nil {}
        let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
        // The last line ends with signatures and verifications a second.
        guard let rate = text.split(whereSeparator: \.isWhitespace).last.flatMap({ Double($0) }), rate > 0 else {
            throw ChaosFailure("openssl speed says nothing: is openssl installed?")
        }
        return 1_000_000 / rate
    }

    private func tenths(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}
