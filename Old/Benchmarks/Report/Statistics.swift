/// What many figures come down to.
enum Statistics {
    /// The middle one; of an even number the upper of the two, of none zero.
    static func median(_ values: some Collection<Double>) -> Double {
        let sorted = values.sorted()
        return sorted.isEmpty ? 0 : sorted[sorted.count / 2]
    }

    /// The smallest value that so many of a hundred do not exceed; of none zero.
    static func percentile(_ percent: Double, of values: some Collection<Double>) -> Double {
        guard !values.isEmpty else { return 0 }
        let rank = Int((Double(values.count) * percent / 100).rounded(.up))
        return values.sorted()[min(max(rank, 1), values.count) - 1]
    }

    /// By how much `y` grows with each unit of `x`: the slope of the line that lies closest (least squares). Zero for fewer
    /// than two points, and for points above each other.
    static func slope(of points: [(x: Double, y: Double)]) -> Double {
        let count = Double(points.count)
        let middle = points.reduce((x: 0.0, y: 0.0)) { ($0.x + $1.x / count, $0.y + $1.y / count) }
        let spread = points.reduce(0) { $0 + ($1.x - middle.x) * ($1.x - middle.x) }
        guard spread > 0 else { return 0 }
        return points.reduce(0) { $0 + ($1.x - middle.x) * ($1.y - middle.y) } / spread
    }
}
