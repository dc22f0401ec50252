import CommandParser
import Contract
import Testing

@testable import Commands

@Suite("Forms of values")
struct ValueFormsTests {
    @Test("An id is any text but the empty one, as it came")
    func id() {
        let form: ValueForm<SubmissionID> = .id()
        #expect(form.read(" 007") == " 007")
        #expect(form.read("") == nil)
    }

    @Test("White space around a transaction's id and zeros in front make no other one")
    func transaction() {
        let form: ValueForm<TransactionID> = .id()
        #expect(form.read(" 0012 ") == "12")
        #expect(form.read("") == nil)
    }
}
