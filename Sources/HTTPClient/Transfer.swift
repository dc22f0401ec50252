internal import CLibcurl

/// One call under way: libcurl's easy handle and everything that it points to. The object is reused for later calls,
/// because making a handle and setting its options costs a tenth of a request.
///
/// Lives on the loop's thread only. The handle refers to the object without owning it. So ``MultiHandle`` keeps the
/// object until the handle is removed from the multi handle.
final class Transfer {
    private(set) var token: UInt64 = 0
    let easy: UnsafeMutableRawPointer
    var position = 0
    private let errorText: UnsafeMutablePointer<CChar>
    private let configuration: HTTPClientConfiguration
    /// Whose options the handle has.
    private var request: HTTPRequest?
    private var headerList: HeaderList?
    private var body: HTTPBody?
    /// How often libcurl sent the request: more than once when a kept connection turned out to be closed.
    private var sendings = 0
    private var collector: ResponseCollector

    /// - Throws: libcurl refuses an option, or has no memory.
    init(_ configuration: HTTPClientConfiguration) throws(CurlFailure) {
        guard let easy = curl_easy_init() else { throw CurlFailure.outOfMemory }
        self.easy = easy
        self.configuration = configuration
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        collector = ResponseCollector(maxBodyBytes: configuration.maxResponseBytes)
        // From here on all members are set, so that deinit frees them if an option is refused.
        let options = CurlOptions(easy: easy)
        try options.apply(configuration)
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

    /// Takes a call, which differs from the last in its body alone for the most part.
    /// - Precondition: the last one is over, and its handle off the multi handle.
    /// - Throws: as `init` does; the object cannot be used any more then.
    func prepare(_ call: HTTPCall) throws(CurlFailure) {
        token = call.token
        sendings = 0
        errorText.pointee = 0
        collector = ResponseCollector(maxBodyBytes: configuration.maxResponseBytes)
        body = call.request.method == .get ? nil : call.body ?? HTTPBody([])
        let options = CurlOptions(easy: easy)
        try options.apply(body)
        try options.set(CURLOPT_TIMEOUT_MS, (call.timeout ?? configuration.totalTimeout).wholeMilliseconds)
        try options.set(CURLOPT_FRESH_CONNECT, call.usesFreshConnection ? 1 : 0)
        try options.set(CURLOPT_FORBID_REUSE, call.usesFreshConnection ? 1 : 0)
        guard call.request !== request else { return }
        let headerList = try HeaderList(call.request)
        try options.apply(call.request)
        try options.set(CURLOPT_HTTPHEADER, list: headerList.head)
        // Only now: until here the handle refers to the old list.
        self.headerList = headerList
        request = call.request
    }

    /// Gives back the memory that only the call that is over needed.
    /// - Returns: whether the transfer can take another call. libcurl fails at the sixth resent request of a handle,
    ///   counted over its whole life. So a handle that resent a request once is not used again.
    func release() -> Bool {
        collector = ResponseCollector(maxBodyBytes: configuration.maxResponseBytes)
        do throws(CurlFailure) {
            // libcurl forgets where the body was, which it asks for no more.
            if body != nil { try CurlOptions(easy: easy).set(CURLOPT_POSTFIELDS, pointer: nil) }
        } catch {
            // The next call gets a new handle, which says the same to its caller.
            return false
        }
        body = nil
        return sendings == 1
    }

    /// Has the connection under the call end after it.
    func closeConnectionAfterwards() {
        // A libcurl that refuses the option has a limit of its own (CURLOPT_MAXLIFETIME_CONN).
        try? CurlOptions(easy: easy).set(CURLOPT_FORBID_REUSE, 1)
    }

    /// The transfer that a handle belongs to, which has to be alive.
    static func of(_ easy: UnsafeMutableRawPointer) -> Transfer? {
        grantor_easy_get_private(easy).map { Unmanaged<Transfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Connections that were opened for it: 0 or 1, more when libcurl tried again.
    var connectionsOpened: Int { grantor_easy_get_long(easy, CURLINFO_NUM_CONNECTS) }

    /// The call's result, once libcurl says that it is over.
    func result(_ code: CURLcode) -> Result<HTTPResponse, HTTPFailure> {
        if let overflow = collector.overflow { return .failure(overflow) }
        guard code == CURLE_OK else { return .failure(outcome(code).error) }
        return .success(
            HTTPResponse(
                status: grantor_easy_get_long(easy, CURLINFO_RESPONSE_CODE), lines: collector.headers,
                body: collector.body, duration: .microseconds(grantor_easy_get_offset(easy, CURLINFO_TOTAL_TIME_T))))
    }

    private func outcome(_ code: CURLcode) -> CurlOutcome {
        let text = String(cString: errorText)
        return CurlOutcome(
            code: code, text: text.isEmpty ? String(cString: curl_easy_strerror(code)) : text,
            wasConnected: grantor_easy_get_offset(easy, CURLINFO_PRETRANSFER_TIME_T) > 0,
            responseBegun: grantor_easy_get_offset(easy, CURLINFO_STARTTRANSFER_TIME_T) > 0,
            verifyResult: grantor_easy_get_long(easy, CURLINFO_SSL_VERIFYRESULT),
            usesProxy: request?.endpoint.proxy != nil,
            proxyStatus: grantor_easy_get_long(easy, CURLINFO_HTTP_CONNECTCODE))
    }

    private static let sends: curl_prereq_callback = { context, _, _, _, _ in
        guard let context else { return CURL_PREREQFUNC_ABORT }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        guard !transfer.wouldReadAnotherReply else { return CURL_PREREQFUNC_ABORT }
        transfer.sendings += 1
        return CURL_PREREQFUNC_OK
    }

    /// Whether the server sent an unrequested reply on a kept connection. It would be taken for the next reply, and
    /// each later reply for the one before.
    private var wouldReadAnotherReply: Bool { connectionsOpened == 0 && grantor_easy_has_unread(easy) != 0 }

    // These two return how much was taken; anything but `size * count` makes libcurl end the transfer.

    private static let receiveHeaderLine: curl_write_callback = { bytes, size, count, context in
        take(bytes, size * count, context) { $0.collector.receive(headerLine: $1) }
    }

    private static let receiveBody: curl_write_callback = { bytes, size, count, context in
        take(bytes, size * count, context) { $0.collector.receive(body: $1) }
    }

    private static func take(
        _ bytes: UnsafeMutablePointer<CChar>?, _ count: Int, _ context: UnsafeMutableRawPointer?,
        _ receive: (Transfer, UnsafeRawBufferPointer) -> Bool
    ) -> Int {
        guard let context else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        return receive(transfer, UnsafeRawBufferPointer(start: bytes, count: count)) ? count : 0
    }
}

/// Transfers whose call is over, for calls to come: never more than ran at once.
///
/// Only transfers that ended well and at the first sending are kept. So remains of an odd ending in libcurl's handle
/// reach no other call.
struct TransferPool {
    private let configuration: HTTPClientConfiguration
    private var transfers: [Transfer] = []

    init(configuration: HTTPClientConfiguration) { self.configuration = configuration }

    /// Keeps a transfer that is over and off the multi handle, if it can be used again.
    /// - Parameter endedWell: whether libcurl had nothing to object.
    mutating func add(_ transfer: Transfer, endedWell: Bool) {
        guard endedWell, transfers.count < configuration.maxInFlight, transfer.release() else { return }
        transfers.append(transfer)
    }

    /// A transfer for a call: a kept or a new one. Throws as ``Transfer`` does.
    mutating func take(_ call: HTTPCall) throws(CurlFailure) -> Transfer {
        let transfer = if let kept = transfers.popLast() { kept } else { try Transfer(configuration) }
        try transfer.prepare(call)
        return transfer
    }
}
