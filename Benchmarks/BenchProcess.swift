import Foundation

/// A process of a benchmark: started with a line of output awaited, ended when it is let go.
final class BenchProcess {
    enum Failure: Error, CustomStringConvertible {
        case ended(String)

        var description: String {
            switch self {
            case .ended(let name): "\(name) ended before it was ready"
            }
        }
    }

    private let process = Process()
    private let input = Pipe()
    private let output = Pipe()
    let name: String

    init(_ executable: URL, _ arguments: [String], environment: [String: String] = [:], log: URL) throws {
        name = executable.lastPathComponent
        process.executableURL = executable
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.standardInput = input
        process.standardOutput = output
        try Data().write(to: log)
        process.standardError = try FileHandle(forWritingTo: log)
        try process.run()
    }

    var pid: Int32 { process.processIdentifier }

    /// The first line that the process prints.
    func firstLine() throws -> String {
        var line: [UInt8] = []
        while true {
            guard let byte = try output.fileHandleForReading.read(upToCount: 1)?.first else {
                throw Failure.ended(name)
            }
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
    }

    /// Asks it to end and waits until it has.
    func end() {
        if process.isRunning { process.terminate() }
        try? input.fileHandleForWriting.close()
        process.waitUntilExit()
    }

    /// User and system time so far, in seconds (proc(5), fields 14 and 15 of `stat`).
    func cpuSeconds() throws -> Double {
        let stat = try String(contentsOfFile: "/proc/\(pid)/stat", encoding: .utf8)
        // The name in parentheses may hold spaces.
        let fields = stat.split(separator: ")").last.map { $0.split(separator: " ") } ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else {
            throw Failure.ended(name)
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
        guard let kilobytes else { throw Failure.ended(self.name) }
        return kilobytes / 1024
    }
}
