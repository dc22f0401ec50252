import Processing
import Scheduling

extension CoreSettings {
    /// Makes the bounds small that fifty submissions would never meet. In half of the runs only one of them is small,
    /// so that one bound does not hide the others.
    mutating func drawBounds(_ random: inout SplitMix64) {
        let isOne = Bool.random(using: &random)
        let chosen = Int.random(in: 0..<7, using: &random)
        func isSmall(_ place: Int) -> Bool { !isOne || chosen == place }
        if isSmall(0) { inFlightPurchases = Int.random(in: 1...12, using: &random) }
        if isSmall(1) { inFlightBytes = Int64.random(in: 60...400, using: &random) }
        if isSmall(2) { callsPerEndpoint = Int.random(in: 1...4, using: &random) }
        if isSmall(3) {
            rowsPerBatch = Int.random(in: 1...8, using: &random)
            bytesPerBatch = Int64(rowsPerBatch) * 60
        }
        if isSmall(4) { owedPerCall = Int.random(in: 1...3, using: &random) }
        if isSmall(5) {
            outboxRows = Int.random(in: 1...12, using: &random)
            outboxRowsPerTarget = Int.random(in: 1...3, using: &random)
        }
        if isSmall(6) {
            endpointsPerCall = Int.random(in: 2...3, using: &random)
            heldPerCall = 1
        }
    }
}
