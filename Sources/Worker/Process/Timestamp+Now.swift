import Contract
import Glibc

extension Timestamp {
    /// The host's wall clock.
    static var now: Timestamp {
        var time = timespec()
        // Fails only for a clock that does not exist.
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
