import Foundation
import Purchases

/// Which partitions a worker had when, by its own log. Pure.
struct AssignmentLog: Hashable, Sendable {
    private struct Line: Decodable {
        let ts: String
        let message: String
        let partitions: String?
    }

    private struct Change: Hashable, Sendable {
        let time: Int64
        let partitions: Set<Int32>
        let isAssigned: Bool
    }

    private let changes: [Change]

    /// - Parameter log: lines in JSON; those that are about other things are passed over.
    init(_ log: some Sequence<Substring>) {
        let decoder = JSONDecoder()
        changes = log.compactMap { text in
            guard text.contains("Partitions ") else { return nil }
            guard let line = try? decoder.decode(Line.self, from: Data(text.utf8)),
                let time = Timestamp(rfc3339: line.ts), let partitions = line.partitions
            else { return nil }
            let numbers = Set(partitions.split { !$0.isNumber }.compactMap { Int32($0) })
            switch line.message {
            case "Partitions assigned": return Change(time: time.milliseconds, partitions: numbers, isAssigned: true)
            case "Partitions revoked": return Change(time: time.milliseconds, partitions: numbers, isAssigned: false)
            default: return nil
            }
        }
    }

    /// The partitions it had at a moment, in milliseconds since 1970.
    func partitions(at time: Int64) -> Set<Int32> {
        changes.prefix { $0.time <= time }.reduce(into: []) { owned, change in
            if change.isAssigned { owned.formUnion(change.partitions) } else { owned.subtract(change.partitions) }
        }
    }
}
