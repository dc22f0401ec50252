import Glibc

/// Sockets at paths. They block, are not inherited by child processes, and are the caller's to close.
public enum UnixSocket {
    /// A socket at a path where the kernel takes connections.
    public static func listening(at path: String) throws(Loopback.Failure) -> Int32 {
        let descriptor = try made(path, bind)
        guard listen(descriptor, 16) == 0 else { throw Loopback.Failure("listen") }
        return descriptor
    }

    /// A socket that is connected to the one at a path.
    public static func connected(to path: String) throws(Loopback.Failure) -> Int32 { try made(path, connect) }

    private static func made(
        _ path: String, _ call: (Int32, UnsafePointer<sockaddr>?, socklen_t) -> Int32
    ) throws(Loopback.Failure) -> Int32 {
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(107)) }
        let result = withUnsafePointer(to: address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                call(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard result == 0 else {
            close(descriptor)
            throw Loopback.Failure(path)
        }
        return descriptor
    }
}
