import CommandParser
import Contract
import Foundation
import Ledger
import Testing

@testable import Commands

@Suite("grantor audit")
struct AuditCommandTests {
    private var grantor: SampleRun

    init() throws {
        grantor = try SampleRun()
        grantor.environment["GRANTOR_KAFKA_BOOTSTRAP_SERVERS"] = "kafka:9092"
        grantor.environment["TMPDIR"] = grantor.folder
        grantor.cluster = .complete
    }

    /// A record was passed, and the ledger has nothing of it.
    private mutating func lose() {
        grantor.topics.records[.submitted] = [
            FixedTopics.record(.submitted, 0, #"{"submissionId": "gone", "userId": "u", "bundleId": "com.example.x"}"#)
        ]
        grantor.topics.committed = 1
    }

    @Test("What holds ends with 0 and its counts")
    func holds() {
        let result = grantor("audit")
        #expect(result.status == .done)
        #expect(result.errors == "")
        #expect(result.output.hasPrefix("Holds: everything was looked at.\n  complete records    0\n"))
    }

    @Test("What is broken ends with 1, and is named with its place")
    mutating func broken() {
        lose()
        let result = grantor("audit")
        #expect(result.status == .failed)
        #expect(result.errors == "grantor: 1 thing is not as it has to be\n")
        #expect(result.output.contains("Broken: 1 inconsistency.\n"))
        #expect(
            result.output.contains("record_without_outcome  com.example.x  gone        u     receipts.submitted/0/0"))
        let none = grantor("audit --limit 0")
        #expect(none.output.contains("FOUND  KIND"))
        #expect(!none.output.contains("receipts.submitted/0/0"))
    }

    @Test("An answer that cannot be written ends with 2, unless something is broken, and no checkpoint is written")
    mutating func unwritten() {
        grantor.outputFailure = CommandFailure(.failed, "the disk is full")
        let file = grantor.folder + "/audited.json"
        let whole = grantor("audit --checkpoint \(file)")
        #expect(whole.status == .incomplete)
        #expect(whole.errors == "grantor: the disk is full\n")
        #expect(!FileManager.default.fileExists(atPath: file))
        lose()
        #expect(grantor("audit").status == .failed)
    }

    @Test("An empty TMPDIR counts as none")
    func emptyFolder() {
        #expect(AuditCommand.temporaryFolder(["TMPDIR": ""]) == "/tmp")
        #expect(AuditCommand.temporaryFolder(["TMPDIR": "/var/tmp"]) == "/var/tmp")
        #expect(AuditCommand.temporaryFolder([:]) == "/tmp")
    }

    @Test("JSON has the verdict, the counts, and every inconsistency")
    mutating func json() throws {
        lose()
        let result = grantor("audit --json")
        let answer = try #require(try JSONSerialization.jsonObject(with: Data(result.output.utf8)) as? [String: Any])
        #expect(answer["verdict"] as? String == "broken")
        #expect((answer["counts"] as? [String: Any])?["records"] as? Int == 1)
        let named = try #require(answer["inconsistencies"] as? [[String: Any]])
        #expect(named.first?["kind"] as? String == "record_without_outcome")
        #expect(named.first?["submissionId"] as? String == "gone")
        #expect(named.first?["offset"] as? Int == 0)
        #expect(named.first?["mendable"] as? Bool == false)
    }

    @Test("What could not be looked at ends with 2")
    mutating func incomplete() {
        grantor.ledger.show(.later(nil), in: .outbox)
        let result = grantor("audit")
        #expect(result.status == .incomplete)
        #expect(result.output.hasPrefix("Incomplete: what was looked at holds, and something was not looked at.\n"))
        #expect(result.output.contains("later_version  ledger"))
        #expect(result.errors == "grantor: not everything was looked at, and nothing is said about the rest\n")
    }

    @Test("An audit that cannot be made says nothing about anything")
    mutating func impossible() {
        grantor.ledger.refuse(.unavailable(detail: "busy"))
        let result = grantor("audit")
        #expect(result.status == .incomplete)
        #expect(result.output == "")
        #expect(result.errors.hasPrefix("grantor: nothing was audited: the ledger does not do it now: "))
    }

    @Test("A repair says who and why, and what is left")
    mutating func repair() {
        grantor.topics.records[.submitted] = [FixedTopics.record(.submitted, 0, "no JSON")]
        grantor.topics.committed = 1
        let words = ["audit", "--repair", "--actor", "anna", "--reason", "lost topic"]
        let result = grantor.run(words)
        #expect(result.status == .done)
        #expect(result.output.hasSuffix("\n1 event is in the outbox; workers publish it.\n"))
        #expect(grantor.ledger.questions.contains("repair 1 by anna: lost topic"))
        lose()
        let other = grantor.run(words)
        #expect(other.status == .failed)
        #expect(other.errors == "grantor: 0 of 1 inconsistencies are mended by events in the outbox, 1 are not\n")
    }

    @Test("A repair that fails leaves broken what is broken")
    mutating func failedRepair() {
        grantor.topics.records[.submitted] = [FixedTopics.record(.submitted, 0, "no JSON")]
        grantor.topics.committed = 1
        grantor.ledger.refuseRepairs(.unavailable(detail: "busy"))
        let result = grantor.run(["audit", "--repair", "--actor", "anna", "--reason", "lost topic"])
        #expect(result.status == .failed)
        #expect(result.output.hasPrefix("Broken: 1 inconsistency.\n"))
        let line = "the ledger has not confirmed it: it may be done or not; look before you call again: busy"
        #expect(result.errors == "grantor: \(line)\n")
        grantor.ledger.refuseRepairs(.unusable(detail: "no ledger"))
        let refused = grantor.run(["audit", "--repair", "--actor", "anna", "--reason", "lost topic"])
        #expect(refused.errors == "grantor: nothing was repaired: the ledger cannot be used: no ledger\n")
    }

    @Test("A repair that fails on the way says how much of it was done")
    mutating func failedAmidRepair() {
        grantor.topics.records[.submitted] = (0..<700).map { FixedTopics.record(.submitted, $0, "no JSON") }
        grantor.topics.committed = 700
        grantor.ledger.refuseRepairs(after: 1, .unavailable(detail: "busy"))
        let result = grantor.run(["audit", "--repair", "--actor", "anna", "--reason", "lost topic"])
        #expect(result.status == .failed)
        #expect(result.output.hasSuffix("\n500 events are in the outbox; workers publish them.\n"))
        let line = "500 events were put into the outbox; then the ledger has not confirmed it: it may be done or not; "
        #expect(result.errors.hasPrefix("grantor: \(line)"))
    }

    @Test("What is found in another group's ledger is not said to hold")
    mutating func foreign() {
        lose()
        grantor.ledger = FixedLedger(owner: ConsumerGroup(name: "another", cluster: "cluster-0") { $0.defaultName })
        let result = grantor("audit")
        #expect(result.status == .incomplete)
        #expect(
            result.output.hasPrefix(
                "Incomplete: the ledger is not of these settings, so what was found says nothing.\n"))
        #expect(result.output.contains("foreign_ledger"))
    }

    @Test(
        "Options that contradict each other are bad usage",
        arguments: [
            "audit --repair", "audit --repair --actor anna", "audit --actor anna --reason why",
            "audit --since yesterday", "audit --since 2026-11-21T00:00:00Z",
            "audit --since 2026-11-21T00:00:00Z --checkpoint there", "audit --limit -1",
        ])
    func usage(line: String) {
        let result = grantor(line)
        #expect(result.status == .usage)
        #expect(result.output == "")
    }

    /// The input's only record left its topic, and an audit with a checkpoint is asked for.
    /// - Returns: the checkpoint's file.
    private mutating func emptyInput() -> String {
        grantor.topics.records[.submitted] = [FixedTopics.record(.submitted, 1, "{}")]
        (grantor.topics.removed, grantor.topics.committed) = (1, 1)
        return grantor.folder + "/audited.json"
    }

    @Test("A checkpoint begins at a moment where a person says so: else that of an old ledger could never begin")
    mutating func checkpointOfOldLedger() throws {
        let file = emptyInput()
        #expect(grantor("audit --checkpoint \(file)").status == .incomplete)
        #expect(!FileManager.default.fileExists(atPath: file))
        let begun = grantor("audit --checkpoint \(file) --since 2023-11-14T22:13:20Z")
        #expect(begun.status == .done)
        #expect(begun.output.hasPrefix("Holds: everything since 2023-11-14T22:13:20.000Z was looked at.\n  complete"))
        #expect(try String(contentsOfFile: file, encoding: .utf8).contains("2023-11-14T22:03:20.000Z"))
    }

    @Test("A checkpoint knows what was judged, so that a partition may be empty after a time without records")
    mutating func checkpointOfQuietTopic() throws {
        let file = emptyInput()
        #expect(grantor("audit --checkpoint \(file) --since 2023-11-14T22:13:20Z").status == .done)
        #expect(
            try String(contentsOfFile: file, encoding: .utf8).contains(#""judged":{"receipts.submitted":{"0":1}}"#))
        // From the file's moment on records may have left the topic, and the last audit has judged them.
        #expect(grantor("audit --checkpoint \(file)").status == .done)
        try #"{"ledger":"\#(FixedLedger.id)","next":"2023-11-14T22:03:20.000Z"}"#.write(
            toFile: file, atomically: true, encoding: .utf8)
        #expect(grantor("audit --checkpoint \(file)").status == .incomplete)
    }

    @Test("Of a checkpoint and a moment the later one counts, and what that leaves out is said")
    func checkpointAndMoment() throws {
        let file = grantor.folder + "/audited.json"
        #expect(grantor("audit --checkpoint \(file)").status == .done)
        let earlier = grantor("audit --checkpoint \(file) --since 2023-11-14T20:00:00Z")
        #expect(earlier.output.hasPrefix("Holds: everything since 2023-11-14T22:03:20.000Z was looked at.\n  complete"))
        #expect(
            grantor("audit --checkpoint \(file) --since 2023-11-14T22:10:00Z").output.hasPrefix(
                """
                Holds: everything since 2023-11-14T22:10:00.000Z was looked at.
                Nothing is said of 2023-11-14T22:03:20.000Z to 2023-11-14T22:10:00.000Z, which --since left out.

                """))
        let json = grantor("audit --json --checkpoint \(file) --since 2023-11-14T22:10:00Z").output
        let answer = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        #expect(answer["skippedFrom"] as? String == "2023-11-14T22:03:20.000Z")
    }

    @Test("A checkpoint that cannot be looked at ends the audit with the system's words: it may be there")
    func checkpointOutOfReach() throws {
        let (link, folder) = (grantor.folder + "/link", grantor.folder + "/folder")
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: link)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
        for (path, words) in [
            (link, "Too many levels of symbolic links"), (grantor.folder + "/apps.yaml/file", "Not a directory"),
            (folder, "Is a directory"),
        ] {
            let result = grantor("audit --checkpoint \(path)")
            #expect(result.status == .usage)
            #expect(result.errors.hasPrefix("grantor: --checkpoint \(path) cannot be read: \(words)\n"))
            #expect(result.output == "")
        }
    }

    @Test("A checkpoint is written after what holds, and says where the next audit begins")
    mutating func checkpoint() throws {
        let file = grantor.folder + "/audited.json"
        #expect(grantor("audit --checkpoint \(file)").status == .done)
        let text = try String(contentsOfFile: file, encoding: .utf8)
        #expect(text == #"{"ledger":"\#(FixedLedger.id)","next":"2023-11-14T22:03:20.000Z"}"#)
        #expect(grantor("audit --checkpoint \(file)").output.hasPrefix("Holds: everything since 2023-11-14T22:03:20"))
        lose()
        #expect(grantor("audit --checkpoint \(file)").status == .failed)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == text)
        try #"{"ledger":"other","next":"2023-11-14T22:03:20.000Z"}"#.write(
            toFile: file, atomically: true, encoding: .utf8)
        #expect(grantor("audit --checkpoint \(file)").errors.contains("is of the ledger other"))
        try "{}".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(grantor("audit --checkpoint \(file)").errors.contains("is no checkpoint of an audit"))
    }
}
