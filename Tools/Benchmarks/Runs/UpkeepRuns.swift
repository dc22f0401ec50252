import Contract
import Foundation
import KafkaScanning
import PostgresTesting
import Scheduling

/// An import of grants that another system has given, into an empty ledger.
struct ImportRun {
    let programs: Programs
    let purchases: Int

    func figures() throws -> [Figure] {
        let stage = try Stage(programs, ledger: .postgres, latency: 0, calls: 1)
        let file = stage.folder + "/grants.jsonl"
        try write(to: file)
        let start = Instant.now
        let command = try stage.start([
            "grants", "import", file, "--apply", "--actor", "bench", "--reason", "measured", "--per-second", "1000000",
        ])
        var memory = 0.0
        try waitFor("the end of the import", atMost: .seconds(3600)) {
            memory = max(memory, command.peakMemory)
            return command.descriptors == 0
        }
        let seconds = (Instant.now - start) / .seconds(1)
        try command.finish()
        let count = try stage.database?.run("SELECT count(*) FROM grants", database: "grantor").flatMap { Int($0) }
        guard count == purchases else { throw BenchFailure("\(count ?? 0) of \(purchases) are imported") }
        try stage.end()
        return [
            Figure("imported", Double(purchases), ""),
            Figure("import", seconds, "s"),
            Figure("imported a second", Double(purchases) / seconds, "1/s", wanted: .atLeast(20_000)),
            Figure("memory", memory, "MB"),
        ]
    }

    private func write(to file: String) throws {
        guard FileManager.default.createFile(atPath: file, contents: nil),
            let handle = FileHandle(forWritingAtPath: file)
        else { throw BenchFailure("\(file) cannot be written") }
        var text = ""
        for number in 0..<purchases {
            let transaction = 1_000_000_000_000_000 + number
            text += """
                {"bundleId":"\(Stage.app)","environment":"production","transactionId":"\(transaction)",\
                "productId":"com.example.gems.100","type":"consumable","userId":"player-\(number * 7919 % purchases)",\
                "purchasedAt":"2025-03-01T10:00:00Z","grantedAt":"2025-03-01T10:00:05Z"}\n
                """
            if number % 10_000 == 9_999 || number == purchases - 1 {
                try handle.write(contentsOf: Data(text.utf8))
                text = ""
            }
        }
        try handle.close()
    }
}

/// The deletion of old failures, while grants are written at a steady pace.
struct PruneRun {
    let programs: Programs
    let failures: Int
    /// Rows a second that the command may delete.
    let pace: Int

    func figures() throws -> [Figure] {
        let stage = try Stage(programs, ledger: .postgres, latency: 0, calls: 1)
        let ledger = try FilledLedger(stage)
        try ledger.fillFailures(failures)
        let before = try ledger.write(for: .seconds(60))
        let start = Instant.now
        let command = try stage.start([
            "prune", "--older-than", "90d", "--apply", "--actor", "bench", "--reason", "measured", "--per-second",
            "\(pace)",
        ])
        let meanwhile = try ledger.write { command.descriptors == 0 }
        let seconds = (Instant.now - start) / .seconds(1)
        try command.finish()
        let left = try stage.database?.run("SELECT count(*) FROM answers", database: "grantor").flatMap { Int($0) }
        // The one that the others were made after is new.
        guard left == 1 else { throw BenchFailure("\(left ?? 0) failures are left") }
        try stage.end()
        return [
            Figure("deleted a second", Double(failures) / seconds, "1/s"),
            Figure("99 of 100 writes before within", before.times.at(99), "ms"),
            Figure("99 of 100 writes meanwhile within", meanwhile.times.at(99), "ms"),
            Figure(
                "meanwhile, times before", meanwhile.times.at(99) / max(1, before.times.at(99)), "",
                wanted: .atMost(1.2)),
            Figure("half of the writes before within", before.times.at(50), "ms"),
            Figure("half of the writes meanwhile within", meanwhile.times.at(50), "ms"),
            Figure("writes meanwhile, times before", meanwhile.rate / before.rate, ""),
        ]
    }
}

/// Events that are published again, beside a worker under a steady load.
struct RepublishRun {
    let programs: Programs
    let events: Int
    /// Events a second that the command may publish.
    let pace: Int
    /// Submissions of the load, at a time and in a second.
    private static let steps = (batch: 100, pace: 1000)

    func figures() throws -> [Figure] {
        let stage = try Stage(programs, ledger: .postgres, latency: 0, calls: 1000)
        try FilledLedger(stage).fill(events)
        let end = Timestamp.now.rfc3339
        let load = try Load(stage)
        try stage.startWorker()
        try load.submit(5000, .signed)
        // The group has no offsets yet, so the worker reads all records again and publishes their events once more.
        let told = 2 * events + load.sentAt.count
        try waitFor("the worker's first events", atMost: .seconds(1800)) { try stage.count(of: .granted) >= told }
        let start = Instant.now
        let command = try stage.start([
            "events", "republish", "--to", end, "--apply", "--actor", "bench", "--reason", "measured", "--per-second",
            "\(pace)",
        ])
        var next = start
        while command.descriptors > 0 {
            for _ in 0..<Self.steps.batch { try load.submit(.signed) }
            next = next + Duration.seconds(1) * Self.steps.batch / Self.steps.pace
            EvenPace.wait(until: next)
        }
        let seconds = (Instant.now - start) / .seconds(1)
        try command.finish()
        try load.flush()
        let (copies, ended) = (3 * events + load.sentAt.count, Instant.now)
        try waitFor("the load's grants", atMost: .seconds(60), every: 20) {
            try stage.count(of: .granted) >= copies
        }
        let late = (Instant.now - ended) / .seconds(1)
        let (exact, others) = try copied(stage)
        try stage.end()
        return [
            Figure("published again", Double(exact - events), "", wanted: .atLeast(Double(events))),
            Figure("copies with other bytes", Double(others), "", wanted: .atMost(0)),
            Figure("published a second", Double(events) / seconds, "1/s", wanted: .atLeast(0.95 * Double(pace))),
            Figure("load of the worker", Double(load.sentAt.count - 5000) / seconds, "1/s"),
            Figure("the worker's last grants, after the load", late, "s", wanted: .atMost(2)),
        ]
    }

    /// - Returns: events that came a second time with the same bytes, and with others.
    private func copied(_ stage: Stage) throws -> (exact: Int, others: Int) {
        var bytes: [String: Int] = [:]
        var (exact, others) = (0, 0)
        try stage.scan.read(topics: [Topic.granted.defaultName]) { batch in
            for record in batch.records {
                let id = record.headers.first { $0.name == "ce_id" }?.value ?? []
                var hasher = Hasher()
                hasher.combine(record.key)
                hasher.combine(record.value)
                for header in record.headers {
                    hasher.combine(header.name)
                    hasher.combine(header.value)
                }
                let hash = hasher.finalize()
                guard let former = bytes.updateValue(hash, forKey: String(decoding: id, as: UTF8.self)) else {
                    continue
                }
                if former == hash { exact += 1 } else { others += 1 }
            }
            return true
        }
        return (exact, others)
    }
}
