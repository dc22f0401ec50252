import Testing

@testable import HTTPTransport

/// What becomes of a connection's descriptor when its request is over.
@Suite(.timeLimit(.minutes(5)))
struct RestingDescriptorsTests {
    @Test func `a connection that the server ends between two requests is reported once, and no more`() async throws {
        let answered = ScriptedServer.Gate(opensAt: 2)
        try await Setup.run(script: { _ in [.send(.ok("fine")), .pass(answered), .finish] }) { setup in
            let (reports, connections) = try await drive(setup) { (driver: Driver) throws(HTTPTransportError) in
                try driver.send(1)
                _ = answered.arrive()
                // The end of the connection, and then nothing: level-triggered, it would come at once, and again.
                let reports = [driver.turn(milliseconds: 60_000), driver.turn(milliseconds: 0)]
                try driver.send(2)
                return reports
            }
            #expect(reports == [1, 0])
            #expect(connections == 2)
        }
    }

    @Test func `a connection that is used again is watched again`() async throws {
        try await Setup.run { setup in
            let (sent, connections) = try await drive(setup) { (driver: Driver) throws(HTTPTransportError) in
                for number in 1...20 { try driver.send(UInt64(number)) }
                return 20
            }
            #expect(sent == 20)
            #expect(connections == 1)
        }
    }

    @Test func `a connection of which all has been read since its event came is used again`() async throws {
        try await Setup.run { setup in
            let (resting, connections) = try await drive(setup) { (driver: Driver) throws(HTTPTransportError) in
                try driver.send(1)
                driver.repeatLastEvent()
                let resting = driver.resting
                try driver.send(2)
                return resting
            }
            #expect(resting == 1)
            #expect(connections == 1)
        }
    }

    @Test func `a connection that is closed leaves no descriptor behind, whose number may be somebody else's`()
        async throws
    {
        try await Setup.run(script: { _ in [.send(.ok("bye", headers: "Connection: close\r\n"))] }) { setup in
            let (resting, _) = try await drive(setup) { (driver: Driver) throws(HTTPTransportError) in
                try driver.send(1)
                return driver.resting
            }
            #expect(resting == 0)
        }
    }

    @Test func `an event fetched before its descriptor came to rest says nothing`() async throws {
        try await Setup.run(script: { _ in [.send(.ok("bye")), .finish] }) { setup in
            let reports = try await drive(setup) { (driver: Driver) throws(HTTPTransportError) in
                try driver.send(1)
                // Of the batch in which the answer came; whether the connection's end has come by now does not matter.
                driver.repeatLastEvent()
                let resting = driver.resting
                while driver.resting > 0 { _ = driver.turn(milliseconds: 60_000) }
                return resting
            }
            #expect(reports.value == 1)
        }
    }

    @Test func `a number is as new as the batch in which it came to rest, and gone with its socket`() {
        let resting = RestingDescriptors()
        resting.beginBatch()
        // Nobody knows whose it is.
        #expect(!resting.insert(7))
        resting.made(7)
        #expect(resting.insert(7))
        #expect(resting.contains(7) && resting.isNew(7))
        resting.beginBatch()
        #expect(resting.contains(7) && !resting.isNew(7))
        // Closed without a word, and its number given to another socket.
        resting.made(7)
        #expect(!resting.contains(7) && !resting.isNew(7))
        #expect(resting.insert(7))
        resting.ends(7)
        #expect(resting.count == 0)
        #expect(!resting.insert(7))
    }

    @Test func `what looks up a name never rests`() async throws {
        try await Setup.run { setup in
            // A label longer than 63 bytes: the resolver says no without asking anybody (RFC 1035, section 2.3.4).
            let url = "https://\(String(repeating: "a", count: 64)).invalid:\(setup.server.port)/"
            let (resting, _) = try await drive(setup, url) { (driver: Driver) throws(HTTPTransportError) in
                do throws(HTTPTransportError) {
                    try driver.send(1)
                    Issue.record("there is such a name")
                } catch {}
                return driver.resting
            }
            #expect(resting == 0)
        }
    }

    /// Runs `body` with a loop of its own that sends to the server, on one thread.
    ///
    /// - Returns: what it returns, and how many connections were opened.
    private func drive<Value: Sendable>(
        _ setup: Setup, _ url: String? = nil, _ body: @escaping @Sendable (Driver) throws(HTTPTransportError) -> Value
    ) async throws -> (value: Value, connections: Int) {
        let configuration = try Setup.configuration()
        let request = HTTPRequest(method: .get, url: url ?? setup.server.url("/"))
        let result = await onOwnThread { () -> Result<(Value, Int), HTTPTransportError> in
            Result { () throws(HTTPTransportError) in
                let driver = try Driver(configuration, request)
                return (try body(driver), driver.connections)
            }
        }
        return try #require(result).get()
    }

    /// A loop around connections, on the thread of whoever calls.
    private final class Driver {
        private let poller: Poller
        private let groups: ConnectionGroups
        private let request: HTTPRequest
        private var idle: IdleTransfers
        private(set) var connections = 0
        private var lastEvent: Readiness?

        init(_ configuration: HTTPTransportConfiguration, _ request: HTTPRequest) throws(HTTPTransportError) {
            let start = ContinuousClock.now
            poller = try Poller()
            groups = try ConnectionGroups(configuration: configuration, poller: poller) { start.duration(to: .now) }
            idle = IdleTransfers(configuration: configuration)
            self.request = request
        }

        /// Descriptors that rest.
        var resting: Int { groups.resting.count }

        /// Has the last event acted on once more, as if it had come with others that were acted on first.
        func repeatLastEvent() {
            guard let lastEvent else { return }
            do throws(CurlMulti.Broken) { try groups.act(on: lastEvent) } catch { Issue.record(error) }
        }

        /// Sends the request and waits for the end; throws what it ends with if that is not an answer.
        func send(_ number: UInt64) throws(HTTPTransportError) {
            try groups.add(idle.take(TransferID(rawValue: number), request))
            var result: Result<HTTPResponse, HTTPTransportError>?
            while result == nil {
                _ = turn(milliseconds: groups.sleepMilliseconds)
                groups.takeEnded { transfer, code in
                    connections += transfer.connectionsOpened
                    result = transfer.result(code)
                    idle.add(transfer, endedWell: true)
                }
            }
            _ = try result?.get()
        }

        /// Waits for events and lets libcurl act on them and its timers.
        /// - Returns: how many there were.
        func turn(milliseconds: Int32) -> Int {
            var count = 0
            groups.beginBatch()
            poller.wait(milliseconds: milliseconds) { readiness in
                count += 1
                lastEvent = readiness
                do throws(CurlMulti.Broken) { try groups.act(on: readiness) } catch { Issue.record(error) }
            }
            do throws(CurlMulti.Broken) { try groups.actOnTimers() } catch { Issue.record(error) }
            return count
        }
    }
}
