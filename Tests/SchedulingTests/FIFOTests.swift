import Scheduling
import Testing

@Suite("A queue")
struct FIFOTests {
    @Test("gives its elements in the order in which they came, however many have left")
    func order() {
        var queue = FIFO<Int>()
        var next = 0
        for number in 0..<1000 {
            queue.append(number)
            if number % 3 != 0 {
                #expect(queue.popFirst() == next)
                next += 1
            }
        }
        #expect(queue.count == 1000 - next)
        #expect(queue[0] == next)
        while let number = queue.popFirst() {
            #expect(number == next)
            next += 1
        }
        #expect(next == 1000)
        #expect(queue.first == nil)
    }
}
