/// The machines that the core is made of, as far as they have states.
public enum Machine: Int, Sendable, CaseIterable {
    case submission, partition, outboxRow
}

/// One transition of one machine. States are named as in the code, without their values.
public struct Transition: Hashable, Sendable, CustomStringConvertible {
    public let machine: Machine
    public let from: String
    public let to: String

    public init(_ machine: Machine, _ from: String, _ to: String) {
        self.machine = machine
        self.from = from
        self.to = to
    }

    public var description: String { "\(machine): \(from) → \(to)" }

    /// Every transition that the core may take, in the order of its declaration.
    public static let legal = legal(FlightState.self) + legal(PartitionState.self) + legal(OutboxFlightState.self)

    private static func legal<State: MachineState>(_: State.Type) -> [Transition] {
        State.Name.allCases.flatMap { from in
            State.Name.allCases.filter { State.successors[from]?.contains($0) ?? false }
                .map { Transition(State.machine, "\(from)", "\($0)") }
        }
    }
}

/// The transitions that a core's machines have taken. Tests and the simulation count them; workers do not.
public struct TransitionCounts: Sendable {
    /// Most states of one machine.
    private static let width = 16
    private static let size = Machine.allCases.count * width * width

    /// By machine, state before and state after; empty while nothing is counted.
    private var counts: [Int]

    /// - Parameter isCounting: nothing is counted otherwise.
    public init(isCounting: Bool) { counts = isCounting ? Array(repeating: 0, count: Self.size) : [] }

    /// How often each transition was taken, also one that is not legal.
    public var taken: [Transition: Int] {
        var taken: [Transition: Int] = [:]
        func add<State: MachineState>(_: State.Type) {
            for from in State.Name.allCases {
                for to in State.Name.allCases where !counts.isEmpty {
                    let count = counts[Self.index(State.self, from, to)]
                    if count > 0 { taken[Transition(State.machine, "\(from)", "\(to)")] = count }
                }
            }
        }
        add(FlightState.self)
        add(PartitionState.self)
        add(OutboxFlightState.self)
        return taken
    }

    /// Transitions that were taken although they are not legal.
    public var illegal: [Transition] { Array(Set(taken.keys).subtracting(Transition.legal)) }

    public mutating func add(_ others: TransitionCounts) {
        for index in others.counts.indices { counts[index] += others.counts[index] }
    }

    mutating func take<State: MachineState>(from: State, to: State) {
        assert(State.successors[from.name]?.contains(to.name) ?? false, "\(from) cannot become \(to)")
        if !counts.isEmpty { counts[Self.index(State.self, from.name, to.name)] += 1 }
    }

    private static func index<State: MachineState>(_: State.Type, _ from: State.Name, _ to: State.Name) -> Int {
        (State.machine.rawValue * width + from.rawValue) * width + to.rawValue
    }
}
