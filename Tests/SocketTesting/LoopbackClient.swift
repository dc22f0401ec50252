internal import Glibc

/// A client that sends and reads bytes as a test says: no HTTP library would send most of them. It blocks, within a
/// limit.
public final class LoopbackClient {
    private let descriptor: Int32

    /// - Parameter socket: Is the client's to close.
    public init(_ port: Int, socket: Int32 = Loopback.socket()) throws(Loopback.Failure) {
        descriptor = socket
        try Loopback.connect(socket, to: port)
    }

    deinit { close(descriptor) }

    /// - Returns: false if the server takes no more.
    @discardableResult
    public func send(_ bytes: [UInt8]) -> Bool {
        Glibc.send(descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }

    /// Drips until the server has ended the connection, see ``Loopback/drip(_:)``.
    public func drip() -> Bool { Loopback.drip(descriptor) }

    /// Sends a request and reads until the server ends the connection.
    public func answer(_ request: String) throws(Loopback.Failure) -> String {
        send(Array(request.utf8))
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = recv(descriptor, &buffer, buffer.count, 0)
            guard count >= 0 else { throw Loopback.Failure("recv") }
            guard count > 0 else { return String(decoding: answer, as: UTF8.self) }
            answer += buffer.prefix(count)
        }
    }
}
