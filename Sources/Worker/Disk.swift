import Glibc

/// The disk that a file is on.
enum Disk {
    /// Bytes that a process without special rights may still use (statvfs(3)); nil where it is not known.
    /// - Parameter path: A file, there or not.
    static func free(for path: String) -> UInt64? {
        let folder = path.lastIndex(of: "/").map { String(path[...$0]) } ?? "."
        var state = statvfs()
        guard statvfs(path, &state) == 0 || statvfs(folder, &state) == 0 else { return nil }
        return UInt64(state.f_bavail) * UInt64(state.f_frsize)
    }
}
