import CommandParser
import Foundation
import Glibc
import Testing
import Worker

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

    @Test("lives through a signal that comes before it works, and has it to take later")
    func earlySignal() async {
        await #expect(processExitsWith: .success) {
            // As a process begins; threads of tests keep signals, and a shell may have SIGHUP ignored.
            var none = sigset_t()
            sigemptyset(&none)
            pthread_sigmask(SIG_SETMASK, &none, nil)
            signal(SIGHUP, SIG_DFL)
            var grantor = try SampleRun.complete()
            grantor.holdSignals = ProcessSignals.block
            grantor.checkClients = { () throws(CommandFailure) in
                raise(SIGHUP)
                throw CommandFailure(.failed, "no thread")
            }
            try #require(grantor("run").status == .failed)
            var pending = sigset_t()
            sigpending(&pending)
            try #require(sigismember(&pending, SIGHUP) == 1)
        }
    }

    @Test("holds signals before it reads its files")
    func signalsFirst() throws {
        var grantor = try SampleRun.complete()
        let apps = grantor.folder + "/apps.yaml"
        // A file that is gone is a mistake.
        grantor.holdSignals = { unlink(apps) }
        grantor.checkClients = { () throws(CommandFailure) in throw CommandFailure(.failed, "too late") }
        let result = grantor("run")
        #expect(result.status == .configuration && result.log.first?.contains("apps.yaml") == true)
    }

    @Test("takes the form that the file names, and the environment's where the file cannot be read")
    func file() throws {
        #expect(try run(nil, file: "log: {format: text}\n").log.first?.hasPrefix("text \(cause)") == true)
        let unknown = try run("text", file: "loggg: {format: json}\n")
        #expect(unknown.log.first?.hasPrefix("text error ") == true && unknown.log.first?.contains("loggg") == true)
    }
}
