public import Purchases

extension SQLiteLedger: DeliveryRoom {
    public func takeDeliveries(
        _ worker: WorkerID, _ shares: [DeliveryShare], for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> [Delivery] {
        // Looked at first without the writer's lock: most looks find nothing.
        let due = try await read { database in
            let deliveries = DeliveryTable(database: database)
            return try shares.filter { try deliveries.hasDue($0, now) }
        }
        guard !due.isEmpty else { return [] }
        return try await write { database in
            let deliveries = DeliveryTable(database: database)
            return try due.flatMap {
                try deliveries.take(worker, $0, until: now.advanced(by: lease), now: now)
            }
        }
    }

    public func keepDeliveries(
        _ events: [EventID], _ worker: WorkerID, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) {
        try await write { try DeliveryTable(database: $0).keep(events, worker, until: now.advanced(by: lease)) }
    }

    public func report(
        _ reports: [DeliveryReport], _ worker: WorkerID, now: Timestamp
    ) async throws(LedgerError) -> [OutboxEntry]? {
        try await write { database in
            var transaction = try SettlingTransaction(database: database, now: now)
            try transaction.take(reports, worker)
            return try transaction.finish()
        }
    }

    public func deliveryCounts() async throws(LedgerError) -> DeliveryCounts {
        try await read { try DeliveryTable(database: $0).counts() }
    }

    public func deliveries(_ events: [EventID]) async throws(LedgerError) -> [DeliveryRow] {
        try await read { try DeliveryTable(database: $0).rows(events) }
    }
}
