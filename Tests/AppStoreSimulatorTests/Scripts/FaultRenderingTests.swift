import HTTPServer
import SimulatorServer
import Testing

@testable import AppStoreSimulator

struct FaultRenderingTests {
    @Test("No fault and a delay give the answer")
    func noFault() {
        #expect(act(nil) == .reply(real))
        #expect(act(.delay(milliseconds: 5)) == .reply(real))
    }

    @Test("A status has its flag in either spelling, or none")
    func statusFlags() {
        #expect(body(.status(code: 21009)) == "{\"status\":21009}")
        #expect(body(.status(code: 21104, isRetryable: true)) == "{\"status\":21104,\"is_retryable\":true}")
        #expect(
            body(.status(code: 21104, isRetryable: false, spelling: .hyphen))
                == "{\"status\":21104,\"is-retryable\":false}")
    }

    @Test("HTTP faults have their codes and headers")
    func http() {
        #expect(reply(.http(code: 502))?.status == 502)
        #expect(reply(.apiError(code: 4_040_002))?.status == 404)
        #expect(reply(.rateLimited(retryAfter: "1795237153000"))?.status == 429)
        #expect(
            reply(.rateLimited(retryAfter: "1795237153000"))?.fields.last == HeaderField("Retry-After", "1795237153000")
        )
        #expect(reply(.redirect(location: "https://127.0.0.1:1/"))?.status == 302)
        #expect(
            reply(.redirect(location: "https://127.0.0.1:1/"))?.fields.last
                == HeaderField("Location", "https://127.0.0.1:1/"))
    }

    @Test("Bodies may be no answers")
    func wrongBodies() {
        #expect(reply(.html)?.fields.first?.value == "text/html; charset=UTF-8")
        #expect(reply(.html)?.status == 200)
        #expect(reply(.empty) == .json([]))
        #expect(body(.truncated) == "{\"stat")
        #expect(reply(.oversized(bytes: 5000))?.body.count == 5000)
        #expect(act(.cutOff) == .cutOff(real))
    }

    @Test("An answer without purchases is asked for")
    func noPurchases() {
        #expect(body(.withoutPurchases) == "without")
    }

    @Test("Connections are treated as told")
    func connections() {
        #expect(act(.drip(bytes: 0, everyMilliseconds: 0)) == .drip(real, bytes: 1, every: .milliseconds(1)))
        #expect(act(.reset) == .reset)
        #expect(act(.close) == .close)
        #expect(act(.hang) == .hang)
    }

    private let real = Reply.json(Array("{\"status\":0}".utf8))

    private func act(_ fault: Fault?) -> ServerAnswer.Action {
        fault.action { $0 ? .json(Array("without".utf8)) : real }
    }

    private func reply(_ fault: Fault) -> Reply? {
        guard case .reply(let reply) = act(fault) else { return nil }
        return reply
    }

    private func body(_ fault: Fault) -> String? {
        reply(fault).map { String(decoding: $0.body, as: UTF8.self) }
    }
}
