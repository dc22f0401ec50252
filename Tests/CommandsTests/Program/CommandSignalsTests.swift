import ChildProcesses
import FileTesting
import Foundation
import Testing

@Suite("Signals to a command")
struct CommandSignalsTests {
    /// The real program, as its command waits for the rest of its input.
    private static func waiting(in folder: TemporaryFolder, by words: [String] = []) throws -> ChildProcess {
        _ = try folder.write(
            "apps: [{bundleId: com.example.game, sandbox: {policy: reject}, products: any}]", to: "apps.yaml")
        // The tests' bundle stands beside the programs of its build.
        let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let program = (tests as NSString).deletingLastPathComponent + "/grantor"
        let started = ChildProcess(
            words + [program, "verify", "-"], environment: ["GRANTOR_APPS_FILE": "\(folder.path)/apps.yaml"])
        let command = try #require(started)
        // More than a pipe holds: the last byte is written once the command reads.
        command.say(String(repeating: "A", count: 1 << 20))
        return command
    }

    /// Whether the process has a handler for a signal.
    private static func isHandled(_ signal: Int32, by process: pid_t) throws -> Bool {
        let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
        let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("SigCgt:") })
        let caught = try #require(UInt64(line.dropFirst("SigCgt:".count).drop { $0.isWhitespace }, radix: 16))
        return caught >> UInt64(signal - 1) & 1 == 1
    }

    @Test(
        "A handler ends it, because the kernel drops what has none for the first process of a container",
        arguments: [SIGINT, SIGTERM])
    func handled(signal: Int32) throws {
        let folder = try TemporaryFolder()
        let command = try Self.waiting(in: folder)
        #expect(try Self.isHandled(signal, by: command.pid))
        kill(command.pid, signal)
        #expect(command.end() == nil, "it ends by the signal, so that a shell's loop around it ends, too")
    }

    @Test("A signal that its caller ignores stays ignored")
    func ignored() throws {
        let folder = try TemporaryFolder()
        let command = try Self.waiting(in: folder, by: ["/bin/sh", "-c", "trap '' INT; exec \"$@\"", "sh"])
        #expect(try !Self.isHandled(SIGINT, by: command.pid))
        kill(command.pid, SIGINT)
        #expect(command.end() == 1, "the evidence is none")
    }
}
