internal import CLibcurl

/// Transfers and their connections in groups, each of them a multi handle of libcurl's own.
///
/// For each request libcurl 7.88 looks through all connections that it has to a host, once for one that is free
/// (`ConnectionExists`) and once when the request is over (`close_connect_only`). In a single handle, a request costs twice as
/// much with 4,000 connections as with 100. With HTTP/2 requests share connections, and there is one group.
///
/// A group is made when the ones before it are full, so that few requests find the same few connections open. The first one
/// stays, with what it has read of the trusted authorities. Another that was not needed for as long as a connection may be idle
/// is dropped with the next request, connections and all, as libcurl does with connections within a handle.
///
/// Lives on the loop's thread only.
final class ConnectionGroups {
    private let configuration: HTTPTransportConfiguration
    private let poller: Poller
    let resting = RestingDescriptors()
    private let now: () -> Duration

    /// How often it is looked whether groups are needed, at most; libcurl looks at its connections as often.
    private static let lookInterval = Duration.seconds(1)

    /// Most connections of a group.
    private let size: Int
    /// By place: what is at a place keeps it, and the poller tells it by that.
    private var groups: [CurlMulti?] = []
    private var lookedAt = Duration.zero

    /// - Parameter now: Time that only goes forward.
    /// - Throws: as ``CurlMulti`` does; the first group is made at once, so that an option that this libcurl refuses shows now.
    init(
        configuration: HTTPTransportConfiguration, poller: Poller, now: @escaping () -> Duration
    ) throws(HTTPTransportError) {
        self.configuration = configuration
        self.poller = poller
        self.now = now
        size =
            switch configuration.httpVersion {
            case .http1_1: min(configuration.maxConnections, configuration.connectionsPerGroup)
            case .http2: configuration.maxConnections
            }
        groups = [try group(at: 0)]
    }

    /// How long the loop may sleep; -1: until something happens.
    var sleepMilliseconds: Int32 {
        guard let deadline = groups.lazy.compactMap({ $0?.deadline }).min() else { return -1 }
        let left = (deadline - now()) / .milliseconds(1)
        return Int32(min(max(left.rounded(.up), 0), Double(Int32.max)))
    }

    /// Starts a transfer and keeps it until it is removed, or over.
    ///
    /// - Precondition: fewer than `maxConnections` are under way.
    func add(_ transfer: ActiveTransfer) throws(HTTPTransportError) {
        dropUnneeded(now())
        let place = groups.firstIndex { ($0?.count ?? 0) < size } ?? groups.count
        if place == groups.count { groups.append(nil) }
        let group = if let group = groups[place] { group } else { try group(at: place) }
        groups[place] = group
        try group.add(transfer)
    }

    /// Drops a transfer, wherever it is; its connection is closed unless the transfer had ended well.
    func remove(_ id: TransferID) {
        for case let group? in groups { group.remove(id) }
    }

    /// Events are about to be fetched.
    func beginBatch() { resting.beginBatch() }

    /// Lets libcurl act on a descriptor that became ready.
    func act(on readiness: Readiness) throws(CurlMulti.Broken) {
        try groups[Int(readiness.owner)]?.act(on: readiness)
    }

    /// Lets libcurl act on its timers where they are due.
    func actOnTimers() throws(CurlMulti.Broken) {
        let now = now()
        for case let group? in groups { try group.actOnTimer(at: now) }
    }

    /// Takes the transfers that are over off their handles.
    func takeEnded(_ body: (ActiveTransfer, CURLcode) -> Void) {
        for case let group? in groups {
            while let (transfer, code) = group.nextEnded() { body(transfer, code) }
        }
    }

    private func group(at place: Int) throws(HTTPTransportError) -> CurlMulti {
        // All groups together have no more than may be.
        let connections = max(1, min(size, configuration.maxConnections - place * size))
        return try CurlMulti(connections: connections, owner: UInt32(place), poller: poller, resting: resting, now: now)
    }

    private func dropUnneeded(_ now: Duration) {
        guard now - lookedAt >= Self.lookInterval else { return }
        lookedAt = now
        for place in groups.indices.dropFirst() {
            guard let group = groups[place], group.count == 0, now - group.emptySince > configuration.maxIdleTime
            else { continue }
            groups[place] = nil
        }
    }
}
