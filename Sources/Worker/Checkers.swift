import Contract
import Processing
import Scheduling
import Synchronization
import Threading

/// The checkers: threads that parse records, verify signatures and apply the claim policy. Most of the CPU is used
/// here.
///
/// Each has a mailbox of its own; chunks go to them in turn.
final class CheckerPool: Sendable {
    /// Submissions in one chunk: small enough to share a turn's work, large enough to be worth a hop.
    static let chunk = 32
    /// Chunks that wait for one checker; the in-flight limit is below it.
    static let maxChunks = 100_000

    private let mailboxes: [Mailbox<[CheckTask]>]
    /// The checker that gets the next chunk.
    private let turn = Atomic<Int>(0)
    private let threads: [OwnerThread]

    /// One checker for each of the activity's.
    init(core: Mailbox<CoreMail>, activity: CoreActivity) throws(ThreadingError) {
        var mailboxes: [Mailbox<[CheckTask]>] = []
        var threads: [OwnerThread] = []
        for number in activity.checkers {
            let mailbox = try Mailbox<[CheckTask]>(bound: Self.maxChunks)
            mailboxes.append(mailbox)
            threads.append(
                try OwnerThread(name: "check-\(number)") {
                    Self.run(mailbox, core) { activity.checks(number, since: $0) }
                })
        }
        self.mailboxes = mailboxes
        self.threads = threads
    }

    /// Cuts tasks into chunks and hands them out. For the core's thread.
    func post(_ tasks: [CheckTask]) {
        let size = min(Self.chunk, max(1, (tasks.count + mailboxes.count - 1) / mailboxes.count))
        var start = 0
        while start < tasks.count {
            let end = min(start + size, tasks.count)
            let turn = turn.wrappingAdd(1, ordering: .relaxed).oldValue
            mailboxes[turn % mailboxes.count].post(Array(tasks[start..<end]))
            start = end
        }
    }

    /// Ends the threads, and waits for them.
    func stop() {
        for mailbox in mailboxes { mailbox.close() }
        for thread in threads { thread.join() }
    }

    /// - Parameter began: Gets the moment at which each chunk begins, and nil once all are done.
    private static func run(
        _ mailbox: Mailbox<[CheckTask]>, _ core: Mailbox<CoreMail>, began: (Instant?) -> Void
    ) {
        var chunks: [[CheckTask]] = []
        while true {
            mailbox.wake.wait()
            mailbox.takeAll(into: &chunks)
            for chunk in chunks {
                began(.now)
                let now = Timestamp.now
                core.post(
                    .input(
                        .checked(
                            chunk.map { Checked(token: $0.token, result: SubmissionCheck.perform($0, at: now)) })))
            }
            began(nil)
            chunks.removeAll(keepingCapacity: true)
            if mailbox.isClosed { return }
        }
    }
}
