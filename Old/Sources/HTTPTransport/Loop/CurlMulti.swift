internal import CLibcurl
import Glibc

/// libcurl's multi handle: many transfers, one connection cache, driven by readiness and one timer.
///
/// Lives on the loop's thread only.
final class CurlMulti {
    /// Unusable from here on: libcurl lost track of its own state.
    struct Broken: Error {
        let code: Int32
    }

    private let multi: UnsafeMutableRawPointer
    private let owner: UInt32
    private let poller: Poller
    private let now: () -> Duration
    private var transfers: [TransferID: ActiveTransfer] = [:]
    private let resting: RestingDescriptors
    /// When libcurl wants to be called although nothing happened.
    private(set) var deadline: Duration?
    /// Since when there is no transfer, while there is none.
    private(set) var emptySince: Duration

    /// - Parameters:
    ///   - connections: Most that are open at once.
    ///   - owner: What the poller reports its descriptors with.
    ///   - resting: Shared by all that have the same poller.
    ///   - now: Time that only goes forward.
    init(
        connections: Int, owner: UInt32, poller: Poller, resting: RestingDescriptors, now: @escaping () -> Duration
    ) throws(HTTPTransportError) {
        guard let multi = curl_multi_init() else { throw .resourcesExhausted("curl_multi_init", errno: 0) }
        self.multi = multi
        self.owner = owner
        self.poller = poller
        self.resting = resting
        self.now = now
        emptySince = now()
        try Self.check(grantor_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections))
        try Self.check(grantor_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connections))
        // A cache smaller than what is in flight makes nearly every request connect anew.
        try Self.check(grantor_multi_set_long(multi, CURLMOPT_MAXCONNECTS, connections))
        let context = Unmanaged.passUnretained(self).toOpaque()
        try Self.check(grantor_multi_set_socket_callback(multi, Self.socketChanged, context))
        try Self.check(grantor_multi_set_timer_callback(multi, Self.timerChanged, context))
    }

    deinit {
        for transfer in transfers.values {
            curl_multi_remove_handle(multi, transfer.easy)
        }
        curl_multi_cleanup(multi)
    }

    /// Transfers under way.
    var count: Int { transfers.count }

    /// Starts a transfer and keeps it until it is removed.
    func add(_ transfer: ActiveTransfer) throws(HTTPTransportError) {
        // Connections keep it, and end before their multi handle does, which keeps what it points to.
        try CurlOptions(easy: transfer.easy).set(
            made: Self.socketMade, closing: Self.socketEnds, Unmanaged.passUnretained(resting).toOpaque())
        try Self.check(curl_multi_add_handle(multi, transfer.easy))
        transfers[transfer.id] = transfer
    }

    /// Drops a transfer; its connection is closed unless the transfer had ended well. Unknown ones are none to drop.
    func remove(_ id: TransferID) {
        guard let transfer = transfers.removeValue(forKey: id) else { return }
        curl_multi_remove_handle(multi, transfer.easy)
        if transfers.isEmpty { emptySince = now() }
    }

    /// Lets libcurl act on a descriptor that became ready. One that rests and on which something came is watched no more, and its
    /// connection ends: what came is the server's end of it, or an answer that nobody asked for, which the next request would take
    /// for its own. libcurl sees the end when it looks for a connection to use, or when it sends.
    func act(on readiness: Readiness) throws(Broken) {
        let descriptor = readiness.descriptor
        guard !resting.contains(descriptor) else {
            guard !resting.isNew(descriptor) else { return }
            // What was ready when the kernel was asked may have been read since: libcurl lets other transfers go on while it acts
            // on one.
            guard hasCome(on: descriptor) else {
                return poller.watch(descriptor, owner: readiness.owner, read: true, write: false)
            }
            resting.remove(descriptor)
            poller.forget(descriptor)
            // Fails where the other side was faster, and then it has ended, too.
            _ = shutdown(descriptor, Int32(SHUT_RDWR))
            return
        }
        var mask: Int32 = 0
        if readiness.canRead { mask |= CURL_CSELECT_IN }
        if readiness.canWrite { mask |= CURL_CSELECT_OUT }
        if readiness.hasError { mask |= CURL_CSELECT_ERR }
        try act(descriptor, mask)
    }

    /// Whether there is something to be read from a socket, its end or an error among it.
    private func hasCome(on descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) >= 0
            || (errno != EAGAIN && errno != EINTR)
    }

    /// Lets libcurl act on its timer if that is due.
    func actOnTimer(at now: Duration) throws(Broken) {
        guard let deadline, deadline <= now else { return }
        self.deadline = nil
        try act(CURL_SOCKET_TIMEOUT, 0)
    }

    /// Takes the next transfer that is over off the handle.
    func nextEnded() -> (transfer: ActiveTransfer, code: CURLcode)? {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let transfer = ActiveTransfer.of(easy)
            else { continue }
            // Before the handle is removed, which frees the message.
            let code = grantor_message_result(message)
            remove(transfer.id)
            return (transfer, code)
        }
        return nil
    }

    private func act(_ descriptor: Int32, _ mask: Int32) throws(Broken) {
        var running: Int32 = 0
        let code = curl_multi_socket_action(multi, descriptor, mask, &running)
        // A descriptor that libcurl closed a moment ago, in the same batch of events, is no fault.
        guard code == CURLM_OK || code == CURLM_BAD_SOCKET else { throw Broken(code: code.rawValue) }
    }

    private static func check(_ code: CURLMcode) throws(HTTPTransportError) {
        guard code == CURLM_OK else {
            throw .libraryFault(CurlFailure(code: code.rawValue, text: String(cString: curl_multi_strerror(code))))
        }
    }

    private static let socketChanged: curl_socket_callback = { _, descriptor, what, context, _ in
        guard let context else { return 0 }
        let multi = Unmanaged<CurlMulti>.fromOpaque(context).takeUnretainedValue()
        guard what != CURL_POLL_REMOVE else {
            if !multi.resting.insert(descriptor) { multi.poller.forget(descriptor) }
            return 0
        }
        multi.resting.remove(descriptor)
        // Reporting one that is refused would make libcurl fail every transfer there is; this way one runs into its time limit.
        multi.poller.watch(
            descriptor, owner: multi.owner, read: what & CURL_POLL_IN != 0, write: what & CURL_POLL_OUT != 0)
        return 0
    }

    private static let socketMade: curl_sockopt_callback = { context, descriptor, _ in
        if let context { Unmanaged<RestingDescriptors>.fromOpaque(context).takeUnretainedValue().made(descriptor) }
        return CURL_SOCKOPT_OK
    }

    /// Before the number is somebody else's.
    private static let socketEnds: curl_closesocket_callback = { context, descriptor in
        if let context { Unmanaged<RestingDescriptors>.fromOpaque(context).takeUnretainedValue().ends(descriptor) }
        return close(descriptor)
    }

    private static let timerChanged: curl_multi_timer_callback = { _, milliseconds, context in
        guard let context else { return 0 }
        let multi = Unmanaged<CurlMulti>.fromOpaque(context).takeUnretainedValue()
        multi.deadline = milliseconds < 0 ? nil : multi.now() + .milliseconds(milliseconds)
        return 0
    }
}
