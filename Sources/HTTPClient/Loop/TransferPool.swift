/// Transfers whose call is over, for calls to come: never more than ran at once.
///
/// Only those that ended well and at the first sending are kept, so that nothing an odd ending leaves in libcurl's
/// handle reaches another call.
struct TransferPool {
    private let configuration: HTTPClientConfiguration
    private var transfers: [Transfer] = []

    init(configuration: HTTPClientConfiguration) {
        self.configuration = configuration
    }

    /// Keeps a transfer that is over and off the multi handle, if it can be used again.
    ///
    /// - Parameter endedWell: whether libcurl had nothing to object.
    mutating func add(_ transfer: Transfer, endedWell: Bool) {
        guard endedWell, transfers.count < configuration.maxInFlight, transfer.release() else { return }
        transfers.append(transfer)
    }

    /// A transfer for a call: one that was kept, or a new one.
    ///
    /// - Throws: as ``Transfer`` does.
    mutating func take(_ call: HTTPCall) throws(CurlFailure) -> Transfer {
        guard let transfer = transfers.popLast() else {
            return try Transfer(call, configuration: configuration)
        }
        try transfer.renew(call)
        return transfer
    }
}
