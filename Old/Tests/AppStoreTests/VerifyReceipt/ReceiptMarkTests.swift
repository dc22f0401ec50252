import Purchases
import Testing

@testable import AppStore

@Suite("What a receipt is known by")
struct ReceiptMarkTests {
    private let moment = Timestamp(milliseconds: 1_795_237_153_000)

    private func response(_ body: [UInt8]) throws -> VerifyReceiptResponse {
        let reading = ReplyReading(.response(httpStatus: 200, retryAfter: nil, body: body), now: Fixture.now)
        guard case .answer(let response) = reading else { throw NotAnAnswer() }
        return response
    }

    private struct NotAnAnswer: Error {}

    @Test("is named by an answer with its purchase, or with one that goes back to it")
    func named() throws {
        let mark = ReceiptMark(createdAt: moment, transactionID: "2001")
        let restored = Answer.record("3001", ["original_transaction_id": "2001"])
        for inApp in [[Answer.record("2001")], [Answer.record("1001"), restored]] {
            #expect(mark.isNamed(by: try response(Answer.authentic(inApp: inApp))))
        }
        for inApp in [[], [Answer.record("1001")]] {
            // Not by the moment, which others share.
            #expect(!mark.isNamed(by: try response(Answer.authentic(inApp: inApp, createdAt: moment))))
        }
    }

    @Test("without a purchase that can be read it is named by its moment")
    func unreadable() throws {
        let mark = ReceiptMark(createdAt: moment)
        #expect(mark.isNamed(by: try response(Answer.authentic(inApp: [Answer.record("1001")], createdAt: moment))))
        let later = moment.advanced(by: .seconds(1))
        #expect(!mark.isNamed(by: try response(Answer.authentic(inApp: [Answer.record("1001")], createdAt: later))))
    }

    @Test("moments are the same within a second, and where one is missing")
    func moments() throws {
        let mark = ReceiptMark(createdAt: moment, transactionID: "2001")
        for same in [moment, moment.advanced(by: .milliseconds(999)), nil] {
            #expect(mark.isOfMoment(try response(Answer.authentic(createdAt: same))))
        }
        for other in [moment.advanced(by: .milliseconds(-1)), moment.advanced(by: .seconds(1))] {
            #expect(!mark.isOfMoment(try response(Answer.authentic(createdAt: other))))
        }
        #expect(ReceiptMark().isOfMoment(try response(Answer.authentic(createdAt: moment))))
    }

    @Test(
        "of a receipt: what it says of its environment",
        arguments: [("ProductionSandbox", true), ("Production", false)])
    func origin(name: String, saysSandbox: Bool) throws {
        let receipt = try AppReceipt(der: ReceiptBuilder.receipt(origin: name).der)
        #expect(ReceiptMark(of: receipt).saysSandbox == saysSandbox)
    }

    @Test("of a receipt: when it was made and its first purchase")
    func ofReceipt() throws {
        let receipt = try AppReceipt(
            der: ReceiptBuilder.receipt(
                purchases: ["2001", "2002"].map { ReceiptBuilder.purchase(transactionID: $0, productID: "gems") }
            ).der)
        let mark = ReceiptMark(of: receipt)
        #expect(mark.transactionID == "2001")
        #expect(mark.createdAt == receipt.createdAt)
    }
}
