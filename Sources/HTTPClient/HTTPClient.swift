internal import Glibc
public import Logging
public import Metrics
internal import Threading

/// HTTPS requests over libcurl, many at a time, on one thread of its own, `http`.
///
/// Connections are kept and used again. The other side is always verified, TLS is 1.2 or later; there is no switch for
/// either. Redirects are replies like others. There are no cookies, no proxy from the environment and no `.netrc`.
/// Headers and bodies are never logged.
///
/// Calls come in batches (``send(_:)``) and outcomes go out in batches, through the sink that the client is made with.
public final class HTTPClient: Sendable {
    private let inbox: HTTPInbox
    private let thread: OwnerThread

    /// Starts the thread; nothing is connected yet.
    /// - Parameters:
    ///   - logger: Gets failures at debug level: their kind and libcurl's text.
    ///   - sink: Gets every call's outcome once, on the client's thread. It is called at most once in a turn of the
    ///     loop, with all outcomes of that turn in the order in which they came. All connections wait while it runs: it
    ///     computes for microseconds an outcome and never blocks. It may call ``send(_:)``, but not ``stop()``.
    /// - Throws: ``HTTPClientError/unreadableAuthorities(errno:)``, ``HTTPClientError/resourcesExhausted(_:errno:)``
    ///   and ``HTTPClientError/libraryFault(_:)``.
    public init(
        configuration: HTTPClientConfiguration, logger: Logger, registry: PrometheusRegistry = .shared,
        sink: @escaping @Sendable ([HTTPOutcome]) -> Void
    ) throws(HTTPClientError) {
        if let file = configuration.caFile, access(file, R_OK) != 0 { throw .unreadableAuthorities(errno: errno) }
        do throws(CurlFailure) { try CurlLibrary.initialize() } catch { throw .libraryFault(error) }
        do throws(ThreadingError) { inbox = try HTTPInbox(configuration) } catch { throw HTTPClientError(error) }
        // Handed over to its thread, which alone uses it from then on.
        nonisolated(unsafe) let loop = try HTTPLoop(
            configuration: configuration, inbox: inbox, metrics: HTTPClientMetrics(registry), logger: logger,
            sink: sink)
        do throws(ThreadingError) {
            thread = try OwnerThread(name: "http") { loop.run() }
        } catch {
            throw HTTPClientError(error)
        }
    }

    deinit { inbox.stop() }

    /// Hands over calls; each gets one outcome through the sink.
    ///
    /// A call waits if too many are in flight; time limits count from the end of that wait. A kept connection may be
    /// closed just as it is used again. If no byte of the response has come, libcurl sends the request again on a new
    /// connection. So a request may arrive twice.
    /// - Returns: false if the client is stopped; then none of them gets an outcome.
    @discardableResult
    public func send(_ calls: [HTTPCall]) -> Bool { inbox.calls.post(contentsOf: calls) }

    /// Ends every call with ``HTTPFailure/stopped``, closes all connections, and returns when the thread has ended. The
    /// sink is not called after that. Every further call waits for the same. A client that is dropped stops, too.
    public func stop() {
        inbox.stop()
        thread.join()
    }
}

extension HTTPClientError {
    init(_ error: ThreadingError) {
        self =
            switch error {
            case .noThread(let errno): .resourcesExhausted("pthread_create", errno: errno)
            case .noDescriptor(let errno): .resourcesExhausted("epoll_create1 or eventfd", errno: errno)
            case .notWatched(let errno): .resourcesExhausted("epoll_ctl", errno: errno)
            }
    }
}
