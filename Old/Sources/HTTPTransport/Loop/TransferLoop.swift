internal import CLibcurl
internal import Logging

/// Drives libcurl: waits, lets it act, hands out what ended, starts what may start, all in batches, and runs the tasks that
/// want to be where their answers are.
///
/// Made on one thread and then handed to the loop's thread for good.
final class TransferLoop {
    private let configuration: HTTPTransportConfiguration
    private let exchange: TransferExchange
    private let executor: LoopExecutor
    private let poller: Poller
    private let groups: ConnectionGroups
    private let metrics: TransportMetrics
    private let logger: Logger
    private var ended: [(id: TransferID, result: Result<HTTPResponse, HTTPTransportError>)] = []
    private var unwatchedReported = 0
    private var idle: IdleTransfers

    init(
        configuration: HTTPTransportConfiguration, exchange: TransferExchange, executor: LoopExecutor, poller: Poller,
        metrics: TransportMetrics, logger: Logger
    ) throws(HTTPTransportError) {
        self.configuration = configuration
        self.exchange = exchange
        self.executor = executor
        self.poller = poller
        self.metrics = metrics
        self.logger = logger
        idle = IdleTransfers(configuration: configuration)
        let start = ContinuousClock.now
        groups = try ConnectionGroups(configuration: configuration, poller: poller) { start.duration(to: .now) }
    }

    /// Returns when the exchange is closed and every transfer is dropped; tasks then go on elsewhere.
    func run() {
        do throws(CurlMulti.Broken) {
            var isFinished = false
            while !isFinished {
                try awaitEvents()
                collectEnded()
                isFinished = takeTurn()
                executor.runDue()
            }
        } catch {
            // No transfer can be trusted to end any more: everybody is told, now and from now on.
            logger.critical("libcurl cannot go on", metadata: ["code": "\(error.code)"])
            exchange.close()
        }
        metrics.set(running: 0, waiting: 0)
        executor.end()
    }

    private func awaitEvents() throws(CurlMulti.Broken) {
        var failure: CurlMulti.Broken?
        groups.beginBatch()
        poller.wait(milliseconds: ended.isEmpty ? groups.sleepMilliseconds : 0) { readiness in
            do throws(CurlMulti.Broken) {
                try groups.act(on: readiness)
            } catch {
                failure = error
            }
        }
        if let failure { throw failure }
        try groups.actOnTimers()
        let unwatched = poller.unwatched
        if unwatched > unwatchedReported {
            unwatchedReported = unwatched
            logger.error("a connection cannot be watched", metadata: ["total": "\(unwatchedReported)"])
        }
    }

    private func collectEnded() {
        groups.takeEnded { transfer, code in
            metrics.connectionsOpened(transfer.connectionsOpened)
            ended.append((transfer.id, transfer.result(code)))
            idle.add(transfer, endedWell: code == CURLE_OK)
        }
    }

    /// True when there will be nothing more to do.
    private func takeTurn() -> Bool {
        let (turn, running, waiting) = exchange.turn(ended: ended.map(\.id))
        for (ticket, transfer) in zip(turn.ended, ended) {
            ticket?(transfer.result)
        }
        ended.removeAll(keepingCapacity: true)
        metrics.set(running: running, waiting: waiting)
        for (id, request) in turn.starts {
            start(id, request)
        }
        for id in turn.aborts {
            groups.remove(id)
            // If it did not start, it is in the list already; told twice, the table takes the first.
            ended.append((id, .failure(.cancelled)))
        }
        return turn.isFinished
    }

    private func start(_ id: TransferID, _ request: HTTPRequest) {
        do throws(HTTPTransportError) {
            try groups.add(idle.take(id, request))
        } catch {
            ended.append((id, .failure(error)))
        }
    }
}
