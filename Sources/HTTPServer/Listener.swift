internal import CLinux
internal import Glibc

/// Where a connection comes from, for counting.
enum PeerAddress: Hashable, Sendable {
    case version4(UInt32)
    /// The first half, because a client with one IPv6 address has all addresses of its network.
    case version6(UInt64)
    case unknown

    /// Reads the address that `accept` gave.
    init(_ storage: sockaddr_storage) {
        self = withUnsafeBytes(of: storage) { bytes in
            switch Int32(storage.ss_family) {
            case AF_INET:
                let address = bytes.loadUnaligned(as: sockaddr_in.self)
                return .version4(address.sin_addr.s_addr)
            case AF_INET6:
                let address = bytes.loadUnaligned(as: sockaddr_in6.self)
                return withUnsafeBytes(of: address.sin6_addr) { address in
                    // An address of version 4 on a socket of version 6: ::ffff:a.b.c.d.
                    let isMapped = address[..<10].allSatisfy { $0 == 0 } && address[10] == 0xFF && address[11] == 0xFF
                    return isMapped
                        ? .version4(address.loadUnaligned(fromByteOffset: 12, as: UInt32.self))
                        : .version6(address.loadUnaligned(as: UInt64.self))
                }
            default: return .unknown
            }
        }
    }
}

/// A socket that connections are accepted from. It is closed with this object.
final class Listener: Sendable {
    enum Accepted {
        /// The descriptor is the caller's to close. It does not block.
        case connection(Int32, PeerAddress)
        /// Nobody waits.
        case nobody
        /// The process or the system has no descriptor or no memory for another connection.
        case exhausted
    }

    let descriptor: Int32
    let port: Int

    /// Binds the first address of a host that can be bound.
    init(host: String, port: Int, backlog: Int32) throws(ServerError) {
        var reason = "the host has no address"
        if let descriptor = Self.bound(host, port, backlog, &reason) {
            self.descriptor = descriptor
            self.port = Self.port(of: descriptor) ?? port
        } else {
            throw .cannotBind(host: host, port: port, reason: reason)
        }
    }

    deinit {
        close(descriptor)
    }

    /// Accepts a connection, if one waits.
    func accept() -> Accepted {
        while true {
            var storage = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let accepted = withUnsafeMutablePointer(to: &storage) { storage in
                storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    grantor_accept(descriptor, address, &length)
                }
            }
            if accepted >= 0 { return .connection(accepted, PeerAddress(storage)) }
            switch errno {
            case EAGAIN: return .nobody
            case EMFILE, ENFILE, ENOBUFS, ENOMEM: return .exhausted
            // A connection that ended before it was accepted; errors of the network count as such (accept(2)).
            case ECONNABORTED, EINTR, EPROTO, ENETDOWN, ENETUNREACH, EHOSTDOWN, EHOSTUNREACH, ENOPROTOOPT, EPERM: break
            default: return .nobody
            }
        }
    }

    private static func bound(_ host: String, _ port: Int, _ backlog: Int32, _ reason: inout String) -> Int32? {
        var hints = addrinfo()
        hints.ai_flags = AI_PASSIVE
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, String(port), &hints, &list)
        guard result == 0 else {
            reason = String(cString: gai_strerror(result))
            return nil
        }
        defer { freeaddrinfo(list) }
        var next = list
        while let entry = next {
            let descriptor = grantor_listening_socket(entry.pointee.ai_family)
            if descriptor >= 0 {
                // So that a server can come back to a port on which old connections linger.
                var yes: Int32 = 1
                setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, socklen_t(MemoryLayout<Int32>.size))
                if bind(descriptor, entry.pointee.ai_addr, entry.pointee.ai_addrlen) == 0,
                    listen(descriptor, backlog) == 0
                {
                    return descriptor
                }
            }
            reason = String(cString: strerror(errno))
            if descriptor >= 0 { close(descriptor) }
            next = entry.pointee.ai_next
        }
        return nil
    }

    private static func port(of descriptor: Int32) -> Int? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard result == 0 else { return nil }
        return withUnsafeBytes(of: storage) { bytes in
            // The port stands at the same place in the addresses of both versions.
            Int(UInt16(bigEndian: bytes.loadUnaligned(as: sockaddr_in.self).sin_port))
        }
    }
}
