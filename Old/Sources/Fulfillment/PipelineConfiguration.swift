import Foundation
import Purchases

/// The bounds and times of a pipeline.
public struct PipelineConfiguration: Sendable {
    /// Most calls to Apple at once.
    public var maxInFlight: Int
    /// Most submissions read and not yet settled: those in flight, those that wait for a slot or for another try.
    public var maxWindowCount: Int
    /// Most bytes of records read and not yet settled.
    public var maxWindowBytes: Int
    public var retry: RetryPolicy
    /// When Apple is in trouble.
    public var availability = AvailabilityPolicy()
    /// How inventory services are told of grants.
    public var deliveries = DeliveryPolicy()
    /// How long a stop waits for calls in flight, settlement and publishing, all in all.
    public var stopLimit: Duration

    /// How old the oldest unfinished record of a partition may be before the partition is reported to be without progress.
    public var stallLimit: Duration = .seconds(300)

    /// Tasks that open submissions, which is to check signatures for the most part: one for each core.
    public var openers = max(1, ProcessInfo.processInfo.activeProcessorCount)

    /// Largest number of records taken from the source at once.
    static let maxReadCount = 500
    /// Largest number of bytes taken from the source at once.
    static let maxReadBytes = 4 << 20

    /// Submissions in the window while more would only wait for Apple.
    var outageWindowCount: Int { max(1, Int(Double(maxWindowCount) * availability.windowShare)) }

    /// Bytes of the window, unless they are set: what so many calls are about and some more. A window smaller than the
    /// receipts in flight would be the limit in their place, and in a larger one they would only wait.
    ///
    /// 18 KiB for each call: with receipts of the usual 5 to 15 KB a reader that waits for an eighth to be free is woken
    /// before calls are idle. 8 MiB hold a single one of any size.
    public static func windowBytes(for maxInFlight: Int) -> Int { max(8 << 20, maxInFlight * (18 << 10)) }

    /// A configuration; the window holds four times what is in flight, or ``windowBytes(for:)``, so that submissions that
    /// wait for another try do not idle the slots.
    public init(
        maxInFlight: Int = 1000, maxWindowCount: Int? = nil, maxWindowBytes: Int? = nil,
        retry: RetryPolicy = RetryPolicy(), stopLimit: Duration = .seconds(20)
    ) {
        self.maxInFlight = maxInFlight
        self.maxWindowCount = maxWindowCount ?? maxInFlight * 4
        self.maxWindowBytes = maxWindowBytes ?? Self.windowBytes(for: maxInFlight)
        self.retry = retry
        self.stopLimit = stopLimit
    }
}
