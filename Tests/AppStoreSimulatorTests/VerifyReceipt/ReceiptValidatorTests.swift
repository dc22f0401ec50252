import Contract
import Foundation
import Testing

@testable import AppStoreSimulator

struct ReceiptValidatorTests {
    private let factory: ReceiptFactory

    init() throws {
        factory = try ReceiptFactory(authority: SimulatorAuthority.shared.get())
    }

    @Test(arguments: [(ReceiptEnvironment.production, Environment.production), (.sandbox, .sandbox)])
    func anOwnReceiptOnItsSideIsAuthentic(receipt: ReceiptEnvironment, side: Environment) throws {
        let result = try validate(.sample([.gems("7"), .gems("8"), .gems("7")], receipt), in: side)
        #expect(result.status == 0)
        #expect(result.transactions == ["7", "8"])
    }

    @Test(arguments: [
        (ReceiptEnvironment.sandbox, Environment.production, 21007), (.production, .sandbox, 21008),
        (.xcode, .production, 21003), (.xcode, .sandbox, 21003),
    ])
    func aReceiptOnTheWrongSideIsSentAway(receipt: ReceiptEnvironment, side: Environment, status: Int) throws {
        #expect(try validate(.sample([.gems()], receipt), in: side).status == status)
    }

    @Test(arguments: ["", "[]", "{", "{\"receipt-data\": 1}", "\u{FEFF}"])
    func aBodyThatIsNoRequestIsRefused(body: String) {
        #expect(validate(body: body).status == 21000)
    }

    @Test(arguments: ["", "AAAA", "MIAA-_", "not base64", "MAA=\\n"])
    func textThatIsNoReceiptIsMalformed(text: String) {
        #expect(validate(body: "{\"receipt-data\":\"\(text)\"}").status == 21002)
    }

    @Test func aMissingReceiptIsMalformed() {
        #expect(validate(body: "{}").status == 21002)
    }

    @Test func lineBreaksInBase64AreMalformed() throws {
        let text = try factory.base64(.sample())
        #expect(validate(body: "{\"receipt-data\":\"\(text.prefix(76))\\r\\n\(text.dropFirst(76))\"}").status == 21002)
    }

    @Test func aForeignSignatureIsNotAuthentic() throws {
        let other = try ReceiptFactory(authority: SimulatorAuthority(now: .present))
        let text = try other.base64(.sample())
        #expect(validate(body: "{\"receipt-data\":\"\(text)\"}").status == 21003)
    }

    @Test func aChangedPayloadIsNotAuthentic() throws {
        var receipt = try factory.receipt(.sample())
        let product = Array("gems100".utf8)
        let place = try #require(receipt.indices.first { receipt[$0...].starts(with: product) })
        receipt[place + 4] = UInt8(ascii: "9")
        let result = validate(body: "{\"receipt-data\":\"\(Data(receipt).base64EncodedString())\"}")
        #expect(result.status == 21003)
        #expect(result.receipt?.purchases.first?.productID == "com.example.game.gems900")
    }

    @Test func aVerifiedReceiptStaysVerifiedAndItsForgeryDoesNot() throws {
        let validator = ReceiptValidator(signer: factory.signer, acceptedSecrets: [])
        var receipt = try factory.receipt(.sample())
        func status() -> Int {
            let body = "{\"receipt-data\":\"\(Data(receipt).base64EncodedString())\"}"
            return validator.validate(body: Array(body.utf8), in: .production).status
        }
        #expect(status() == 0)
        #expect(status() == 0)
        receipt[receipt.count - 1] ^= 1
        #expect(status() == 21003)
    }

    @Test func aWrongSecretIsRefusedAndAMissingOneForSubscriptionsOnly() throws {
        let gems = ReceiptSpecification.sample()
        let vip = ReceiptSpecification.sample([.month("1", original: "1", endsInDays: 3)])
        #expect(try validate(gems, secrets: ["right"]).status == 0)
        #expect(try validate(gems, password: "wrong", secrets: ["right"]).status == 21004)
        #expect(try validate(vip, secrets: ["right"]).status == 21004)
        #expect(try validate(vip, password: "wrong", secrets: ["right"]).status == 21004)
        #expect(try validate(vip, password: "right", secrets: ["old", "right"]).status == 0)
        #expect(try validate(vip, password: "any", secrets: []).status == 0)
    }

    @Test func theSideIsLookedAtBeforeTheSecret() throws {
        let vip = ReceiptSpecification.sample([.month("1", original: "1", endsInDays: 3)], .sandbox)
        #expect(try validate(vip, password: "wrong", secrets: ["right"]).status == 21007)
    }

    private func validate(
        _ receipt: ReceiptSpecification, password: String? = nil, secrets: Set<String> = [],
        in environment: Environment = .production
    ) throws -> ReceiptValidator.Result {
        let secret = password.map { ",\"password\":\"\($0)\"" } ?? ""
        return validate(
            body: "{\"receipt-data\":\"\(try factory.base64(receipt))\"\(secret)}", secrets: secrets, in: environment)
    }

    private func validate(
        body: String, secrets: Set<String> = [], in environment: Environment = .production
    ) -> ReceiptValidator.Result {
        ReceiptValidator(signer: factory.signer, acceptedSecrets: secrets).validate(
            body: Array(body.utf8), in: environment)
    }
}
