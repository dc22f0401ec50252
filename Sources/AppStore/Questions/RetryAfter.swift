package import Contract

/// The `Retry-After` header: seconds or an HTTP date (RFC 9110 section 10.2.3), or what the App Store sends, UNIX time
/// in milliseconds
/// ([RateLimitExceededError](https://developer.apple.com/documentation/appstoreserverapi/ratelimitexceedederror)).
package enum RetryAfter {
    /// Longest wait that is believed. A header cannot put a submission off for hours.
    package static let maxWait: Duration = .seconds(15 * 60)
    /// Numbers above are UNIX times: in seconds, such a delay would be 31 years.
    private static let leastUnixSeconds: Int64 = 1_000_000_000
    /// Numbers above are UNIX times in milliseconds: in seconds, such a time would be in the year 5138.
    private static let leastUnixMilliseconds: Int64 = 100_000_000_000

    /// The moment that a header names, no earlier than now and no later than ``maxWait`` from now. Nil if the header is
    /// absent or has none of the three forms.
    package static func moment(_ header: String?, now: Timestamp) -> Timestamp? {
        guard let text = header?.drop(while: { $0 == " " }), !text.isEmpty else { return nil }
        guard let named = number(text, now: now) ?? date(text) else { return nil }
        return min(max(named, now), now.advanced(by: maxWait))
    }

    private static func number(_ text: Substring, now: Timestamp) -> Timestamp? {
        guard let number = Int64(text) else { return nil }
        if number > leastUnixMilliseconds { return Timestamp(milliseconds: number) }
        if number > leastUnixSeconds { return Timestamp(milliseconds: number * 1000) }
        return now.advanced(by: .seconds(number))
    }

    /// `Sun, 06 Nov 1994 08:49:37 GMT`, the form that senders must use.
    private static func date(_ text: Substring) -> Timestamp? {
        let parts = text.split(separator: " ")
        guard parts.count == 6, parts[5] == "GMT", parts[1].utf8.count == 2,
            let month = months.firstIndex(of: String(parts[2]))
        else { return nil }
        let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
        return Timestamp(rfc3339: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
