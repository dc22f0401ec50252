/// Code that takes bytes from outside. Whatever they are, it has to end, without a crash, and by its rules.
///
/// Each target is a pure function of the bytes. A new one is a case here, a file beside this one, and a folder of cases to
/// begin with under `Tools/Fuzzing/cases`, of the same name.
public enum FuzzTarget: String, CaseIterable, Sendable {
    /// Requests to an HTTP server.
    case httpRequest

    /// Runs the target once.
    ///
    /// - Throws: ``BrokenRule`` for a fault of the code under test.
    public func run(_ bytes: [UInt8]) throws(BrokenRule) {
        switch self {
        case .httpRequest: try RequestReaderFuzzing.run(bytes)
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
