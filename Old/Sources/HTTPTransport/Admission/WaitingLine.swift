/// First come, first served, with leaving from the middle; every operation is O(1) on average.
struct WaitingLine<Element: Hashable> {
    private var places: [Element] = []
    private var first = 0
    private var present: Set<Element> = []

    var count: Int { present.count }

    mutating func append(_ element: Element) {
        guard present.insert(element).inserted else { return }
        places.append(element)
    }

    /// Its place stays until the line is tidied up, which happens before empty places outnumber taken ones by far.
    mutating func remove(_ element: Element) {
        guard present.remove(element) != nil else { return }
        tidyUp()
    }

    mutating func popFirst() -> Element? {
        while first < places.count {
            let element = places[first]
            first += 1
            guard present.remove(element) != nil else { continue }
            tidyUp()
            return element
        }
        tidyUp()
        return nil
    }

    private mutating func tidyUp() {
        guard places.count > 2 * present.count + 64 else { return }
        places = places[first...].filter(present.contains)
        first = 0
    }
}
