internal import CLibcurl
internal import Scheduling

/// Transfers and their connections in several multi handles of libcurl's.
///
/// For each request libcurl 7.88 looks through all connections that a multi handle has to a host, once for one that is
/// free (`ConnectionExists`) and once when the request is over (`close_connect_only`). In a single handle, a request
/// costs twice as much with 4,000 connections as with 100.
///
/// A handle is made when the ones before it are full, so that few requests find the same few connections open. The first
/// one stays, with the trusted authorities that it has read. Another that was not needed for as long as a connection may
/// be idle is dropped with the next request, connections and all, as libcurl does with connections within a handle.
///
/// Lives on the loop's thread only.
final class MultiHandlePool {
    /// How often it is looked whether handles are needed, at most; libcurl looks at its connections as often.
    private static let lookInterval = Duration.seconds(1)

    private let configuration: HTTPClientConfiguration
    private let watcher: SocketWatcher
    /// Most connections of a handle.
    private let size: Int
    /// By place: the handle at a place keeps it, and the watcher reports its sockets by that.
    private var handles: [MultiHandle?] = []
    private var lookedAt = Instant.now

    /// - Throws: as ``MultiHandle`` does; the first handle is made at once, so that an option that this libcurl refuses
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
    ///
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
    func act(on event: SocketWatcher.Event) throws(CurlFailure) {
        try handles[Int(event.owner)]?.act(on: event)
    }

    /// Lets libcurl act on its timers where they are due.
    func actOnTimers(at now: Instant) throws(CurlFailure) {
        for case let handle? in handles { try handle.actOnTimer(at: now) }
    }

    /// Takes the transfers that are over off their handles.
    func takeEnded(_ body: (Transfer, CURLcode) -> Void) {
        for case let handle? in handles {
            while let (transfer, code) = handle.nextEnded() { body(transfer, code) }
        }
    }

    /// The tokens of what is under way.
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
