public import Contract

extension AppReceipt {
    /// What the sender's own evidence rules out for a submission to an app; nil if nothing does.
    ///
    /// The receipt is unauthenticated, but nobody gains by speaking against himself, so this costs Apple no call.
    public func contradiction(with app: App) -> Rejection? {
        if let bundleID, bundleID != app.bundleID {
            return Rejection(.bundleMismatch, "The receipt belongs to another app.")
        }
        if origin == .xcode {
            return Rejection(.environmentNotAllowed, "The receipt was made by StoreKit testing in Xcode, not by Apple.")
        }
        return nil
    }
}
