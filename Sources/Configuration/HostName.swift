import Glibc

/// The host's name, as gethostname(2) has it: in a container, the container's.
public enum HostName {
    /// Nil where the system has none.
    public static var current: String? {
        // Linux has names of at most 64 bytes.
        var host = [CChar](repeating: 0, count: 256)
        guard gethostname(&host, host.count - 1) == 0, host[0] != 0 else { return nil }
        return String(decoding: host.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
