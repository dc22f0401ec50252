import CommandParser
import Foundation
import Testing

@testable import Commands

@Suite("grantor run that cannot begin")
struct RunCommandTests {
    private func run(_ format: String?, file: String? = nil) throws -> SampleRun.Result {
        var grantor = try SampleRun()
        grantor.environment["GRANTOR_KAFKA_BOOTSTRAP_SERVERS"] = ","
        grantor.environment["GRANTOR_LOG_FORMAT"] = format
        guard let file else { return grantor("run") }
        try file.write(toFile: grantor.folder + "/grantor.yaml", atomically: true, encoding: .utf8)
        return grantor("run --config \(grantor.folder)/grantor.yaml")
    }

    private let cause = "error GRANTOR_KAFKA_BOOTSTRAP_SERVERS (kafka.bootstrapServers in the file) must be "

    @Test("says why in the form of its log, and nowhere else")
    func form() throws {
        for (format, word) in [(nil, "json"), ("json", "json"), ("text", "text")] {
            let result = try run(format)
            #expect(result.status == .configuration && result.errors.isEmpty)
            #expect(result.log.count == 1 && result.log.allSatisfy { $0.hasPrefix("\(word) \(cause)") })
        }
    }

    @Test("takes the form that the file names, and the environment's where the file cannot be read")
    func file() throws {
        #expect(try run(nil, file: "log: {format: text}\n").log.first?.hasPrefix("text \(cause)") == true)
        let unknown = try run("text", file: "loggg: {format: json}\n")
        #expect(unknown.log.first?.hasPrefix("text error ") == true && unknown.log.first?.contains("loggg") == true)
    }
}
