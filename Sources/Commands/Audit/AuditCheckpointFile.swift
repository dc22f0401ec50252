import CommandParser
import Contract
import FoundationEssentials

/// Where the next audit goes on, in a file: the ledger's id and a moment.
///
/// The moment lies before everything that was not settled when the audit began, so the next one finds it settled.
struct AuditCheckpointFile {
    private struct Content: Codable {
        let ledger: String
        let next: String
    }

    private let path: String

    init(_ path: String) { self.path = path }

    /// The moment; nil where there is no file yet.
    func read(ledger: String) throws(CommandFailure) -> Timestamp? {
        guard FileManager.default.fileExists(atPath: path) else { return nil }
        let bytes: Data
        do {
            bytes = try Data(contentsOf: URL(filePath: path))
        } catch {
            throw CommandFailure(.usage, "--checkpoint \(path) cannot be read")
        }
        guard let content = try? JSONDecoder().decode(Content.self, from: bytes),
            let next = Timestamp(rfc3339: content.next)
        else { throw CommandFailure(.usage, "--checkpoint \(path) is no checkpoint of an audit") }
        guard content.ledger == ledger else {
            throw CommandFailure(
                .usage, "--checkpoint \(path) is of the ledger \(content.ledger), and this is \(ledger)")
        }
        return next
    }

    /// Replaces the file as a whole.
    func write(ledger: String, next: Timestamp) throws(CommandFailure) {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        do {
            let bytes = try encoder.encode(Content(ledger: ledger, next: next.rfc3339))
            try bytes.write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw CommandFailure(.incomplete, "everything holds, and --checkpoint \(path) cannot be written")
        }
    }
}
