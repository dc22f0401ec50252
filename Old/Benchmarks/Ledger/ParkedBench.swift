import Foundation
import Ledger
import Logging
import PostgresTesting
import Purchases

/// What submissions that wait in a ledger cost the others: settles outcomes in a small ledger, beside many that are parked and
/// beside as many that are settled, by turns, and asks what a worker asks each second. Rows cost something because a ledger
/// with more of them is larger; the third ledger tells that apart from what waiting costs.
struct ParkedBench: Sendable {
    typealias BenchedLedger = LedgerStore & WaitingRoom

    let parked: Int
    /// Per run.
    let outcomes: Int
    let batch: Int
    let runs: Int
    /// Of each parked submission's receipt, in base64.
    let evidenceBytes: Int

    func measureSQLite() async throws -> ParkedMeasurement {
        let folder = FileManager.default.temporaryDirectory.appending(path: "grantor-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        func open() async throws -> [SQLiteLedger] {
            var ledgers: [SQLiteLedger] = []
            for index in 0..<3 {
                let path = folder.appending(path: "ledger\(index).db").path
                ledgers.append(
                    try await SQLiteLedger.open(
                        SQLiteLedgerConfiguration(path: path, migrate: true), logger: Self.silent))
            }
            return ledgers
        }
        let measurement = try await measure("SQLite", try await open()) { ledgers in
            // Closing moves the write-ahead log to the database; each starts with an empty one.
            for ledger in ledgers { try await ledger.close() }
            return try await open()
        }
        return measurement
    }

    func measurePostgres() async throws -> ParkedMeasurement {
        let server = try await PostgresServer.start()
        var schemas: [String] = []
        var ledgers: [PostgresLedger] = []
        for _ in 0..<3 {
            let new = try await NewPostgresLedger(on: server)
            ledgers.append(try await PostgresLedger.open(new.configuration, logger: Self.silent))
            schemas.append(new.schema)
        }
        let measurement = try await measure("PostgreSQL", ledgers) { [schemas] ledgers in
            // What autovacuum does within minutes, and the disk's work for what was filled in.
            for schema in schemas { try await server.query("VACUUM ANALYZE", schema: schema) }
            try await server.query("CHECKPOINT")
            return ledgers
        }
        for ledger in ledgers { await ledger.close() }
        try await server.close()
        return measurement
    }

    private static var silent: Logger { Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() } }

    /// - Parameters:
    ///   - ledgers: three that are empty.
    ///   - settleDown: has the disk's work for what was filled in done, and returns the ledgers.
    private func measure<Ledger: BenchedLedger>(
        _ name: String, _ ledgers: [Ledger], settleDown: ([Ledger]) async throws -> [Ledger]
    ) async throws -> ParkedMeasurement {
        var ledgers = ledgers
        let parking = try await park(ledgers[1])
        _ = try await settle(ledgers[2], count: parked, seed: 4)
        ledgers = try await settleDown(ledgers)
        // Plans and caches get warm, and are no part of it.
        for ledger in ledgers { _ = try await settle(ledger, count: batch * 40, seed: 3) }
        var rates: [[Double]] = [[], [], []]
        for run in 0..<max(1, runs) {
            for turn in 0..<3 {
                // Each comes first, second and last by turns: what a run leaves to the disk hits the next.
                let index = (run + turn) % 3
                rates[index].append(try await settle(ledgers[index], count: outcomes, seed: UInt64(10 + run)))
            }
        }
        let ledger = ledgers[1]
        let nothing = try await Self.milliseconds(20) {
            let due = try await ledger.takeDue("bench", limit: 64, for: .seconds(60), now: Self.now)
            guard due.isEmpty else { throw BenchFailure(description: "something is due") }
        }
        let backlog = try await Self.milliseconds(5) {
            let backlog = try await ledger.backlog()
            guard backlog.waiting == [.parked(.noAnswer): parked] else {
                throw BenchFailure(description: "\(backlog.waiting) are parked")
            }
        }
        let due = try await Self.milliseconds(10) {
            let batch = (0..<64).map { parking($0 + 1_000_000_000, delay: .zero) }
            _ = try await ledger.settle(batch, quarantines: [], now: Self.now)
        } then: {
            let due = try await ledger.takeDue(
                "bench", limit: 64, for: .seconds(60), now: Self.now.advanced(by: .seconds(1)))
            guard due.count == 64 else { throw BenchFailure(description: "\(due.count) of 64 are due") }
        }
        return ParkedMeasurement(
            name: name, parked: parked, parkedPerSecond: parking.perSecond, alone: rates[0], besideParked: rates[1],
            besideSettled: rates[2], nothingDue: nothing, takingDue: due, backlog: backlog)
    }

    private static var now: Timestamp { Timestamp(milliseconds: Int64(Date().timeIntervalSince1970 * 1000)) }

    /// - Returns: outcomes per second.
    private func settle(_ ledger: some BenchedLedger, count: Int, seed: UInt64) async throws -> Double {
        let batches = stride(from: 0, to: count, by: batch).map { start in
            (start..<min(start + batch, count)).map {
                LedgerWorkload.settlement($0 + Int(seed) * 100_000_000, seed: seed)
            }
        }
        let duration = try await ContinuousClock().measure {
            for batch in batches { _ = try await ledger.settle(batch, quarantines: [], now: Self.now) }
        }
        return Double(count) / (duration / .seconds(1))
    }

    private func park(_ ledger: some BenchedLedger) async throws -> Parking {
        let parking = Parking(evidence: String(repeating: "QUFB", count: max(1, evidenceBytes / 4)))
        let duration = try await ContinuousClock().measure {
            for start in stride(from: 0, to: parked, by: batch) {
                let batch = (start..<min(start + batch, parked)).map {
                    parking($0, delay: .seconds(86_400 + $0 % 900))
                }
                _ = try await ledger.settle(batch, quarantines: [], now: Self.now)
            }
        }
        return Parking(evidence: parking.evidence, perSecond: Double(parked) / (duration / .seconds(1)))
    }

    /// Median of some runs, each after a preparation that does not count.
    private static func milliseconds(
        _ runs: Int, _ prepare: () async throws -> Void, then body: () async throws -> Void
    ) async throws -> Double {
        var times: [Double] = []
        for _ in 0..<runs {
            try await prepare()
            times.append(try await ContinuousClock().measure { try await body() } / .milliseconds(1))
        }
        return times.sorted()[runs / 2]
    }

    private static func milliseconds(_ runs: Int, _ body: () async throws -> Void) async throws -> Double {
        try await milliseconds(runs, {}, then: body)
    }
}

/// Makes submissions that wait.
private struct Parking {
    let evidence: String
    var perSecond = 0.0

    func callAsFunction(_ index: Int, delay: Duration) -> Settlement {
        let granted = LedgerWorkload.settlement(index, seed: 9)
        let claimant = granted.claimant
        let submission = Submission(
            id: claimant.submissionID, userID: claimant.userID, bundleID: claimant.bundleID,
            evidence: .receipt(base64: EvidenceText(evidence)))
        return Settlement(
            claimant: claimant, fingerprint: granted.fingerprint, origin: granted.origin,
            receivedAt: granted.receivedAt, attempts: 4,
            decision: .wait(
                Waiting(.parked(.noAnswer), detail: "HTTP 503.", submission: submission, delay: delay)))
    }
}

/// One kind of ledger's figures.
struct ParkedMeasurement: Sendable {
    let name: String
    let parked: Int
    let parkedPerSecond: Double
    /// Outcomes per second, run by run: in a small ledger, beside what is parked, beside as many that are settled.
    let alone, besideParked, besideSettled: [Double]
    /// Milliseconds.
    let nothingDue, takingDue, backlog: Double

    static let header =
        "ledger       parked  parked/s  outcomes/s  beside parked  ratio  beside settled  ratio  "
        + "nothing due, ms  64 taken, ms  backlog, ms"

    /// For people: medians, and medians of each run's ratio.
    var text: String {
        String(
            format: "%@%9d  %8.0f  %11.0f  %13.0f  %5.2f  %14.0f  %5.2f  %15.2f  %12.1f  %11.0f",
            name.padding(toLength: 10, withPad: " ", startingAt: 0), parked, parkedPerSecond,
            Self.median(alone), Self.median(besideParked), Self.ratio(besideParked, alone),
            Self.median(besideSettled), Self.ratio(besideSettled, alone), nothingDue, takingDue, backlog)
    }

    private static func ratio(_ rates: [Double], _ base: [Double]) -> Double {
        median(zip(rates, base).map { $0 / $1 })
    }

    private static func median(_ values: [Double]) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }
}
