internal import CLibrdkafka

/// The reason behind a request's failure, found in librdkafka's log. Its errors tell little ("Broker transport
/// failure"); that a connection was refused, a name unknown, a certificate distrusted or a password wrong stands in its
/// log alone.
enum FailureReason {
    /// Most log lines that are looked at.
    static let maxEvents = 1000
    /// The errors of a connection, which alone its log explains: a broker that answers says itself what is wrong.
    static let explained: Set<String> = [
        "_TRANSPORT", "_ALL_BROKERS_DOWN", "_TIMED_OUT", "_RESOLVE", "_SSL", "_AUTHENTICATION",
    ]
    /// syslog's number for errors; what is worse has a smaller one.
    private static let errorLevel: Int32 = 3

    /// The last reason in the log that a client has kept until now; nil if there is none.
    ///
    /// The log of a client whose queues nobody has read is taken; everything else in them is dropped.
    static func last(of handle: ClientHandle) -> String? {
        // The failure that is to be explained counts for more than one to explain it.
        guard let queue = try? ClientQueue.main(handle) else { return nil }
        var last: String?
        for _ in 0..<maxEvents {
            guard let event = queue.nextEvent() else { break }
            // Other facilities repeat it, or sum up: "1/1 brokers are down".
            guard case .log(let level, "FAIL", let text) = event.content, level <= errorLevel else { continue }
            last = reason(in: text)
        }
        return last
    }

    /// The line without the name of the thread that wrote it.
    static func reason(in text: String) -> String {
        guard text.hasPrefix("[thrd:"), let end = text.firstRange(of: "]: ") else { return text }
        return String(text[end.upperBound...])
    }
}

extension KafkaError {
    /// The same error with the reason that the client's log gave, if it is one that a reason stands behind.
    ///
    /// - Parameter secrets: a reason in which one of them occurs is left out.
    func explained(by reason: String?, hiding secrets: [String]) -> KafkaError {
        guard let reason, !secrets.contains(where: { reason.contains($0) }) else { return self }
        func explained(_ failure: KafkaFailure) -> KafkaFailure {
            guard FailureReason.explained.contains(failure.name) else { return failure }
            return KafkaFailure(code: failure.code, name: failure.name, text: "\(failure.text): \(reason)")
        }
        return switch self {
        case .transient(let failure): .transient(explained(failure))
        case .denied(let failure): .denied(explained(failure))
        default: self
        }
    }
}
