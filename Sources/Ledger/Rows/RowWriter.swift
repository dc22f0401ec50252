public import Contract

/// Takes the values of a row, left to right, in the form of a driver.
///
/// Environments are numbers, times are milliseconds since 1970, and words are text.
public protocol RowWriter {
    mutating func integer(_ value: Int64?)
    mutating func text(_ value: String?)
    mutating func blob(_ value: some Collection<UInt8>)
    mutating func null()
}

extension RowWriter {
    public mutating func integer(_ value: Int) { integer(Int64(value)) }
    /// Writes bytes, also none; null for nil.
    public mutating func blob(_ value: [UInt8]?) { if let value { blob(value) } else { null() } }
    /// Writes milliseconds since 1970; null for nil.
    public mutating func time(_ value: Timestamp?) { integer(value?.milliseconds) }
    /// Writes the text of an id; null for nil.
    public mutating func text<Kind>(_ value: Identifier<Kind>?) { text(value?.rawValue) }

    // MARK: Keys, in the order in which statements name their columns

    public mutating func submission(_ key: SubmissionKey) {
        text(key.submissionID)
        text(key.bundleID)
    }

    public mutating func reference(_ reference: GrantReference) {
        text(reference.transactionID)
        integer(reference.environment.column)
    }

    public mutating func partition(_ partition: TopicPartition) {
        text(partition.topic)
        integer(Int64(partition.partition))
    }

    public mutating func ownership(_ ownership: PartitionOwnership) {
        partition(ownership.partition)
        integer(ownership.generation.rawValue)
    }

    public mutating func lease(_ lease: RetryLease) {
        blob(lease.key.bytes)
        integer(lease.number)
    }

    public mutating func lease(_ lease: OutboxLease) {
        text(lease.key.text)
        text(lease.step.rawValue)
        integer(lease.number)
    }
}
