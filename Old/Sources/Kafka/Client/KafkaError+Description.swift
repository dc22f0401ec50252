import Glibc

extension KafkaError: CustomStringConvertible {
    /// One line for people, without any property's value.
    public var description: String {
        switch self {
        case .unknownProperty(let key): "librdkafka knows no property \(key)"
        case .invalidPropertyValue(let key): "the property \(key) does not take this value"
        case .refusedProperty(let key, let reason): "the property \(key) cannot be set so: \(reason)"
        case .invalidConfiguration(let failure), .denied(let failure), .rejected(let failure),
            .transient(let failure), .fatal(let failure):
            "\(failure)"
        case .resourcesExhausted(let call, errno: 0): "the system refused \(call)"
        case .resourcesExhausted(let call, let errno): "the system refused \(call): \(String(cString: strerror(errno)))"
        case .concurrentNext: "the consumer was asked for more while an earlier question was still open"
        case .cancelled: "the call was cancelled"
        case .closed: "the client is closed"
        }
    }
}
