import Foundation
import Kafka
import SystemTesting
import Testing

/// The public contract, as `scripts/validate-schemas.py` checks it.
enum Schemas {
    /// Expects that every captured event is valid.
    static func expectValid(
        _ answered: Answered, in folder: TemporaryFolder, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        let lines = try answered.records.map { record in
            let headers = Dictionary(record.headers.map { ($0.name, text($0.value)) }) { $1 }
            let isEvent = record.partition.topic != Topic.quarantined
            // An event's value goes in as it came, so that members given twice are seen.
            return """
                {"topic":\(try json(record.partition.topic)),"key":\(try json(text(record.key))),\
                "headers":\(try json(headers)),"value":\(isEvent ? text(record.value) : "null")}
                """
        }
        let file = try folder.write(lines.joined(separator: "\n") + "\n", to: "events.ndjson")
        let process = try ChildProcess(
            Executables.installed(["bin", "python"]),
            [Executables.checkout.appending(path: "scripts/validate-schemas.py").path, "--events", file],
            environment: ["PATH": "/usr/bin:/bin"], in: folder.url, name: "validate-schemas")
        let exit = try await process.exit(within: .seconds(60))
        #expect(
            exit == .code(0), "\(process.output.text.prefix(2000))\(process.errors.text.prefix(2000))",
            sourceLocation: sourceLocation)
    }

    private static func json(_ value: some Encodable) throws -> String {
        String(decoding: try JSONEncoder().encode(value), as: UTF8.self)
    }

    private static func text(_ bytes: [UInt8]?) -> String {
        String(decoding: bytes ?? [], as: UTF8.self)
    }
}
