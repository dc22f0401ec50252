import Foundation
import Kafka
import Ledger
import Logging

/// A line of what `grantor check` found.
struct CheckResult: Hashable, Sendable {
    let name: String
    let isGood: Bool
    let detail: String

    var row: [String] { [name, isGood ? "ok" : "FAILED", detail] }
}

/// What `grantor check` says of the ledger. Changes nothing in it.
struct LedgerCheck: Sendable {
    let settings: LedgerSettings
    /// Whether any app has an inventory service.
    let isAnyServed: Bool
    /// In how many partitions the group has committed offsets; told how long it may take to find out.
    let partitionsWithOffsets: @Sendable (Duration) async throws(KafkaError) -> Int
    let logger: Logger

    func results() async -> [CheckResult] {
        do throws(LedgerError) {
            let ledger = try await OpenLedger(settings, migratingFile: false, logger: logger)
            let counts = try await ledger.ledger.counts()
            let finding = await EmptyLedger(
                ledger: ledger.ledger, partitionsWithOffsets: partitionsWithOffsets
            ).finding()
            try await ledger.close()
            let detail =
                "\(counts.grants) grants, \(counts.unpublished) events unpublished, "
                + "\(counts.openDeliveries) deliveries open"
            return [CheckResult(name: "ledger", isGood: true, detail: detail)] + unserved(counts.openDeliveries)
                + ledgerAndGroup(finding)
        } catch {
            guard case .file(let path) = settings, case .schemaBehind(found: 0, _) = error else {
                return [refused(error)]
            }
            return [notYet(path)]
                + ledgerAndGroup(await EmptyLedger.findingWithoutLedger(partitionsWithOffsets: partitionsWithOffsets))
        }
    }

    private func ledgerAndGroup(_ finding: EmptyLedger.Finding) -> [CheckResult] {
        let detail: String
        switch finding {
        case .fits: return []
        case .forgotten(let partitions):
            detail = """
                the ledger is empty, though its group has committed offsets in \(partitions) partitions: what was granted \
                before can be granted again; \(EmptyLedger.remedy)
                """
        case .ledgerUnknown(let cause):
            detail = "whether the ledger is the one that its group has worked with could not be asked: \(cause)"
        case .groupUnknown(let cause):
            detail = "the ledger is empty, and whether its group has worked before could not be asked: \(cause)"
        }
        return [CheckResult(name: "ledger and group", isGood: false, detail: detail)]
    }

    /// What is open when no app has an inventory service is told to nobody, and so never published.
    private func unserved(_ open: Int) -> [CheckResult] {
        guard open > 0, !isAnyServed else { return [] }
        return [
            CheckResult(
                name: "open deliveries", isGood: false,
                detail: """
                    \(open) paid purchases are neither told nor published, because no app has an inventory service: put \
                    their app's fulfillment back into the apps file
                    """)
        ]
    }

    private func refused(_ error: LedgerError) -> CheckResult {
        CheckResult(name: "ledger", isGood: false, detail: "\(error)")
    }

    private func notYet(_ path: String) -> CheckResult {
        let folder = URL(filePath: path).deletingLastPathComponent().path
        guard FileManager.default.isWritableFile(atPath: folder) else {
            return CheckResult(
                name: "ledger", isGood: false, detail: "none yet, and this user may not write in \(folder)")
        }
        return CheckResult(name: "ledger", isGood: true, detail: "none yet; grantor run makes it")
    }
}
