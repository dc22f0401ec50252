import Testing

/// Workers, brokers and the App Store as separate parties on loopback. One test at a time: each needs the machine.
@Suite("Integration", .serialized)
enum IntegrationTests {}
