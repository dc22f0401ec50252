import Foundation
import Glibc
import Synchronization
import SystemTesting

/// Keeps a server running until it is told to stop, or until this process is gone: a shell waits at the end of a pipe that
/// only this process holds open.
final class Supervisor: Sendable {
    private struct Running {
        let shell: pid_t
        let pipe: Pipe
        /// Whether somebody has waited for the shell, whose id may be another process's by now.
        var hasEnded = false
    }

    private let tools: PostgresTools
    private let folder: String
    private let running = Mutex<Running?>(nil)

    init(_ tools: PostgresTools, _ folder: String) throws {
        self.tools = tools
        self.folder = folder
        try begin()
    }

    var isRunning: Bool {
        running.withLock { running in
            guard let shell = running?.shell, running?.hasEnded == false else { return false }
            var status: Int32 = 0
            if waitpid(shell, &status, WNOHANG) == shell { running?.hasEnded = true }
            return running?.hasEnded == false
        }
    }

    func begin() throws {
        let pipe = Pipe()
        let server = tools.asServer("postgres", ["-D", "\(folder)/data"]).joined(separator: " ")
        let script = """
            cd /
            \(server) >>\(folder)/log 2>&1 </dev/null & pid=$!
            read signal
            kill -${signal:-INT} $pid
            wait $pid
            [ -n "$signal" ] || rm -rf \(folder)
            """
        let shell = try Spawn.start(
            ["/bin/sh", "-c", script], environment: ProcessInfo.processInfo.environment,
            input: pipe.fileHandleForReading.fileDescriptor, output: nil, errors: nil)
        try pipe.fileHandleForReading.close()
        running.withLock { $0 = Running(shell: shell, pipe: pipe) }
    }

    /// Ends the server as if it crashed, or in order, and waits for its end.
    func end(crashing: Bool) throws {
        guard let ending = taken() else { return }
        try Self.tell(ending, crashing ? "QUIT" : "INT")
        Spawn.wait(for: ending.shell)
    }

    /// Ends the server for good, without waiting. The shell removes its folder, which only it knows when to do.
    ///
    /// - Returns: whether there was a server to end.
    func leave() -> Bool {
        guard let ending = taken() else { return false }
        // What ends a shell that is left alone ends it here too. A shell that is gone needs not be told.
        try? ending.pipe.fileHandleForWriting.close()
        DispatchQueue.global().async { Spawn.wait(for: ending.shell) }
        return true
    }

    /// What runs, which from now on is the caller's to end.
    private func taken() -> Running? {
        running.withLock { running in
            defer { running = nil }
            return running?.hasEnded == true ? nil : running
        }
    }

    private static func tell(_ running: Running, _ signal: String) throws {
        try running.pipe.fileHandleForWriting.write(contentsOf: Data("\(signal)\n".utf8))
    }
}
