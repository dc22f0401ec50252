import Contract
import Ledger
import Processing

/// Writes one run down, a short line per event, for people who follow a submission or look for a fault.
///
/// A line has the moment, the worker and a sign: the core takes it (`<`), wants it (`>`) or has no part in it (`!`).
/// Then come the verb, the submission, the particulars, and the submission's state after the turn. If a submission is
/// not in flight any more, the line says whether its record is `complete` or has `left`. After `left` the next owner of
/// its partition has it.
public final class Trace {
    /// Longest line.
    static let width = 140

    private let write: (String) -> Void
    private var filter: TraceFilter?
    /// The things that each worker's later lines refer to.
    private var memories: [String: TraceMemory] = [:]
    /// Of the present turn, whose states are known once it is over.
    private var lines: [TraceLine] = []
    private var turning: Life?

    /// - Parameters:
    ///   - submission: The submission whose lines are written, with those about its partitions; nil for all lines.
    ///   - write: Takes each line.
    public init(submission: String? = nil, _ write: @escaping (String) -> Void) {
        filter = submission.map { TraceFilter(id: $0) }
        self.write = write
    }

    // MARK: News of the world

    /// The options that were drawn, and the truth about every record.
    func begin(_ world: World) {
        for line in Self.script(of: world) { put(line, world, nil) }
    }

    /// A record is on the topic, the last one of its partition.
    func produced(_ number: Int, _ world: World) {
        let partition = world.script.records[number].partition
        let offset = Int64(world.kafka.partitions[Int(partition)].records.count - 1)
        let origin = Origin(topic: Script.topic, partition: partition, offset: offset)
        put(
            TraceLine(.outside, "produced", .record(number, origin, world.script), "offset \(origin.place)"), world, nil
        )
    }

    func took(_ input: Input, _ life: Life, _ world: World) {
        turning = life
        lines += memory(of: life).lines(input, world)
    }

    /// The turn is over.
    func ended(_ actions: borrowing Actions, _ life: Life, _ world: World) {
        turning = life
        var taker = TracedActions(life, memory(of: life), world)
        actions.handOver(to: &taker)
        lines += taker.lines
        if let stop = actions.stop { lines.append(TraceLine(.outOf, "stop", .worker, stop.text)) }
        let stopOfReading = life.core.status.readingStop
        if memory(of: life).stopOfReading != stopOfReading {
            memory(of: life).stopOfReading = stopOfReading
            lines.append(TraceLine(.outOf, "reads", .nobody, stopOfReading.map { "nothing: \($0.rawValue)" } ?? "on"))
        }
        flush(world)
    }

    func happened(_ fault: Fault, _ world: World) {
        flush(world)
        let (about, place, detail) = fault.told
        put(TraceLine(.outside, "fault", about, detail), world, place.flatMap { world.lives[$0] })
    }

    // MARK: Lines

    private func memory(of life: Life) -> TraceMemory {
        if let known = memories[life.name] { return known }
        let memory = TraceMemory()
        memories[life.name] = memory
        return memory
    }

    private func flush(_ world: World) {
        guard let life = turning else { return }
        let memory = memory(of: life)
        memory.followed = life.core.followed
        for line in lines { put(line, world, life) }
        memory.forgetGone()
        lines.removeAll(keepingCapacity: true)
        turning = nil
    }

    private func put(_ line: TraceLine, _ world: World, _ life: Life?) {
        if filter != nil {
            let isOwner = life.map { filter?.concerns($0, memory(of: $0), world) ?? false } ?? false
            guard filter?.takes(line, isOwner: isOwner, world) == true else { return }
        }
        var state = ""
        if case .submission(let subject) = line.about, let life {
            state = memory(of: life).state(of: subject, in: life).map { " → \($0)" } ?? ""
        }
        let start =
            (line.milliseconds ?? world.milliseconds).seconds.padded(to: 10, isRight: true) + " "
            + (life?.name ?? "-").padded(to: 11) + " \(line.side.rawValue) " + line.verb.padded(to: 10) + " "
            + line.about.name.padded(to: 10) + " "
        let text = start + line.detail.cut(to: Self.width - start.count - state.count) + state
        write(String(text.reversed().drop { $0 == " " }.reversed()))
    }
}

struct TraceLine {
    enum Side: String {
        case into = "<"
        case outOf = ">"
        case outside = "!"
    }

    /// Whom a line concerns, for those who follow one submission.
    enum About {
        case submission(TraceSubject)
        case partition(Int32)
        /// Everything before an offset is complete, by the ledger or by the group's commit.
        case offset(Int32, next: Int64?, isTold: Bool)
        case endpoint(Endpoint)
        /// Everything that the worker has.
        case worker
        case fleet
        case nobody

        var name: String {
            switch self {
            case .submission(let subject): subject.name
            case .partition(let number), .offset(let number, _, _): "partition \(number)"
            case .endpoint, .worker, .fleet, .nobody: "-"
            }
        }
    }

    let side: Side
    let verb: String
    let about: About
    let detail: String
    /// Nil for now.
    var milliseconds: Int64?

    init(_ side: Side, _ verb: String, _ about: About, _ detail: String = "", at milliseconds: Int64? = nil) {
        (self.side, self.verb, self.about, self.detail) = (side, verb, about, detail)
        self.milliseconds = milliseconds
    }
}

/// A submission as far as a line knows it.
struct TraceSubject: Hashable {
    /// Nil for a record that no submission can be read from.
    var id: String?
    var origin: Origin?
    var token: SubmissionToken?

    var name: String { id ?? origin?.place ?? "-" }
}

extension TraceLine.About {
    static func record(_ number: Int?, _ origin: Origin, _ script: Script) -> Self {
        .submission(TraceSubject(id: number.flatMap { script.records[$0].submissionID }, origin: origin))
    }
}

extension ScriptedRecord {
    /// The submission's id; nil if no submission can be read.
    var submissionID: String? {
        switch content {
        case .unreadable: nil
        case .malformed(let claimant): claimant.submissionID.rawValue
        case .claim(let claim): claim.claimant.submissionID.rawValue
        }
    }
}

extension Origin {
    /// Partition and offset.
    var place: String { "\(partition)/\(offset)" }
}

extension Int64 {
    /// Milliseconds as seconds.
    var seconds: String {
        let rest = String(self % 1000)
        return "\(self / 1000)." + String(repeating: "0", count: 3 - rest.count) + rest
    }
}

extension String {
    func padded(to width: Int, isRight: Bool = false) -> String {
        let space = String(repeating: " ", count: Swift.max(0, width - count))
        return isRight ? space + self : self + space
    }

    func cut(to width: Int) -> String { count > width ? prefix(Swift.max(0, width - 1)) + "…" : self }
}
