import Purchases

/// An answer of the App Store Server API that holds no transaction.
struct ServerAPIRefusal: Hashable, Sendable {
    let httpStatus: Int
    /// `errorCode`, where there is one.
    let code: Int?
    /// When Apple wants to be asked again.
    let notBefore: Timestamp?

    /// What to do.
    var disposition: ServerAPIErrorCode.Disposition {
        ServerAPIErrorCode.disposition(of: code, httpStatus: httpStatus)
    }

    /// The verdict, if nothing else can be asked.
    ///
    /// - Parameters:
    ///   - transactionID: what was asked for.
    ///   - productID: what was claimed.
    func verdict(on transactionID: TransactionID, _ productID: ProductID?) -> Verdict {
        switch disposition {
        case .notFound: return notFoundYet(transactionID, productID, because: "Apple knows no such transaction")
        case .accountNotFound:
            let rejection = Rejection(
                .accountGone, "Apple does not find the purchaser's account (\(said)).", transactionID: transactionID,
                productID: productID)
            return .retry(.notFoundYet, notBefore: nil, patience: .window(then: rejection))
        case .rejected(let reason):
            return .rejected(
                Rejection(
                    reason, "Apple refuses the transaction id (\(said)).", transactionID: transactionID,
                    productID: productID))
        case .noAnswer: return .retry(.noAnswer, notBefore: notBefore, patience: .unlimited)
        case .temporarilyUnable, .restartPaging:
            return .retry(.temporarilyUnable, notBefore: notBefore, patience: .unlimited)
        case .rateLimited: return .retry(.rateLimited, notBefore: notBefore, patience: .unlimited)
        case .tokenRefused, .credentialsRefused:
            return .hold(.credentialsRefused, detail: "The App Store Server API refuses the app's key (\(said)).")
        case .requestRefused:
            return .hold(.requestRefused, detail: "The App Store Server API refused our request (\(said)).")
        case .unknown:
            return .hold(.unknownAnswer, detail: "The App Store Server API gave an unknown answer (\(said)).")
        }
    }

    /// A transaction that Apple does not have may be one that was made a moment ago: a doubt that time settles.
    ///
    /// - Parameter reason: a sentence without its full stop.
    func notFoundYet(_ transactionID: TransactionID, _ productID: ProductID?, because reason: String) -> Verdict {
        let rejection = Rejection(
            .transactionNotFound, "\(reason) (\(said)).", transactionID: transactionID, productID: productID)
        return .retry(.notFoundYet, notBefore: nil, patience: .window(then: rejection))
    }

    private var said: String { code.map { "error \($0)" } ?? "HTTP status \(httpStatus)" }
}
