public import Purchases

extension PostgresLedger: DeliveryRoom {
    public func takeDeliveries(
        _ worker: WorkerID, _ shares: [DeliveryShare], for lease: Duration, now: Timestamp
    ) async throws(LedgerError) -> [Delivery] {
        try await pool.run { connection throws(PostgresFailure) in
            try connection.run(DeliveryRows.take(worker, shares, for: lease, clock.moment(now)))
                .rows(DeliveryRows.taken)
        }
    }

    public func keepDeliveries(
        _ events: [EventID], _ worker: WorkerID, for lease: Duration, now: Timestamp
    ) async throws(LedgerError) {
        try await pool.run { connection throws(PostgresFailure) in
            _ = try connection.run(try DeliveryRows.keep(events, worker, for: lease, clock.moment(now)))
        }
    }

    public func report(
        _ reports: [DeliveryReport], _ worker: WorkerID, now: Timestamp
    ) async throws(LedgerError) -> [OutboxEntry]? {
        var done: [DeliveryReport] = []
        var postponed: [(report: DeliveryReport, delay: Duration)] = []
        // A statement sees a delivery as it was before it, so of two reports of the same kind the second would count as well.
        var finished: Set<EventID> = []
        var givenBack: Set<EventID> = []
        for report in reports {
            switch report.end {
            case .done:
                if finished.insert(report.eventID).inserted { done.append(report) }
            case .again(let delay):
                if givenBack.insert(report.eventID).inserted { postponed.append((report, delay)) }
            }
        }
        return try await pool.run { [done, postponed] connection throws(PostgresFailure) in
            let results = try connection.run([
                PostgresCommand(.begin), try DeliveryRows.finish(done, now: now),
                try DeliveryRows.postpone(postponed, worker, clock.moment(now)),
            ])
            guard results.count == 3 else { throw .lost("unexpected answer") }
            let entries = try DeliveryRows.finished(results[1])
            guard !entries.isEmpty else {
                _ = try connection.commit()
                return []
            }
            let appended = try connection.commit([try OutboxRows.append(entries)])
            guard let result = appended.first else { throw .lost("unexpected answer") }
            return try OutboxRows.added(entries, result)
        }
    }

    public func deliveryCounts() async throws(LedgerError) -> DeliveryCounts {
        try await pool.run { connection throws(PostgresFailure) in
            try connection.run(DeliveryRows.counts).rows(DeliveryRows.count).first
                ?? DeliveryCounts(open: 0, firstDueAt: nil)
        }
    }

    public func deliveries(_ events: [EventID]) async throws(LedgerError) -> [DeliveryRow] {
        try await pool.run { connection throws(PostgresFailure) in
            try connection.run(try DeliveryRows.rows(events)).rows(DeliveryRows.row)
        }
    }
}
