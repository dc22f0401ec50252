import CLibcurl
import Glibc

/// Asks a worker about its health until the answer is yes.
struct HealthProbe {
    private static let pauseMicroseconds: UInt32 = 1000

    let port: Int

    /// Returns when the path answers 200. Blocks its thread: a pause of a task may be longer than what is measured.
    /// - Throws: ``BenchFailure`` if it does not in time, or what `check` throws.
    func await200(_ path: String, within limit: Duration, check: () throws -> Void) throws {
        guard let easy = curl_easy_init() else { throw BenchFailure(description: "no handle for a probe") }
        defer { curl_easy_cleanup(easy) }
        let codes = [
            grantor_easy_set_string(easy, CURLOPT_URL, "http://127.0.0.1:\(port)\(path)"),
            grantor_easy_set_long(easy, CURLOPT_TIMEOUT_MS, 1000), grantor_easy_set_long(easy, CURLOPT_NOSIGNAL, 1),
            grantor_easy_set_write_callback(easy, CURLOPT_WRITEFUNCTION) { _, size, count, _ in size * count },
        ]
        guard codes.allSatisfy({ $0 == CURLE_OK }) else {
            throw BenchFailure(description: "libcurl refused an option")
        }
        let end = ContinuousClock.now + limit
        while ContinuousClock.now < end {
            if curl_easy_perform(easy) == CURLE_OK, grantor_easy_get_long(easy, CURLINFO_RESPONSE_CODE) == 200 {
                return
            }
            try check()
            usleep(Self.pauseMicroseconds)
        }
        throw BenchFailure(description: "\(path) did not answer 200 within \(limit)")
    }
}
