internal import CLibcurl
internal import Glibc
internal import Scheduling

/// libcurl's multi handle: many transfers, one connection cache, driven by readiness and one timer.
///
/// Lives on the loop's thread only.
final class MultiHandle {
    private let multi: UnsafeMutableRawPointer
    private let owner: UInt32
    private let watcher: SocketWatcher
    private var transfers: [Transfer] = []
    /// When libcurl wants to be called although nothing happened.
    private(set) var deadline: Instant?
    /// Since when there is no transfer, while there is none.
    private(set) var emptySince = Instant.now

    /// - Parameters:
    ///   - connections: Most that are open at once.
    ///   - owner: The number with which the watcher reports its sockets.
    init(connections: Int, owner: UInt32, watcher: SocketWatcher) throws(CurlFailure) {
        guard let multi = curl_multi_init() else { throw CurlFailure.outOfMemory }
        self.multi = multi
        self.owner = owner
        self.watcher = watcher
        // Calls beyond it would wait inside of libcurl with their time running; the pool starts no more than these.
        try Self.check(grantor_multi_set_long(multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, connections))
        try Self.check(grantor_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, connections))
        // A cache smaller than what is in flight makes nearly every request connect anew.
        try Self.check(grantor_multi_set_long(multi, CURLMOPT_MAXCONNECTS, connections))
        let context = Unmanaged.passUnretained(self).toOpaque()
        try Self.check(grantor_multi_set_socket_callback(multi, Self.socketChanged, context))
        try Self.check(grantor_multi_set_timer_callback(multi, Self.timerChanged, context))
    }

    deinit {
        for transfer in transfers { curl_multi_remove_handle(multi, transfer.easy) }
        curl_multi_cleanup(multi)
    }

    var count: Int { transfers.count }

    /// Starts a transfer and keeps it until it is over.
    func add(_ transfer: Transfer) throws(CurlFailure) {
        // Connections keep the pointer, and end before their multi handle does, which keeps the watcher.
        try CurlOptions(easy: transfer.easy).set(
            made: Self.socketMade, closing: Self.socketEnds, Unmanaged.passUnretained(watcher).toOpaque())
        try Self.check(curl_multi_add_handle(multi, transfer.easy))
        transfer.position = transfers.count
        transfers.append(transfer)
    }

    /// Lets libcurl act on a socket that became ready. If an idle socket has input, it is no longer watched, and its
    /// connection is shut down. Such input is the server's close, or an unrequested reply that the next request would
    /// take for its own. The end is seen by libcurl when it looks for a connection, or when it sends.
    func act(on event: SocketWatcher.Event) throws(CurlFailure) {
        let descriptor = event.descriptor
        guard !watcher.idle.contains(descriptor) else {
            guard !watcher.idle.isNew(descriptor) else { return }
            // The bytes that the kernel reported may have been read since, because libcurl continues other transfers
            // while it acts on one.
            guard hasCome(on: descriptor) else {
                return watcher.watch(descriptor, owner: owner, read: true, write: false)
            }
            watcher.idle.remove(descriptor)
            watcher.forget(descriptor)
            // Fails where the other side was faster: the connection has ended then, too.
            _ = shutdown(descriptor, Int32(SHUT_RDWR))
            return
        }
        var mask: Int32 = 0
        if event.canRead { mask |= CURL_CSELECT_IN }
        if event.canWrite { mask |= CURL_CSELECT_OUT }
        if event.hasFailed { mask |= CURL_CSELECT_ERR }
        try act(descriptor, mask)
    }

    /// Whether a socket has something to read, its end or an error included.
    private func hasCome(on descriptor: Int32) -> Bool {
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) >= 0
            || (errno != EAGAIN && errno != EINTR)
    }

    /// Lets libcurl act on its timer if that is due.
    func actOnTimer(at now: Instant) throws(CurlFailure) {
        guard let deadline, deadline <= now else { return }
        self.deadline = nil
        try act(CURL_SOCKET_TIMEOUT, 0)
    }

    /// Takes the next transfer that is over off the handle.
    func nextEnded() -> (transfer: Transfer, code: CURLcode)? {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let transfer = Transfer.of(easy)
            else { continue }
            // Before the handle is removed, which frees the message.
            let code = grantor_message_result(message)
            remove(transfer)
            return (transfer, code)
        }
        return nil
    }

    var tokens: [UInt64] { transfers.map(\.token) }

    private func remove(_ transfer: Transfer) {
        curl_multi_remove_handle(multi, transfer.easy)
        let last = transfers.removeLast()
        if last !== transfer {
            transfers[transfer.position] = last
            last.position = transfer.position
        }
        if transfers.isEmpty { emptySince = .now }
    }

    private func act(_ descriptor: Int32, _ mask: Int32) throws(CurlFailure) {
        var running: Int32 = 0
        let code = curl_multi_socket_action(multi, descriptor, mask, &running)
        // A descriptor that libcurl closed a moment ago, in the same batch of events, is no fault.
        guard code == CURLM_OK || code == CURLM_BAD_SOCKET else { throw CurlFailure(code) }
    }

    private static func check(_ code: CURLMcode) throws(CurlFailure) {
        guard code == CURLM_OK else { throw CurlFailure(code) }
    }

    private static let socketChanged: curl_socket_callback = { easy, descriptor, what, context, _ in
        guard let context else { return 0 }
        let handle = Unmanaged<MultiHandle>.fromOpaque(context).takeUnretainedValue()
        let watcher = handle.watcher
        guard what != CURL_POLL_REMOVE else {
            if !watcher.idle.insert(descriptor) { watcher.forget(descriptor) }
            return 0
        }
        if watcher.idle.remove(descriptor), watcher.idle.isExpired(descriptor, at: watcher.clock()), let easy {
            Transfer.of(easy)?.closeConnectionAfterwards()
        }
        // Reporting a refused socket would make libcurl fail every transfer. This way one transfer runs into its time
        // limit.
        watcher.watch(descriptor, owner: handle.owner, read: what & CURL_POLL_IN != 0, write: what & CURL_POLL_OUT != 0)
        return 0
    }

    private static let socketMade: curl_sockopt_callback = { context, descriptor, _ in
        if let context {
            let watcher = Unmanaged<SocketWatcher>.fromOpaque(context).takeUnretainedValue()
            watcher.idle.made(descriptor, at: watcher.clock())
        }
        return CURL_SOCKOPT_OK
    }

    /// Before the number is another socket's.
    private static let socketEnds: curl_closesocket_callback = { context, descriptor in
        if let context { Unmanaged<SocketWatcher>.fromOpaque(context).takeUnretainedValue().idle.closed(descriptor) }
        return close(descriptor)
    }

    private static let timerChanged: curl_multi_timer_callback = { _, milliseconds, context in
        guard let context else { return 0 }
        let handle = Unmanaged<MultiHandle>.fromOpaque(context).takeUnretainedValue()
        handle.deadline = milliseconds < 0 ? nil : .now + .milliseconds(milliseconds)
        return 0
    }
}

/// Transfers and their connections in several multi handles of libcurl's.
///
/// For each request libcurl 7.88 searches all connections of a multi handle to a host twice. It looks for a free one
/// (`ConnectionExists`), and again when the request is over (`close_connect_only`). In a single handle, a request costs
/// twice as much with 4,000 connections as with 100.
///
/// A handle is made when the former ones are full, so that few requests reuse the same few connections. The first
/// handle stays, with the trusted authorities that it has read. Another handle that was unused for a connection's idle
/// limit is dropped with the next request, together with its connections. Connections within a handle end by the same
/// rule.
///
/// Lives on the loop's thread only.
final class MultiHandlePool {
    /// Most often that the pool looks for unneeded handles; libcurl looks at its connections as often.
    private static let lookInterval = Duration.seconds(1)

    private let configuration: HTTPClientConfiguration
    private let watcher: SocketWatcher
    /// Most connections of a handle.
    private let size: Int
    /// A handle keeps its index, by which the watcher reports its sockets.
    private var handles: [MultiHandle?] = []
    private var lookedAt = Instant.now

    /// - Throws: as ``MultiHandle`` does. The first handle is made at once, so that an option that this libcurl refuses
    ///   shows now.
    init(configuration: HTTPClientConfiguration, watcher: SocketWatcher) throws(CurlFailure) {
        self.configuration = configuration
        self.watcher = watcher
        size = min(configuration.maxInFlight, configuration.connectionsPerHandle)
        handles = [try handle(at: 0)]
    }

    /// When libcurl wants to be called although nothing happened; nil: never.
    var deadline: Instant? {
        var earliest: Instant?
        for case let handle? in handles {
            guard let deadline = handle.deadline else { continue }
            earliest = min(earliest ?? deadline, deadline)
        }
        return earliest
    }

    /// Starts a transfer and keeps it until it is over.
    /// - Precondition: fewer than `maxInFlight` are under way.
    func add(_ transfer: Transfer) throws(CurlFailure) {
        dropUnneeded(.now)
        let place = handles.firstIndex { ($0?.count ?? 0) < size } ?? handles.count
        if place == handles.count { handles.append(nil) }
        let handle = if let handle = handles[place] { handle } else { try handle(at: place) }
        handles[place] = handle
        try handle.add(transfer)
    }

    /// Lets libcurl act on a socket that became ready.
    func act(on event: SocketWatcher.Event) throws(CurlFailure) { try handles[Int(event.owner)]?.act(on: event) }

    /// Lets libcurl act on its timers where they are due.
    func actOnTimers(at now: Instant) throws(CurlFailure) {
        for case let handle? in handles { try handle.actOnTimer(at: now) }
    }

    /// Takes the transfers that are over off their handles.
    func takeEnded(_ body: (Transfer, CURLcode) -> Void) {
        for case let handle? in handles { while let (transfer, code) = handle.nextEnded() { body(transfer, code) } }
    }

    var tokens: [UInt64] { handles.flatMap { $0?.tokens ?? [] } }

    private func handle(at place: Int) throws(CurlFailure) -> MultiHandle {
        // All handles together have no more than may be.
        let connections = max(1, min(size, configuration.maxInFlight - place * size))
        return try MultiHandle(connections: connections, owner: UInt32(place), watcher: watcher)
    }

    private func dropUnneeded(_ now: Instant) {
        guard now - lookedAt >= Self.lookInterval else { return }
        lookedAt = now
        for place in handles.indices.dropFirst() {
            guard let handle = handles[place], handle.count == 0, now - handle.emptySince > configuration.maxIdleTime
            else { continue }
            handles[place] = nil
        }
    }
}
