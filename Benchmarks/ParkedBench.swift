import Foundation
import Ledger
import Logging
import PostgresTesting
import Purchases

/// What submissions that wait in a ledger cost the others: settles outcomes, parks many submissions, settles as many
/// outcomes again, and asks what a worker asks each second.
struct ParkedBench: Sendable {
    typealias BenchedLedger = LedgerStore & WaitingRoom

    let parked: Int
    let outcomes: Int
    let batch: Int
    /// Of each parked submission's receipt, in base64.
    let evidenceBytes: Int

    func measureSQLite() async throws -> ParkedMeasurement {
        let folder = FileManager.default.temporaryDirectory.appending(path: "grantor-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let ledger = try await SQLiteLedger.open(
            SQLiteLedgerConfiguration(path: folder.appending(path: "ledger.db").path, migrate: true),
            logger: Self.silent)
        let measurement = try await measure("SQLite", ledger) {}
        try await ledger.close()
        return measurement
    }

    func measurePostgres() async throws -> ParkedMeasurement {
        let server = try await PostgresServer.start()
        let schema = try await server.freshSchema()
        guard let configuration = PostgresLedgerConfiguration(url: server.url(schema: schema)) else {
            throw BenchFailure(description: "the URL cannot be read")
        }
        _ = try await PostgresLedger.migrate(configuration)
        let ledger = try await PostgresLedger.open(configuration, logger: Self.silent)
        let measurement = try await measure("PostgreSQL", ledger) {
            // What autovacuum does within minutes, and the disk's work for the parked rows.
            try await server.query("VACUUM ANALYZE submissions", schema: schema)
            try await server.query("VACUUM ANALYZE waiting", schema: schema)
            try await server.query("CHECKPOINT")
        }
        await ledger.close()
        try await server.stop()
        return measurement
    }

    private static var silent: Logger { Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() } }

    private func measure(
        _ name: String, _ ledger: some BenchedLedger, settleDown: () async throws -> Void
    ) async throws -> ParkedMeasurement {
        // Plans and caches get warm, and are no part of it.
        _ = try await settle(ledger, count: batch * 20, seed: 3)
        let before = try await settle(ledger, count: outcomes, seed: 1)
        let parking = try await park(ledger)
        try await settleDown()
        let after = try await settle(ledger, count: outcomes, seed: 2)
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
            name: name, parked: parked, parkedPerSecond: parking.perSecond, before: before, after: after,
            nothingDue: nothing, takingDue: due, backlog: backlog)
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
            evidence: .receipt(base64: evidence))
        return Settlement(
            claimant: claimant, fingerprint: granted.fingerprint, origin: granted.origin,
            receivedAt: granted.receivedAt, attempts: 4,
            decision: .wait(
                Waiting(.parked(.noAnswer), detail: "HTTP 503.", submission: submission, delay: delay)))
    }
}

/// One ledger's figures.
struct ParkedMeasurement: Sendable {
    let name: String
    let parked: Int
    let parkedPerSecond: Double
    /// Outcomes per second without and with them.
    let before, after: Double
    /// Milliseconds.
    let nothingDue, takingDue, backlog: Double

    /// For people.
    static func text(_ measurements: [ParkedMeasurement]) -> String {
        let lines = measurements.map { found in
            String(
                format: "%@%9d  %8.0f  %11.0f  %12.0f  %5.2f  %15.2f  %12.1f  %7.0f",
                found.name.padding(toLength: 10, withPad: " ", startingAt: 0), found.parked, found.parkedPerSecond,
                found.before, found.after, found.after / found.before, found.nothingDue, found.takingDue,
                found.backlog)
        }
        let header =
            "ledger       parked  parked/s  outcomes/s   beside them  ratio  nothing due, ms  64 taken, ms  backlog, ms"
        return ([header] + lines).joined(separator: "\n")
    }
}
