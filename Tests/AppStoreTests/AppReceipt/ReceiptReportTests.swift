import Contract
import FoundationEssentials
import Testing

@testable import AppStore

@Suite("Explained receipts")
struct ReceiptReportTests {
    private func report(_ signing: ReceiptSigning) throws -> ReceiptReport {
        ReceiptVerifier(roots: signing.roots).explain(base64: Data(try signing.der()).base64EncodedString())
    }

    private func changed(_ change: (inout ReceiptSigning) throws -> Void) throws -> ReceiptReport {
        var signing = try ReceiptSigning.rsa()
        try change(&signing)
        return try report(signing)
    }

    @Test("a good one passes every step, each with a sentence")
    func good() throws {
        let report = try report(ReceiptSigning.rsa())
        #expect(report.checks.map(\.step) == ReceiptStep.allCases)
        #expect(report.isPassed)
        #expect(report.checks.allSatisfy { $0.detail.hasSuffix(".") })
        #expect(report.receipt?.bundleID == "com.example.game")
    }

    @Test("what fails is the step that failed, and what comes after was not looked at")
    func failures() throws {
        let broken = ReceiptBuilder.receipt(purchases: [ReceiptBuilder.purchase(cancelled: "soon")])
        let cases: [(ReceiptReport, ReceiptStep)] = [
            (try changed { $0.setDate(nil) }, .form), (try changed { $0.signers = { [$0, $0] } }, .signer),
            (try changed { $0.certificates.removeFirst() }, .certificates),
            (try changed { $0.roots = try ChainBuilder().roots() }, .certificates),
            (try changed { $0.setDate("2001-01-01T00:00:00Z") }, .validity),
            (try changed { $0.digest = .sha1 }, .digest),
            (try changed { $0.alterSignature = { _ in [] } }, .signature),
            (try changed { $0.builder = ReceiptBuilder.receipt(origin: "Xcode") }, .environment),
            (try changed { $0.builder = ReceiptBuilder.receipt(origin: "Moon") }, .environment),
            (try changed { $0.builder = broken }, .purchases),
        ]
        for (report, step) in cases {
            #expect(report.checks.first { $0.outcome == .failed }?.step == step)
            #expect(report.checks.map(\.step) == ReceiptStep.allCases)
            let after = report.checks.drop { $0.step != step }.dropFirst()
            #expect(after.allSatisfy { $0.outcome == .skipped && $0.detail.isEmpty })
            #expect(report.receipt != nil)
            #expect(!report.isPassed)
        }
    }

    @Test("a text that is no receipt fails at once", arguments: ["", "!", "e30=", "MAA="])
    func noReceipt(text: String) throws {
        let report = try ReceiptVerifier(roots: .apple()).explain(base64: text)
        #expect(report.receipt == nil)
        #expect(report.checks.first?.outcome == .failed)
        #expect(report.checks.dropFirst().allSatisfy { $0.outcome == .skipped })
    }
}
