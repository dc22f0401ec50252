import Ledger
import Purchases
import Testing

@testable import Fulfillment

/// A service that has a lasting no for some grants, and a yes for all others.
@Suite("Grants that a service refuses, beside others")
struct RefusedGrantsTests {
    /// A desk, its ledger and its service, by the clock of a loop that looks every 50 milliseconds.
    private struct Model {
        enum Row: Equatable { case due(Duration), held, done }

        struct Grant {
            let opened: Duration
            let isRefused: Bool
            var attempts = 0
            var row: Row
        }

        static let tick = Duration.milliseconds(50)

        let refusal: DeliveryAnswer
        var desk = DeliveryDesk([(bundleID: "a", maxInFlight: 20)], policy: DeliveryPolicy())
        var elapsed = Duration.zero
        var grants: [EventID: Grant] = [:]
        var order: [EventID] = []
        /// Grants that the service has.
        var told = 0

        mutating func open(_ count: Int, isRefused: Bool) {
            let isHeld = desk.promise(count, of: "a", elapsed: elapsed)
            var opened: [EventID] = []
            for _ in 0..<count {
                let id = EventID("e-\(order.count)")
                grants[id] = Grant(opened: elapsed, isRefused: isRefused, row: isHeld ? .held : .due(elapsed))
                order.append(id)
                opened.append(id)
            }
            guard isHeld else { return }
            desk.settled(promised: count, of: "a")
            desk.add(opened.map(delivery))
        }

        private func delivery(_ id: EventID) -> Delivery {
            Delivery(
                bundleID: "a", grantID: GrantID(id.rawValue),
                event: Event(id: id, kind: .granted, key: nil, headers: [], value: nil),
                attempts: grants[id]?.attempts ?? 0)
        }

        /// What is due is taken, the longest due first; calls take a tick; what came of them is written.
        mutating func step(_ random: inout SeededGenerator) {
            for share in desk.shares(elapsed: elapsed) {
                let due = order.compactMap { id -> (moment: Duration, id: EventID)? in
                    guard case .due(let moment) = grants[id]?.row, moment <= elapsed else { return nil }
                    return (moment, id)
                }.sorted { $0.moment < $1.moment }.prefix(share.limit).map(\.id)
                for id in due { grants[id]?.row = .held }
                desk.add(due.map(delivery))
            }
            var underWay: [DeliveryDesk.Call] = []
            while let call = desk.next(elapsed: elapsed) { underWay.append(call) }
            elapsed += Self.tick
            for call in underWay {
                let isRefused = grants[call.delivery.event.id]?.isRefused ?? false
                let unit = Double.random(in: 0..<1, using: &random)
                desk.ended(
                    call, isRefused ? refusal : .done, took: Self.tick, elapsed: elapsed,
                    now: Timestamp(milliseconds: 0), unit: { unit })
            }
            let reports = desk.takeReports()
            for report in reports {
                grants[report.eventID]?.attempts = report.attempts
                switch report.end {
                case .done:
                    grants[report.eventID]?.row = .done
                    told += 1
                case .again(let delay): grants[report.eventID]?.row = .due(elapsed + delay)
                }
            }
            desk.written(reports)
        }

        /// How long the oldest grant has waited that the service would take.
        var oldest: Duration {
            grants.values.filter { !$0.isRefused && $0.row != .done }.map { elapsed - $0.opened }.max() ?? .zero
        }
    }

    private static let noes: [DeliveryAnswer] = [
        .failed(.failed, status: 500), .failed(.refused, status: 404), .failed(.refused, status: 410),
    ]

    /// Refused grants at once, then for four minutes four others in a second.
    private func play(_ refusal: DeliveryAnswer, refused: Int) -> (oldest: Duration, told: Int) {
        var random = SeededGenerator(seed: UInt64(refused))
        var model = Model(refusal: refusal)
        model.open(refused, isRefused: true)
        var oldest = Duration.zero
        for tick in 0..<5_000 {
            if tick % 5 == 0 { model.open(1, isRefused: false) }
            model.step(&random)
            oldest = max(oldest, model.oldest)
        }
        return (oldest, model.told)
    }

    @Test(
        "keep the others waiting for a minute at most, and for seconds where they are few", arguments: noes,
        [1, 30, 300])
    func burst(refusal: DeliveryAnswer, refused: Int) {
        let (oldest, told) = play(refusal, refused: refused)
        #expect(oldest < (refused > 30 ? .seconds(60) : .seconds(5)), "\(oldest)")
        #expect(told > 950)
    }

    @Test("stop all calls for a minute at most by one answer, however long it asks for")
    func limited() {
        let (oldest, told) = play(.failed(.limited, status: 429, retryAfter: .seconds(900)), refused: 1)
        #expect(oldest <= .seconds(60), "\(oldest)")
        #expect(told > 950)
    }
}
