import Scheduling

/// Future events by their moment. Events are not moved, because moving them through a heap would cost more than
/// handling them.
struct Agenda<Event> {
    private var moments = DelayQueue<Int32>()
    private var events: [Event?] = []
    private var free: [Int32] = []

    /// The moment of the first event.
    var next: Instant? { moments.nextDue }

    mutating func insert(_ event: Event, due: Instant) {
        guard let place = free.popLast() else {
            moments.insert(Int32(events.count), due: due)
            return events.append(event)
        }
        events[Int(place)] = event
        moments.insert(place, due: due)
    }

    mutating func popDue(at now: Instant) -> Event? {
        guard let place = moments.popDue(at: now) else { return nil }
        free.append(place)
        return events[Int(place)].take()
    }
}
