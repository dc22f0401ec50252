import Contract
import Testing

@testable import AppStoreSimulator

struct ScriptBookTests {
    @Test("A script is played in order, and then is over")
    func order() throws {
        var book = ScriptBook(seed: 1)
        try book.append([.reset, .html], to: "1")
        try book.append([.hang], to: "1")
        let played = (0..<4).map { _ in book.next(forCallAbout: ["0", "1"], in: .production).fault }
        #expect(played == [.reset, .html, .hang, nil])
    }

    @Test("Other transactions are left alone")
    func others() throws {
        var book = ScriptBook(seed: 1)
        try book.append([.reset], to: "1")
        #expect(book.next(forCallAbout: ["2"], in: .production).fault == nil)
        #expect(book.next(forCallAbout: ["1"], in: .sandbox).fault == .reset)
    }

    @Test("A behaviour belongs to its environment")
    func environments() {
        var book = ScriptBook(seed: 1)
        book.set(Behaviour(latency: .fixed(milliseconds: 7), faults: [.init(1, .empty)]), for: .production)
        #expect(book.next(forCallAbout: [], in: .production) == .init(delayMilliseconds: 7, fault: .empty))
        #expect(book.next(forCallAbout: [], in: .sandbox) == .init())
    }

    @Test("Shares strike as often as they say")
    func shares() {
        var book = ScriptBook(seed: 1)
        book.set(Behaviour(faults: [.init(0.1, .reset), .init(0.3, .html)]), for: .production)
        let struck = (0..<10_000).map { _ in book.next(forCallAbout: [], in: .production).fault }
        #expect(abs(struck.count { $0 == .reset } - 1000) < 100)
        #expect(abs(struck.count { $0 == .html } - 3000) < 150)
    }

    @Test("A seed gives the same course")
    func seed() {
        func course(_ seed: UInt64) -> [Fault?] {
            var book = ScriptBook(seed: seed)
            book.set(Behaviour(faults: [.init(0.5, .reset)]), for: .production)
            return (0..<64).map { _ in book.next(forCallAbout: [], in: .production).fault }
        }
        #expect(course(1) == course(1))
        #expect(course(1) != course(2))
    }

    @Test("A scripted delay comes on top of the latency")
    func delay() throws {
        var book = ScriptBook(seed: 1)
        book.set(Behaviour(latency: .fixed(milliseconds: 7)), for: .production)
        try book.append([.delay(milliseconds: 5)], to: "1")
        #expect(book.next(forCallAbout: ["1"], in: .production).delayMilliseconds == 12)
    }

    @Test("Scripts come before shares")
    func precedence() throws {
        var book = ScriptBook(seed: 1)
        book.set(Behaviour(faults: [.init(1, .empty)]), for: .production)
        try book.append([.reset], to: "1")
        let played = (0..<2).map { _ in book.next(forCallAbout: ["1"], in: .production).fault }
        #expect(played == [.reset, .empty])
    }

    @Test("A script has a limit")
    func limit() throws {
        var book = ScriptBook(seed: 1)
        try book.append([Fault](repeating: .reset, count: ScriptBook.faultLimit), to: "1")
        #expect(throws: ScriptBook.Full.faults(limit: ScriptBook.faultLimit)) { try book.append([.html], to: "1") }
    }

    @Test("Clearing forgets everything")
    func clearing() throws {
        var book = ScriptBook(seed: 1)
        book.set(Behaviour(outage: .closed), for: .production)
        try book.append([.reset], to: "1")
        #expect(book.outage(in: .production) == .closed)
        book.clear()
        #expect(book.outage(in: .production) == nil)
        #expect(book.next(forCallAbout: ["1"], in: .production) == .init())
    }
}
