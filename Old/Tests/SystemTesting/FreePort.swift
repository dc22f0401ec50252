import Glibc

/// Ports for programs that cannot choose one themselves.
public enum FreePort {
    /// No port could be had.
    public struct Unavailable: Error {
        /// Nothing is known of the cause.
        public init() {}
    }

    /// A TCP port of 127.0.0.1 that nothing listened on a moment ago.
    public static func find() throws -> Int {
        let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        guard descriptor >= 0 else { throw Unavailable() }
        defer { close(descriptor) }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(INADDR_LOOPBACK).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        // The socket functions take every family's address as `sockaddr`.
        let code = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(descriptor, address, length) == 0 ? getsockname(descriptor, address, &length) : -1
            }
        }
        guard code == 0 else { throw Unavailable() }
        return Int(in_port_t(bigEndian: address.sin_port))
    }
}
