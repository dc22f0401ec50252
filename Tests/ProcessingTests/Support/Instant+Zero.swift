import Scheduling

extension Instant {
    /// When virtual time begins.
    static let zero = Instant(nanoseconds: 0)

    var elapsed: Duration { self - .zero }
}
