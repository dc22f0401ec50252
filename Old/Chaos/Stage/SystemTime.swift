import Foundation
import Logging
import Purchases

/// This machine's clock.
enum SystemTime {
    /// Since 1970.
    static var milliseconds: Int64 { Int64(Date().timeIntervalSince1970 * 1000) }

    static var now: Timestamp { Timestamp(milliseconds: milliseconds) }
}

extension Logger {
    /// For clients whose brokers go away on purpose.
    static var silent: Logger {
        Logger(label: "chaos") { _ in SwiftLogNoOpLogHandler() }
    }
}
