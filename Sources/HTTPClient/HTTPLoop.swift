internal import CLibcurl
internal import Logging
public import Metrics
internal import Scheduling
internal import Synchronization
internal import Threading

/// Where callers and the client's thread meet.
final class HTTPInbox: Sendable {
    /// Calls beyond the limits of running and waiting ones that may be posted within one turn of the loop, which
    /// refuses them.
    private static let burst = 65_536

    let calls: Mailbox<HTTPCall>
    private let stops = Atomic(false)

    init(_ configuration: HTTPClientConfiguration) throws(ThreadingError) {
        calls = try Mailbox(bound: configuration.maxInFlight + configuration.maxQueued + Self.burst)
    }

    var isStopping: Bool { stops.load(ordering: .acquiring) }

    func stop() {
        stops.store(true, ordering: .releasing)
        calls.wake.signal()
    }
}

/// Drives libcurl in turns: waits, lets it act, starts calls while slots are free, and hands over the outcomes in one
/// batch. One thread at a time uses it.
final class HTTPLoop {
    private let inbox: HTTPInbox
    private let sink: ([HTTPOutcome]) -> Void
    private let metrics: HTTPClientMetrics
    private let logger: Logger
    private let watcher: SocketWatcher
    private let handles: MultiHandlePool
    private var idle: TransferPool
    private var queue: CallQueue<HTTPCall>
    private var arrived: [HTTPCall] = []
    private var outcomes: [HTTPOutcome] = []
    private var unwatchedReported = 0

    init(
        configuration: HTTPClientConfiguration, inbox: HTTPInbox, metrics: HTTPClientMetrics, logger: Logger,
        sink: @escaping ([HTTPOutcome]) -> Void
    ) throws(HTTPClientError) {
        self.inbox = inbox
        self.sink = sink
        self.metrics = metrics
        self.logger = logger
        idle = TransferPool(configuration: configuration)
        queue = CallQueue(maxInFlight: configuration.maxInFlight, maxQueued: configuration.maxQueued)
        do throws(ThreadingError) {
            watcher = try SocketWatcher(wake: inbox.calls.wake, maxAge: configuration.maxConnectionAge)
        } catch {
            throw HTTPClientError(error)
        }
        do throws(CurlFailure) {
            handles = try MultiHandlePool(configuration: configuration, watcher: watcher)
            // Never used. It is made so that an option that this libcurl refuses shows now.
            _ = try Transfer(configuration)
        } catch {
            throw .libraryFault(error)
        }
    }

    /// Returns when the client is stopped, or libcurl cannot go on; every call has its outcome then.
    func run() {
        var ending = HTTPFailure.stopped
        do throws(CurlFailure) {
            while !inbox.isStopping { try takeTurn() }
        } catch {
            logger.critical("libcurl cannot go on", metadata: ["failure": "\(error)"])
            ending = HTTPFailure(.libraryFault, "libcurl failed", error)
        }
        for call in inbox.calls.close() + queue.removeAll() { end(call.token, ending) }
        for token in handles.tokens { end(token, ending) }
        handOver()
        metrics.set(inFlight: 0, queued: 0)
    }

    private func takeTurn() throws(CurlFailure) {
        // A call that failed at its start is handed over at once, and its slot is free at once.
        let isBusy = !outcomes.isEmpty || queue.hasNext
        var failure: CurlFailure?
        watcher.wait(until: isBusy ? .now : handles.deadline) { event in
            do throws(CurlFailure) { try handles.act(on: event) } catch { failure = error }
        }
        if let failure { throw failure }
        takeCalls()
        startCalls()
        try handles.actOnTimers(at: .now)
        collectEnded()
        metrics.set(inFlight: queue.inFlight, queued: queue.count)
        handOver()
        reportUnwatched()
    }

    private func takeCalls() {
        inbox.calls.takeAll(into: &arrived)
        for call in arrived {
            guard !queue.append(call) else { continue }
            end(call.token, HTTPFailure(.queueFull, "too many calls wait for a connection"))
        }
        // Else bodies stay alive while the loop sleeps.
        arrived.removeAll(keepingCapacity: true)
    }

    private func startCalls() {
        while let call = queue.takeNext() {
            do throws(CurlFailure) {
                try handles.add(idle.take(call))
            } catch {
                queue.release()
                end(call.token, HTTPFailure(.libraryFault, "libcurl failed", error))
            }
        }
    }

    private func collectEnded() {
        handles.takeEnded { transfer, code in
            queue.release()
            metrics.connectionsOpened(transfer.connectionsOpened)
            outcomes.append(HTTPOutcome(token: transfer.token, result: transfer.result(code)))
            idle.add(transfer, endedWell: code == CURLE_OK)
        }
    }

    private func end(_ token: UInt64, _ failure: HTTPFailure) {
        outcomes.append(HTTPOutcome(token: token, result: .failure(failure)))
    }

    private func handOver() {
        guard !outcomes.isEmpty else { return }
        var batch: [HTTPOutcome] = []
        swap(&batch, &outcomes)
        for outcome in batch { count(outcome) }
        sink(batch)
    }

    private func count(_ outcome: HTTPOutcome) {
        metrics.record(outcome.result)
        guard case .failure(let failure) = outcome.result else { return }
        logger.debug(
            "a call failed",
            metadata: ["kind": .text(failure.kind.rawValue), "failure": "\(failure.failure?.description ?? "")"])
    }

    private func reportUnwatched() {
        guard watcher.unwatched > unwatchedReported else { return }
        unwatchedReported = watcher.unwatched
        logger.error("a connection cannot be watched", metadata: ["total": .number(Int(unwatchedReported))])
    }
}

/// Which calls run and which wait, first come first served. At most `maxInFlight` run. Beyond the calls for free slots,
/// at most `maxQueued` wait.
struct CallQueue<Call> {
    private let maxInFlight: Int
    private let maxQueued: Int
    private var calls = FIFO<Call>()
    private(set) var inFlight = 0

    init(maxInFlight: Int, maxQueued: Int) {
        self.maxInFlight = maxInFlight
        self.maxQueued = maxQueued
    }

    var count: Int { calls.count }
    var hasNext: Bool { count > 0 && inFlight < maxInFlight }

    /// Adds a call at the end; false if there is no room for it.
    mutating func append(_ call: Call) -> Bool {
        guard count < maxQueued + maxInFlight - inFlight else { return false }
        calls.append(call)
        return true
    }

    /// Takes the first call and gives it a slot, if one is free.
    mutating func takeNext() -> Call? {
        guard hasNext, let call = calls.popFirst() else { return nil }
        inFlight += 1
        return call
    }

    /// The call of a slot is over.
    mutating func release() { inFlight -= 1 }

    mutating func removeAll() -> [Call] {
        var rest: [Call] = []
        while let call = calls.popFirst() { rest.append(call) }
        return rest
    }
}

/// The client's counts and measures; clients of one registry share them, and the gauges are the last one's.
public struct HTTPClientMetrics: Sendable {
    public static let inFlight = GaugeDeclaration(
        "grantor_http_requests_in_flight", help: "HTTPS requests under way.")
    public static let queued = GaugeDeclaration(
        "grantor_http_requests_waiting",
        help: "HTTPS requests that wait for one under way to end; above 0 for long, the limit of calls is too low.")
    /// The price of a connection is some 0.7 ms of processor time on this side.
    public static let connectionsOpened = CounterDeclaration(
        "grantor_http_connections_opened_total", help: "HTTPS connections opened.")
    public static let duration = TimerDeclaration(
        "grantor_http_request_duration_seconds", help: "From the start of an HTTPS request to its whole response.")
    public static let failures = CounterDeclaration(
        "grantor_http_errors_total", help: "HTTPS requests without a response, by the kind of failure.",
        labels: ["kind"])

    private let inFlight: Gauge
    private let queued: Gauge
    private let connectionsOpened: Counter
    private let duration: Timer
    private let failures: [HTTPFailure.Kind: Counter]

    init(_ registry: PrometheusRegistry) {
        inFlight = registry.gauge(Self.inFlight)
        queued = registry.gauge(Self.queued)
        connectionsOpened = registry.counter(Self.connectionsOpened)
        duration = registry.timer(Self.duration)
        failures = Dictionary(
            uniqueKeysWithValues: HTTPFailure.Kind.allCases.map { kind in
                (kind, registry.counter(Self.failures, kind.rawValue))
            })
    }

    func set(inFlight: Int, queued: Int) {
        self.inFlight.set(inFlight)
        self.queued.set(queued)
    }

    func connectionsOpened(_ count: Int) { if count > 0 { connectionsOpened.increment(by: count) } }

    func record(_ result: Result<HTTPResponse, HTTPFailure>) {
        switch result {
        case .success(let response): duration.record(response.duration)
        case .failure(let failure): failures[failure.kind]?.increment()
        }
    }
}
