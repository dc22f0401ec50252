/// Descriptors that libcurl wants to hear nothing of and the poller still watches: mostly those of connections between two
/// requests. The next one has them watched again with one call to the kernel instead of three.
///
/// One for a poller, whoever has descriptors in it: a number that was closed here may be somebody else's a moment later, and an
/// event that came before that must not end the watch over the new one. One that was closed stays until its number comes
/// again, so there are no more than descriptors.
///
/// Lives on the loop's thread only.
final class RestingDescriptors {
    private var numbers: Set<Int32> = []

    func insert(_ descriptor: Int32) { numbers.insert(descriptor) }

    /// - Returns: whether it was one.
    func remove(_ descriptor: Int32) -> Bool { numbers.remove(descriptor) != nil }
}
