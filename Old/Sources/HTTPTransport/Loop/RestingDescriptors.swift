/// Descriptors that libcurl wants to hear nothing of and the poller still watches: mostly those of connections between two
/// requests. The next one has them watched again with one call to the kernel instead of three.
///
/// One for a poller, whoever has descriptors in it. Only sockets that libcurl made and has not closed can rest: the number of any
/// other, such as its resolver's, may be somebody else's by the time that an event on it has its turn. Before 8.3 libcurl closes
/// a socket that is not connected yet without a word ([curl 11439](https://github.com/curl/curl/pull/11439)), and then has it
/// rest: so an event that was fetched before its descriptor came to rest is not for this to judge. If it is true it comes again,
/// and of what is closed the kernel tells nothing more.
///
/// Lives on the loop's thread only.
final class RestingDescriptors {
    /// When each came to rest, in batches of events.
    private var numbers: [Int32: UInt64] = [:]
    private var batch: UInt64 = 0
    private var sockets: Set<Int32> = []

    var count: Int { numbers.count }

    func contains(_ descriptor: Int32) -> Bool { numbers[descriptor] != nil }

    /// Whether it came to rest since the events were fetched that are acted on now.
    func isNew(_ descriptor: Int32) -> Bool { numbers[descriptor] == batch }

    /// Events are about to be fetched.
    func beginBatch() { batch += 1 }

    /// - Returns: false for one that cannot rest.
    func insert(_ descriptor: Int32) -> Bool {
        guard sockets.contains(descriptor) else { return false }
        numbers[descriptor] = batch
        return true
    }

    func remove(_ descriptor: Int32) { numbers[descriptor] = nil }

    /// libcurl made a socket, whatever else had its number.
    func made(_ descriptor: Int32) {
        numbers[descriptor] = nil
        sockets.insert(descriptor)
    }

    /// libcurl is about to close a socket.
    func ends(_ descriptor: Int32) {
        sockets.remove(descriptor)
        numbers[descriptor] = nil
    }
}
