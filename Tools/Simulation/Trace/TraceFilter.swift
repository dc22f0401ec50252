import Contract
import Processing

/// The lines about one submission: its own, and those about its partitions until its offset is passed.
struct TraceFilter {
    let id: String
    /// Offsets of its records that were committed to the group.
    private var passed: Set<Origin> = []

    init(id: String) { self.id = id }

    /// Whether a worker has something of it.
    func concerns(_ life: Life, _ memory: TraceMemory, _ world: World) -> Bool {
        world.kafka.partitions.enumerated().contains { number, partition in
            partition.owner === life && !offsets(on: Int32(number), world).isEmpty
        } || memory.holds(id)
    }

    /// - Parameter isOwner: Whether the line's worker has something of it.
    mutating func takes(_ line: TraceLine, isOwner: Bool, _ world: World) -> Bool {
        switch line.about {
        case .submission(let subject): return subject.id == id
        case .partition(let number):
            return world.script.records.contains { $0.partition == number && $0.submissionID == id }
        case .offset(let number, let next, let isTold):
            let news = offsets(on: number, world).filter { $0.offset < next ?? 0 && !passed.contains($0) }
            if isTold { passed.formUnion(news) }
            return !news.isEmpty
        case .endpoint(let endpoint):
            return world.script.claims.contains { claim in
                claim.claimant.submissionID.rawValue == id && claim.endpoints.contains { endpoint.covers($0) }
            }
        case .worker: return isOwner
        case .fleet: return true
        case .nobody: return false
        }
    }

    private func offsets(on number: Int32, _ world: World) -> [Origin] {
        world.kafka.partitions[Int(number)].records.enumerated().compactMap { offset, record in
            guard record != SimulatedKafka.hole, world.script.records[record].submissionID == id else { return nil }
            return Origin(topic: Script.topic, partition: number, offset: Int64(offset))
        }
    }
}

extension Endpoint {
    /// Whether another name is this one, or a part of it where this one has no key.
    fileprivate func covers(_ other: Endpoint) -> Bool {
        service == other.service && environment == other.environment && (key.isEmpty || key == other.key)
    }
}
