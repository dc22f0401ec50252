import Contract
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
        #expect(FailureReason.allCases.count == 20)
    }

    @Test("name each topic once")
    func topics() {
        #expect(
            Topic.allCases.map(\.defaultName)
                == ["receipts.submitted", "purchases.granted", "purchases.failed", "receipts.quarantined"])
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
