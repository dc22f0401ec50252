import CLibcurl
import Testing

@testable import HTTPTransport

/// What becomes of a connection's descriptor when its request is over.
@Suite(.timeLimit(.minutes(2)))
struct CurlMultiTests {
    /// What happened to one connection, in the order of the steps.
    private struct Seen: Sendable {
        var codes: [UInt32] = []
        var connections = 0
        var reportsAfterTheEnd: [Int] = []
    }

    @Test func `a connection that the server ends between two requests is reported once, and no more`() async throws {
        let answered = ScriptedServer.Gate(opensAt: 2)
        try await Setup.run(script: { _ in [.send(.ok("fine")), .pass(answered), .finish] }) { setup in
            let configuration = try Setup.configuration()
            let request = HTTPRequest(method: .get, url: setup.server.url("/"))
            let seen = await onOwnThread { () -> Result<Seen, HTTPTransportError> in
                Result { () throws(HTTPTransportError) in
                    let driver = try Driver(configuration)
                    var seen = Seen()
                    seen.codes.append(try driver.send(1, request))
                    _ = answered.arrive()
                    // The end of the connection, and then nothing: level-triggered, it would come at once, and again.
                    seen.reportsAfterTheEnd = [driver.turn(milliseconds: 60_000), driver.turn(milliseconds: 0)]
                    seen.codes.append(try driver.send(2, request))
                    seen.connections = driver.connections
                    return seen
                }
            }
            let result = try #require(seen).get()
            #expect(result.codes == [0, 0])
            #expect(result.reportsAfterTheEnd == [1, 0])
            #expect(result.connections == 2)
        }
    }

    @Test func `a connection that is used again is watched again`() async throws {
        try await Setup.run { setup in
            let configuration = try Setup.configuration()
            let request = HTTPRequest(method: .get, url: setup.server.url("/"))
            let seen = await onOwnThread { () -> Result<Seen, HTTPTransportError> in
                Result { () throws(HTTPTransportError) in
                    let driver = try Driver(configuration)
                    var seen = Seen()
                    for number in 1...20 { seen.codes.append(try driver.send(UInt64(number), request)) }
                    seen.connections = driver.connections
                    return seen
                }
            }
            let result = try #require(seen).get()
            #expect(result.codes == Array(repeating: 0, count: 20))
            #expect(result.connections == 1)
        }
    }

    /// A loop around one handle, on the thread of whoever calls.
    private final class Driver {
        private let poller: Poller
        private let multi: CurlMulti
        private let start = ContinuousClock.now
        private var idle: IdleTransfers
        private(set) var connections = 0

        init(_ configuration: HTTPTransportConfiguration) throws(HTTPTransportError) {
            let start = start
            poller = try Poller()
            multi = try CurlMulti(connections: 1, owner: 0, poller: poller, resting: RestingDescriptors()) {
                start.duration(to: .now)
            }
            idle = IdleTransfers(configuration: configuration)
        }

        /// - Returns: libcurl's code.
        func send(_ number: UInt64, _ request: HTTPRequest) throws(HTTPTransportError) -> UInt32 {
            try multi.add(idle.take(TransferID(rawValue: number), request))
            while true {
                if let (transfer, code) = multi.nextEnded() {
                    connections += transfer.connectionsOpened
                    idle.add(transfer, endedWell: true)
                    return code.rawValue
                }
                let limit = multi.deadline.map { max(.zero, $0 - start.duration(to: .now)) } ?? .seconds(60)
                _ = turn(milliseconds: Int32(limit / .milliseconds(1)) + 1)
            }
        }

        /// Waits for events and lets libcurl act on them and its timer.
        /// - Returns: how many there were.
        func turn(milliseconds: Int32) -> Int {
            var count = 0
            do throws(CurlMulti.Broken) {
                var failure: CurlMulti.Broken?
                poller.wait(milliseconds: milliseconds) { readiness in
                    count += 1
                    do throws(CurlMulti.Broken) { try multi.act(on: readiness) } catch { failure = error }
                }
                if let failure { throw failure }
                try multi.actOnTimer(at: start.duration(to: .now))
            } catch {
                Issue.record(error)
            }
            return count
        }
    }
}
