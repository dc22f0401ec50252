import CommandParser
import Configuration
import Contract
import FoundationEssentials
import Glibc

/// The file from which the next audit goes on: the ledger's id, a moment and offsets of the input topic.
///
/// The moment lies before everything that was not settled when the audit began, so the next audit finds it settled. The
/// offsets show that no unaudited record has left a partition that was quiet for longer than records are kept.
struct AuditCheckpointFile {
    private struct Content: Codable {
        let ledger: String
        let next: String
        /// By topic and partition; nil where nothing was judged, and in files of before.
        let judged: [String: [String: Int64]]?
    }

    struct Checkpoint: Hashable {
        let next: Timestamp
        let judged: [TopicPartition: Int64]
    }

    private let path: String

    init(_ path: String) { self.path = path }

    /// Nil where there is no file yet.
    func read(ledger: String) throws(CommandFailure) -> Checkpoint? {
        guard let bytes = try bytes() else { return nil }
        guard let content = try? JSONDecoder().decode(Content.self, from: bytes),
            let next = Timestamp(rfc3339: content.next)
        else { throw CommandFailure(.usage, "--checkpoint \(path) is no checkpoint of an audit") }
        guard content.ledger == ledger else {
            throw CommandFailure(
                .usage, "--checkpoint \(path) is of the ledger \(content.ledger), and this is \(ledger)")
        }
        var judged: [TopicPartition: Int64] = [:]
        for (topic, offsets) in content.judged ?? [:] {
            for (partition, offset) in offsets {
                guard let partition = Int32(partition) else { continue }
                judged[TopicPartition(topic: topic, partition: partition)] = offset
            }
        }
        return Checkpoint(next: next, judged: judged)
    }

    private func bytes() throws(CommandFailure) -> Data? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        // Of any other error the file may be there, and would be replaced after an audit of all there is.
        guard descriptor >= 0 || errno != ENOENT else { return nil }
        guard descriptor >= 0, let bytes = WholeFile.bytes(of: descriptor, upTo: .max) else {
            let words = String(cString: strerror(errno))
            if descriptor >= 0 { close(descriptor) }
            throw CommandFailure(.usage, "--checkpoint \(path) cannot be read: \(words)")
        }
        close(descriptor)
        return Data(bytes)
    }

    /// Replaces the file as a whole.
    func write(ledger: String, _ checkpoint: Checkpoint) throws(CommandFailure) {
        let judged = Dictionary(grouping: checkpoint.judged, by: \.key.topic).mapValues { offsets in
            Dictionary(uniqueKeysWithValues: offsets.map { ("\($0.key.partition)", $0.value) })
        }
        let content = Content(
            ledger: ledger, next: checkpoint.next.rfc3339, judged: judged.isEmpty ? nil : judged)
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys]
        do {
            let bytes = try encoder.encode(content)
            try bytes.write(to: URL(filePath: path), options: .atomic)
        } catch {
            throw CommandFailure(.incomplete, "everything holds, and --checkpoint \(path) cannot be written")
        }
    }
}
