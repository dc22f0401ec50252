/// Code that takes bytes from outside. It must end without a crash and keep its rules for all bytes.
///
/// Each target is a pure function of the bytes. A new target needs a case here and a function in a file beside this
/// one. Its folder of the same name under `Tools/Fuzzing/cases` has the first cases.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// Requests to an HTTP server.
    case httpRequest
    /// A text that claims to be one JSON object.
    case json
    /// The value of a record of the input topic, with the evidence in it.
    case submission
    /// An App Store receipt, and its text.
    case receipt
    /// A signed transaction as it stands in a message, and the header of one.
    case signedTransaction
    /// The payload of a signed transaction, as if its signature had held.
    case payload
    /// The body of a reply of verifyReceipt.
    case verifyReceiptAnswer
    /// The body of a reply of the App Store Server API.
    case serverAPIAnswer
    case apps
    case settings
    /// Durations and sizes in settings.
    case durations
    /// Certificates and keys, in PEM and DER.
    case certificates

    /// Runs the target once.
    ///
    /// - Throws: ``BrokenRule`` for a fault of the code under test.
    public func run(_ bytes: [UInt8]) throws(BrokenRule) {
        switch self {
        case .httpRequest: try RequestReaderFuzzing.run(bytes)
        case .json: try TextFuzzing.json(bytes)
        case .submission: try EvidenceFuzzing.submission(bytes)
        case .receipt: try EvidenceFuzzing.receipt(bytes)
        case .signedTransaction: try EvidenceFuzzing.signedTransaction(bytes)
        case .payload: try EvidenceFuzzing.payload(bytes)
        case .verifyReceiptAnswer: try AnswerFuzzing.verifyReceipt(bytes)
        case .serverAPIAnswer: try AnswerFuzzing.serverAPI(bytes)
        case .apps: try ConfigurationFuzzing.apps(bytes)
        case .settings: try ConfigurationFuzzing.settings(bytes)
        case .durations: try TextFuzzing.durations(bytes)
        case .certificates: try TextFuzzing.certificates(bytes)
        }
    }
}

/// A rule that the code under test did not keep.
public struct BrokenRule: Error, Hashable, Sendable {
    public let rule: String

    init(_ rule: String) {
        self.rule = rule
    }
}
