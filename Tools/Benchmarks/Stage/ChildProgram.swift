import ChildProcesses
import Foundation
import Glibc
import Scheduling

/// A program that a measurement runs. It has only the given variables, and ends at the latest with this process.
final class ChildProgram {
    private let child: ChildProcess
    private var hasEnded = false
    let name: String

    /// - Parameter log: The file that its standard error is appended to.
    init(_ words: [String], environment: [String: String] = [:], log: String) throws {
        name = words.first?.split(separator: "/").last.map { String($0) } ?? ""
        let variables = environment.merging(["PATH": "/usr/bin:/bin"]) { given, _ in given }
        let child = ChildProcess(
            ["/usr/bin/setpriv", "--pdeathsig", "KILL", "/usr/bin/env", "-i"] + variables.map { "\($0)=\($1)" }
                + ["/bin/sh", "-c", #"exec 2>>"$0"; exec "$@""#, log] + words)
        guard let child else { throw BenchFailure("\(name) cannot be started: errno \(errno)") }
        self.child = child
    }

    /// After a fault nobody has stopped it, and the child's own end would wait for ever.
    deinit { if !hasEnded { signal(SIGKILL) } }

    var pid: pid_t { child.pid }

    /// Waits for a line of its output; nil at its end.
    func readLine() -> String? { child.readLine() }

    func signal(_ number: Int32) { kill(pid, number) }

    /// Waits for a program that ends by itself.
    func finish() throws {
        while child.readLine() != nil {}
        guard end() == 0 else { throw BenchFailure("\(name) has failed") }
    }

    /// Ends it in order (`SIGTERM`).
    func stop() throws {
        signal(SIGTERM)
        guard end() == 0 else { throw BenchFailure("\(name) did not end in order") }
    }

    private func end() -> Int32? {
        hasEnded = true
        return child.end()
    }

    /// Most memory that it had at once so far, in MB.
    var peakMemory: Double {
        let status = try? String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = status?.split(separator: "\n").first { $0.hasPrefix("VmHWM:") }
        return (line.flatMap { Double($0.filter(\.isNumber)) } ?? 0) / 1000
    }

    /// Its open files and connections.
    var descriptors: Int {
        (try? FileManager.default.contentsOfDirectory(atPath: "/proc/\(pid)/fd").count) ?? 0
    }
}

/// Looks again and again until something has come.
/// - Throws: ``BenchFailure`` if it has not come within the limit.
func waitFor(
    _ what: String, atMost limit: Duration, every milliseconds: UInt32 = 200, _ hasCome: () throws -> Bool
) throws {
    let deadline = Instant.now + limit
    while try !hasCome() {
        guard Instant.now < deadline else { throw BenchFailure("\(what): not within \(limit)") }
        usleep(milliseconds * 1000)
    }
}
