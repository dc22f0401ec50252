import FoundationEssentials
import Testing

@testable import Processing

@Suite("The states of the core's machines")
struct StatesTests {
    private static let page = "docs/architecture.md"

    private static func text() throws -> String {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        return String(decoding: try Data(contentsOf: root.appending(path: page)), as: UTF8.self)
    }

    /// A machine's declaration in Mermaid's words, without the way out that every state has.
    private static func picture(of machine: Machine) -> String {
        let ways = Transition.legal.filter { $0.machine == machine && $0.from != $0.to && $0.to != "vacant" }
        func name(_ state: String) -> String { ["vacant", "ended"].contains(state) ? "[*]" : state }
        return "```mermaid\nstateDiagram-v2\n"
            + ways.map { "    \(name($0.from)) --> \(name($0.to))\n" }.joined() + "```\n"
    }

    @Test("are drawn in the architecture as they are declared", arguments: Machine.allCases)
    func pictures(machine: Machine) throws {
        let picture = Self.picture(of: machine)
        #expect(try Self.text().contains(picture), "\(Self.page) needs:\n\(picture)")
    }

    @Test("lead in the architecture's table where they are declared to lead")
    func table() throws {
        let names = Set(FlightState.allCases.map { "\($0)" })
        var state = ""
        var found: [String: Set<String>] = [:]
        for line in try Self.text().split(separator: "\n") where line.hasPrefix("|") {
            let columns = line.split(separator: "|", omittingEmptySubsequences: false)
            guard columns.count == 7 else { continue }
            let first = columns[1].trimming { $0 == " " || $0 == "`" }
            if names.contains(first) { state = first }
            guard !state.isEmpty else { continue }
            let words = columns[3].split(separator: "`", omittingEmptySubsequences: false).enumerated()
                .filter { !$0.offset.isMultiple(of: 2) }.map { String($0.element) }
            found[state, default: []].formUnion(words.filter(names.contains))
        }
        for from in FlightState.allCases where from != .vacant {
            let declared = Set((FlightState.successors[from] ?? []).filter { $0 != .vacant }.map { "\($0)" })
            #expect(found["\(from)"] == declared, "the rows of \(from)")
        }
    }

    @Test("are all declared, and each can be reached from nothing and come to its end")
    func reachable() {
        func reached<State: MachineState>(_: State.Type, from start: State.Name) -> Set<State.Name> {
            var known: Set<State.Name> = [start]
            var rest = [start]
            while let next = rest.popLast() {
                for state in State.successors[next] ?? [] where known.insert(state).inserted { rest.append(state) }
            }
            return known
        }
        for state in FlightState.allCases {
            #expect(FlightState.successors[state] != nil)
            #expect(reached(FlightState.self, from: state).count == FlightState.allCases.count)
        }
        for state in PartitionState.Name.allCases {
            #expect(reached(PartitionState.self, from: state).count == PartitionState.Name.allCases.count)
        }
        #expect(reached(OutboxFlightState.self, from: .taken).count == OutboxFlightState.Name.allCases.count)
        for state in OutboxFlightState.Name.allCases {
            #expect(reached(OutboxFlightState.self, from: state).contains(.ended))
        }
    }

    @Test("are counted only where somebody asks for it")
    func counts() {
        var none = TransitionCounts(isCounting: false)
        none.take(from: FlightState.vacant, to: .checking)
        #expect(none.taken.isEmpty)
        var counts = TransitionCounts(isCounting: true)
        counts.take(from: FlightState.vacant, to: .checking)
        counts.take(from: PartitionState.taking(isUnderWay: true), to: .owned)
        counts.take(from: PartitionState.taking(isUnderWay: false), to: .taking(isUnderWay: true))
        var sum = counts
        sum.add(counts)
        #expect(
            sum.taken == [
                Transition(.submission, "vacant", "checking"): 2, Transition(.partition, "taking", "owned"): 2,
                Transition(.partition, "taking", "taking"): 2,
            ])
        #expect(sum.illegal.isEmpty)
    }

    @Test("end a debug build where they change in another way")
    func illegal() async {
        await #expect(processExitsWith: .failure) {
            var counts = TransitionCounts(isCounting: false)
            counts.take(from: FlightState.publishing, to: .asking)
        }
    }
}

extension Substring {
    fileprivate func trimming(_ isTrimmed: (Character) -> Bool) -> String {
        let start = drop(while: isTrimmed)
        guard let end = start.lastIndex(where: { !isTrimmed($0) }) else { return "" }
        return String(start[...end])
    }
}
