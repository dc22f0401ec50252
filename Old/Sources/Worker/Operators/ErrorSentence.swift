import AppStoreSimulator
import Audit
import Foundation
import Fulfillment
import HTTPTransport
import Kafka
import Ledger

/// Any error as a person is told it.
enum ErrorSentence {
    /// One sentence without the name of a type; of an error that nobody expected, the type's name, for a report.
    static func of(_ error: any Error) -> String {
        switch error {
        case is CancellationError: "it was cancelled"
        case is ConfigurationError, is LedgerError, is KafkaError, is HTTPTransportError, is SourceError, is AuditError,
            is DemoError, is HealthServiceError, is SimulatorError, is AuthorityError:
            "\(error)"
        case let error as CocoaError: error.localizedDescription
        default: "unexpected error (\(type(of: error))); please report it"
        }
    }
}
