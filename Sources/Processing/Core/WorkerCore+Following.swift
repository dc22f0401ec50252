public import Contract

/// A submission in flight, for people who follow it.
public struct FollowedSubmission: Sendable {
    public let token: SubmissionToken
    /// Its origin; nil while a checker has its record, and once its decision is written.
    public let origin: Origin?
    /// Its state, as the documentation of the core names it.
    public let state: String
}

/// Everything that traces need. A worker does not use it.
extension WorkerCore {
    /// Everything in flight, each with its state. It visits all of it.
    public var followed: [FollowedSubmission] {
        let flights = submissions.flights
        return flights.tokens.map { token in
            let flight = flights[token]
            return FollowedSubmission(
                token: token, origin: flight.submission?.origin ?? flight.record?.origin, state: "\(flight.state)")
        }
    }

    /// Whether this worker owns a record's partition, and the record is complete.
    public func isComplete(_ origin: Origin) -> Bool {
        let table = partitions.table
        guard let index = table.index(of: origin.topicPartition), table[index].state == .owned else { return false }
        let entry = table[index]
        let isPassed = (entry.checkpoint ?? entry.committed).map { origin.offset < $0 } ?? false
        return isPassed || entry.tracker.isComplete(origin.offset)
    }

    /// The submission whose event it is; nil for a row of the outbox.
    public func submission(of event: PublishToken) -> SubmissionToken? { publisher.submission(of: event) }
}
