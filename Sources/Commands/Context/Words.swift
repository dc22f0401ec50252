extension Int {
    /// With its word, as "1 event" and "2 events".
    func of(_ one: String, _ many: String) -> String { "\(self) \(self == 1 ? one : many)" }
}

extension Duration {
    /// For people, in its largest unit and rounded down, such as `3 min`.
    var rough: String {
        let seconds = components.seconds
        return switch seconds {
        case ..<120: "\(seconds) s"
        case ..<7_200: "\(seconds / 60) min"
        case ..<172_800: "\(seconds / 3_600) h"
        default: "\(seconds / 86_400) days"
        }
    }
}
