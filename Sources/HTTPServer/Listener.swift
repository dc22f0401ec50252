internal import CLinux
internal import Glibc

/// A socket that connections are accepted from. It is closed with this object.
public final class Listener: Sendable {
    public enum Accepted {
        /// The descriptor is the caller's to close. It does not block, and sends what it is given at once
        /// (TCP_NODELAY).
        case connection(Int32)
        /// Nobody waits.
        case nobody
        /// The process or the system has no descriptor or no memory for the waiting connection.
        case exhausted
    }

    /// Connections that the kernel accepts before the server does.
    private static let mostWaiting: Int32 = 1024

    public let descriptor: Int32
    public let port: Int

    /// Binds the first address of a host that can be bound.
    /// - Parameters:
    ///   - host: an address of this machine or a name of one; `0.0.0.0` and `::` are all of them.
    ///   - port: zero for any that is free.
    /// - Throws: ``ServerError/cannotBind(host:port:reason:mayPass:)``.
    public init(host: String, port: Int) throws(ServerError) {
        descriptor = try Self.bound(host, port)
        self.port = Self.port(of: descriptor) ?? port
    }

    deinit { close(descriptor) }

    /// Accepts a connection, if one waits.
    public func accept() -> Accepted {
        while true {
            let accepted = grantor_accept(descriptor, nil, nil)
            if accepted >= 0 {
                var yes: Int32 = 1
                setsockopt(accepted, Int32(IPPROTO_TCP), TCP_NODELAY, &yes, socklen_t(MemoryLayout<Int32>.size))
                return .connection(accepted)
            }
            switch errno {
            case EAGAIN: return .nobody
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted
            // A connection that ended before it was accepted; errors of the network count as such (accept(2)).
            case ECONNABORTED, EINTR, EPROTO, ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH, ENOPROTOOPT, EPERM: break
            default: return .nobody
            }
        }
    }

    private static func bound(_ host: String, _ port: Int) throws(ServerError) -> Int32 {
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, String(port), &hints, &list)
        guard result == 0 else {
            throw .cannotBind(
                host: host, port: port, reason: String(cString: gai_strerror(result)),
                mayPass: [EAI_AGAIN, EAI_MEMORY, EAI_SYSTEM].contains(result))
        }
        defer { freeaddrinfo(list) }
        var next = list
        var fault: Int32 = 0
        while let entry = next {
            let descriptor = grantor_stream_socket(entry.pointee.ai_family)
            if descriptor >= 0 {
                // So that a server can come back to a port on which old connections linger.
                var yes: Int32 = 1
                setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
                if bind(descriptor, entry.pointee.ai_addr, entry.pointee.ai_addrlen) == 0,
                    listen(descriptor, mostWaiting) == 0
                {
                    return descriptor
                }
            }
            fault = errno
            if descriptor >= 0 { close(descriptor) }
            next = entry.pointee.ai_next
        }
        throw .cannotBind(
            host: host, port: port, reason: String(cString: strerror(fault)),
            mayPass: [EADDRNOTAVAIL, EADDRINUSE, EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(fault))
    }

    private static func port(of descriptor: Int32) -> Int? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { return nil }
        return withUnsafeBytes(of: storage) { bytes in
            // The port has the same offset in the addresses of both versions.
            Int(UInt16(bigEndian: bytes.loadUnaligned(as: sockaddr_in.self).sin_port))
        }
    }
}

/// A server cannot start. The caller reports it and stops.
public enum ServerError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The address is in use, is none of this machine's, or needs a privilege.
    /// - Parameter mayPass: Whether it may pass: another process may leave the port, and a network or its resolver may
    ///   come up later.
    case cannotBind(host: String, port: Int, reason: String, mayPass: Bool)
    /// The process has no threads or descriptors left.
    case noResources(reason: String)

    /// Whether a later try may succeed although nobody has changed the settings.
    public var mayPass: Bool { if case .cannotBind(_, _, _, let mayPass) = self { mayPass } else { true } }

    public var description: String {
        switch self {
        case .cannotBind(let host, let port, let reason, _): "cannot serve on \(host):\(port): \(reason)"
        case .noResources(let reason): "the server cannot start: \(reason)"
        }
    }
}
