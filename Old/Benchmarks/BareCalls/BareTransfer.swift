import CLibcurl
import Glibc

/// One of libcurl's easy handles with all that it points to: the limit in its plainest form.
final class BareTransfer {
    let easy: UnsafeMutableRawPointer
    private let headers: UnsafeMutablePointer<curl_slist>?
    /// libcurl does not copy it, so it lives as long as the handle.
    private let body: UnsafeMutableBufferPointer<UInt8>

    /// - Parameters:
    ///   - caFile: PEM of who vouches for the server.
    ///   - body: What each call sends.
    init(url: String, caFile: String, body bytes: [UInt8]) throws {
        guard let easy = curl_easy_init() else { throw BenchFailure(description: "no handle for bare calls") }
        self.easy = easy
        headers = curl_slist_append(nil, "content-type: application/json")
        body = .allocate(capacity: bytes.count)
        _ = body.initialize(from: bytes)
        let codes = [
            grantor_easy_set_string(easy, CURLOPT_URL, url), grantor_easy_set_string(easy, CURLOPT_CAINFO, caFile),
            grantor_easy_set_list(easy, CURLOPT_HTTPHEADER, headers),
            grantor_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(bytes.count)),
            grantor_easy_set_pointer(easy, CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(body.baseAddress)),
            grantor_easy_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
            grantor_easy_set_long(easy, CURLOPT_NOSIGNAL, 1),
            grantor_easy_set_write_callback(easy, CURLOPT_WRITEFUNCTION) { _, size, count, _ in size * count },
        ]
        guard codes.allSatisfy({ $0 == CURLE_OK }) else {
            throw BenchFailure(description: "libcurl refused an option")
        }
    }

    deinit {
        // First the handle, which points to the rest.
        curl_easy_cleanup(easy)
        curl_slist_free_all(headers)
        body.deallocate()
    }

    /// One call after another, each over the connection of the one before it.
    ///
    /// - Returns: CPU time of one call, in microseconds (clock(3)).
    func hotMicroseconds(calls: Int) throws -> Double {
        // The first one connects.
        try call()
        let start = clock()
        for _ in 0..<calls { try call() }
        return Double(clock() - start) / Double(calls)
    }

    private func call() throws {
        let code = curl_easy_perform(easy)
        guard code == CURLE_OK else { throw BenchFailure(description: String(cString: curl_easy_strerror(code))) }
    }
}
