import Glibc

/// TCP sockets on 127.0.0.1. They block, and are the caller's to close.
public enum Loopback {
    /// The system refused a call.
    public struct Failure: Error, CustomStringConvertible {
        public let description: String

        init(_ call: String) { description = "\(call): \(String(cString: strerror(errno)))" }
    }

    /// A socket that child processes do not inherit.
    public static func socket() -> Int32 {
        Glibc.socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    }

    /// A socket at any free port where the kernel takes connections.
    public static func listening(backlog: Int32 = 1024) throws(Failure) -> (descriptor: Int32, port: Int) {
        let descriptor = socket()
        let port = try bind(descriptor)
        guard listen(descriptor, backlog) == 0 else { throw Failure("listen") }
        return (descriptor, port)
    }

    /// Binds a socket to any free port.
    /// - Parameter host: The last byte of an address in 127.0.0.0/24.
    @discardableResult
    public static func bind(_ descriptor: Int32, host: UInt8 = 1) throws(Failure) -> Int {
        var (address, size) = (address(host, 0), socklen_t(MemoryLayout<sockaddr_in>.size))
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.bind(descriptor, $0, size) == 0 && getsockname(descriptor, $0, &size) == 0
            }
        }
        guard isBound else { throw Failure("bind") }
        return Int(UInt16(bigEndian: address.sin_port))
    }

    /// Connects a socket, whose reads and writes end after two minutes: nothing takes as long, unless the test fails.
    public static func connect(_ descriptor: Int32, to port: Int) throws(Failure) {
        var limit = timeval(tv_sec: 120, tv_usec: 0)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        let result = withUnsafePointer(to: address(1, port)) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Failure("connect") }
    }

    /// Sends a byte each millisecond until the server has ended the connection, both ways.
    /// - Returns: false if it has not done so within two minutes.
    public static func drip(_ descriptor: Int32) -> Bool {
        let deadline = ContinuousClock.now + .seconds(120)
        // Without wanted events poll(2) tells of the end alone.
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        while ContinuousClock.now < deadline {
            if poll(&entry, 1, 1) > 0 || Glibc.send(descriptor, "x", 1, Int32(MSG_NOSIGNAL)) < 0 { return true }
        }
        return false
    }

    /// Ports that nobody listens at now. Another process may take one before the caller does.
    public static func freePorts(_ count: Int) throws(Failure) -> [Int] {
        // All stay taken until the last is found, so that none comes twice.
        let descriptors = (0..<count).map { _ in socket() }
        defer { for descriptor in descriptors { close(descriptor) } }
        var ports: [Int] = []
        for descriptor in descriptors { ports.append(try bind(descriptor)) }
        return ports
    }

    private static func address(_ last: UInt8, _ port: Int) -> sockaddr_in {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = in_port_t(UInt16(port).bigEndian)
        address.sin_addr.s_addr = (UInt32(127) << 24 | UInt32(last)).bigEndian
        return address
    }
}
