import Scheduling
import Testing
import Threading

@testable import HTTPClient

/// A connection's socket once its request is over.
@Suite(.timeLimit(.minutes(5)))
struct IdleSocketsTests {
    @Test("A number is as new as the batch in which it became idle, and gone with its socket")
    func numbers() {
        var idle = IdleSockets(maxAge: .seconds(600), seed: 1)
        idle.beginBatch()
        let isUnknownTaken = idle.insert(7)
        #expect(!isUnknownTaken)
        idle.made(7, at: Instant(nanoseconds: 0))
        let isOwnTaken = idle.insert(7)
        #expect(isOwnTaken && idle.contains(7) && idle.isNew(7))
        idle.beginBatch()
        #expect(idle.contains(7) && !idle.isNew(7))
        // Closed without a word, and its number given to another socket.
        idle.made(7, at: Instant(nanoseconds: 0))
        #expect(!idle.contains(7) && !idle.isNew(7))
        idle.insert(7)
        let removals = [idle.remove(7), idle.remove(7)]
        #expect(removals == [true, false])
        idle.insert(7)
        idle.closed(7)
        #expect(idle.count == 0)
        let isClosedTaken = idle.insert(7)
        #expect(!isClosedTaken)
        #expect(!idle.contains(-1) && !idle.contains(8))
    }

    @Test("Connections that were opened together do not expire together")
    func lifetimes() {
        var idle = IdleSockets(maxAge: .seconds(600), seed: 2)
        let start = Instant(nanoseconds: 0)
        for descriptor in 0..<1000 as Range<Int32> { idle.made(descriptor, at: start) }
        func expired(after seconds: Int64) -> Int {
            (0..<1000 as Range<Int32>).count { idle.isExpired($0, at: start + .seconds(seconds)) }
        }
        #expect(expired(after: 299) == 0)
        for minute in 1...4 { #expect((120...280).contains(expired(after: 300 + 60 * Int64(minute)) / minute)) }
        #expect(expired(after: 600) == 1000)
    }

    @Test("A connection that the server ends between two requests is reported once, and no more")
    func endedByServer() throws {
        let answered = Gate(opensAt: 2)
        try Setup.run(script: { _ in [.send(.ok("fine")), .pass(answered), .finish] }) { setup in
            let driver = try Driver(setup.request())
            try driver.send()
            answered.arrive()
            // The end of the connection, and then nothing: level-triggered, it would come at once, and again.
            #expect(driver.turn(until: .now + .seconds(60)) == 1)
            #expect(driver.turn(until: .now) == 0)
            try driver.send()
            #expect(driver.connections == 2)
        }
    }

    @Test("A connection that is used again is watched again")
    func watchedAgain() throws {
        try Setup.run { setup in
            let driver = try Driver(setup.request())
            for _ in 1...20 { try driver.send() }
            #expect(driver.connections == 1)
        }
    }

    @Test("A connection of which all has been read since its event came is used again")
    func usedAgain() throws {
        try Setup.run { setup in
            let driver = try Driver(setup.request())
            try driver.send()
            driver.repeatLastEvent()
            #expect(driver.idle == 1)
            try driver.send()
            #expect(driver.connections == 1)
        }
    }

    @Test("A connection that is closed leaves no socket behind, whose number may be another's")
    func closed() throws {
        try Setup.run(script: { _ in [.send(.ok("bye", headers: "Connection: close\r\n"))] }) { setup in
            let driver = try Driver(setup.request())
            try driver.send()
            #expect(driver.idle == 0)
        }
    }

    @Test("An event fetched before its socket became idle says nothing")
    func earlyEvent() throws {
        try Setup.run(script: { _ in [.send(.ok("bye")), .finish] }) { setup in
            let driver = try Driver(setup.request())
            try driver.send()
            // Of the batch in which the answer came; whether the connection's end has come by now does not matter.
            driver.repeatLastEvent()
            #expect(driver.idle == 1)
            while driver.idle > 0 { _ = driver.turn(until: .now + .seconds(60)) }
        }
    }

    @Test("The resolver's descriptor is never idle")
    func resolver() throws {
        // A label longer than 63 bytes: the resolver says no without asking anybody (RFC 1035, section 2.3.4).
        let endpoint = try HTTPEndpoint(baseURL: "https://\(String(repeating: "a", count: 64)).invalid")
        let driver = try Driver(HTTPRequest(.get, endpoint))
        #expect(throws: HTTPFailure.self) { try driver.send() }
        #expect(driver.idle == 0)
    }

    @Test("A connection past its lifetime ends after a request")
    func pastLifetime() throws {
        let answered = Gate(opensAt: 2)
        try Setup.run(script: { $0.path == "/late" ? [.pass(answered), .send(.ok("fine"))] : [.send(.ok("fine"))] }) {
            setup in
            let driver = try Driver(setup.request(), maxAge: .seconds(600))
            try driver.send()
            driver.age(.seconds(600))
            // An answer that is there as soon as the request is sent would keep the connection for another one.
            try driver.send(setup.request(.get, "/late")) { if driver.idle == 0 { answered.arrive() } }
            #expect(driver.connections == 1)
            setup.server.closedConnections.reaches(1)
            #expect(driver.idle == 0)
            try driver.send()
            #expect(driver.connections == 2)
        }
    }

    /// Stands until a test moves it.
    private final class Clock {
        var now = Instant(nanoseconds: 0)
    }

    /// A loop around connections, on the caller's thread.
    private final class Driver {
        private let watcher: SocketWatcher
        private let handles: MultiHandlePool
        private let request: HTTPRequest
        private let clock: Clock
        private var pool: TransferPool
        private(set) var connections = 0
        private var lastEvent: SocketWatcher.Event?

        init(_ request: HTTPRequest, maxAge: Duration = .seconds(86_400)) throws {
            let configuration = try TestClient.configuration()
            let clock = Clock()
            self.clock = clock
            watcher = try SocketWatcher(wake: WakeDescriptor(), maxAge: maxAge) { clock.now }
            handles = try MultiHandlePool(configuration: configuration, watcher: watcher)
            pool = TransferPool(configuration: configuration)
            self.request = request
        }

        var idle: Int { watcher.idle.count }

        /// Lets connections grow older.
        func age(_ time: Duration) { clock.now = clock.now + time }

        /// Has the last event acted on once more, as if it had come with others that were acted on first.
        func repeatLastEvent() {
            guard let lastEvent else { return }
            do { try handles.act(on: lastEvent) } catch { Issue.record(error) }
        }

        /// Sends a request and waits for the end; throws its failure.
        ///
        /// - Parameters:
        ///   - other: Sent in place of the driver's own.
        ///   - turned: Called after each turn.
        func send(_ other: HTTPRequest? = nil, turned: () -> Void = {}) throws {
            try handles.add(pool.take(HTTPCall(token: 1, request: other ?? request)))
            var result: Result<HTTPResponse, HTTPFailure>?
            while result == nil {
                _ = turn(until: handles.deadline)
                turned()
                handles.takeEnded { transfer, code in
                    connections += transfer.connectionsOpened
                    result = transfer.result(code)
                    pool.add(transfer, endedWell: true)
                }
            }
            _ = try result?.get()
        }

        /// Waits for events and lets libcurl act on them and its timers.
        ///
        /// - Returns: how many there were.
        func turn(until deadline: Instant?) -> Int {
            var count = 0
            watcher.wait(until: deadline) { event in
                count += 1
                lastEvent = event
                do { try handles.act(on: event) } catch { Issue.record(error) }
            }
            do { try handles.actOnTimers(at: .now) } catch { Issue.record(error) }
            return count
        }
    }
}
