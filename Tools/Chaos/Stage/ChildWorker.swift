import Glibc
import Scheduling
import Synchronization

/// A worker as a process of its own, with its log in a file.
struct ChildWorker {
    let pid: pid_t

    /// Starts `grantor run`, or another command.
    ///
    /// - Parameter environment: All of the worker's environment.
    init(
        program: String, words: [String] = ["run"], environment: [String: String], log: String
    ) throws(ChaosFailure) {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        // A signal to stop that comes before the worker listens waits for it: on a busy machine that takes a while.
        var blocked = sigset_t()
        sigemptyset(&blocked)
        sigaddset(&blocked, SIGTERM)
        posix_spawnattr_setsigmask(&attributes, &blocked)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var pid = pid_t()
        let variables = environment.map { "\($0.key)=\($0.value)" }
        let result = Self.withPointers([program] + words) { words in
            Self.withPointers(variables) { posix_spawn(&pid, program, &actions, &attributes, words, $0) }
        }
        guard result == 0 else { throw ChaosFailure("cannot start \(program): errno \(result)") }
        self.pid = pid
        Self.running.withLock { _ = $0.insert(pid) }
    }

    /// All that run.
    private static let running = Mutex<Set<pid_t>>([])

    /// Kills all that run, for a run that cannot go on.
    static func endAll() {
        for pid in running.withLock({ $0 }) { kill(pid, SIGKILL) }
    }

    /// Ends it by a signal and waits for its end.
    ///
    /// - Returns: its exit code; nil if a signal ended it.
    @discardableResult
    func end(by signal: Int32) -> Int32? {
        kill(pid, signal)
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        Self.running.withLock { _ = $0.remove(pid) }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : nil
    }

    /// Sends a signal and does not wait.
    func signal(_ number: Int32) { kill(pid, number) }

    /// Whether it has ended by itself; then its exit code, or the signal's number negated.
    func ended() -> Int32? {
        var status: Int32 = 0
        guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
        Self.running.withLock { _ = $0.remove(pid) }
        return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
    }

    /// Waits until it has ended by itself; nil if it still runs by then.
    func ended(within limit: Duration) -> Int32? {
        let until = Instant.now + limit
        while true {
            if let code = ended() { return code }
            guard Instant.now < until else { return nil }
            rest(milliseconds: 20)
        }
    }

    /// Most memory that it had at once so far, in MB; 0 if it has ended.
    var peakMemory: Int { status("VmHWM:") / 1000 }

    private func status(_ name: String) -> Int {
        guard let file = fopen("/proc/\(pid)/status", "r") else { return 0 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 256)
        while fgets(&line, 256, file) != nil {
            let text = String(decoding: line.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
            if text.hasPrefix(name) { return Int(text.filter(\.isNumber)) ?? 0 }
        }
        return 0
    }

    private static func withPointers(
        _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> Int32
    ) -> Int32 {
        var pointers: [UnsafeMutablePointer<CChar>?] = texts.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        pointers.append(nil)
        return pointers.withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return EINVAL }
            return body(start)
        }
    }
}

/// The harness itself cannot go on: nothing is said about the worker.
struct ChaosFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
