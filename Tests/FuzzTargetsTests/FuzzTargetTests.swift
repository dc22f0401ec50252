import Foundation
import FuzzTargets
import Testing

/// The cases that fuzzing began with, and the cases that it found.
struct FuzzTargetTests {
    private static let folder = URL(filePath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        .appending(path: "Tools/Fuzzing/cases")

    private func cases(_ target: FuzzTarget) throws -> [Data] {
        let folder = Self.folder.appending(path: target.rawValue)
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil).map {
            try Data(contentsOf: $0)
        }
    }

    @Test("Each case is taken by its rules, whole, cut short and damaged", arguments: FuzzTarget.allCases)
    func eachCase(target: FuzzTarget) throws {
        let cases = try cases(target)
        #expect(!cases.isEmpty)
        for bytes in cases.map(Array.init) {
            try target.run(bytes)
            for cut in stride(from: 0, to: bytes.count, by: max(1, bytes.count / 50)) {
                try target.run(Array(bytes[..<cut]))
                var damaged = bytes
                damaged[cut] ^= 0x15
                try target.run(damaged)
            }
        }
    }
}
