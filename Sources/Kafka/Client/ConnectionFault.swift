internal import CLibrdkafka

/// The reason that brokers cannot be reached, where librdkafka's words show it. Pure.
///
/// Its errors name none ("Broker transport failure"), and its log describes the connection: half of these faults look
/// like a broker that hangs up.
public enum ConnectionFault: Sendable, Hashable, CaseIterable {
    /// The broker does not take the user or the password.
    case password
    /// The same, by SCRAM and a librdkafka that brokers from 4.0 refuse.
    case scramOfOldClient
    /// The listener knows other mechanisms.
    case mechanism
    /// The listener wants a password, and none is offered.
    case noPassword
    /// A password is offered to a listener that takes none.
    case unwantedPassword
    /// The listener speaks TLS, and the client does not.
    case noTLS
    /// The client speaks TLS, and the listener does not.
    case unwantedTLS
    /// The broker's certificate is of no authority that is trusted, or of another name.
    case certificate
    case unknownName
    /// The broker ended a connection that stood.
    case ended
    case refused
    case silence

    /// Reads librdkafka's words; nil if they show none of these.
    /// - Parameter hasStrictSCRAM: Whether this librdkafka logs in by SCRAM as brokers from 4.0 demand it.
    init?(_ words: String, hasStrictSCRAM: Bool = Self.hasStrictSCRAM) {
        guard let fault = Self.signs.first(where: { words.contains($0.sign) })?.fault else { return nil }
        let isOldSCRAM = fault == .password && words.contains("SCRAM") && !hasStrictSCRAM
        self = isOldSCRAM ? .scramOfOldClient : fault
    }

    /// The fault behind an error with a reason of the client's log; nil if the reason shows none of these.
    public init?(_ error: KafkaError) {
        guard let failure = error.failure, LoggedReason.explained.contains(failure.name) else { return nil }
        self.init(failure.text)
    }

    /// In the order of the search: the words of the last ones occur in lines about others, too.
    private static let signs: [(sign: String, fault: ConnectionFault)] = [
        ("Unsupported SASL mechanism", .mechanism),
        ("not valid in current SASL state", .unwantedPassword),
        ("might require SASL authentication", .noPassword),
        ("SASL authentication error", .password),
        ("Disconnected while requesting ApiVersion", .noTLS),
        ("certificate verify failed", .certificate),
        // TLS fails so, too, where a broker ends during a connection.
        ("Receive failed", .ended),
        ("unexpected eof while reading", .unwantedTLS), ("wrong version number", .unwantedTLS),
        ("PLAINTEXT broker listener", .unwantedTLS),
        ("Failed to resolve", .unknownName),
        ("Connection refused", .refused),
        ("timed out", .silence),
    ]

    /// Before 2.6.1 the second message of SCRAM repeats the client's nonce, which brokers from 4.0 refuse.
    private static var hasStrictSCRAM: Bool { rd_kafka_version() >= 0x0206_01ff }

    /// Whether properties of the client are wrong, and not the way to the brokers.
    public var isInProperties: Bool {
        switch self {
        case .password, .scramOfOldClient, .mechanism, .noPassword, .unwantedPassword, .noTLS, .unwantedTLS,
            .certificate:
            true
        case .unknownName, .ended, .refused, .silence: false
        }
    }

    /// The steps that a person takes.
    /// - Parameter file: the properties file, where it is known. A worker reads it at its start alone.
    public func remedy(in file: String? = nil) -> String {
        guard isInProperties else { return step }
        return "\(step)\(file.map { " (\($0))" } ?? ""); then restart workers that run"
    }

    private var step: String {
        switch self {
        case .password: "correct sasl.username or sasl.password"
        case .scramOfOldClient:
            "correct sasl.username or sasl.password; if they are right, the brokers are of Kafka 4.0 or newer, which "
                + "librdkafka before 2.6.1 cannot log in to by SCRAM: take PLAIN over TLS, or a newer librdkafka"
        case .mechanism: "set sasl.mechanism to one that the listener knows"
        case .noPassword: "the listener wants a password: set security.protocol to SASL_SSL or SASL_PLAINTEXT"
        case .unwantedPassword: "the listener takes no password: set security.protocol to SSL or PLAINTEXT"
        case .noTLS: "the listener seems to speak TLS: set security.protocol to SASL_SSL or SSL"
        case .unwantedTLS:
            "the listener seems to speak no TLS: set security.protocol to SASL_PLAINTEXT or PLAINTEXT, or take the "
                + "listener that does"
        case .certificate:
            "set ssl.ca.location to the authority of the brokers' certificates, and name brokers as these do"
        case .unknownName: "correct the name, or the name servers of this host"
        case .ended: "the broker ended the connection: see whether it runs, and what its log says"
        case .refused: "nobody listens there: correct the port, or start the broker"
        case .silence: "nothing answers there: see whether a firewall stands between"
        }
    }
}
