import Foundation
import Glibc
import SystemTesting

/// A process of a benchmark, whose time and memory can be read.
final class BenchProcess: Sendable {
    /// How long a process may take to say that it is ready.
    private static let patience = Duration.seconds(30)
    /// How long it may take to end when it is asked to; after that it is killed.
    private static let endLimit = Duration.seconds(25)

    private let child: ChildProcess

    /// - Parameters:
    ///   - environment: What it gets besides this process's own.
    ///   - cores: The processor cores that it may use, as taskset(1) takes them; nil for all.
    ///   - folder: Where its output is written.
    init(
        _ program: URL, _ arguments: [String], environment: [String: String] = [:], cores: String? = nil,
        in folder: URL, name: String
    ) throws {
        let environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        if let cores {
            child = try ChildProcess(
                URL(filePath: "/usr/bin/taskset"), ["--cpu-list", cores, program.path] + arguments,
                environment: environment, in: folder, name: name)
        } else {
            child = try ChildProcess(program, arguments, environment: environment, in: folder, name: name)
        }
    }

    var pid: Int32 { child.pid }

    /// The first line that it prints.
    func firstLine() async throws -> String {
        try await eventually("\(child.name) is ready", within: Self.patience) {
            if let line = child.output.lines.first { return String(line) }
            try child.checkAlive()
            return nil
        }
    }

    /// Everything that it prints until it ends, which it has to do in time and well.
    func output(within limit: Duration) async throws -> String {
        let exit = try await child.exit(within: limit)
        guard exit == .code(0) else {
            throw BenchFailure(description: "\(child.name) ended (\(exit)): \(child.errors.text.suffix(2000))")
        }
        return child.output.text
    }

    /// Asks it to end and waits until it has.
    func end() {
        child.kill(SIGTERM)
        let limit = ContinuousClock.now + Self.endLimit
        while child.ended == nil, ContinuousClock.now < limit { usleep(5000) }
        child.kill(SIGKILL)
    }

    /// Says so in words when it is gone.
    func checkAlive() throws { try child.checkAlive() }

    /// User and system time so far, in seconds (proc(5), fields 14 and 15 of `stat`).
    func cpuSeconds() throws -> Double {
        let stat = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
        // The name in parentheses may hold spaces.
        let fields = stat.split(separator: ")").last.map { $0.split(separator: " ") } ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
            throw BenchFailure(description: "the time of \(child.name) cannot be read")
        }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    /// Largest resident size so far, in MiB.
    func peakMemoryMiB() throws -> Double { try mebibytes("VmHWM") }

    /// Resident size now, in MiB.
    func memoryMiB() throws -> Double { try mebibytes("VmRSS") }

    private func mebibytes(_ name: String) throws -> Double {
        let status = try String(contentsOfFile: "/proc/\(pid)/status", encoding: .utf8)
        let line = status.split(separator: "\n").first { $0.hasPrefix(name + ":") }
        let kilobytes = line?.split(whereSeparator: { !$0.isNumber }).first.flatMap { Double($0) }
        guard let kilobytes else { throw BenchFailure(description: "the memory of \(child.name) cannot be read") }
        return kilobytes / 1024
    }
}

/// Why a measurement is none.
struct BenchFailure: Error, CustomStringConvertible {
    let description: String
}
