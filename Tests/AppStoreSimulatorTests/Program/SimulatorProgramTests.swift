import CommandParser
import Contract
import Foundation
import Synchronization
import Testing

@testable import AppStoreSimulator

@Suite(.timeLimit(.minutes(5)))
struct SimulatorProgramTests {
    /// Runs the program; `whileRunning` gets its addresses.
    private func run(
        _ arguments: String..., whileRunning: @escaping @Sendable ([String: String]) -> Void = { _ in }
    ) -> (status: CommandParser.ExitStatus, output: String, errors: String) {
        let line = Mutex("")
        var output = ""
        var errors = ""
        let context = SimulatorProgram.Context(
            write: { text in line.withLock { $0 = text } },
            waitForEnd: {
                let addresses = try? JSONDecoder().decode(
                    [String: String].self, from: Data(line.withLock { $0 }.utf8))
                whileRunning(addresses ?? [:])
            })
        let status = SimulatorProgram.program.run(
            arguments, context: context, output: { output += $0 }, errors: { errors += $0 })
        return (status, line.withLock { $0 } + output, errors)
    }

    @Test("The addresses answer while it runs")
    func addresses() throws {
        try withTemporaryFolder { folder in
            let authority = folder.appending(path: "authority").path
            let key = folder.appending(path: "AuthKey.p8").path
            let ended = run("--authority-folder", authority, "--api-key-file=\(key)", "--latency", "1") { addresses in
                do {
                    let caFile = try #require(addresses["caFile"])
                    #expect(caFile == "\(authority)/ca.pem")
                    #expect(FileManager.default.fileExists(atPath: try #require(addresses["rootsFile"])))
                    #expect(try addresses["keyId"]?.count == 10 && String(contentsOfFile: key, encoding: .utf8) != "")
                    let factory = try ReceiptFactory(authority: SimulatorAuthority(folder: authority))
                    let client = try Client(to: #require(addresses["productionURL"]), caFile: caFile)
                    let answer = try client.verify(factory.base64(.sample()))
                    #expect(answer.status == 0)
                    let unauthenticated = try client.send("GET", "/inApps/v1/transactions/7")
                    #expect(unauthenticated.code == 401)
                } catch {
                    Issue.record(error)
                }
            }
            #expect(ended.status == .done)
            #expect(ended.errors.isEmpty)
            #expect(ended.output.hasSuffix("}\n") && ended.output.split(separator: "\n").count == 1)
        }
    }

    @Test("A host that is named is reached under its name")
    func host() {
        let ended = run("--host", "localhost") { addresses in
            do {
                let url = try #require(addresses["productionURL"])
                #expect(url.hasPrefix("https://localhost:"))
                let client = try Client(to: url, caFile: #require(addresses["caFile"]))
                #expect(try client.send("GET", "/inApps/v1/transactions/7").code == 401)
            } catch {
                Issue.record(error)
            }
        }
        #expect(ended.status == .done)
    }

    @Test("A file that is there ends the start")
    func existingFile() throws {
        try withTemporaryFolder { folder in
            let key = folder.appending(path: "AuthKey.p8").path
            try Data().write(to: URL(filePath: key))
            let ended = run("--api-key-file", key)
            #expect(ended.status == .failed)
            #expect(ended.errors.contains("AuthKey.p8 cannot be written, or is there already"))
        }
    }

    @Test(
        "A wrong command line is refused",
        arguments: [["--latency", "-1"], ["--production-port", "65536"], ["--threads", "2"], ["now"]])
    func refused(arguments: [String]) {
        let status = SimulatorProgram.program.run(
            arguments, context: .init(write: { _ in }, waitForEnd: {}), output: { _ in }, errors: { _ in })
        #expect(status == .usage)
    }

    @Test("Help names every option")
    func help() {
        let help = run("--help").output
        for option in [
            "--host", "--production-port", "--sandbox-port", "--control-port", "--authority-folder", "--accept-secret",
            "--api-key-file", "--latency", "--version",
        ] {
            #expect(help.contains("  \(option)"))
        }
    }
}
