import Testing

@testable import Worker

@Suite("grantor verify")
struct VerifyCommandTests {
    @Test("A file's name is shown, and evidence given in its place is not")
    func shown() {
        #expect(VerifyCommand.shown("receipts/player-1.json") == "receipts/player-1.json")
        let evidence = String(repeating: "MIIT", count: 100)
        #expect(!VerifyCommand.shown(evidence).contains("MIIT"))
    }
}
