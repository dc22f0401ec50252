import Foundation
import Synchronization

/// Keeps a server running until it is told to stop, or until this process is gone: a shell waits at the end of a pipe that
/// only this process holds open.
final class Supervisor: Sendable {
    private struct Running {
        let shell: Process
        let pipe: Pipe
    }

    private let tools: PostgresTools
    private let folder: String
    private let running = Mutex<Running?>(nil)

    init(_ tools: PostgresTools, _ folder: String) throws {
        self.tools = tools
        self.folder = folder
        try begin()
    }

    var isRunning: Bool { running.withLock { $0?.shell.isRunning ?? false } }

    func begin() throws {
        let shell = Process()
        let pipe = Pipe()
        let server = tools.asServer("postgres", ["-D", "\(folder)/data"]).joined(separator: " ")
        shell.executableURL = URL(filePath: "/bin/sh")
        shell.arguments = [
            "-c",
            """
            cd /
            \(server) >>\(folder)/log 2>&1 </dev/null & pid=$!
            read signal
            kill -${signal:-INT} $pid
            wait $pid
            [ -n "$signal" ] || rm -rf \(folder)
            """,
        ]
        shell.standardInput = pipe
        shell.standardOutput = FileHandle.nullDevice
        shell.standardError = FileHandle.nullDevice
        // A shell that inherits a dispatch thread's blocked signals never learns of its child's end.
        var none = sigset_t()
        var before = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
        try shell.run()
        running.withLock { $0 = Running(shell: shell, pipe: pipe) }
    }

    /// Ends the server as if it crashed, or in order, and waits for its end.
    func end(crashing: Bool) throws {
        guard
            let ending = running.withLock({ running in
                defer { running = nil }
                return running
            })
        else { return }
        try ending.pipe.fileHandleForWriting.write(contentsOf: Data((crashing ? "QUIT\n" : "INT\n").utf8))
        ending.shell.waitUntilExit()
    }

    /// Ends the server without waiting.
    func stop() {
        running.withLock { running in
            try? running?.pipe.fileHandleForWriting.write(contentsOf: Data("INT\n".utf8))
            running = nil
        }
    }
}
