import CommandParser
import HTTPServer
import Testing

@testable import Commands

@Suite("Asking a worker how it is")
struct HealthCommandTests {
    private static func run(_ line: String, bind: String) throws -> SampleRun.Result {
        var grantor = try SampleRun()
        grantor.environment["GRANTOR_HTTP_BIND"] = bind
        return grantor(line)
    }

    @Test("A worker that is well is quoted, and others end the command with their words")
    func answers() throws {
        let server = try ProbeServer(host: "127.0.0.1", port: 0) { head in
            let isGood = head.path == "/livez"
            return Reply(
                status: isGood ? 200 : 503, contentType: "application/json",
                text: #"{"status":"x","detail":"\#(isGood ? "The worker's threads live." : #"Kafka says \"no\"."#)"}"#)
        }
        let bind = "127.0.0.1:\(server.port)"
        let alive = try Self.run("health", bind: bind)
        #expect(alive.status == .done && alive.output == "The worker's threads live.\n" && alive.errors.isEmpty)
        let ready = try Self.run("health --ready", bind: bind)
        #expect(ready.status == .failed && ready.output.isEmpty)
        #expect(ready.errors == "grantor: \(bind)/readyz says 503: Kafka says \"no\".\n")
    }

    @Test("Something else that answers is quoted in one line")
    func others() throws {
        let server = try ProbeServer(host: "127.0.0.1", port: 0) { _ in
            Reply(status: 404, contentType: "text/plain", text: "no such\npage\n")
        }
        let result = try Self.run("health", bind: "127.0.0.1:\(server.port)")
        #expect(result.status == .failed && result.errors.contains("says 404: no such"))
        #expect(result.errors.split(separator: "\n").count == 1)
    }

    @Test("Nobody there is said, and a port that nobody can know")
    func nobody() throws {
        let none = try Self.run("health", bind: "127.0.0.1:1")
        #expect(none.status == .failed)
        #expect(none.errors == "grantor: no worker answers at 127.0.0.1:1: Connection refused\n")
        let any = try Self.run("health", bind: "127.0.0.1:0")
        #expect(any.status == .configuration && any.errors.contains("GRANTOR_HTTP_BIND"))
    }
}
