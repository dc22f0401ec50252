public import HTTPServer

/// Everything that can happen to a request. All but ``Action/reply(_:)`` are faults that stand-ins for services show.
public struct ServerAnswer: Hashable, Sendable {
    public enum Action: Hashable, Sendable {
        case reply(Reply)
        /// The reply's head and half of its body, then the end of the connection, without TLS's farewell.
        case cutOff(Reply)
        /// The reply in pieces of so many bytes of its body, so far apart.
        case drip(Reply, bytes: Int, every: Duration)
        /// The client sees a TCP reset.
        case reset
        /// The client sees the end of the connection, without TLS's farewell.
        case close
        /// Nothing, until the client gives up or ``ServerConfiguration/answerTime`` is over.
        case hang
    }

    /// How long the action waits.
    public var delay: Duration
    public var action: Action

    public init(_ action: Action, delay: Duration = .zero) {
        self.action = action
        self.delay = delay
    }

    /// A reply at once.
    public static func reply(_ reply: Reply) -> ServerAnswer { ServerAnswer(.reply(reply)) }
}
