public import Ledger

/// What a pipeline needs for apps whose inventory service is told of grants before their events are published.
public struct InventoryAccess: Sendable {
    let room: any DeliveryRoom
    let endpoint: any InventoryEndpoint

    /// The way to the services.
    ///
    /// - Parameter room: the pipeline's own ledger.
    public init(room: any DeliveryRoom, endpoint: any InventoryEndpoint) {
        self.room = room
        self.endpoint = endpoint
    }
}
