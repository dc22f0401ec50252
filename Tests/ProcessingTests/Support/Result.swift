import Testing

/// Runs a closure. `#expect` and `#require` take a mutating call only within one.
func result<Value>(_ body: () throws -> Value) rethrows -> Value { try body() }

/// Records that something else came than was expected. `guard` takes it where a value has no `==`.
func fail(sourceLocation: SourceLocation = #_sourceLocation) {
    Issue.record("Something else came than was expected.", sourceLocation: sourceLocation)
}
