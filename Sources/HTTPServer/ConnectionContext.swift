internal import Threading

/// What the connections of one server share. For the server's thread.
final class ConnectionContext {
    /// Bytes that a connection reads at once.
    static let readBytes = 16 << 10

    let configuration: ServerConfiguration
    let handler: @Sendable (Request, Responder) -> Answer?
    let answers: Mailbox<ServerMessage>
    /// Of requests that are not answered yet, of all connections.
    var bytesInFlight = 0
    var readBuffer = [UInt8](repeating: 0, count: readBytes)

    init(
        configuration: ServerConfiguration, answers: Mailbox<ServerMessage>,
        handler: @escaping @Sendable (Request, Responder) -> Answer?
    ) {
        self.configuration = configuration
        self.answers = answers
        self.handler = handler
    }
}
