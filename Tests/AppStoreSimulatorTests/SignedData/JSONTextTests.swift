import Contract
import Foundation
import Testing

@testable import AppStoreSimulator

struct JSONTextTests {
    @Test("Members stand in their order")
    func order() {
        var object = JSONText()
        object.add("b", "text")
        object.add("a", 7)
        object.add("when", Timestamp(milliseconds: 12))
        object.add("list", json: JSONText.array(["x", "y"]))
        #expect(object.text == "{\"b\":\"text\",\"a\":7,\"when\":12,\"list\":[\"x\",\"y\"]}")
    }

    @Test("A nil is left out")
    func nils() {
        var object = JSONText()
        object.add("a", String?.none)
        object.add("b", Int64?.none)
        #expect(object.text == "{}")
    }

    @Test(
        "A text comes back as it was",
        arguments: ["plain", "\"quoted\" \\ back", "line\nfeed\u{0}\u{1f}\t", "宝石 💎", "e\u{301}\"", ""])
    func roundTrip(text: String) throws {
        var object = JSONText()
        object.add(text, text)
        let read = try members(Array(object.text.utf8))
        #expect(read[text] as? String == text)
    }

    @Test("Changes apply in order")
    func changes() {
        var object = JSONText()
        object.add("a", 1)
        object.add("b", 2)
        object.apply([
            .set(name: "a", json: "1.5"), .remove(name: "b"), .set(name: "c", json: "null"), .add(name: "a", json: "3"),
        ])
        #expect(object.text == "{\"a\":1.5,\"c\":null,\"a\":3}")
    }

    @Test("A change has a form in JSON")
    func jsonForm() throws {
        let json = "[{\"set\":{\"json\":\"-5\",\"name\":\"quantity\"}},{\"remove\":{\"name\":\"bundleId\"}}]"
        let changes: [MemberChange] = [.set(name: "quantity", json: "-5"), .remove(name: "bundleId")]
        #expect(try JSONDecoder().decode([MemberChange].self, from: Data(json.utf8)) == changes)
    }
}
