import Purchases

/// What an inventory service was told.
struct ToldGrants: Sendable {
    /// When it first said yes to a grant, in milliseconds since 1970.
    var firstYes: [GrantID: Int64] = [:]
    /// The bodies of the calls for each grant; more than one means that calls differ.
    var bodies: [GrantID: Set<[UInt8]>] = [:]
    /// Calls, those for the same grant included.
    var calls = 0
    /// Calls whose signature does not fit.
    var unsigned = 0
}
