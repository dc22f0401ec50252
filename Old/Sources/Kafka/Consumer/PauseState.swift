/// Which partitions the application wants paused, and which librdkafka believes to be.
///
/// The two differ while a partition is away: librdkafka keeps its mark over a reassignment. And resuming one that is not
/// paused makes versions before 2.4.0 read again from an old position, so only paused ones are resumed.
struct PauseState {
    struct Changes: Equatable {
        var pause: [KafkaPartition] = []
        var resume: [KafkaPartition] = []
    }

    private var wanted: Set<KafkaPartition> = []
    /// Beside `wanted`: whatever is assigned, now and later.
    private var isAllWanted = false
    private var marked: Set<KafkaPartition> = []

    mutating func pause(_ partitions: [KafkaPartition], assigned: Set<KafkaPartition>) -> Changes {
        wanted.formUnion(partitions)
        return reconcile(assigned.intersection(partitions))
    }

    mutating func resume(_ partitions: [KafkaPartition], assigned: Set<KafkaPartition>) -> Changes {
        wanted.subtract(partitions)
        return reconcile(assigned.intersection(partitions))
    }

    mutating func pauseAll(assigned: Set<KafkaPartition>) -> Changes {
        isAllWanted = true
        return reconcile(assigned)
    }

    /// Partitions that were paused by name stay so.
    mutating func resumeAll(assigned: Set<KafkaPartition>) -> Changes {
        isAllWanted = false
        return reconcile(assigned)
    }

    mutating func assigned(_ partitions: [KafkaPartition]) -> Changes {
        // Paused again even where the mark should still be there: pausing twice is harmless, reading on is not.
        marked.subtract(partitions.filter(isWanted))
        return reconcile(Set(partitions))
    }

    private mutating func reconcile(_ partitions: Set<KafkaPartition>) -> Changes {
        let changes = Changes(
            pause: partitions.filter { isWanted($0) && !marked.contains($0) }.sorted(),
            resume: partitions.filter { !isWanted($0) && marked.contains($0) }.sorted())
        marked.formUnion(changes.pause)
        marked.subtract(changes.resume)
        return changes
    }

    private func isWanted(_ partition: KafkaPartition) -> Bool { isAllWanted || wanted.contains(partition) }
}
