import AppStoreSimulator
import Audit
import Fulfillment
import HTTPTransport
import Kafka
import Ledger
import Testing

@testable import Worker

@Suite("Errors as people are told them")
struct ErrorSentenceTests {
    static let errors: [any Error] = [
        CancellationError(), LedgerError.unavailable("busy"), LedgerError.schemaBehind(found: 0, known: 2),
        KafkaError.closed, KafkaError.unknownProperty(key: "a"), SourceError.fatal("fenced"),
        AuditError.kafka(.closed), DemoError.workerEnded, DemoError.stalled(answered: 1, of: 2, waiting: ["s-1"]),
        SimulatorError.cannotListen("Address already in use"), AuthorityError.unwritable(folder: "/keys"),
        HTTPTransportError.invalidURL, HTTPTransportError.connectFailed(CurlFailure(code: 7, text: "refused")),
        HealthServiceError.cannotBind(.standard, reason: "Address already in use"), Unexpected.something(1),
    ]

    enum Unexpected: Error { case something(Int) }

    @Test("No error is told as a case or with a type's module")
    func sentences() {
        for error in Self.errors {
            let sentence = ErrorSentence.of(error)
            #expect(sentence.contains(" "), "\(sentence)")
            for raw in ["Error(", "Failure(", "Error.", "(\"", "schemaBehind", "unavailable(", "cannotListen"] {
                #expect(!sentence.contains(raw), "\(sentence)")
            }
        }
    }

    @Test("An error that nobody expected is told by its type, for a report")
    func unexpected() {
        #expect(ErrorSentence.of(Unexpected.something(1)) == "unexpected error (Unexpected); please report it")
    }

    @Test("A worker ends with 78 for what a person has to set right, and with 1 for the rest")
    func ends() {
        let cases: [(any Error, Worker.ExitStatus)] = [
            (LedgerError.unusable("x"), .configuration), (LedgerError.damaged("x"), .failed),
            (KafkaError.refusedProperty(key: "acks", reason: "x"), .configuration), (KafkaError.closed, .failed),
            (HTTPTransportError.invalidConfiguration(field: "caFile", reason: "x"), .configuration),
            (HealthServiceError.cannotBind(.standard, reason: "x"), .configuration), (SourceError.fatal("x"), .failed),
            (Unexpected.something(1), .failed),
        ]
        for (error, expected) in cases { #expect(RunCommand.end(error).0 == expected, "\(error)") }
    }
}
