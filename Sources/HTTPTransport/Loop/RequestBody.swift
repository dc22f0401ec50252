/// A request's body, whole and at a place that does not change: libcurl reads from there without a copy of its own.
final class RequestBody {
    let start: UnsafeMutableRawPointer
    let count: Int

    /// Nil for a request that has none, not even an empty one.
    init?(_ request: HTTPRequest) {
        guard request.method != .get else { return nil }
        count = request.bodyLength
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: max(1, count), alignment: 1)
        var end = 0
        for part in request.bodyParts {
            UnsafeMutableRawBufferPointer(rebasing: bytes[end...]).copyBytes(from: part)
            end += part.count
        }
        // An allocation of at least a byte has an address.
        guard let start = bytes.baseAddress else { return nil }
        self.start = start
    }

    deinit { start.deallocate() }
}
