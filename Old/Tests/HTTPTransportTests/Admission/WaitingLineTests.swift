import Testing

@testable import HTTPTransport

struct WaitingLineTests {
    @Test func `first come, first served`() {
        var line = WaitingLine<Int>()
        for number in 0..<3 { line.append(number) }

        #expect(line.count == 3)
        #expect((0..<4).map { _ in line.popFirst() } == [0, 1, 2, nil])
        #expect(line.count == 0)
    }

    @Test func `who left is passed over`() {
        var line = WaitingLine<Int>()
        for number in 0..<5 { line.append(number) }
        for number in [0, 2, 2, 9] { line.remove(number) }

        #expect(line.count == 3)
        #expect((0..<4).map { _ in line.popFirst() } == [1, 3, 4, nil])
    }

    @Test func `order survives any number of arrivals and departures`() {
        var line = WaitingLine<Int>()
        var expected: [Int] = []
        for number in 0..<10_000 {
            line.append(number)
            if number.isMultiple(of: 10) { expected.append(number) } else { line.remove(number) }
            if number.isMultiple(of: 97) { #expect(line.popFirst() == expected.removeFirst()) }
        }
        #expect(line.count == expected.count)
        #expect(expected.map { _ in line.popFirst() ?? -1 } == expected)
    }
}
