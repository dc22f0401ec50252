internal import Threading

/// An HTTP/1.1 server on one thread: epoll, thousands of connections, TLS if it has an identity.
///
/// It is for clients that may be slow, broken or hostile. Everything that a client can hold is bounded, in number, bytes and
/// time (``ServerConfiguration``), and requests are read strictly (``RequestReader``). It serves until ``stop()``, or until
/// nobody holds it any more.
///
///     let server = try Server(configuration) { request, responder in
///         guard request.head.path == "/livez" else { return .reply(Reply(status: 404)) }
///         return .reply(Reply(status: 200, contentType: "text/plain", text: "ok\n"))
///     }
public final class Server: Sendable {
    /// The port that is listened on.
    public let port: Int
    private let mailbox: Mailbox<ServerMessage>
    private let thread: OwnerThread

    /// Binds the address and starts to serve.
    ///
    /// - Parameters:
    ///   - identity: the certificate to speak TLS with; nil for plain HTTP.
    ///   - handler: called on the server's thread for each request. It returns an answer if it knows it within
    ///     microseconds; else nil, and the answer goes to the responder, from any thread.
    /// - Throws: ``ServerError``.
    public init(
        _ configuration: ServerConfiguration, identity: TLSIdentity? = nil,
        handler: @escaping @Sendable (Request, Responder) -> Answer?
    ) throws(ServerError) {
        let listener = try Listener(
            host: configuration.host, port: configuration.port, backlog: configuration.backlog)
        port = listener.port
        do {
            // Each open request has one answer; others belong to clients that went away meanwhile.
            let mailbox = try Mailbox<ServerMessage>(bound: 16 + 8 * configuration.maxConnections)
            let resources = try ServerResources(listener: listener, identity: identity, wake: mailbox.wake)
            self.mailbox = mailbox
            thread = try OwnerThread(name: configuration.threadName) {
                let context = ConnectionContext(configuration: configuration, answers: mailbox, handler: handler)
                ServerLoop(resources: resources, mailbox: mailbox, context: context).run()
                mailbox.close()
            }
        } catch {
            throw .noResources(reason: error.description)
        }
    }

    deinit {
        mailbox.post(.stop)
    }

    /// Frees the port and ends every connection at once, without farewell. Returns when both are done. Not for handlers,
    /// which run on the thread that it waits for.
    public func stop() {
        mailbox.post(.stop)
        thread.join()
    }
}
