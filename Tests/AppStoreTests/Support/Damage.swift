import Scheduling

extension [UInt8] {
    /// With up to three bytes changed, taken out or put in, or pieces doubled or cut off.
    func damaged(by interesting: [UInt8], using generator: inout SplitMix64) -> [UInt8] {
        var damaged = self
        for _ in 0..<Int.random(in: 0...3, using: &generator) where !damaged.isEmpty {
            let index = Int.random(in: 0..<damaged.count, using: &generator)
            switch Int.random(in: 0..<6, using: &generator) {
            case 0: damaged[index] = .random(in: 0...255, using: &generator)
            case 1: damaged[index] = interesting.randomElement(using: &generator) ?? 0
            case 2: damaged.remove(at: index)
            case 3: damaged.insert(interesting.randomElement(using: &generator) ?? 0, at: index)
            case 4: damaged.insert(contentsOf: damaged[index...].prefix(64), at: index)
            default: damaged.removeLast(.random(in: 0..<damaged.count, using: &generator))
            }
        }
        return damaged
    }
}
