internal import CLibcurl

/// libcurl's process-wide state.
enum CurlLibrary {
    /// Once per process, thread-safe as every static is; never undone, because others in the process may use libcurl.
    private static let code = curl_global_init(Int(CURL_GLOBAL_ALL))

    static func initialize() throws(CurlFailure) {
        guard code == CURLE_OK else { throw CurlFailure(code) }
    }
}

extension CurlFailure {
    /// libcurl's words for a code, behind what they are about.
    init(_ code: CURLcode, about subject: String = "") {
        self.init(code: Int32(code.rawValue), text: subject + String(cString: curl_easy_strerror(code)))
    }

    init(_ code: CURLMcode) {
        self.init(code: code.rawValue, text: String(cString: curl_multi_strerror(code)))
    }

    static var outOfMemory: CurlFailure { CurlFailure(CURLE_OUT_OF_MEMORY) }
}
