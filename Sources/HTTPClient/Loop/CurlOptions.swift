internal import CLibcurl

/// Sets options of one easy handle; the first that libcurl refuses is thrown.
struct CurlOptions {
    let easy: UnsafeMutableRawPointer

    func set(_ option: CURLoption, _ value: Int) throws(CurlFailure) {
        try check(grantor_easy_set_long(easy, option, value), option)
    }

    func set(_ option: CURLoption, offset value: Int) throws(CurlFailure) {
        try check(grantor_easy_set_offset(easy, option, curl_off_t(value)), option)
    }

    /// libcurl copies the text.
    func set(_ option: CURLoption, _ value: String) throws(CurlFailure) {
        try check(grantor_easy_set_string(easy, option, value), option)
    }

    func clear(_ option: CURLoption) throws(CurlFailure) {
        try check(grantor_easy_set_string(easy, option, nil), option)
    }

    /// libcurl keeps the pointer: what it points to has to outlive the handle, or the next value.
    func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) throws(CurlFailure) {
        try check(grantor_easy_set_pointer(easy, option, pointer), option)
    }

    /// libcurl keeps the list: it has to outlive the handle.
    func set(_ option: CURLoption, list: UnsafeMutablePointer<curl_slist>?) throws(CurlFailure) {
        try check(grantor_easy_set_list(easy, option, list), option)
    }

    func set(_ option: CURLoption, callback: curl_write_callback) throws(CurlFailure) {
        try check(grantor_easy_set_write_callback(easy, option, callback), option)
    }

    /// libcurl reads the bytes while the transfer runs, and again if it has to send it anew: they have to outlive it.
    func setBody(_ body: HTTPBody) throws(CurlFailure) {
        // The size first: without it libcurl would look for a NUL.
        try set(CURLOPT_POSTFIELDSIZE_LARGE, offset: body.count)
        // It takes any pointer, and only reads from this one.
        try set(CURLOPT_POSTFIELDS, pointer: UnsafeMutableRawPointer(mutating: body.start))
    }

    /// Called each time before the request is sent.
    func set(
        prerequest callback: curl_prereq_callback, _ context: UnsafeMutableRawPointer
    ) throws(CurlFailure) {
        try check(grantor_easy_set_prerequest_callback(easy, callback, context), CURLOPT_PREREQFUNCTION)
    }

    /// Called for each socket of the connections opened from here on: when it is made, and in place of close(2).
    func set(
        made: curl_sockopt_callback, closing: curl_closesocket_callback, _ context: UnsafeMutableRawPointer
    ) throws(CurlFailure) {
        try check(grantor_easy_set_socket_callbacks(easy, made, closing, context), CURLOPT_CLOSESOCKETFUNCTION)
    }

    private func check(_ code: CURLcode, _ option: CURLoption) throws(CurlFailure) {
        guard code != CURLE_OK else { return }
        throw CurlFailure(code, about: "option \(option.rawValue): ")
    }
}
