import Glibc

extension HTTPTransportError: CustomStringConvertible {
    /// One line for people; names the host at most.
    public var description: String {
        switch self {
        case .invalidConfiguration(let field, let reason): "the setting \(field) cannot be used: \(reason)"
        case .resourcesExhausted(let call, let errno): "the system refused \(call): \(String(cString: strerror(errno)))"
        case .invalidURL: "the URL cannot be read, or has a user name or password in it"
        case .notHTTPS: "the URL does not begin with https://"
        case .invalidRequest(let reason): "the request cannot be sent: \(reason)"
        case .dnsFailed(let failure): "the host's name cannot be looked up: \(failure)"
        case .connectFailed(let failure): "no connection: \(failure)"
        case .connectTimeout(let failure): "no connection in time: \(failure)"
        case .tlsFailed(.untrusted, let failure): "the server's certificate is not trusted: \(failure)"
        case .tlsFailed(.outOfDate, let failure): "the server's certificate is out of date: \(failure)"
        case .tlsFailed(.wrongHost, let failure): "the server's certificate is for another host: \(failure)"
        case .tlsFailed(.authorityFile, let failure): "the file of trusted certificates cannot be read: \(failure)"
        case .tlsFailed(.handshake, let failure): "no TLS connection: \(failure)"
        case .timedOut(let failure): "no whole response in time: \(failure)"
        case .tooSlow(let failure): "the exchange was too slow: \(failure)"
        case .responseTooLarge(.headers): "the response's headers are too large"
        case .responseTooLarge(.body): "the response is too large"
        case .malformedResponse(let failure): "the response cannot be read: \(failure)"
        case .connectionLost(_, let failure): "the connection broke: \(failure)"
        case .http2Stream(let failure): "the HTTP/2 exchange was reset: \(failure)"
        case .cancelled: "the call was given up"
        case .closed: "the transport was shut down"
        case .tooManyWaiting: "too many calls wait for a connection"
        case .libraryFault(let failure): "libcurl failed: \(failure)"
        }
    }
}
