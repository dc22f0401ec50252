import AppStore
import HTTPTransport

extension TransportFailure {
    /// What a transport's error means to a verification.
    init(_ error: HTTPTransportError) {
        switch error {
        case .dnsFailed, .connectFailed, .tooManyWaiting, .resourcesExhausted, .libraryFault, .invalidConfiguration,
            .invalidURL, .notHTTPS, .invalidRequest:
            self = .unreachable
        case .connectTimeout, .timedOut, .tooSlow: self = .timedOut
        case .tlsFailed: self = .tls
        case .connectionLost, .http2Stream, .malformedResponse: self = .interrupted
        case .responseTooLarge: self = .tooLarge
        case .cancelled, .closed: self = .cancelled
        }
    }
}
