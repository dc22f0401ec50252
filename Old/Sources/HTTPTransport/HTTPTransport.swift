internal import CLibcurl
public import Logging
public import Metrics
internal import Synchronization

/// HTTPS requests over libcurl, many at a time, on one thread of its own.
///
/// Connections are kept and used again. The other side is always verified, TLS is 1.2 or later, and only `https` is
/// spoken, but for ``HTTPTransportConfiguration/plainLoopback``; there is no other switch for any of that. Redirects are answers like others; there are no cookies, no proxy from
/// the environment, no `.netrc`. Headers and bodies are never logged.
///
/// Close it with ``shutdown()``; dropped without, its thread ends by itself.
public final class HTTPTransport: Sendable {
    private let exchange: TransferExchange
    private let loopExecutor: LoopExecutor
    private let loopEnded = CompletionLatch()
    private let metrics: TransportMetrics
    private let logger: Logger
    private let plainLoopback: Bool
    /// The POST request that was last found fine, without its body: most differ from the one before in that alone. GET requests
    /// differ in their URL, and have tokens that should be kept no longer than they are needed.
    private let lastFine = Mutex<HTTPRequest?>(nil)

    /// Checks the configuration and starts the thread; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - configuration: Checked field by field.
    ///   - logger: Gets failures at debug level: their kind, host and libcurl's text.
    ///   - metricsFactory: Where to count: gauges `http_transport_requests_in_flight` and `..._requests_waiting`, timer
    ///     `http_transport_request_duration_seconds`, counters `http_transport_connections_opened_total` and
    ///     `http_transport_errors_total` by `kind`.
    /// - Throws: ``HTTPTransportError/invalidConfiguration(field:reason:)``,
    ///   ``HTTPTransportError/resourcesExhausted(_:errno:)``, and ``HTTPTransportError/libraryFault(_:)`` when this
    ///   libcurl lacks an option: 7.87 is the oldest that has all.
    public init(
        configuration: HTTPTransportConfiguration, logger: Logger,
        metricsFactory: any MetricsFactory = MetricsSystem.factory
    ) throws(HTTPTransportError) {
        try configuration.validate()
        try CurlLibrary.initialize()
        // A request that is never sent, so that an option that this libcurl refuses shows now.
        _ = try ActiveTransfer(
            id: TransferID(rawValue: .max), request: HTTPRequest(method: .get, url: "https://localhost"),
            configuration: configuration)
        metrics = TransportMetrics(factory: metricsFactory)
        self.logger = logger
        plainLoopback = configuration.plainLoopback
        let poller = try Poller()
        exchange = TransferExchange(
            maxRunning: configuration.maxConnections, maxWaiting: configuration.maxWaiting, poller: poller)
        loopExecutor = LoopExecutor(poller: poller)
        let loop = HandedOver(
            try TransferLoop(
                configuration: configuration, exchange: exchange, executor: loopExecutor, poller: poller,
                metrics: metrics, logger: logger))
        try LoopThread.start { [loopEnded] in
            loop.take()?.run()
            loopEnded.open()
        }
    }

    deinit { exchange.close() }

    /// Runs tasks that mostly send requests, on the transport's own thread: a task goes on where its answer came in, without
    /// a change of thread, and its next request leaves from there.
    ///
    /// All connections wait while such a task computes. It is for tasks that do so for microseconds, must not block, and
    /// use one core at most, together with the connections. After ``shutdown()`` the tasks go on like any other.
    public var executor: any TaskExecutor { loopExecutor }

    /// Sends a request and returns the whole response, whatever its status.
    ///
    /// Waits for a free connection where all are in use (``HTTPTransportConfiguration/maxWaiting``); time limits count
    /// from when the wait is over. Cancelling the task ends wait and transfer at once and closes the connection.
    ///
    /// A connection that was kept open can turn out to be closed just as it is used again; if not a byte of the
    /// response has come, libcurl then sends the request once more on a new one. So a request may arrive twice.
    ///
    /// - Throws: Any ``HTTPTransportError`` but `invalidConfiguration`; each case says what to do.
    public func send(_ request: HTTPRequest) async throws(HTTPTransportError) -> HTTPResponse {
        do throws(HTTPTransportError) {
            try validate(request)
            let response = try await exchange.answer(request).get()
            metrics.record(response)
            return response
        } catch {
            note(error, request.url)
            throw error
        }
    }

    /// Sends a request like ``send(_:)``, without a task that waits, and without a way to cancel it.
    ///
    /// - Parameter then: Called once, with what ``send(_:)`` would have returned or thrown, and not by this call itself. It
    ///   runs on the transport's thread, where it must not block and should compute for microseconds; on the thread of
    ///   whoever closes the transport; or, when the request is refused, on one that all tasks share.
    public func send(
        _ request: HTTPRequest, then: @escaping @Sendable (Result<HTTPResponse, HTTPTransportError>) -> Void
    ) {
        do throws(HTTPTransportError) {
            try validate(request)
        } catch {
            return refuse(request, error, then)
        }
        let refusal = exchange.send(request) { [self, url = request.url] result in
            switch result {
            case .success(let response): metrics.record(response)
            case .failure(let error): note(error, url)
            }
            then(result)
        }
        if let refusal { refuse(request, refusal, then) }
    }

    /// In a task: who sends another request when one failed would call itself here, ever deeper.
    private func refuse(
        _ request: HTTPRequest, _ error: HTTPTransportError,
        _ then: @escaping @Sendable (Result<HTTPResponse, HTTPTransportError>) -> Void
    ) {
        note(error, request.url)
        Task { then(.failure(error)) }
    }

    private func validate(_ request: HTTPRequest) throws(HTTPTransportError) {
        try request.validateBody()
        guard !lastFine.withLock({ $0?.differsInBodyAlone(from: request) ?? false }) else { return }
        try request.validateHead(plainLoopback: plainLoopback)
        if request.method == .post { lastFine.withLock { $0 = request.withoutBody } }
    }

    private func note(_ error: HTTPTransportError, _ url: String) {
        metrics.record(error)
        logger.debug(
            "request failed",
            metadata: [
                "kind": "\(error.kind.rawValue)", "host": "\(EndpointURL.host(url) ?? "")",
                "failure": "\(error.failure?.description ?? "")",
            ])
    }

    /// Fails what waits or is in flight with ``HTTPTransportError/closed``, and returns when all connections are closed
    /// and the thread has nothing left to do. Calling it again waits for the same.
    public func shutdown() async {
        exchange.close()
        await loopEnded.wait()
    }
}
