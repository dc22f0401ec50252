import ChildProcesses
import Glibc

/// A program that the demo starts, and ends at the latest with itself.
final class ChildProgram {
    let pid: pid_t
    /// The write end of its standard input, and the read end of its standard output; -1 where it has none of ours.
    private var input: Int32 = -1
    private var output: Int32 = -1
    private var hasEnded = false

    /// Starts a program whose standard input and output are pipes to this process. A file takes its errors.
    convenience init(piped words: [String], log: String) throws(DemoFailure) {
        let file = try Self.open(log: log)
        let (input, output) = (try Self.makePipe(), try Self.makePipe())
        defer {
            close(input.read)
            close(output.write)
            close(file)
        }
        try self.init(words, environment: [:], input: input.read, output: output.write, errors: file)
        self.input = input.write
        self.output = output.read
    }

    /// Starts a program whose output is appended to a file.
    convenience init(_ words: [String], environment: [String: String], log: String) throws(DemoFailure) {
        let file = try Self.open(log: log)
        let nothing = Glibc.open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer {
            close(nothing)
            close(file)
        }
        try self.init(words, environment: environment, input: nothing, output: file, errors: file)
    }

    private init(
        _ words: [String], environment: [String: String], input: Int32, output: Int32, errors: Int32
    ) throws(DemoFailure) {
        // Settings of the demo's user must not reach its worker.
        let inherited = Children.environment { $0.hasPrefix("GRANTOR_") }
        let started = Children.start(
            words, environment: inherited + environment.map { "\($0)=\($1)" },
            descriptors: [(STDIN_FILENO, input), (STDOUT_FILENO, output), (STDERR_FILENO, errors)])
        guard let started else { throw DemoFailure("\(words.first ?? "") cannot be started (errno \(errno))") }
        pid = started
    }

    deinit { kill(limit: .zero) }

    /// Waits for a line of the program's output; nil at its end.
    func readLine() -> String? {
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(output, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return nil
    }

    /// Whether it has not ended by itself.
    var isRunning: Bool {
        guard !hasEnded else { return false }
        var status: Int32 = 0
        hasEnded = waitpid(pid, &status, WNOHANG) == pid
        return !hasEnded
    }

    /// Ends it at once, at whichever instruction it is.
    func kill() { kill(limit: .zero) }

    /// Ends it in order.
    ///
    /// - Returns: its exit code; nil if it had to be killed, or had ended before.
    @discardableResult
    func stop(within limit: Duration) -> Int32? {
        guard !hasEnded else { return nil }
        Glibc.kill(pid, SIGTERM)
        return kill(limit: limit)
    }

    /// Waits for the end of a program that ends by itself.
    ///
    /// - Returns: its exit code; nil if it had to be killed.
    func waitForEnd(within limit: Duration) -> Int32? { kill(limit: limit) }

    /// Waits for its end, kills it after the limit, and frees its resources.
    @discardableResult
    private func kill(limit: Duration) -> Int32? {
        guard !hasEnded else { return nil }
        hasEnded = true
        if input >= 0 { close(input) }
        if output >= 0 { close(output) }
        let end = ContinuousClock.now + limit
        var status: Int32 = 0
        while true {
            let found = waitpid(pid, &status, WNOHANG)
            if found == pid || (found < 0 && errno == ECHILD) { return Children.exitCode(status) }
            guard ContinuousClock.now < end else { break }
            usleep(20_000)
        }
        Glibc.kill(pid, SIGKILL)
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return nil
    }

    private static func open(log: String) throws(DemoFailure) -> Int32 {
        let file = Glibc.open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard file >= 0 else { throw DemoFailure("\(log) cannot be opened (errno \(errno))") }
        return file
    }

    private static func makePipe() throws(DemoFailure) -> (read: Int32, write: Int32) {
        guard let pipe = Children.pipe() else { throw DemoFailure("there is no pipe (errno \(errno))") }
        return pipe
    }
}

/// The reason that the demo breaks off.
struct DemoFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
