/// Why a Kafka operation failed, cut by what the caller can do about it.
public enum KafkaError: Error, Sendable, Hashable {
    /// librdkafka knows no property of this name. The operator corrects the configuration.
    case unknownProperty(key: String)
    /// The property does not take this value, which is not repeated because it may be a secret.
    case invalidPropertyValue(key: String)
    /// The property is one that this wrapper's guarantees rest on. The operator removes it.
    case refusedProperty(key: String, reason: String)
    /// The properties contradict one another, or a file that they name cannot be used.
    case invalidConfiguration(KafkaFailure)
    /// Credentials or access rights do not allow it. The operator changes them; trying again alone does not help.
    case denied(KafkaFailure)
    /// The cluster will never accept this request or record as it is. The caller changes it.
    case rejected(KafkaFailure)
    /// A fault that passes: a broker is away, a leader moves, a time limit was reached. The caller tries again.
    case transient(KafkaFailure)
    /// The client cannot go on. The caller closes it and makes another.
    case fatal(KafkaFailure)
    /// The operating system gave no descriptor or thread. The caller stops, its supervisor starts it again.
    case resourcesExhausted(String, errno: Int32)
    /// `next` was called while an earlier call was still waiting. A mistake in the calling program.
    case concurrentNext
    /// The calling task was cancelled; nothing was lost, the next call goes on where this one would have. Of a record:
    /// nobody waited for its acknowledgement any longer.
    case cancelled
    /// The client was closed before it could do this.
    case closed

    /// What to do about an error.
    public enum Disposition: Sendable, Hashable {
        /// Try the same again after a pause.
        case retry
        /// Close the client and make another.
        case recreate
        /// A person has to change configuration, credentials or rights.
        case configuration
        /// This request or record cannot succeed.
        case reject
        /// The calling program used the client wrongly, or after it was closed.
        case usage
    }

    /// What to do about this error.
    public var disposition: Disposition {
        switch self {
        case .unknownProperty, .invalidPropertyValue, .refusedProperty, .invalidConfiguration, .denied: .configuration
        case .rejected: .reject
        case .transient, .cancelled: .retry
        case .fatal, .resourcesExhausted: .recreate
        case .concurrentNext, .closed: .usage
        }
    }

    /// The property that the configuration is refused for, where it is one.
    public var property: String? {
        switch self {
        case .unknownProperty(let key), .invalidPropertyValue(let key), .refusedProperty(let key, _): key
        default: nil
        }
    }

    /// What librdkafka or the broker said, where it was one of them that failed.
    public var failure: KafkaFailure? {
        switch self {
        case .invalidConfiguration(let failure), .denied(let failure), .rejected(let failure),
            .transient(let failure), .fatal(let failure):
            failure
        default: nil
        }
    }
}

/// What librdkafka or the broker said about a failure.
public struct KafkaFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// librdkafka's number for it: negative for faults of the client, else the Kafka protocol's error code.
    public let code: Int32
    /// The code's name without its prefix, like `_MSG_TIMED_OUT` or `TOPIC_AUTHORIZATION_FAILED`.
    public let name: String
    /// A sentence for a person.
    public let text: String

    /// `name: text`.
    public var description: String { "\(name): \(text)" }
}
