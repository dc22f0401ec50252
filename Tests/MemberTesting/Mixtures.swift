public import Contract

/// A value that can be made anew with one member of another.
public protocol Mixing {
    /// This value with one member of another one. An initializer without defaults makes it, so that a new member does
    /// not compile without its line here.
    func taking(_ member: String, of other: Self) -> Self
}

extension Mixing {
    fileprivate func pick<Value>(_ member: String, of other: Self, _ name: String, _ value: (Self) -> Value) -> Value {
        value(member == name ? other : self)
    }
}

extension Claimant: Mixing {
    public func taking(_ member: String, of other: Claimant) -> Claimant {
        Claimant(
            submissionID: pick(member, of: other, "submissionID", \.submissionID),
            userID: pick(member, of: other, "userID", \.userID),
            bundleID: pick(member, of: other, "bundleID", \.bundleID),
            orderID: pick(member, of: other, "orderID", \.orderID),
            traceparent: pick(member, of: other, "traceparent", \.traceparent))
    }
}

extension Claim: Mixing {
    public func taking(_ member: String, of other: Claim) -> Claim {
        Claim(
            transactionID: pick(member, of: other, "transactionID", \.transactionID),
            productID: pick(member, of: other, "productID", \.productID),
            appAccountToken: pick(member, of: other, "appAccountToken", \.appAccountToken),
            environment: pick(member, of: other, "environment", \.environment),
            submittedAt: pick(member, of: other, "submittedAt", \.submittedAt))
    }
}

extension Submission: Mixing {
    public func taking(_ member: String, of other: Submission) -> Submission {
        Submission(
            claimant: pick(member, of: other, "claimant", \.claimant), claim: pick(member, of: other, "claim", \.claim),
            evidence: pick(member, of: other, "evidence", \.evidence),
            origin: pick(member, of: other, "origin", \.origin),
            receivedAt: pick(member, of: other, "receivedAt", \.receivedAt))
    }

    /// As ``taking(_:of:)``, with the members of claimant and claim one by one.
    public func takingPart(_ member: String, of other: Submission) -> Submission {
        let whole = taking(member, of: other)
        return Submission(
            claimant: whole.claimant.taking(member, of: other.claimant),
            claim: whole.claim.taking(member, of: other.claim), evidence: whole.evidence, origin: whole.origin,
            receivedAt: whole.receivedAt)
    }
}

extension PassedOver: Mixing {
    public func taking(_ member: String, of other: PassedOver) -> PassedOver {
        PassedOver(
            named: pick(member, of: other, "named", \.named), counts: pick(member, of: other, "counts", \.counts),
            holding: pick(member, of: other, "holding", \.holding))
    }
}

extension Grant: Mixing {
    public func taking(_ member: String, of other: Grant) -> Grant {
        Grant(
            key: pick(member, of: other, "key", \.key),
            transactionID: pick(member, of: other, "transactionID", \.transactionID),
            originalTransactionID: pick(member, of: other, "originalTransactionID", \.originalTransactionID),
            webOrderLineItemID: pick(member, of: other, "webOrderLineItemID", \.webOrderLineItemID),
            product: pick(member, of: other, "product", \.product),
            quantity: pick(member, of: other, "quantity", \.quantity),
            purchasedAt: pick(member, of: other, "purchasedAt", \.purchasedAt),
            expiresAt: pick(member, of: other, "expiresAt", \.expiresAt),
            ownership: pick(member, of: other, "ownership", \.ownership),
            payment: pick(member, of: other, "payment", \.payment), offer: pick(member, of: other, "offer", \.offer),
            verifiedBy: pick(member, of: other, "verifiedBy", \.verifiedBy),
            claimant: pick(member, of: other, "claimant", \.claimant),
            origin: pick(member, of: other, "origin", \.origin),
            receivedAt: pick(member, of: other, "receivedAt", \.receivedAt),
            grantedAt: pick(member, of: other, "grantedAt", \.grantedAt),
            attempts: pick(member, of: other, "attempts", \.attempts),
            format: pick(member, of: other, "format", \.format),
            passedOver: pick(member, of: other, "passedOver", \.passedOver))
    }
}

extension Failure: Mixing {
    public func taking(_ member: String, of other: Failure) -> Failure {
        Failure(
            claimant: pick(member, of: other, "claimant", \.claimant),
            reason: pick(member, of: other, "reason", \.reason), detail: pick(member, of: other, "detail", \.detail),
            transactionID: pick(member, of: other, "transactionID", \.transactionID),
            productID: pick(member, of: other, "productID", \.productID),
            failedAt: pick(member, of: other, "failedAt", \.failedAt),
            attempts: pick(member, of: other, "attempts", \.attempts),
            digest: pick(member, of: other, "digest", \.digest), origin: pick(member, of: other, "origin", \.origin),
            format: pick(member, of: other, "format", \.format))
    }
}
