public import Contract

/// Carries a turn's actions out. It has a method for each buffer of ``Actions``, so that nobody can forget one.
public protocol ActionTaker {
    mutating func unassign(_ partitions: [TopicPartition])
    mutating func fetchCommitted(_ partitions: [TopicPartition])
    mutating func assign(_ assignments: [Assignment])
    mutating func commit(_ offsets: [CommittedOffset])
    mutating func demand(_ demand: Demand)
    mutating func check(_ tasks: [CheckTask])
    mutating func ask(_ tasks: [AttemptTask])
    mutating func call(_ tasks: [CallTask])
    mutating func write(_ batches: [WriteBatch])
    mutating func request(_ requests: [LedgerRequest])
    mutating func publish(_ tasks: [PublishTask])
    mutating func alert(_ alerts: [Alert])
}

extension Actions {
    /// Hands over every buffer that is not empty. Partitions are given up before they are assigned anew.
    public func handOver(to taker: inout some ActionTaker) {
        if !unassign.isEmpty { taker.unassign(unassign) }
        if !fetchCommitted.isEmpty { taker.fetchCommitted(fetchCommitted) }
        if !assign.isEmpty { taker.assign(assign) }
        if !commit.isEmpty { taker.commit(commit) }
        if let demand { taker.demand(demand) }
        if !checks.isEmpty { taker.check(checks) }
        if !attempts.isEmpty { taker.ask(attempts) }
        if !calls.isEmpty { taker.call(calls) }
        if !writes.isEmpty { taker.write(writes) }
        if !requests.isEmpty { taker.request(requests) }
        if !publishes.isEmpty { taker.publish(publishes) }
        if !alerts.isEmpty { taker.alert(alerts) }
    }
}
