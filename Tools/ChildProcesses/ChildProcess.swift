public import Glibc
import Synchronization

/// A program whose input and output are pipes to this process. Its input ends with this process, however that one ends.
public final class ChildProcess: Sendable {
    public let pid: pid_t
    private let input: Int32
    private let output: Int32
    private let state = Mutex(State())

    private struct State {
        var unread: [UInt8] = []
        var hasEnded = false
    }

    /// Starts a program; nil if it cannot be started, with `errno`.
    /// - Parameters:
    ///   - words: The program, which is looked for in `PATH`, and its arguments.
    ///   - environment: Added to this process's.
    public init?(_ words: [String], environment: [String: String] = [:]) {
        guard let toChild = Children.pipe() else { return nil }
        guard let fromChild = Children.pipe() else {
            close(toChild.read)
            close(toChild.write)
            return nil
        }
        defer {
            close(toChild.read)
            close(fromChild.write)
        }
        (input, output) = (toChild.write, fromChild.read)
        let variables = environment.map { "\($0)=\($1)" } + Children.environment { environment[$0] != nil }
        let started = Children.start(
            words, environment: variables,
            descriptors: [(STDIN_FILENO, toChild.read), (STDOUT_FILENO, fromChild.write)])
        guard let started else {
            let error = errno
            close(input)
            close(output)
            errno = error
            return nil
        }
        pid = started
    }

    deinit { end() }

    /// Writes a line to the program's input.
    public func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(input, bytes, bytes.count)
    }

    /// Waits for a line of the program's output. Its last line may lack an end.
    /// - Returns: Nil at the end of the output.
    public func readLine() -> String? {
        state.withLock { state in
            while true {
                if let end = state.unread.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { state.unread.removeFirst(end + 1) }
                    return String(decoding: state.unread[..<end], as: UTF8.self)
                }
                var chunk = [UInt8](repeating: 0, count: 4096)
                let count = read(output, &chunk, chunk.count)
                if count > 0 {
                    state.unread += chunk.prefix(count)
                } else {
                    defer { state.unread = [] }
                    return state.unread.isEmpty ? nil : String(decoding: state.unread, as: UTF8.self)
                }
            }
        }
    }

    /// Ends the program's input, waits until the program has ended, and frees its resources.
    /// - Returns: Its exit code; nil if a signal ended it, or from the second call on.
    @discardableResult
    public func end() -> Int32? {
        let isFirst = state.withLock { state in
            defer { state.hasEnded = true }
            return !state.hasEnded
        }
        guard isFirst else { return nil }
        close(input)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        close(output)
        return Children.exitCode(status)
    }
}
