import Contract

@testable import AppStore

/// A moment that the tests share.
enum Fixture {
    static let now = Timestamp(milliseconds: 1_795_237_200_000)
    static let day: Duration = .seconds(86_400)
}

extension Verdict {
    /// What the submission waits for on our side, if it does.
    var hold: HoldCause? {
        guard case .hold(let cause, _) = self else { return nil }
        return cause
    }
}
