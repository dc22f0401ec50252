import Scheduling
import Testing

@Suite("Trouble that lasts")
struct ReminderTests {
    private let start = Instant(nanoseconds: 0)

    @Test("is told when it begins, every ten minutes, and once when it is over")
    func course() {
        var reminder = Reminder()
        var news: [Reminder.News?] = []
        for (lasts, seconds) in [(false, 0), (true, 1), (true, 600), (true, 601), (false, 901), (false, 902)] {
            news.append(reminder.observe(lasts, at: start + .seconds(seconds)))
        }
        #expect(news == [nil, .lasts, nil, .lasts, .over(after: .seconds(900)), nil])
    }

    @Test("begins anew after its end, however soon")
    func again() {
        var reminder = Reminder()
        var news: [Reminder.News?] = []
        for (lasts, seconds) in [(true, 0), (false, 1), (true, 2)] {
            news.append(reminder.observe(lasts, at: start + .seconds(seconds)))
        }
        #expect(news == [.lasts, .over(after: .seconds(1)), .lasts])
    }

    @Test("that comes and goes is one trouble, until it has been away for the quiet time")
    func flapping() {
        var reminder = Reminder(quiet: .seconds(60))
        var news: [Reminder.News?] = []
        for (lasts, seconds) in [
            (true, 0), (false, 10), (true, 20), (false, 79), (true, 600), (false, 659), (false, 660), (false, 661),
            (true, 662),
        ] {
            news.append(reminder.observe(lasts, at: start + .seconds(seconds)))
        }
        #expect(news == [.lasts, nil, nil, nil, .lasts, nil, .over(after: .seconds(660)), nil, .lasts])
    }

    @Test("is told ten minutes later where people know of it already")
    func known() {
        var reminder = Reminder(toldAt: start)
        let early = reminder.observe(true, at: start + .seconds(599))
        #expect(early == nil && reminder.nextMoment == start + .seconds(600))
        let late = reminder.observe(true, at: start + .seconds(600))
        #expect(late == .lasts)
    }
}
