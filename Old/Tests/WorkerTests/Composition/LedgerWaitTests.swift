import Ledger
import Logging
import Synchronization
import Testing

@testable import Worker

@Suite("Waiting for the ledger")
struct LedgerWaitTests {
    /// A ledger that opens at the n-th try, and what is waited for in between.
    private final class Script: Sendable {
        let failures: Mutex<[LedgerError]>
        let pauses = Mutex<[Duration]>([])

        init(_ failures: [LedgerError]) { self.failures = Mutex(failures) }

        func wait(stoppingAfter limit: Int = .max) -> LedgerWait<String> {
            LedgerWait(
                open: { () async throws(LedgerError) in
                    let failure = self.failures.withLock { $0.isEmpty ? nil : $0.removeFirst() }
                    if let failure { throw failure }
                    return "open"
                },
                pause: { delay in
                    self.pauses.withLock { pauses in
                        pauses.append(delay)
                        return pauses.count < limit
                    }
                },
                unit: { 1 }, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        }
    }

    @Test("A worker that starts before its ledger answers waits, longer each time up to a limit")
    func waits() async throws {
        let script = Script([LedgerError](repeating: .unavailable("starting up"), count: 6))
        #expect(try await script.wait().opened() == "open")
        #expect(
            script.pauses.withLock { $0 }
                == [.seconds(1), .seconds(2), .seconds(4), .seconds(5), .seconds(5), .seconds(5)])
    }

    @Test("A stop ends the wait")
    func stops() async throws {
        let script = Script([LedgerError](repeating: .unavailable("starting up"), count: 100))
        #expect(try await script.wait(stoppingAfter: 3).opened() == nil)
    }

    @Test(
        "What waiting does not mend is not waited for",
        arguments: [LedgerError.unusable("x"), .damaged("x"), .schemaBehind(found: 1, known: 2)])
    func fails(error: LedgerError) async throws {
        let script = Script([.unavailable("x"), error])
        await #expect(throws: error) { try await script.wait().opened() }
        #expect(script.pauses.withLock { $0.count } == 1)
    }
}
