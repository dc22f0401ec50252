import Fulfillment

/// How much is verified at once and for how long.
struct VerificationSettings: Hashable, Sendable {
    /// Most calls to Apple at once.
    var maxInFlight = 1000
    /// Most bytes of records that are read and not yet settled. By default ``PipelineConfiguration/windowBytes(for:)``.
    var maxWindowBytes = PipelineConfiguration.windowBytes(for: 1000)
    /// How long a purchase that Apple does not know yet is asked for again, from the first try on.
    var notFoundWindow = Duration.seconds(6 * 3600)
    /// How old a parked submission may become before it is given up; nil for never.
    var maxSubmissionAge: Duration?
    /// How long a stop in order may take before the rest is left for the next start.
    var shutdownTimeout = Duration.seconds(20)

    /// The defaults.
    init() {}
}

extension VerificationSettings {
    init(_ values: ConfigurationValues) throws(ConfigurationError) {
        self.init()
        maxInFlight = try values.integer(.maxInFlight, 1...10_000) ?? maxInFlight
        maxWindowBytes =
            try values.integer(.maxWindowBytes, (1 << 20)...(4 << 30))
            ?? PipelineConfiguration.windowBytes(for: maxInFlight)
        notFoundWindow =
            try values.duration(.notFoundWindow, .zero ... .seconds(30 * 86_400)) ?? notFoundWindow
        maxSubmissionAge = try values.duration(.maxSubmissionAge, .seconds(3600) ... .seconds(365 * 86_400))
        shutdownTimeout = try values.duration(.shutdownTimeout, .seconds(1) ... .seconds(600)) ?? shutdownTimeout
    }
}
