internal import CLinux
internal import Glibc
internal import Scheduling

/// Asks a ``ProbeServer`` of this host, for a container's health check. The thread that asks waits.
public enum ProbeClient {
    /// Most bytes of an answer: probes answer with a line.
    static let maxBytes = 64 << 10

    /// An answer that came whole.
    public struct Reply: Hashable, Sendable {
        public let status: Int
        public let body: String
    }

    /// Sends one GET by HTTP/1.1, and reads until the server closes.
    /// - Parameters:
    ///   - host: as the server's setting has it; all addresses of the host are asked by loopback.
    ///   - token: a bearer token to show (RFC 6750).
    ///   - limit: for everything together.
    /// - Throws: ``ProbeFailure``.
    public static func get(
        host: String, port: Int, path: String, token: String? = nil, within limit: Duration
    ) throws(ProbeFailure) -> Reply {
        let end = Instant.now + limit
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        var list: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(loopback(for: host), String(port), &hints, &list) == 0 else { throw .unknownHost }
        defer { freeaddrinfo(list) }
        let socket = try connect(to: list, until: end)
        defer { close(socket) }
        let name = host.contains(":") ? "[\(host)]" : host
        let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        let head = "GET \(path) HTTP/1.1\r\nHost: \(name):\(port)\r\n\(authorization)Connection: close\r\n\r\n"
        var request = Array(head.utf8)[...]
        while !request.isEmpty {
            let sent = request.withUnsafeBytes { send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if sent > 0 { request.removeFirst(sent) } else { try wait(socket, POLLOUT, until: end) }
        }
        return try reply(read(socket, until: end))
    }

    private static func loopback(for host: String) -> String {
        switch host {
        case "0.0.0.0": "127.0.0.1"
        case "::": "::1"
        default: host
        }
    }

    /// Connects to the first address that takes the connection: a server listens at the first that it can have.
    private static func connect(
        to list: UnsafeMutablePointer<addrinfo>?, until end: Instant
    ) throws(ProbeFailure) -> Int32 {
        var failure = ProbeFailure.unknownHost
        var next = list
        while let address = next?.pointee {
            next = address.ai_next
            let socket = grantor_stream_socket(address.ai_family)
            do throws(ProbeFailure) {
                guard socket >= 0 else { throw .refused(errno: errno) }
                try connect(socket, to: address, until: end)
                return socket
            } catch {
                failure = error
                if socket >= 0 { close(socket) }
            }
        }
        throw failure
    }

    private static func connect(_ socket: Int32, to address: addrinfo, until end: Instant) throws(ProbeFailure) {
        guard Glibc.connect(socket, address.ai_addr, address.ai_addrlen) != 0 else { return }
        guard errno == EINPROGRESS else { throw .refused(errno: errno) }
        try wait(socket, POLLOUT, until: end)
        var (code, size) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        getsockopt(socket, SOL_SOCKET, SO_ERROR, &code, &size)
        guard code == 0 else { throw .refused(errno: code) }
    }

    private static func read(_ socket: Int32, until end: Instant) throws(ProbeFailure) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while bytes.count <= maxBytes {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count == 0 { return bytes }
            if count > 0 { bytes += buffer[..<count] } else { try wait(socket, POLLIN, until: end) }
        }
        throw .notHTTP
    }

    /// Waits until an empty socket may have something; errno is that of the call before.
    private static func wait(_ socket: Int32, _ event: Int32, until end: Instant) throws(ProbeFailure) {
        guard [EAGAIN, EINTR, EINPROGRESS].contains(errno) else { throw .refused(errno: errno) }
        var watched = pollfd(fd: socket, events: Int16(event), revents: 0)
        let rest = (end - .now) / .milliseconds(1)
        guard rest > 0 else { throw .timedOut }
        guard poll(&watched, 1, Int32(min(rest, 60_000))) >= 0 || errno == EINTR else { throw .refused(errno: errno) }
    }

    static func reply(_ bytes: [UInt8]) throws(ProbeFailure) -> Reply {
        let text = String(decoding: bytes, as: UTF8.self)
        let line = text.prefix { !$0.isNewline }.split(separator: " ")
        guard line.count >= 2, line[0].hasPrefix("HTTP/1."), let status = Int(line[1]), (100...599).contains(status),
            let head = text.firstRange(of: "\r\n\r\n")
        else { throw .notHTTP }
        return Reply(status: status, body: String(text[head.upperBound...]))
    }
}

/// The reason why a probe has no answer.
public enum ProbeFailure: Error, Hashable, CustomStringConvertible {
    case unknownHost
    case refused(errno: Int32)
    case timedOut
    /// Something else listens there.
    case notHTTP

    public var description: String {
        switch self {
        case .unknownHost: "the host's name is not known"
        case .refused(let errno): String(cString: strerror(errno))
        case .timedOut: "it does not answer in time"
        case .notHTTP: "something answers there that is not a worker's HTTP"
        }
    }
}
