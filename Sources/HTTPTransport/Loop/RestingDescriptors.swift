/// Descriptors that libcurl wants to hear nothing of and the poller still watches: mostly those of connections between two
/// requests. The next one has them watched again with one call to the kernel instead of three.
///
/// One for a poller, whoever has descriptors in it. One that is closed is none any more: its number may be somebody else's a
/// moment later, and an event that came before that must do nothing to it.
///
/// Lives on the loop's thread only.
final class RestingDescriptors {
    private var numbers: Set<Int32> = []

    var count: Int { numbers.count }

    func contains(_ descriptor: Int32) -> Bool { numbers.contains(descriptor) }

    func insert(_ descriptor: Int32) { numbers.insert(descriptor) }

    func remove(_ descriptor: Int32) { numbers.remove(descriptor) }
}
