import ChildProcesses
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
        let file = open(log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        defer { close(file) }
        let started = Children.start(
            [program] + words, environment: environment.map { "\($0.key)=\($0.value)" },
            descriptors: [(STDERR_FILENO, file)],
            // A signal to stop that comes before the worker listens waits for it: on a busy machine that takes a while.
            blocked: [SIGTERM])
        guard let started else { throw ChaosFailure("cannot start \(program): errno \(errno)") }
        pid = started
        Self.running.withLock { _ = $0.insert(started) }
    }

    /// All that run.
    private static let running = Mutex<Set<pid_t>>([])

    /// Kills all running workers, for a run that cannot go on.
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
        return Children.exitCode(status)
    }

    /// Sends a signal and does not wait.
    func signal(_ number: Int32) { kill(pid, number) }

    /// Whether it has ended by itself; then its exit code, or the signal's number negated.
    func ended() -> Int32? {
        var status: Int32 = 0
        guard waitpid(pid, &status, WNOHANG) == pid else { return nil }
        Self.running.withLock { _ = $0.remove(pid) }
        return Children.exitCode(status) ?? -(status & 0x7F)
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
}

/// The harness itself cannot go on: nothing is said about the worker.
struct ChaosFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }
}
