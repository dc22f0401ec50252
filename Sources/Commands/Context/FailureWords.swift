import AppStore
import CommandParser
import Configuration
import Kafka
import Ledger
import Worker

extension LedgerError {
    /// The end of a command that a ledger failed.
    var failure: CommandFailure { failure(ofChange: false) }

    /// - Parameter ofChange: Whether the call was to change the ledger. Without its answer nobody knows whether it has.
    func failure(ofChange: Bool) -> CommandFailure {
        switch self {
        case .unavailable(let detail), .disconnected(let detail):
            let words =
                ofChange
                ? "the ledger has not confirmed it: it may be done or not; look before you call again"
                : "the ledger does not do it now"
            return CommandFailure(.failed, "\(words): \(PrintableText.singleLine(detail))")
        case .unusable(let detail):
            return CommandFailure(.configuration, "the ledger cannot be used: \(PrintableText.singleLine(detail))")
        }
    }
}

extension TransportFailure {
    /// Whether it may end by itself: nothing of ours has to change.
    var isApples: Bool {
        switch self {
        case .unreachable, .timedOut, .interrupted: true
        case .tls, .tooLarge, .cancelled: false
        }
    }

    /// For people.
    var words: String {
        switch self {
        case .unreachable: "the host cannot be reached"
        case .timedOut: "it took too long"
        case .tls: "the TLS connection failed, or its certificate is not trusted (GRANTOR_APPLE_CA_FILE)"
        case .interrupted: "the connection broke"
        case .tooLarge: "the answer is too large"
        case .cancelled: "the call was given up"
        }
    }
}

extension KafkaSettings {
    /// An error in words. An error about properties begins with the file that set them, and with the line if it is
    /// about one. A failed connection comes with its remedy.
    func words(_ error: KafkaError) -> String {
        let words = PrintableText.singleLine("\(error)")
        if let fault = ConnectionFault(error) {
            return "\(words); \(fault.remedy(in: propertiesFile?.path))"
        }
        guard let file = propertiesFile, error.disposition == .configuration else { return words }
        return "\(error.property.flatMap { file.place(of: $0) } ?? file.path): \(words)"
    }
}
