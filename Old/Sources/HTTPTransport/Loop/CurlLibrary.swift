internal import CLibcurl

/// libcurl's process-wide state.
enum CurlLibrary {
    /// Once per process, thread-safe as every static is; never undone, because others in the process may use libcurl.
    private static let code = curl_global_init(Int(CURL_GLOBAL_ALL))

    static func initialize() throws(HTTPTransportError) {
        guard code == CURLE_OK else {
            let text = String(cString: curl_easy_strerror(code))
            throw .libraryFault(CurlFailure(code: Int32(code.rawValue), text: text))
        }
    }
}
