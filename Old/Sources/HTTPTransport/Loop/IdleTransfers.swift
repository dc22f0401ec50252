/// Transfers whose request is over, for requests to come: never more than ran at once.
///
/// Only those that ended well and at the first sending are kept. What anything else leaves in libcurl's handle is nobody's
/// concern that way.
struct IdleTransfers {
    private let configuration: HTTPTransportConfiguration
    private var transfers: [ActiveTransfer] = []

    init(configuration: HTTPTransportConfiguration) {
        self.configuration = configuration
    }

    /// Keeps a transfer that is over and off the multi handle, if it can be used again.
    ///
    /// - Parameter endedWell: whether libcurl had nothing to object.
    mutating func add(_ transfer: ActiveTransfer, endedWell: Bool) {
        guard endedWell, transfers.count < configuration.maxConnections, transfer.release() else { return }
        transfers.append(transfer)
    }

    /// A transfer for a request: one that was kept, or a new one.
    ///
    /// - Throws: as ``ActiveTransfer`` does.
    mutating func take(_ id: TransferID, _ request: HTTPRequest) throws(HTTPTransportError) -> ActiveTransfer {
        guard let transfer = transfers.popLast() else {
            return try ActiveTransfer(id: id, request: request, configuration: configuration)
        }
        try transfer.renew(id, request)
        return transfer
    }
}
