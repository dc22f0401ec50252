import Contract
import Testing

@testable import AppStoreSimulator

struct ReceiptPayloadTests {
    @Test("A payload that is written is read")
    func roundTrip() throws {
        var refunded = SimulatedPurchase.gems("2")
        refunded.cancelledAt = now
        refunded.cancellationReason = "1"
        refunded.quantity = 10
        refunded.ownership = .familyShared
        refunded.appAccountToken = "7e3fb204-2d6b-4a0b-9d53-0a1d1c1b8a11"
        refunded.isUpgraded = true
        let kinds = ProductType.allCases.map { kind in
            var purchase = SimulatedPurchase.gems(TransactionID("3-\(kind)"))
            purchase.kind = kind
            return purchase
        }
        let receipt = ReceiptSpecification.sample([refunded, .month("4", original: "3", endsInDays: 5)] + kinds)
        let payload = ReceiptPayload.bytes(of: receipt, fillingTo: 3000)
        #expect(try ReceiptPayload.receipt(from: payload[...]) == receipt)
    }

    @Test("Placements are kept", arguments: SimulatedPurchase.Placement.allCases)
    func placements(placement: SimulatedPurchase.Placement) throws {
        var purchase = SimulatedPurchase.gems()
        purchase.placement = placement
        let payload = ReceiptPayload.bytes(of: .sample([purchase]), fillingTo: nil)
        #expect(try ReceiptPayload.receipt(from: payload[...]).purchases == [purchase])
        let isInReceipt = try types(of: payload).contains(17)
        #expect(isInReceipt == (placement != .latestReceiptInfo))
    }

    @Test("Every environment has the attributes that Apple documents", arguments: ReceiptEnvironment.allCases)
    func environments(environment: ReceiptEnvironment) throws {
        let payload = ReceiptPayload.bytes(of: .sample(environment), fillingTo: nil)
        #expect(try types(of: payload).isSuperset(of: [0, 2, 3, 4, 5, 12, 17, 18, 19]))
        #expect(try types(of: payload).contains(21) == (environment == .xcode))
        #expect(try ReceiptPayload.receipt(from: payload[...]).environment == environment)
    }

    @Test("A standing purchase has an empty cancellation date")
    func standing() throws {
        let payload = ReceiptPayload.bytes(of: .sample(), fillingTo: nil)
        let purchase = try #require(try attributes(of: payload).first { $0.type == 17 })
        let cancellation = try #require(try attributes(of: Array(purchase.value)).first { $0.type == 1712 })
        #expect(Array(cancellation.value) == [0x16, 0x00])
    }

    @Test("A receipt may hold no purchase")
    func noPurchase() throws {
        let payload = ReceiptPayload.bytes(of: .sample([]), fillingTo: nil)
        #expect(try ReceiptPayload.receipt(from: payload[...]).purchases.isEmpty)
    }

    @Test(
        "Other bytes are no payload",
        arguments: [[], [0x30, 0x00], [0x31, 0x00], [0x31, 0x02, 0x05, 0x00]] as [[UInt8]])
    func noPayload(bytes: [UInt8]) {
        #expect(throws: (any Error).self) { try ReceiptPayload.receipt(from: bytes[...]) }
    }

    private func types(of payload: [UInt8]) throws -> Set<Int> {
        Set(try attributes(of: payload).map(\.type))
    }

    private func attributes(of set: [UInt8]) throws -> [(type: Int, value: ArraySlice<UInt8>)] {
        try DERReader(set[...]).members(of: DERTag.set).map { attribute in
            let parts = try attribute.members(of: DERTag.sequence)
            return (Int(try parts[0].integer), try parts[2].octets)
        }
    }
}

extension ReceiptSpecification {
    fileprivate static func sample(_ environment: ReceiptEnvironment) -> ReceiptSpecification {
        .sample([.gems()], environment)
    }
}
