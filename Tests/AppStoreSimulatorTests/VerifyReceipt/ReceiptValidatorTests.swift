import Contract
import Foundation
import Testing

@testable import AppStoreSimulator

struct ReceiptValidatorTests {
    private let factory: ReceiptFactory

    init() throws {
        factory = try ReceiptFactory(authority: SimulatorAuthority.shared.get())
    }

    @Test(
        "An own receipt on its side is authentic",
        arguments: [(ReceiptEnvironment.production, Environment.production), (.sandbox, .sandbox)])
    func own(receipt: ReceiptEnvironment, side: Environment) throws {
        let result = try validate(.sample([.gems("7"), .gems("8"), .gems("7")], receipt), in: side)
        #expect(result.status == 0)
        #expect(result.transactions == ["7", "8"])
    }

    @Test(
        "A receipt on the wrong side is sent away",
        arguments: [
            (ReceiptEnvironment.sandbox, Environment.production, 21007), (.production, .sandbox, 21008),
            (.xcode, .production, 21003), (.xcode, .sandbox, 21003),
        ])
    func wrongSide(receipt: ReceiptEnvironment, side: Environment, status: Int) throws {
        #expect(try validate(.sample([.gems()], receipt), in: side).status == status)
    }

    @Test("A body that is no request is refused", arguments: ["", "[]", "{", "{\"receipt-data\": 1}", "\u{FEFF}"])
    func noRequest(body: String) {
        #expect(validate(body: body).status == 21000)
    }

    @Test("Text that is no receipt is malformed", arguments: ["", "AAAA", "MIAA-_", "not base64", "MAA=\\n"])
    func noReceipt(text: String) {
        #expect(validate(body: "{\"receipt-data\":\"\(text)\"}").status == 21002)
    }

    @Test("A missing receipt is malformed")
    func missing() {
        #expect(validate(body: "{}").status == 21002)
    }

    @Test("Line breaks in base64 are malformed")
    func lineBreaks() throws {
        let text = try factory.base64(.sample())
        #expect(validate(body: "{\"receipt-data\":\"\(text.prefix(76))\\r\\n\(text.dropFirst(76))\"}").status == 21002)
    }

    @Test("A foreign signature is not authentic")
    func foreignSignature() throws {
        let other = try ReceiptFactory(authority: SimulatorAuthority(now: .present))
        let text = try other.base64(.sample())
        #expect(validate(body: "{\"receipt-data\":\"\(text)\"}").status == 21003)
    }

    @Test("A changed payload is not authentic")
    func changedPayload() throws {
        var receipt = try factory.receipt(.sample())
        let product = Array("gems100".utf8)
        let place = try #require(receipt.indices.first { receipt[$0...].starts(with: product) })
        receipt[place + 4] = UInt8(ascii: "9")
        let result = validate(body: "{\"receipt-data\":\"\(Data(receipt).base64EncodedString())\"}")
        #expect(result.status == 21003)
        #expect(result.receipt?.purchases.first?.productID == "com.example.game.gems900")
    }

    @Test("A verified receipt stays verified, and its forgery does not")
    func cached() throws {
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

    @Test("A wrong secret is refused, and a missing one for subscriptions only")
    func secrets() throws {
        let gems = ReceiptSpecification.sample()
        let vip = ReceiptSpecification.sample([.month("1", original: "1", endsInDays: 3)])
        #expect(try validate(gems, secrets: ["right"]).status == 0)
        #expect(try validate(gems, password: "wrong", secrets: ["right"]).status == 21004)
        #expect(try validate(vip, secrets: ["right"]).status == 21004)
        #expect(try validate(vip, password: "wrong", secrets: ["right"]).status == 21004)
        #expect(try validate(vip, password: "right", secrets: ["old", "right"]).status == 0)
        #expect(try validate(vip, password: "any", secrets: []).status == 0)
    }

    @Test("The side is looked at before the secret")
    func sideFirst() throws {
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
