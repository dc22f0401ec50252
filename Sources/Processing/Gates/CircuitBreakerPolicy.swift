import Scheduling

/// When calls to a target of Apple's stop, and how they begin again.
struct CircuitBreakerPolicy: Hashable, Sendable {
    /// Length of the window that error share and latency are measured over.
    var window: Duration = .seconds(10)
    /// Fewest calls in the window that say anything: first tries, or if there are fewer of them all calls.
    var leastCalls = 20
    /// Calls stop when so many of them failed.
    var failureShare = 0.5
    /// Calls stop when so many first tries failed one after the other: the answers of the seconds before an outage do not
    /// outvote it for long.
    var failuresInARow = 50
    /// After an answer to a first try failed retries are no sign of trouble for so long: what fails again and again may do so
    /// for a reason of its own, and is not to stop those whom Apple answers. An outage that begins while nothing new comes is
    /// noticed so much later.
    var answerHolds: Duration = .seconds(60)
    /// ... unless so many first tries failed since. One or two do not end it: who sends what fails sends some of it anew.
    var failuresToDoubt = 3
    /// An answer that took longer is slow.
    var slowAfter: Duration = .seconds(10)
    /// Calls stop for a moment when so many of the answers were slow. Slowness alone never keeps them stopped: a slow
    /// answer is an answer, so it only keeps the share of calls that are made small.
    var slowShare = 0.9
    /// How long calls stop: from half of the ceiling up to the ceiling, which doubles each time they stop again.
    var pause = Backoff(base: .seconds(1), cap: .seconds(15))
    /// Shortest pause that a target may ask for: what is shorter, or over already, does not keep a crowd away.
    var shortestPause: Duration = .seconds(1)
    /// Probes under way at most; all but one may be retries, if there is more than one.
    var probes = 2
    /// Answered probes after which calls begin again.
    var answersToRamp = 3
    /// How often the share of calls doubles until all are made: 6 begins with one 64th.
    var rampSteps = 6
    /// How long a share lasts before it doubles.
    var rampInterval: Duration = .seconds(1)
    /// Fewest first tries within a share that can stop the calls again.
    var leastRampCalls = 5
    /// After so long without trouble the next pause is as short as the first.
    var calm: Duration = .seconds(60)

}
