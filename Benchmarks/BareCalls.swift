import CLibcurl
import Foundation
import Glibc

/// Calls to Apple by libcurl and nothing else: the limit that receipts are measured against.
///
/// One call after another over one connection that is kept, without a thread, a retry or a reader of answers.
struct BareCalls {
    let url: String
    /// PEM of who vouches for the server.
    let caFile: String
    /// What each call sends: a receipt, in base64.
    let receipt: String
    let count: Int

    /// CPU time of one call, in microseconds (clock(3)); nothing else runs in the process by then.
    func microseconds() throws -> Double {
        guard let easy = curl_easy_init() else { throw BenchFailure(description: "no handle for bare calls") }
        let headers = curl_slist_append(nil, "content-type: application/json")
        defer {
            curl_easy_cleanup(easy)
            curl_slist_free_all(headers)
        }
        // Not copied by libcurl, so it lives as long as the handle is used.
        let body = #"{"receipt-data":"\#(receipt)"}"#
        return try body.withCString { text in
            let codes = [
                grantor_easy_set_string(easy, CURLOPT_URL, url), grantor_easy_set_string(easy, CURLOPT_CAINFO, caFile),
                grantor_easy_set_list(easy, CURLOPT_HTTPHEADER, headers),
                grantor_easy_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, curl_off_t(body.utf8.count)),
                grantor_easy_set_pointer(easy, CURLOPT_POSTFIELDS, UnsafeMutableRawPointer(mutating: text)),
                grantor_easy_set_long(easy, CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1)),
                grantor_easy_set_write_callback(easy, CURLOPT_WRITEFUNCTION) { _, size, count, _ in size * count },
            ]
            guard codes.allSatisfy({ $0 == CURLE_OK }) else {
                throw BenchFailure(description: "libcurl refused an option")
            }
            // The first one connects.
            try call(easy)
            let start = clock()
            for _ in 0..<count { try call(easy) }
            return Double(clock() - start) / Double(count)
        }
    }

    private func call(_ easy: UnsafeMutableRawPointer) throws {
        let code = curl_easy_perform(easy)
        guard code == CURLE_OK else { throw BenchFailure(description: String(cString: curl_easy_strerror(code))) }
    }
}
