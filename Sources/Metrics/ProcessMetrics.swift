import Glibc

/// Linux's figures of this process, under the names that Prometheus client libraries share.
struct ProcessMetrics: Hashable, Sendable {
    /// All names begin with it.
    static let prefix = "process_"

    /// `/proc/stat` has a line per processor and a long one for interrupts.
    private static let maxFileBytes = 1 << 20

    let cpuSeconds: Double
    let residentBytes: Int
    let virtualBytes: Int
    /// Seconds since the UNIX epoch.
    let startTime: Double
    let openDescriptors: Int?

    /// The state of the moment; nil where `/proc` does not show it.
    static func current() -> ProcessMetrics? {
        guard let stat = text("/proc/self/stat"), let system = text("/proc/stat") else { return nil }
        return ProcessMetrics(
            stat: stat, systemStat: system, openDescriptors: openDescriptors(),
            ticksPerSecond: sysconf(Int32(_SC_CLK_TCK)), pageSize: sysconf(Int32(_SC_PAGESIZE)))
    }

    /// Reads the files' texts as proc(5) lays them out; nil if they are of another form.
    init?(stat: String, systemStat: String, openDescriptors: Int?, ticksPerSecond: Int, pageSize: Int) {
        // The program's name stands in parentheses and may hold anything, so counting begins behind it, at field 3.
        guard ticksPerSecond > 0, let end = stat.lastIndex(of: ")") else { return nil }
        let fields = stat[stat.index(after: end)...].split(whereSeparator: \.isWhitespace)
        let bootLine = systemStat.split(separator: "\n").first { $0.hasPrefix("btime ") }
        guard fields.count > 21, let user = Double(fields[11]), let kernel = Double(fields[12]),
            let started = Double(fields[19]), let size = Int(fields[20]), let pages = Int(fields[21]),
            let boot = bootLine.flatMap({ Double($0.dropFirst("btime ".count)) })
        else { return nil }
        cpuSeconds = (user + kernel) / Double(ticksPerSecond)
        residentBytes = pages * pageSize
        virtualBytes = size
        startTime = boot + started / Double(ticksPerSecond)
        self.openDescriptors = openDescriptors
    }

    func render() -> String {
        var metrics = [
            ("process_cpu_seconds_total", "counter", "CPU time used, user and system.", cpuSeconds),
            ("process_resident_memory_bytes", "gauge", "Memory in RAM.", Double(residentBytes)),
            ("process_start_time_seconds", "gauge", "Start of the process since the UNIX epoch.", startTime),
            ("process_virtual_memory_bytes", "gauge", "Memory addressed.", Double(virtualBytes)),
        ]
        if let openDescriptors {
            metrics.append(("process_open_fds", "gauge", "Open file descriptors.", Double(openDescriptors)))
        }
        return metrics.map { name, kind, help, value in
            "\(PrometheusText.heading(name, kind: kind, help: help))\n\(name) \(PrometheusText.number(value))\n"
        }.joined()
    }

    /// A file's whole text; nil if it cannot be read. The kernel's files have no length to ask for.
    private static func text(_ path: String) -> String? {
        let file = open(path, O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while bytes.count < maxFileBytes {
            let count = read(file, &chunk, chunk.count)
            guard count >= 0 else { return nil }
            guard count > 0 else { break }
            bytes += chunk.prefix(count)
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// The entries of `/proc/self/fd`, except the descriptor that reads them.
    private static func openDescriptors() -> Int? {
        guard let folder = opendir("/proc/self/fd") else { return nil }
        defer { closedir(folder) }
        var count = 0
        while readdir(folder) != nil { count += 1 }
        // Two are "." and "..".
        return count - 3
    }
}
