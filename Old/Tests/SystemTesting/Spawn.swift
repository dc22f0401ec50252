import Foundation
public import Glibc
import Synchronization

/// Starts programs with posix_spawn.
///
/// Foundation's `Process` is not used: to list the open descriptors it copies directory entries as if each had room for the
/// longest name, and so now and then reads beyond mapped memory. That ends a run which starts hundreds of programs.
public enum Spawn {
    /// Descriptors that these tests may have open; those above it would be inherited.
    private static let descriptorLimit: Int32 = 8192
    /// Held while a program starts: until it has closed them, it has all descriptors of this process.
    private static let starting = Mutex(())

    /// Does something that fails while a program that is starting still has this process's descriptors: to listen again at
    /// the port of a socket that was just closed.
    public static func whileNothingStarts<E: Error>(_ body: () throws(E) -> Void) throws(E) {
        try starting.withLock { _ throws(E) in try body() }
    }

    /// Starts a program that inherits no descriptor but the three given; nil is /dev/null.
    ///
    /// - Parameters:
    ///   - arguments: the program's path first.
    ///   - environment: all of it; nothing is inherited.
    /// - Returns: its id, for which the caller has to wait once.
    public static func start(
        _ arguments: [String], environment: [String: String], input: Int32?, output: Int32?, errors: Int32?
    ) throws(ChildProcess.Failure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (standard, descriptor) in [(STDIN_FILENO, input), (STDOUT_FILENO, output), (STDERR_FILENO, errors)] {
            if let descriptor {
                posix_spawn_file_actions_adddup2(&actions, descriptor, standard)
            } else {
                posix_spawn_file_actions_addopen(&actions, standard, "/dev/null", O_RDWR, 0)
            }
        }
        // A child that kept a listening socket of this process open would keep its port taken.
        for descriptor in STDERR_FILENO + 1..<min(getdtablesize(), descriptorLimit) {
            posix_spawn_file_actions_addclose(&actions, descriptor)
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // Ignored and blocked signals are inherited; the child gets its own dispositions back.
        var defaults = sigset_t()
        sigemptyset(&defaults)
        for number in [SIGPIPE, SIGINT, SIGTERM] { sigaddset(&defaults, number) }
        var mask = sigset_t()
        sigemptyset(&mask)
        posix_spawnattr_setsigdefault(&attributes, &defaults)
        posix_spawnattr_setsigmask(&attributes, &mask)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))
        // C strings, each freed below; posix_spawn copies them.
        var argv = arguments.map { strdup($0) } + [nil]
        var envp = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in argv + envp { free(text) } }
        var pid: pid_t = 0
        // Returns when the program runs, or could not.
        let code = starting.withLock { _ in posix_spawn(&pid, arguments[0], &actions, &attributes, &argv, &envp) }
        guard code == 0 else {
            throw ChildProcess.Failure(description: "\(arguments[0]): \(String(cString: strerror(code)))")
        }
        return pid
    }

    /// How a program ended that was run to its end.
    public struct Ended: Sendable {
        /// Its exit code, or nil if a signal ended it.
        public let code: Int32?
        /// What it wrote to standard output.
        public let output: String
        /// What it wrote to standard error.
        public let errors: String
    }

    /// Runs a program to its end, in this process's environment and with nothing to read.
    ///
    /// - Parameter arguments: the program's path first. It must write no more to standard error than a pipe holds.
    public static func run(_ arguments: [String]) throws -> Ended {
        let output = Pipe()
        let errors = Pipe()
        let pid = try start(
            arguments, environment: ProcessInfo.processInfo.environment, input: nil,
            output: output.fileHandleForWriting.fileDescriptor, errors: errors.fileHandleForWriting.fileDescriptor)
        try output.fileHandleForWriting.close()
        try errors.fileHandleForWriting.close()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        let complaint = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        return Ended(code: wait(for: pid), output: text, errors: complaint)
    }

    /// Waits for the end of a program that was started; for each once.
    ///
    /// - Returns: its exit code, or nil if a signal ended it.
    @discardableResult
    public static func wait(for pid: pid_t) -> Int32? {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : nil
    }
}
