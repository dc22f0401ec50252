/// Descriptors that libcurl wants to hear nothing of and the poller still watches: mostly those of connections between two
/// requests. The next one has them watched again with one call to the kernel instead of three.
///
/// One for a poller, whoever has descriptors in it. Only sockets that libcurl made and has not closed can rest: the number of any
/// other, such as its resolver's, may be somebody else's by the time that an event on it has its turn.
///
/// Lives on the loop's thread only.
final class RestingDescriptors {
    private var numbers: Set<Int32> = []
    private var sockets: Set<Int32> = []

    var count: Int { numbers.count }

    func contains(_ descriptor: Int32) -> Bool { numbers.contains(descriptor) }

    /// - Returns: false for one that cannot rest.
    func insert(_ descriptor: Int32) -> Bool {
        guard sockets.contains(descriptor) else { return false }
        numbers.insert(descriptor)
        return true
    }

    func remove(_ descriptor: Int32) { numbers.remove(descriptor) }

    /// libcurl made a socket.
    func made(_ descriptor: Int32) { sockets.insert(descriptor) }

    /// libcurl is about to close a socket.
    func ends(_ descriptor: Int32) {
        sockets.remove(descriptor)
        numbers.remove(descriptor)
    }
}
