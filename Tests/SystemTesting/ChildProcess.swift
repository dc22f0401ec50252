public import Foundation
public import Glibc
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
        pid = try Self.spawn(
            [program.path] + arguments, environment: environment.map { "\($0.key)=\($0.value)" },
            input: pipe.fileHandleForReading.fileDescriptor, output: output.path, errors: errors.path)
        try pipe.fileHandleForReading.close()
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

extension ChildProcess {
    /// Descriptors that these tests may have open; those above it would be inherited.
    private static let descriptorLimit: Int32 = 8192

    private static func spawn(
        _ arguments: [String], environment: [String], input: Int32, output: String, errors: String
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        let flags = O_WRONLY | O_CREAT | O_APPEND
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, flags, 0o600)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, errors, flags, 0o600)
        // A child that kept a listening socket of this process open would keep its port taken.
        for descriptor in STDERR_FILENO + 1..<min(getdtablesize(), descriptorLimit) {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Ignored signals are inherited; the child gets its own dispositions back.
        var defaults = sigset_t()
        sigemptyset(&defaults)
        sigaddset(&defaults, SIGPIPE)
        var mask = sigset_t()
        sigemptyset(&mask)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setsigmask(&attributes, &mask)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        // C strings, each freed below; posix_spawn copies them.
        var argv = arguments.map { strdup($0) } + [nil]
        var envp = environment.map { strdup($0) } + [nil]
        defer { for text in argv + envp { free(text) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, arguments[0], &actions, &attributes, &argv, &envp)
        guard code == 0 else { throw Failure(description: "\(arguments[0]): \(String(cString: strerror(code)))") }
        return pid
    }
}
