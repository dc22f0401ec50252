import Contract
import Ledger

extension LedgerConformance {
    private static let note = OperatorNote(actor: "kim", reason: "The cluster is a new one.", at: Samples.noon)
    private static let other = TopicPartition(topic: "receipts.submitted", partition: 4)

    /// Two partitions with checkpoints, the sample's with a check that has begun.
    private static func read(_ subject: ConformanceSubject) throws {
        _ = try subject.ledger.bind(to: Samples.group)
        try subject.own(1)
        try subject.own(1, other)
        let ownership = PartitionOwnership(partition: other, generation: Generation(rawValue: 1))
        _ = try subject.ledger.checkpoint([
            OffsetCheckpoint(ownership: Samples.ownership(1), next: 900),
            OffsetCheckpoint(ownership: ownership, next: 70),
        ])
        _ = try subject.ledger.mark([CheckMark(ownership: Samples.ownership(1), ended: nil, begins: 900)])
    }

    private static func move(to group: ConsumerGroup, _ subject: ConformanceSubject) throws -> [Int64?] {
        let id = try subject.ledger.identity()
        let isMoved = try subject.ledger.accept(ledger: id, for: group, [Samples.partition: 7], note)
        try expect(isMoved, true, "moved")
        try expect(try subject.ledger.group(), group, "the new group")
        try expect(try subject.ledger.bind(to: Samples.group), group, "as a worker of the old group finds it")
        return try subject.ledger.partitions().map(\.next)
    }

    static let groupRules: [ConformanceRule] = [
        ConformanceRule("A ledger is the group's whose worker came first, until a person moves it") { subject in
            try expect(try subject.ledger.group(), nil, "a new one is nobody's")
            try expect(try subject.ledger.bind(to: Samples.group), Samples.group, "the first")
            let untold = ConsumerGroup(name: "another", cluster: nil) { "others.\($0)" }
            try expect(try subject.other.bind(to: untold), Samples.group, "another one")
            try expect(try subject.other.group(), Samples.group, "still")
            let isMoved = try subject.ledger.accept(ledger: "another", for: untold, [:], note)
            try expect(isMoved, false, "under another id")
            try expect(try subject.ledger.group(), Samples.group, "not moved")
            let id = try subject.ledger.identity()
            try expect(try subject.ledger.accept(ledger: id, for: untold, [:], note), true, "moved")
            try expect(try subject.other.bind(to: Samples.group), untold, "a cluster that tells no id")
            try expect(try subject.ledger.actions(on: nil).map(\.note), [note], "actions")
        },
        ConformanceRule("Another group of the same cluster reads on at the ledger's checkpoints") { subject in
            try read(subject)
            let group = ConsumerGroup(name: "another", cluster: Samples.group.cluster) { $0.defaultName }
            try expect(try move(to: group, subject), [900, 70], "checkpoints")
            try expect(
                try subject.ledger.mark([CheckMark(ownership: Samples.ownership(1), ended: 900, begins: nil)]), [true],
                "ownership")
        },
        ConformanceRule("In another cluster a ledger begins at the group's offsets, and else at the oldest records") {
            subject in
            try read(subject)
            let group = ConsumerGroup(name: Samples.group.name, cluster: "cluster-2") { $0.defaultName }
            try expect(try move(to: group, subject), [7, 0], "checkpoints")
            let checkpoints = [OffsetCheckpoint(ownership: Samples.ownership(1), next: 901)]
            try expect(try subject.ledger.checkpoint(checkpoints), [false], "an owner in the old cluster")
            guard case .taken(let start)? = try subject.own(2) else { throw Violation(description: "not taken") }
            try expect(
                start, PartitionStart(next: 7, highestOrigin: nil, starts: 1, suspect: nil),
                "nothing of the old cluster")
        },
    ]
}
