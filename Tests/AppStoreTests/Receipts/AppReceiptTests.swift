import Contract
import Scheduling
import Testing

@testable import AppStore

@Suite("App receipt")
struct AppReceiptTests {
    @Test("reads the app, the origin and the dates")
    func attributes() throws {
        let receipt = try AppReceipt(der: ReceiptBuilder.receipt().der)
        #expect(receipt.bundleID == "com.example.game")
        #expect(receipt.origin == .production)
        #expect(receipt.createdAt?.rfc3339 == "2026-11-21T04:59:13.000Z")
        #expect(receipt.purchases.isEmpty)
    }

    @Test("reads purchases; an empty cancellation date is none")
    func purchases() throws {
        let builder = ReceiptBuilder.receipt(purchases: [
            ReceiptBuilder.purchase(), ReceiptBuilder.purchase(transactionID: "2", cancelled: "2026-11-22T00:00:00Z"),
        ])
        let purchases = try AppReceipt(der: builder.der).purchases
        let first = try #require(purchases.first)
        #expect(purchases.count == 2)
        #expect(first.quantity == 3)
        #expect(first.productID == "com.example.game.gems100")
        #expect(first.transactionID == "1000000000000001")
        #expect(first.originalTransactionID == "1000000000000000")
        #expect(first.purchasedAt?.rfc3339 == "2026-11-21T04:59:02.000Z")
        #expect(first.expiresAt?.rfc3339 == "2026-12-21T04:59:02.000Z")
        #expect(first.webOrderLineItemID == "2000000044444444")
        #expect(first.offer == Offer(kind: .introductory, discountType: nil))
        #expect(first.revokedAt == nil)
        #expect(purchases[1].revokedAt?.rfc3339 == "2026-11-22T00:00:00.000Z")
    }

    @Test(
        "reads trials and introductory offers; a trial counts as one",
        arguments: [
            (0, 0, nil), (1, 0, Offer(kind: .trial, discountType: .freeTrial)),
            (1, 1, Offer(kind: .trial, discountType: .freeTrial)),
            (0, 1, Offer(kind: .introductory, discountType: nil)), (2, 2, nil),
        ] as [(Int, Int, Offer?)])
    func offers(trial: Int, introductory: Int, offer: Offer?) throws {
        var purchase = ReceiptBuilder.purchase().filter { $0.type != 1719 }
        purchase += [(1713, ReceiptBuilder.integer(trial)), (1719, ReceiptBuilder.integer(introductory))]
        let receipt = try AppReceipt(der: ReceiptBuilder.receipt(purchases: [purchase]).der)
        let read = try #require(receipt.purchases.first)
        #expect(read.offer == offer)
        #expect(read.purchase(in: .production)?.offer == offer)
    }

    @Test("reads Xcode's indefinite lengths, pieces and wrapped set")
    func xcode() throws {
        let builder = ReceiptBuilder.receipt(origin: "Xcode", purchases: [ReceiptBuilder.purchase()])
        let receipt = try AppReceipt(der: builder.ber)
        #expect(receipt.origin == .xcode)
        #expect(receipt.purchases.count == 1)
    }

    @Test(
        "knows who made it",
        arguments: [
            ("Production", ReceiptOrigin.production), ("ProductionVPP", .production), ("ProductionSandbox", .sandbox),
            ("ProductionVPPSandbox", .sandbox), ("Xcode", .xcode), ("Moon", .other("Moon")),
        ])
    func origin(text: String, expected: ReceiptOrigin) throws {
        #expect(try AppReceipt(der: ReceiptBuilder.receipt(origin: text).der).origin == expected)
    }

    @Test("leaves the signature's parts reachable")
    func signedData() throws {
        let builder = ReceiptBuilder.receipt()
        let signed = try AppReceipt(der: builder.der).signedData
        #expect(Array(signed.payload) == builder.payload)
        #expect(signed.certificates.map(Array.init) == ReceiptBuilder.certificates)
        #expect(signed.signerInfos.map(Array.init) == ReceiptBuilder.signers)
    }

    @Test("counts an attribute of another form as absent and reads the rest")
    func leniency() throws {
        var builder = ReceiptBuilder.receipt()
        builder.attributes.removeAll { [0, 3, 12].contains($0.type) }
        builder.attributes += [
            (0, [0x0c, 0x7f, 0x41]), (3, ReceiptBuilder.integer(7)), (12, ReceiptBuilder.ia5("yesterday")),
            (17, [0xff]), (17, ReceiptBuilder.set([(1703, ReceiptBuilder.tlv(0x0c, [0xc3, 0x28]))])),
            (19, ReceiptBuilder.utf8(String(repeating: "x", count: ReceiptAttributes.maxTextBytes + 1))),
        ]
        let receipt = try AppReceipt(der: builder.der)
        #expect(receipt.origin == nil)
        #expect(receipt.createdAt == nil)
        #expect(receipt.bundleID == "com.example.game")
        #expect(receipt.purchases.map(\.transactionID) == [nil])
    }

    @Test("refuses what is no receipt, each with its reason")
    func refusals() {
        let der = ReceiptBuilder.receipt().der
        let cases: [([UInt8], AppReceiptError)] = [
            ([], .empty), ([0x30], .notASN1), (Array("<html>".utf8), .notASN1), (Array(der.dropLast()), .notASN1),
            (der + [0], .notASN1), (Array("{\"purchase-info\" = \"e30=\";}".utf8), .notASN1),
            ([0x30, 0x00], .notSignedData), (ReceiptBuilder.envelope([], oid: ReceiptBuilder.data), .notSignedData),
            (ReceiptBuilder.envelope([]), .notReceiptAttributes),
            (ReceiptBuilder.envelope([0x30, 0]), .notReceiptAttributes),
            ([UInt8](repeating: 0x30, count: ReceiptText.maxBytes + 1), .tooLarge),
        ]
        for (bytes, error) in cases {
            #expect(throws: error) { try AppReceipt(der: bytes) }
        }
    }

    @Test("stops at bombs: nesting without end, in definite and indefinite form, outside and inside")
    func bombs() {
        var nested: [UInt8] = []
        for _ in 0..<2_000 { nested = ReceiptBuilder.tlv(0x30, nested) }
        let open = [[UInt8]](repeating: [0x30, 0x80], count: 200_000).flatMap { $0 }
        #expect(throws: AppReceiptError.notASN1) { try AppReceipt(der: nested) }
        #expect(throws: AppReceiptError.notASN1) { try AppReceipt(der: open) }
        #expect(throws: AppReceiptError.notReceiptAttributes) { try AppReceipt(der: ReceiptBuilder.envelope(nested)) }
        #expect(throws: AppReceiptError.notReceiptAttributes) { try AppReceipt(der: ReceiptBuilder.envelope(open)) }
    }

    @Test("stops at a crowd of tiny values, and not at a receipt full of purchases")
    func crowds() throws {
        let tiny = [[UInt8]](repeating: [0x05, 0x00], count: BERWalk.maxValues).flatMap { $0 }
        #expect(throws: AppReceiptError.notASN1) { try AppReceipt(der: ReceiptBuilder.tlv(0x30, tiny)) }
        for length: [UInt8] in [
            [0x80], [0x85, 0, 0, 2, 0, 0], [0x88, 0, 0, 0, 0, 0, 2, 0, 0], [0x89, 0, 0, 0, 0, 0, 0, 2, 0, 0],
        ] {
            #expect(BERTree.parse(([0x30] + length + tiny + [0, 0])[...]) == nil)
            #expect(BERTree.parse(([0x3f, 0x81, 0x01] + length + tiny)[...]) == nil)
        }
        let inside = ReceiptBuilder.envelope(ReceiptBuilder.tlv(0x31, tiny))
        #expect(throws: AppReceiptError.notReceiptAttributes) { try AppReceipt(der: inside) }
        let full = [[ReceiptBuilder.Attribute]](repeating: ReceiptBuilder.purchase(), count: 5_000)
        #expect(try AppReceipt(der: ReceiptBuilder.receipt(purchases: full).der).purchaseSets.count == 5_000)
    }

    @Test("reads or refuses, and never crashes: random bytes and damaged receipts", arguments: 0..<8)
    func fuzz(seed: UInt64) throws {
        var generator = SplitMix64(seed: seed)
        let builder = ReceiptBuilder.receipt(purchases: [ReceiptBuilder.purchase(), ReceiptBuilder.purchase()])
        var read = 0
        for round in 0..<2_000 {
            var bytes = round % 2 == 0 ? builder.der : builder.ber
            if round % 10 == 9 {
                bytes = (0..<Int.random(in: 1...200, using: &generator)).map { _ in
                    .random(in: 0...255, using: &generator)
                }
            } else {
                for _ in 0..<Int.random(in: 1...4, using: &generator) {
                    bytes[.random(in: 0..<bytes.count, using: &generator)] = .random(in: 0...255, using: &generator)
                }
                if Bool.random(using: &generator) { bytes.removeLast(.random(in: 0..<bytes.count, using: &generator)) }
            }
            guard let receipt = try? AppReceipt(der: bytes) else { continue }
            read += 1
            #expect(receipt.purchases.count <= receipt.purchaseSets.count)
        }
        #expect((1..<2_000).contains(read))
    }
}

@Suite("What a sender's own receipt speaks against")
struct AppReceiptContradictionTests {
    @Test("another app's receipt and one made by Xcode are refused without a call")
    func refused() throws {
        let foreign = try AppReceipt(der: ReceiptBuilder.receipt(bundleID: "com.example.other").der)
        let xcode = try AppReceipt(der: ReceiptBuilder.receipt(origin: "Xcode").ber)
        #expect(foreign.contradiction(with: Fixture.app())?.reason == .bundleMismatch)
        #expect(xcode.contradiction(with: Fixture.app())?.reason == .environmentNotAllowed)
    }

    @Test(
        "what a receipt says of production and sandbox decides nothing: Apple is asked",
        arguments: [
            "Production", "ProductionSandbox", "Moon",
        ])
    func asked(origin: String) throws {
        let receipt = try AppReceipt(der: ReceiptBuilder.receipt(origin: origin).der)
        #expect(receipt.contradiction(with: Fixture.app(sandbox: .reject)) == nil)
    }
}

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
            ([0x02, 0x85, 0, 0, 0, 0, 1, 1], 1),
        ] as [([UInt8], Int64)])
    func integers(value: [UInt8], number: Int64) throws {
        #expect(try attributes(value).integer(7) == number)
    }

    @Test(
        "what cannot be read is nil, and yet there",
        arguments: [
            [], [0x02], [0x02, 0], [0x02, 1], [0x02, 2, 1], [0x02, 1, 1, 1], [0x02, 0x80, 1], [0x02, 0x81],
            [0x22, 1, 1],
            [0x1f, 1, 1], [0x02, 9, 0, 1, 1, 1, 1, 1, 1, 1, 1], [0x02, 0x89, 0, 0, 0, 0, 0, 0, 0, 0, 1, 1],
            [0x04, 1, 1],
        ] as [[UInt8]])
    func unreadable(value: [UInt8]) throws {
        let attributes = try attributes(value)
        #expect(attributes.integer(7) == nil)
        #expect(attributes.text(7) == nil)
        #expect(attributes.moment(7) == nil)
        // Only an empty value counts as absent.
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
