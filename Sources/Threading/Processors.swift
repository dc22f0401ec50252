internal import CLinux
internal import Glibc

/// Processors that threads of this process can use at once.
public enum Processors {
    /// The processors that the process may run on, at most as many as its control group has time for, and at least one.
    /// In a container both are usually fewer than the machine's. A thread for each of the machine's would only wait,
    /// and the group's time would end for all threads together.
    ///
    /// Sources: sched_getaffinity(2); the kernel's "Control Group v2", `cpu.max`. Only the process's own group is read:
    /// neither a limit of a group above it, nor version 1 of control groups.
    public static var usable: Int {
        let own = text(of: "/proc/self/cgroup").flatMap(folder) ?? ""
        return count(allowed: allowed, limit: text(of: "/sys/fs/cgroup\(own)/cpu.max") ?? "")
    }

    /// - Parameter limit: the content of `cpu.max`, "200000 100000" or "max 100000": microseconds of each period.
    static func count(allowed: Int, limit: String) -> Int {
        let words = limit.split(whereSeparator: \.isWhitespace)
        guard words.count == 2, let time = Int(words[0]), let period = Int(words[1]), period > 0, time > 0 else {
            return max(1, allowed)
        }
        return max(1, min(allowed, (time + period - 1) / period))
    }

    /// The group's folder below the mounted tree, from what `/proc/self/cgroup` says.
    static func folder(_ groups: String) -> String? {
        let prefix = "0::"
        let line = groups.split(separator: "\n").first { $0.hasPrefix(prefix) }
        return line.map { $0 == "0::/" ? "" : String($0.dropFirst(prefix.count)) }
    }

    private static var allowed: Int {
        var set = cpu_set_t()
        guard sched_getaffinity(0, MemoryLayout<cpu_set_t>.size, &set) == 0 else {
            // More processors than a set of the C library has room for.
            return Int(sysconf(Int32(_SC_NPROCESSORS_ONLN)))
        }
        return withUnsafeBytes(of: set) { $0.reduce(0) { $0 + $1.nonzeroBitCount } }
    }

    /// - Returns: The first bytes of a small file; nil where it cannot be read.
    private static func text(of file: String) -> String? {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(descriptor, &bytes, bytes.count)
        return count >= 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }
}
