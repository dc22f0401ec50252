import Contract
import Testing

@testable import AppStore

@Suite("Receipt attributes")
struct ReceiptAttributesTests {
    private func attributes(_ value: [UInt8]...) throws -> ReceiptAttributes {
        try #require(ReceiptAttributes(set: ReceiptBuilder.set(value.map { (7, $0) })[...]))
    }

    @Test(
        "reads integers of up to 64 bits",
        arguments: [
            ([0x02, 1, 0], 0), ([0x02, 1, 0x7f], 127), ([0x02, 1, 0xff], -1), ([0x02, 2, 0, 0x80], 128),
            ([0x02, 8, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], Int64.max),
            ([0x02, 8, 0x80, 0, 0, 0, 0, 0, 0, 0], Int64.min), ([0x02, 0x81, 1, 5], 5),
        ] as [([UInt8], Int64)])
    func integers(value: [UInt8], number: Int64) throws {
        #expect(try attributes(value).integer(7) == number)
    }

    @Test(
        "what cannot be read is nil, and yet there",
        arguments: [
            [], [0x02], [0x02, 0], [0x02, 1], [0x02, 2, 1], [0x02, 1, 1, 1], [0x02, 0x80, 1], [0x02, 0x81],
            [0x22, 1, 1],
            [0x1f, 1, 1], [0x02, 9, 0, 1, 1, 1, 1, 1, 1, 1, 1], [0x02, 0x85, 0, 0, 0, 0, 1, 1], [0x04, 1, 1],
        ] as [[UInt8]])
    func unreadable(value: [UInt8]) throws {
        let attributes = try attributes(value)
        #expect(attributes.integer(7) == nil)
        #expect(attributes.text(7) == nil)
        #expect(attributes.moment(7) == nil)
        // Only what is empty is as good as absent.
        #expect(attributes.holdsValue(7) == ![[], [0x02, 0]].contains(value))
    }

    @Test("reads texts in both forms, up to the bound, and takes an empty one for none")
    func texts() throws {
        let longest = String(repeating: "x", count: ReceiptAttributes.maxTextBytes)
        for text in ["a", "2026-11-21T04:59:13Z", longest] {
            #expect(try attributes(ReceiptBuilder.utf8(text)).text(7) == text)
            #expect(try attributes(ReceiptBuilder.ia5(text)).text(7) == text)
        }
        for value in [ReceiptBuilder.utf8(longest + "x"), ReceiptBuilder.tlv(0x0c, [0xc3, 0x28])] {
            #expect(try attributes(value).text(7) == nil)
            #expect(try attributes(value).holdsValue(7))
        }
        #expect(try attributes(ReceiptBuilder.ia5("")).text(7) == nil)
        #expect(try !attributes(ReceiptBuilder.ia5("")).holdsValue(7))
        #expect(try !attributes().holdsValue(7))
    }

    @Test("the first of a type counts, and all of them are there")
    func order() throws {
        let attributes = try attributes(ReceiptBuilder.integer(1), ReceiptBuilder.integer(2))
        #expect(attributes.integer(7) == 1)
        #expect(attributes.values(7).map(Array.init) == [ReceiptBuilder.integer(1), ReceiptBuilder.integer(2)])
        #expect(attributes.values(8).isEmpty)
    }
}
