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

    /// Starts a program.
    ///
    /// - Parameters:
    ///   - words: the program's path and its arguments.
    ///   - environment: added to this process's.
    public init(_ words: [String], environment: [String: String] = [:]) throws(TestKafkaError) {
        guard let program = words.first else { throw TestKafkaError("no program to start") }
        let (toChild, fromChild) = (try Self.makePipe(), try Self.makePipe())
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        posix_spawn_file_actions_adddup2(&actions, toChild.read, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, fromChild.write, STDOUT_FILENO)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        // Threads of tests may block signals, and a child would inherit that.
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
            close(toChild.read)
            close(fromChild.write)
        }
        var pid = pid_t()
        let result = Self.starting.withLock { _ in
            withCStrings(words) { words in
                withCStrings(Self.environment(adding: environment)) { variables in
                    posix_spawnp(&pid, program, &actions, &attributes, words, variables)
                }
            }
        }
        input = toChild.write
        output = fromChild.read
        self.pid = pid
        guard result == 0 else {
            close(input)
            close(output)
            throw TestKafkaError("cannot start \(program): errno \(result)")
        }
    }

    deinit { end() }

    /// Writes a line to the program's input.
    func say(_ line: String) {
        let bytes = Array((line + "\n").utf8)
        _ = write(input, bytes, bytes.count)
    }

    /// Waits for a line of the program's output; nil at its end.
    public func readLine() -> String? {
        state.withLock { state in
            while true {
                if let end = state.unread.firstIndex(of: UInt8(ascii: "\n")) {
                    defer { state.unread.removeFirst(end + 1) }
                    return String(decoding: state.unread[..<end], as: UTF8.self)
                }
                var chunk = [UInt8](repeating: 0, count: 4096)
                let count = read(output, &chunk, chunk.count)
                guard count > 0 else { return nil }
                state.unread += chunk.prefix(count)
            }
        }
    }

    /// Ends the program's input, waits until the program has ended, and frees what was kept for it.
    ///
    /// - Returns: its exit code; nil if a signal ended it, or from the second call on.
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
        return status & 0x7F == 0 ? status >> 8 & 0xFF : nil
    }

    /// Other children must not inherit the ends, or a program would never see the end of its input. Glibc's call that
    /// makes them so at once is not visible to Swift, so none starts in between.
    private static let starting = Mutex(())

    private static func makePipe() throws(TestKafkaError) -> (read: Int32, write: Int32) {
        let ends: (Int32, Int32)? = starting.withLock { _ in
            var ends: [Int32] = [-1, -1]
            guard pipe(&ends) == 0 else { return nil }
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
            return (ends[0], ends[1])
        }
        guard let ends else { throw TestKafkaError("no pipe: errno \(errno)") }
        return ends
    }

    private static func environment(adding variables: [String: String]) -> [String] {
        var all = variables.map { "\($0)=\($1)" }
        var entry = environ
        while let text = entry.pointee {
            let line = String(cString: text)
            if !variables.keys.contains(where: { line.hasPrefix($0 + "=") }) { all.append(line) }
            entry += 1
        }
        return all
    }
}

/// Calls `body` with the strings as C's `argv`: pointers to each, and a null pointer at the end.
private func withCStrings<Result>(
    _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
) -> Result {
    let pointers = strings.map { strdup($0) } + [nil]
    defer { pointers.forEach { free($0) } }
    return body(pointers)
}

/// The reason that a test's cluster cannot be had or changed.
public struct TestKafkaError: Error, CustomStringConvertible {
    public let description: String

    init(_ description: String) { self.description = description }
}
