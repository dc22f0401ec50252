/// The machines that the core is made of, as far as they have states.
public enum Machine: Int, Sendable, CaseIterable {
    case submission, partition, outboxRow
}

/// One transition of one machine. States are named as in the code, without their values.
public struct Transition: Hashable, Sendable, CustomStringConvertible {
    public let machine: Machine
    public let from: String
    public let to: String

    init(_ machine: Machine, _ from: String, _ to: String) {
        self.machine = machine
        self.from = from
        self.to = to
    }

    public var description: String { "\(machine): \(from) → \(to)" }

    /// Every transition that the core may take, in the order of its declaration.
    public static let legal = all.filter(\.isLegal).map(\.transition)

    /// Every pair of states of one machine.
    fileprivate static let all = pairs(FlightState.self) + pairs(PartitionState.self) + pairs(OutboxFlightState.self)

    private static func pairs<State: MachineState>(
        _: State.Type
    ) -> [(transition: Transition, isLegal: Bool, index: Int)] {
        State.Name.allCases.flatMap { from in
            State.Name.allCases.map { to in
                (
                    Transition(State.machine, "\(from)", "\(to)"), State.successors[from]?.contains(to) ?? false,
                    TransitionCounts.index(State.self, from, to)
                )
            }
        }
    }
}

/// The transitions that a core's machines have taken. Tests and the simulation count them; workers do not.
public struct TransitionCounts: Sendable {
    /// Most states of one machine.
    private static let width = max(
        FlightState.allCases.count, PartitionState.Name.allCases.count, OutboxFlightState.Name.allCases.count)
    private static let size = Machine.allCases.count * width * width

    /// By machine, state before and state after; empty while nothing is counted.
    private var counts: [Int]

    /// - Parameter isCounting: nothing is counted otherwise.
    public init(isCounting: Bool) { counts = isCounting ? Array(repeating: 0, count: Self.size) : [] }

    /// How often each transition was taken, also one that is not legal.
    public var taken: [Transition: Int] {
        guard !counts.isEmpty else { return [:] }
        return Dictionary(
            uniqueKeysWithValues: Transition.all.filter { counts[$0.index] > 0 }.map {
                ($0.transition, counts[$0.index])
            })
    }

    /// Transitions that were taken although they are not legal.
    public var illegal: [Transition] {
        guard !counts.isEmpty else { return [] }
        return Transition.all.filter { !$0.isLegal && counts[$0.index] > 0 }.map(\.transition)
    }

    /// Adds the counts of others, if they count; then this must count, too.
    public mutating func add(_ others: TransitionCounts) {
        for index in others.counts.indices { counts[index] += others.counts[index] }
    }

    mutating func take<State: MachineState>(from: State, to: State) {
        assert(State.successors[from.name]?.contains(to.name) ?? false, "\(from) cannot become \(to)")
        if !counts.isEmpty { counts[Self.index(State.self, from.name, to.name)] += 1 }
    }

    fileprivate static func index<State: MachineState>(_: State.Type, _ from: State.Name, _ to: State.Name) -> Int {
        (State.machine.rawValue * width + from.rawValue) * width + to.rawValue
    }
}
