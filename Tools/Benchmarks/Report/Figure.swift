/// One measured quantity, with its value in each run.
struct Figure: Encodable {
    /// A value that is wanted of the median.
    enum Wanted: Hashable {
        case atMost(Double)
        case atLeast(Double)

        var text: String {
            switch self {
            case .atMost(let value): "<= \(Figure.text(value))"
            case .atLeast(let value): ">= \(Figure.text(value))"
            }
        }

        func isMet(by value: Double) -> Bool {
            switch self {
            case .atMost(let limit): value <= limit
            case .atLeast(let limit): value >= limit
            }
        }
    }

    let name: String
    let unit: String
    private(set) var values: [Double]
    let wanted: Wanted?

    init(_ name: String, _ value: Double, _ unit: String, wanted: Wanted? = nil) {
        (self.name, self.unit, self.wanted) = (name, unit, wanted)
        values = [value]
    }

    /// The middle value, or the mean of the two in the middle.
    var median: Double {
        let sorted = values.sorted()
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }

    /// Nil where nothing is wanted.
    var isMet: Bool? { wanted?.isMet(by: median) }

    /// Adds another run's value of the same quantity.
    mutating func add(_ other: Figure) { values += other.values }

    /// Three digits that count, and whole numbers whole.
    static func text(_ value: Double) -> String {
        guard abs(value) < 100, value != value.rounded() else { return "\(Int(value.rounded()))" }
        let scale: Double = abs(value) < 10 ? 100 : 10
        return "\((value * scale).rounded() / scale)"
    }

    private enum CodingKeys: CodingKey {
        case name, unit, median, values, wanted, isMet
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(name, forKey: .name)
        try container.encode(unit, forKey: .unit)
        try container.encode(median, forKey: .median)
        try container.encode(values, forKey: .values)
        try container.encodeIfPresent(wanted?.text, forKey: .wanted)
        try container.encodeIfPresent(isMet, forKey: .isMet)
    }
}
