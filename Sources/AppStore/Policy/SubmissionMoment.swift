import Contract

/// The moment of a submission: the time of its record, unless that cannot be true.
///
/// A producer's clock may be slow, and a producer may write seconds where Kafka has milliseconds. Nobody can claim a
/// purchase before it was made, or send evidence before it was signed. An earlier time is none, and the present stands
/// for it. Any other moment in the past could let a period that is over be granted.
enum SubmissionMoment {
    /// A record that is earlier by less counts as written when its evidence was made. So a backlog of records costs no
    /// period for a clock that is a little slow.
    static let maxClockDifference = SignedTransactionVerifier.maxClockDifference

    /// - Parameters:
    ///   - recorded: the time of the record, or what became of it.
    ///   - earliest: when the evidence was signed, or the purchase made.
    static func moment(_ recorded: Timestamp, notBefore earliest: Timestamp, now: Timestamp) -> Timestamp {
        if recorded >= earliest { return recorded }
        return earliest.since(recorded) <= maxClockDifference ? earliest : max(earliest, now)
    }
}

extension Submission {
    /// The same submission, received no earlier than something that came before it.
    func received(notBefore earliest: Timestamp, now: Timestamp) -> Submission {
        if receivedAt >= earliest { return self }
        return received(at: SubmissionMoment.moment(receivedAt, notBefore: earliest, now: now))
    }

    /// The same submission, received no earlier than a moment that its evidence says. Nobody has authenticated that yet,
    /// so it is believed up to the present only.
    /// - Parameter isRow: Whether it waited in `retries`: a row keeps the result of its first check.
    func received(notBefore said: Timestamp, isRow: Bool, now: Timestamp) -> Submission {
        guard said <= now else { return isRow ? self : received(notBefore: now, now: now) }
        return received(notBefore: said, now: isRow ? said : now)
    }

    /// The same submission, received no earlier than the purchase that it names was made. Of claims that name none
    /// nothing follows: a subscription may have been renewed since.
    /// - Parameter firstCheckedAt: Stands for a time that cannot be true, however late Apple replies. Nil if it is not
    ///   known any more: then the purchase's own moment does.
    func received(claiming purchases: [Purchase], firstCheckedAt: Timestamp?) -> Submission {
        guard let claimed = claim.transactionID, let purchase = purchases.first(where: { $0.transactionID == claimed })
        else { return self }
        return received(notBefore: purchase.purchasedAt, now: firstCheckedAt ?? purchase.purchasedAt)
    }
}
