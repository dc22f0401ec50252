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
    private var marked: Set<KafkaPartition> = []

    mutating func pause(_ partitions: [KafkaPartition], assigned: Set<KafkaPartition>) -> Changes {
        wanted.formUnion(partitions)
        return reconcile(assigned.intersection(partitions))
    }

    mutating func resume(_ partitions: [KafkaPartition], assigned: Set<KafkaPartition>) -> Changes {
        wanted.subtract(partitions)
        return reconcile(assigned.intersection(partitions))
    }

    mutating func assigned(_ partitions: [KafkaPartition]) -> Changes {
        // Paused again even where the mark should still be there: pausing twice is harmless, reading on is not.
        let paused = wanted.intersection(partitions)
        marked.subtract(paused)
        return reconcile(Set(partitions))
    }

    private mutating func reconcile(_ partitions: Set<KafkaPartition>) -> Changes {
        let changes = Changes(
            pause: partitions.intersection(wanted).subtracting(marked).sorted(),
            resume: partitions.intersection(marked).subtracting(wanted).sorted())
        marked.formUnion(changes.pause)
        marked.subtract(changes.resume)
        return changes
    }
}
