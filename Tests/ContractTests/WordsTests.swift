import Contract
import Foundation
import Testing

@Suite("Words of the contract")
struct WordsTests {
    @Test("are lower case, with underscores, wherever they name a reason or a cause")
    func snakeCase() {
        let words =
            FailureReason.allCases.map(\.rawValue) + RetryCause.allCases.map(\.rawValue)
            + HoldCause.allCases.map(\.rawValue)
        for word in words {
            #expect(word.utf8.allSatisfy { $0 == UInt8(ascii: "_") || (0x61...0x7A).contains($0) }, "\(word)")
        }
        #expect(FailureReason.allCases.count == 19)
    }

    /// The values of an `enum` in a closed schema.
    private func values(of member: String..., in schema: String) throws -> [String] {
        let folder = URL(filePath: #filePath).deletingLastPathComponent()
        let file = folder.appending(path: "../../schemas/strict/\(schema).schema.json")
        var node = try #require(try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
        for name in member { node = try #require((node["properties"] as? [String: Any])?[name] as? [String: Any]) }
        return try #require(node["enum"] as? [String])
    }

    @Test("are those of the closed schemas, in their order")
    func schemas() throws {
        #expect(try values(of: "reason", in: "purchases.failed") == FailureReason.allCases.map(\.rawValue))
        #expect(
            try values(of: "cause", in: "purchases.pending")
                == RetryCause.allCases.map(\.rawValue) + HoldCause.allCases.map(\.rawValue))
        let granted = "purchases.granted"
        #expect(try values(of: "verifiedBy", in: granted) == VerifiedBy.allCases.map(\.rawValue))
        #expect(try values(of: "offer", "kind", in: granted) == Offer.Kind.allCases.map(\.rawValue))
        #expect(try values(of: "offer", "discountType", in: granted) == Offer.DiscountType.allCases.map(\.rawValue))
    }

    @Test("name each topic once")
    func topics() {
        #expect(
            Topic.allCases.map(\.defaultName)
                == [
                    "receipts.submitted", "purchases.granted", "purchases.failed", "purchases.pending",
                    "receipts.quarantined",
                ])
        #expect(Topic.outputs == Topic.allCases.filter { $0 != .submitted })
    }

    @Test("order origins by topic, partition and offset")
    func origins() {
        let origins = [
            Origin(topic: "a", partition: 0, offset: 10), Origin(topic: "a", partition: 0, offset: 9),
            Origin(topic: "a", partition: 1, offset: 0), Origin(topic: "b", partition: 0, offset: 0),
        ]
        #expect(origins.shuffled().sorted() == [origins[1], origins[0], origins[2], origins[3]])
        #expect("\(origins[0])" == "a/0/10")
    }
}
