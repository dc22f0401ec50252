internal import CLibcurl

/// One request on its way: libcurl's easy handle and everything that it points to.
///
/// Lives on the loop's thread only. The handle refers to the object without owning it, so the object has to be kept
/// until the handle is off the multi handle; `CurlMulti` does.
final class ActiveTransfer {
    let id: TransferID
    let easy: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private let headerList: HeaderList
    private var collector: ResponseCollector

    /// - Throws: ``HTTPTransportError/libraryFault(_:)`` when libcurl refuses an option,
    ///   ``HTTPTransportError/resourcesExhausted(_:errno:)`` when it has no memory.
    init(
        id: TransferID, request: HTTPRequest, configuration: HTTPTransportConfiguration
    ) throws(HTTPTransportError) {
        headerList = try HeaderList(request)
        guard let easy = curl_easy_init() else { throw .resourcesExhausted("curl_easy_init", errno: 0) }
        self.id = id
        self.easy = easy
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        collector = ResponseCollector(
            maxHeaderBytes: configuration.maxHeaderBytes, maxBodyBytes: configuration.maxResponseBytes)
        // From here on all members are set, so that deinit frees them if an option is refused.
        let options = CurlOptions(easy: easy)
        try options.apply(configuration)
        try options.apply(request, configuration: configuration)
        try options.set(CURLOPT_HTTPHEADER, list: headerList.head)
        try options.set(CURLOPT_ERRORBUFFER, pointer: errorText)
        let context = Unmanaged.passUnretained(self).toOpaque()
        try options.set(CURLOPT_PRIVATE, pointer: context)
        try options.set(CURLOPT_HEADERFUNCTION, callback: Self.receiveHeaderLine)
        try options.set(CURLOPT_HEADERDATA, pointer: context)
        try options.set(CURLOPT_WRITEFUNCTION, callback: Self.receiveBody)
        try options.set(CURLOPT_WRITEDATA, pointer: context)
    }

    deinit {
        // First the handle, which writes to the rest until it is gone.
        curl_easy_cleanup(easy)
        errorText.deallocate()
    }

    /// The transfer that a handle belongs to, which has to be alive.
    static func of(_ easy: UnsafeMutableRawPointer) -> ActiveTransfer? {
        grantor_easy_get_private(easy).map { Unmanaged<ActiveTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Connections that were opened for it: 0 or 1, more when libcurl tried again.
    var connectionsOpened: Int { grantor_easy_get_long(easy, CURLINFO_NUM_CONNECTS) }

    /// What to answer, once libcurl says that it is over.
    func result(_ code: CURLcode) -> Result<HTTPResponse, HTTPTransportError> {
        switch collector.overflow {
        case .headers: return .failure(.responseTooLarge(.headers))
        case .body: return .failure(.responseTooLarge(.body))
        case nil: break
        }
        guard code == CURLE_OK else { return .failure(outcome(code).error) }
        return .success(
            HTTPResponse(
                status: grantor_easy_get_long(easy, CURLINFO_RESPONSE_CODE), headers: collector.headers,
                body: collector.body, timings: timings))
    }

    private var timings: HTTPTimings {
        HTTPTimings(
            connect: time(CURLINFO_APPCONNECT_TIME_T), firstByte: time(CURLINFO_STARTTRANSFER_TIME_T),
            total: time(CURLINFO_TOTAL_TIME_T), reusedConnection: connectionsOpened == 0)
    }

    private func time(_ info: CURLINFO) -> Duration { .microseconds(grantor_easy_get_offset(easy, info)) }

    private func outcome(_ code: CURLcode) -> CurlOutcome {
        let text = String(cString: errorText)
        return CurlOutcome(
            code: code, text: text.isEmpty ? String(cString: curl_easy_strerror(code)) : text,
            wasConnected: grantor_easy_get_offset(easy, CURLINFO_PRETRANSFER_TIME_T) > 0,
            requestSent: grantor_easy_get_long(easy, CURLINFO_REQUEST_SIZE) > 0,
            responseBegun: grantor_easy_get_offset(easy, CURLINFO_STARTTRANSFER_TIME_T) > 0,
            verifyResult: grantor_easy_get_long(easy, CURLINFO_SSL_VERIFYRESULT))
    }

    // Both return how much was taken; anything but `size * count` makes libcurl end the transfer.

    private static let receiveHeaderLine: curl_write_callback = { bytes, size, count, context in
        take(bytes, size * count, context) { $0.collector.receive(headerLine: $1) }
    }

    private static let receiveBody: curl_write_callback = { bytes, size, count, context in
        take(bytes, size * count, context) { $0.collector.receive(body: $1) }
    }

    private static func take(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
        _ receive: (ActiveTransfer, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let context else { return 0 }
        let transfer = Unmanaged<ActiveTransfer>.fromOpaque(context).takeUnretainedValue()
        return receive(transfer, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
    }
}
