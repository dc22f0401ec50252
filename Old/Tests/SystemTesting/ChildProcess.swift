public import Foundation
import Glibc
import Synchronization

/// A process of another program: its input is a pipe that this process holds, its output goes to two files.
///
/// It is killed at the latest when nothing refers to it any more.
public final class ChildProcess: Sendable {
    /// How a process ended.
    public enum Exit: Hashable, Sendable {
        case code(Int32)
        case signal(Int32)
    }

    /// The process could not be started, or did not do what was asked.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String

        /// A failure in words.
        public init(description: String) {
            self.description = description
        }
    }

    public let name: String
    public let pid: pid_t
    public let output: OutputFile
    public let errors: OutputFile
    private let input: FileHandle
    private let exit = Mutex<Exit?>(nil)

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - environment: All of it; nothing is inherited.
    ///   - folder: Where `NAME.out` and `NAME.err` are written.
    public init(
        _ program: URL, _ arguments: [String] = [], environment: [String: String] = [:], in folder: URL, name: String
    ) throws {
        self.name = name
        output = OutputFile(folder.appending(path: "\(name).out"))
        errors = OutputFile(folder.appending(path: "\(name).err"))
        // A child that is gone makes writing to it an error, not the end of the tests.
        signal(SIGPIPE, SIG_IGN)
        let pipe = Pipe()
        input = pipe.fileHandleForWriting
        let outputFile = try Self.open(output.path)
        defer { close(outputFile) }
        let errorsFile = try Self.open(errors.path)
        defer { close(errorsFile) }
        pid = try Spawn.start(
            [program.path] + arguments, environment: environment, input: pipe.fileHandleForReading.fileDescriptor,
            output: outputFile, errors: errorsFile)
        try pipe.fileHandleForReading.close()
    }

    /// Opens a file that a child writes to.
    private static func open(_ path: String) throws(Failure) -> Int32 {
        let descriptor = Glibc.open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(description: "\(path): \(String(cString: strerror(errno)))") }
        return descriptor
    }

    deinit {
        guard ended == nil else { return }
        kill(SIGKILL)
        var status: Int32 = 0
        // Not left as a zombie: it dies at once, whatever it was doing.
        waitpid(pid, &status, 0)
    }

    /// Sends a signal; to a process that has ended nothing happens.
    public func kill(_ signal: Int32) {
        guard ended == nil else { return }
        Glibc.kill(pid, signal)
    }

    /// How it ended; nil while it runs.
    public var ended: Exit? {
        exit.withLock { exit in
            if let exit { return exit }
            var status: Int32 = 0
            guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
            let signal = status & 0x7F
            exit = signal == 0 ? .code((status >> 8) & 0xFF) : .signal(signal)
            return exit
        }
    }

    /// Waits for its end.
    public func exit(within limit: Duration) async throws -> Exit {
        try await eventually("\(name) ends", within: limit) { ended }
    }

    /// Writes a line to its standard input.
    public func write(_ line: String) throws {
        try input.write(contentsOf: Data((line + "\n").utf8))
    }

    /// Says so in words when the process is gone.
    public func checkAlive() throws {
        guard let ended else { return }
        throw Failure(description: "\(name) ended (\(ended)): \(errors.text.suffix(2000))")
    }
}
