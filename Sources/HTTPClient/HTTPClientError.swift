internal import CLibcurl
import Glibc

/// Why a client, an endpoint or a request cannot be made. No case carries a URL or the value of a header.
public enum HTTPClientError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The URL cannot be read, or has a part that it must not have. A configuration error.
    case invalidURL
    /// The URL's scheme is not `https`. A configuration error.
    case notHTTPS
    /// The file of authorities cannot be read. The operator corrects the configuration.
    case unreadableAuthorities(errno: Int32)
    /// A header cannot be sent as given. The caller corrects the request.
    case invalidRequest(String)
    /// The operating system gave no descriptor, thread or memory. The start fails.
    case resourcesExhausted(String, errno: Int32)
    /// This libcurl lacks something: 7.87 is the oldest that has all. The start fails.
    case libraryFault(CurlFailure)

    public var description: String {
        switch self {
        case .invalidURL: "the URL cannot be read, or has a user name, password or fragment in it"
        case .notHTTPS: "the URL does not begin with https://"
        case .unreadableAuthorities(let errno): "the setting caFile cannot be used: cannot be read (errno \(errno))"
        case .invalidRequest(let reason): "the request cannot be sent: \(reason)"
        case .resourcesExhausted(let call, let errno): "the system refused \(call): \(String(cString: strerror(errno)))"
        case .libraryFault(let failure): "libcurl failed: \(failure)"
        }
    }
}

/// libcurl's words about a failure.
public struct CurlFailure: Error, Sendable, Hashable, CustomStringConvertible {
    /// libcurl's number for it, see [libcurl-errors](https://curl.se/libcurl/c/libcurl-errors.html).
    public let code: Int32
    /// A sentence for a person, at most 255 bytes; names the host at most.
    public let text: String

    public var description: String { "\(text) (libcurl \(code))" }
}

/// libcurl's process-wide state.
enum CurlLibrary {
    /// Once per process, thread-safe as every static is; never undone, because others in the process may use libcurl.
    private static let code = curl_global_init(Int(CURL_GLOBAL_ALL))

    static func initialize() throws(CurlFailure) { guard code == CURLE_OK else { throw CurlFailure(code) } }
}

extension CurlFailure {
    /// libcurl's words for a code, behind their subject.
    init(_ code: CURLcode, about subject: String = "") {
        self.init(code: Int32(code.rawValue), text: subject + String(cString: curl_easy_strerror(code)))
    }

    init(_ code: CURLMcode) { self.init(code: code.rawValue, text: String(cString: curl_multi_strerror(code))) }
    static var outOfMemory: CurlFailure { CurlFailure(CURLE_OUT_OF_MEMORY) }
}
