internal import CLibcurl

/// One request on its way: libcurl's easy handle and everything that it points to. When the request is over, the same
/// object can carry another: making a handle and setting its options costs a tenth of what a request does.
///
/// Lives on the loop's thread only. The handle refers to the object without owning it, so the object has to be kept
/// until the handle is off the multi handle; `CurlMulti` does.
final class ActiveTransfer {
    private(set) var id: TransferID
    let easy: UnsafeMutableRawPointer
    private let errorText: UnsafeMutablePointer<CChar>
    private let configuration: HTTPTransportConfiguration
    private var headerList: HeaderList
    private var body: RequestBody?
    /// How often libcurl sent the request: more than once when a kept connection turned out to be closed.
    private var sendings = 0
    private var collector: ResponseCollector
    /// Whose options the handle has, the body aside.
    private var request: HTTPRequest

    /// - Throws: ``HTTPTransportError/libraryFault(_:)`` when libcurl refuses an option,
    ///   ``HTTPTransportError/resourcesExhausted(_:errno:)`` when it has no memory.
    init(
        id: TransferID, request: HTTPRequest, configuration: HTTPTransportConfiguration
    ) throws(HTTPTransportError) {
        headerList = try HeaderList(request)
        body = request.bodyToSend
        guard let easy = curl_easy_init() else { throw .resourcesExhausted("curl_easy_init", errno: 0) }
        self.id = id
        self.easy = easy
        self.configuration = configuration
        self.request = request.withoutBody
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        collector = ResponseCollector(configuration)
        // From here on all members are set, so that deinit frees them if an option is refused.
        let options = CurlOptions(easy: easy)
        try options.apply(configuration)
        try options.apply(request, configuration: configuration)
        try options.apply(body)
        try options.set(CURLOPT_HTTPHEADER, list: headerList.head)
        try options.set(CURLOPT_ERRORBUFFER, pointer: errorText)
        let context = Unmanaged.passUnretained(self).toOpaque()
        try options.set(CURLOPT_PRIVATE, pointer: context)
        try options.set(CURLOPT_HEADERFUNCTION, callback: Self.receiveHeaderLine)
        try options.set(CURLOPT_HEADERDATA, pointer: context)
        try options.set(prerequest: Self.sends, context)
        try options.set(CURLOPT_WRITEFUNCTION, callback: Self.receiveBody)
        try options.set(CURLOPT_WRITEDATA, pointer: context)
    }

    deinit {
        // First the handle, which writes to the rest until it is gone.
        curl_easy_cleanup(easy)
        errorText.deallocate()
    }

    /// Takes another request, which differs from the last in its body alone for the most part.
    ///
    /// - Precondition: the last one is over, and its handle off the multi handle.
    /// - Throws: as `init` does; the object is of no more use then.
    func renew(_ id: TransferID, _ request: HTTPRequest) throws(HTTPTransportError) {
        self.id = id
        sendings = 0
        errorText.pointee = 0
        collector = ResponseCollector(configuration)
        body = request.bodyToSend
        let options = CurlOptions(easy: easy)
        try options.apply(body)
        guard !request.differsInBodyAlone(from: self.request) else { return }
        let headerList = try HeaderList(request)
        try options.apply(request, configuration: configuration)
        try options.set(CURLOPT_HTTPHEADER, list: headerList.head)
        // Only now: until here the handle refers to the old list.
        self.headerList = headerList
        self.request = request.withoutBody
    }

    /// Gives back the memory that only the request that is over needed.
    ///
    /// - Returns: whether the transfer can be renewed. libcurl gives up the sixth time that a handle sends a request anew,
    ///   and counts over all that the handle ever sent; so one that did it once is of no more use.
    func release() -> Bool {
        collector = ResponseCollector(configuration)
        do throws(HTTPTransportError) {
            if body != nil { try CurlOptions(easy: easy).forgetBody() }
        } catch {
            // The next request gets a new handle, which says the same to its caller.
            return false
        }
        body = nil
        return sendings == 1
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
                status: grantor_easy_get_long(easy, CURLINFO_RESPONSE_CODE), lines: collector.headers,
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

    // The other two return how much was taken; anything but `size * count` makes libcurl end the transfer.

    private static let sends: curl_prereq_callback = { context, _, _, _, _ in
        guard let context else { return CURL_PREREQFUNC_ABORT }
        let transfer = Unmanaged<ActiveTransfer>.fromOpaque(context).takeUnretainedValue()
        guard !transfer.wouldReadAnotherAnswer else { return CURL_PREREQFUNC_ABORT }
        transfer.sendings += 1
        return CURL_PREREQFUNC_OK
    }

    /// Whether the server said more on a kept connection than it was asked, which would be taken for the answer to come, and each
    /// answer after it for the one before. With HTTP/2 answers say what they answer, and a server may speak at any time.
    private var wouldReadAnotherAnswer: Bool {
        configuration.httpVersion == .http1_1 && connectionsOpened == 0 && grantor_easy_has_unread(easy) != 0
    }

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

extension HTTPRequest {
    /// Nil for a request that has none, not even an empty one.
    fileprivate var bodyToSend: RequestBody? {
        switch method {
        case .get: nil
        case .post, .put: body ?? RequestBody()
        }
    }
}

extension ResponseCollector {
    fileprivate init(_ configuration: HTTPTransportConfiguration) {
        self.init(maxHeaderBytes: configuration.maxHeaderBytes, maxBodyBytes: configuration.maxResponseBytes)
    }
}
