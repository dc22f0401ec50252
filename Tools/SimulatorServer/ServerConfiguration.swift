public import HTTPServer

/// Limits of a server, its address, and its observer.
public struct ServerConfiguration: Sendable {
    /// An address of this machine or a name of one; `0.0.0.0` and `::` are all of them.
    public var host = "127.0.0.1"
    /// Zero for any that is free.
    public var port = 0
    /// The first 15 bytes are shown by debuggers.
    public var threadName = "http-server"

    /// Most connections at once. At the limit a new one replaces the connection that has been without a complete
    /// request for longest. If all have requests, new ones wait in the kernel's queue.
    public var maxConnections = 1024
    /// A connection is closed behind the answer to its last request.
    public var maxRequestsPerConnection = Int.max
    /// The longest body that a request may have, asked once its head is complete; a longer one is answered with 413 and
    /// not read.
    public var bodyLimit: @Sendable (RequestHead) -> Int = { _ in 64 << 10 }
    /// Most bytes of heads and bodies in memory, of all connections; a request beyond it is answered with 503. They
    /// count as they come, and until their request is answered.
    public var maxBytesInFlight = 32 << 20

    // Times that only a hang takes, also on a machine that is busy with much else.

    /// For TLS's handshake.
    public var handshakeTime = Duration.seconds(120)
    /// For a whole request, from its first byte on, however steadily its bytes drip.
    public var requestTime = Duration.seconds(120)
    /// For the first byte of the next request.
    public var idleTime = Duration.seconds(120)
    /// For ``ServerAnswer/Action/hang``.
    public var answerTime = Duration.seconds(600)
    /// For the client to take a whole reply, or each piece of one that drips.
    public var writeTime = Duration.seconds(120)

    /// Told of everything that happens, on the server's thread.
    public var observe: @Sendable (ServerEvent) -> Void = { _ in }

    public init() {}
}

/// Something that happened to a server, to be counted.
public enum ServerEvent: Hashable, Sendable {
    case connectionOpened
    /// Follows each ``connectionOpened`` once.
    case connectionClosed
    /// There are no descriptors or there is no memory for another connection.
    case acceptingPaused
    /// A request is complete and the handler is asked.
    case requestBegan
    /// Follows each ``requestBegan`` once: it was answered, or its client went away.
    case requestEnded
    /// A request was answered with this status without the handler.
    case requestRefused(status: Int)
}

/// The state that the connections of one server share. For the server's thread.
final class ConnectionContext {
    /// Bytes that a connection reads at once.
    static let readBytes = 16 << 10

    let configuration: ServerConfiguration
    let handler: @Sendable (Request) -> ServerAnswer
    /// Of requests that are not answered yet, of all connections.
    var bytesInFlight = 0
    var readBuffer = [UInt8](repeating: 0, count: readBytes)

    init(configuration: ServerConfiguration, handler: @escaping @Sendable (Request) -> ServerAnswer) {
        self.configuration = configuration
        self.handler = handler
    }
}
