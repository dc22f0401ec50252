import Testing

/// The value of an optional whose expression changes something, which `#require` cannot take.
func unwrapped<Value>(_ value: Value?, _ location: SourceLocation = #_sourceLocation) throws -> Value {
    try #require(value, sourceLocation: location)
}
