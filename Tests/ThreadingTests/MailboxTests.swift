import Scheduling
import Synchronization
import Testing

@testable import Threading

/// A message that is lost leaves a thread asleep, and its test runs into the limit.
@Suite(.timeLimit(.minutes(5)))
struct MailboxTests {
    @Test("Messages are taken all at once, oldest first")
    func order() throws {
        let mailbox = try Mailbox<Int>(bound: 10)
        for number in 0..<5 { #expect(mailbox.post(number)) }
        #expect(mailbox.post(contentsOf: [5, 6]))
        var taken = [99]
        mailbox.takeAll(into: &taken)
        #expect(taken == Array(0..<7))
        mailbox.takeAll(into: &taken)
        #expect(taken.isEmpty)
    }

    @Test("Only a message into the empty mailbox wakes the owner")
    func wakes() throws {
        let mailbox = try Mailbox<Int>(bound: 10)
        var taken: [Int] = []
        #expect(!mailbox.wake.wait(until: .now))
        mailbox.post(1)
        #expect(mailbox.wake.wait())
        mailbox.post(2)
        mailbox.post(contentsOf: [3])
        #expect(!mailbox.wake.wait(until: .now))
        mailbox.takeAll(into: &taken)
        mailbox.post(contentsOf: [])
        #expect(!mailbox.wake.wait(until: .now))
        mailbox.post(contentsOf: [4, 5])
        #expect(mailbox.wake.wait(until: .now))
    }

    @Test("A close wakes the owner")
    func closeWakes() throws {
        let mailbox = try Mailbox<Int>(bound: 10)
        mailbox.close()
        #expect(mailbox.wake.wait(until: .now))
    }

    @Test("A closed mailbox refuses messages and gives back those that nobody took")
    func closed() throws {
        let mailbox = try Mailbox<Int>(bound: 10)
        mailbox.post(contentsOf: [1, 2])
        #expect(mailbox.close() == [1, 2])
        #expect(!mailbox.post(3))
        #expect(!mailbox.post(contentsOf: [4]))
        #expect(!mailbox.post(contentsOf: []))
        var taken: [Int] = []
        mailbox.takeAll(into: &taken)
        #expect(taken.isEmpty)
        #expect(mailbox.close().isEmpty)
    }

    @Test("Taking frees what the buffer held")
    func freed() throws {
        final class Message: Sendable {}
        let mailbox = try Mailbox<Message>(bound: 2)
        weak var weakMessage: Message?
        do {
            let message = Message()
            weakMessage = message
            mailbox.post(message)
        }
        var buffer: [Message] = []
        mailbox.takeAll(into: &buffer)
        #expect(weakMessage != nil)
        mailbox.takeAll(into: &buffer)
        #expect(weakMessage == nil)
    }

    @Test("A debug build traps beyond the bound")
    func bound() async {
        await #expect(processExitsWith: .failure) {
            let mailbox = try Mailbox<Int>(bound: 1)
            mailbox.post(1)
            mailbox.post(2)
        }
    }

    @Test("Every message of every sender arrives once, in its sender's order", arguments: [1, 4])
    func senders(senders: Int) throws {
        let each = 50_000
        let mailbox = try Mailbox<(sender: Int, number: Int)>(bound: senders * each)
        let threads = try (0..<senders).map { sender in
            try OwnerThread(name: "sender-\(sender)") {
                var number = 0
                while number < each {
                    // By turns alone and in batches.
                    if number.isMultiple(of: 3) {
                        mailbox.post((sender, number))
                        number += 1
                    } else {
                        let batch = (number..<min(number + 5, each)).map { (sender, $0) }
                        mailbox.post(contentsOf: batch)
                        number += batch.count
                    }
                }
            }
        }
        var next = [Int](repeating: 0, count: senders)
        var buffer: [(sender: Int, number: Int)] = []
        while next.reduce(0, +) < senders * each {
            mailbox.wake.wait()
            mailbox.takeAll(into: &buffer)
            for (sender, number) in buffer {
                guard next[sender] == number else {
                    Issue.record("message \(number) of sender \(sender) came instead of \(next[sender])")
                    return
                }
                next[sender] += 1
            }
        }
        for thread in threads { thread.join() }
        mailbox.takeAll(into: &buffer)
        #expect(buffer.isEmpty)
    }

    @Test("After the close no sender believes that a message was taken")
    func afterClose() throws {
        let mailbox = try Mailbox<Int>(bound: 1 << 20)
        let accepted = Atomic(0)
        let threads = try (0..<4).map { sender in
            try OwnerThread(name: "sender-\(sender)") {
                while mailbox.post(sender) { accepted.add(1, ordering: .relaxed) }
            }
        }
        var taken = 0
        var buffer: [Int] = []
        while taken < 10_000 {
            mailbox.wake.wait()
            mailbox.takeAll(into: &buffer)
            taken += buffer.count
        }
        taken += mailbox.close().count
        for thread in threads { thread.join() }
        #expect(taken == accepted.load(ordering: .relaxed))
    }
}
