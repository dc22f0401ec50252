/// A request's body, whole and at a place that does not change: libcurl reads from there without a copy of its own. A
/// caller that asks again keeps the object and needs no copy either.
///
/// Unchecked, because the compiler cannot see that nobody writes behind the pointer once the object is made.
public final class HTTPBody: @unchecked Sendable {
    let start: UnsafeRawPointer
    /// Bytes.
    public let count: Int

    /// A body of parts, one after another; without any it is empty, which is not the same as none.
    public init(_ parts: [some Collection<UInt8>]) {
        count = parts.reduce(0) { $0 + $1.count }
        // An address is needed for no bytes, too.
        let start = UnsafeMutableRawPointer.allocate(byteCount: max(1, count), alignment: 1)
        var end = 0
        for part in parts {
            UnsafeMutableRawBufferPointer(start: start + end, count: part.count).copyBytes(from: part)
            end += part.count
        }
        self.start = UnsafeRawPointer(start)
    }

    /// An empty one.
    convenience init() { self.init([[UInt8]]()) }

    deinit { start.deallocate() }

    /// A copy.
    public var bytes: [UInt8] { Array(UnsafeRawBufferPointer(start: start, count: count)) }
}
