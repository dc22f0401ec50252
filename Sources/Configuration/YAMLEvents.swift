internal import CLibyaml

/// The events of a YAML text, by libyaml. Owns the parser and frees it once.
struct YAMLEvents: ~Copyable {
    struct Event {
        enum Kind {
            case scalar(String, isPlain: Bool)
            case sequenceStart
            case mappingStart
            /// Of a sequence or a mapping.
            case end
            case documentStart
            case documentEnd
            case streamEnd
            case alias
            /// The stream's start, and an event that a later libyaml may add.
            case other
        }

        let kind: Kind
        let line: Int
        var hasAnchor = false
        var hasTag = false
    }

    /// A text that is not YAML. `problem` is one of libyaml's own sentences, which repeat nothing of the text.
    struct Failure: Error {
        let line: Int?
        let problem: String
    }

    // libyaml keeps pointers to both, so that neither may move while the parser lives.
    private let parser: UnsafeMutablePointer<yaml_parser_t>
    private let input: UnsafeMutableBufferPointer<UInt8>

    init(_ text: String) throws(Failure) {
        parser = .allocate(capacity: 1)
        input = .allocate(capacity: text.utf8.count)
        _ = input.initialize(from: text.utf8)
        guard yaml_parser_initialize(parser) == 1 else {
            parser.deallocate()
            input.deallocate()
            throw Failure(line: nil, problem: "there is no memory left to read it")
        }
        yaml_parser_set_encoding(parser, YAML_UTF8_ENCODING)
        yaml_parser_set_input_string(parser, input.baseAddress, input.count)
    }

    deinit {
        yaml_parser_delete(parser)
        parser.deallocate()
        input.deallocate()
    }

    /// The next event. None comes after ``Event/Kind/streamEnd`` or a failure.
    mutating func next() throws(Failure) -> Event {
        var event = yaml_event_t()
        guard yaml_parser_parse(parser, &event) == 1 else { throw failure() }
        defer { yaml_event_delete(&event) }
        let line = event.start_mark.line + 1
        let data = event.data
        switch event.type {
        case YAML_SCALAR_EVENT:
            let bytes = UnsafeBufferPointer(start: data.scalar.value, count: data.scalar.length)
            let isPlain = data.scalar.style == YAML_PLAIN_SCALAR_STYLE
            return Event(
                kind: .scalar(String(decoding: bytes, as: UTF8.self), isPlain: isPlain), line: Int(line),
                hasAnchor: data.scalar.anchor != nil, hasTag: data.scalar.tag != nil)
        case YAML_SEQUENCE_START_EVENT:
            return Event(
                kind: .sequenceStart, line: Int(line), hasAnchor: data.sequence_start.anchor != nil,
                hasTag: data.sequence_start.tag != nil)
        case YAML_MAPPING_START_EVENT:
            return Event(
                kind: .mappingStart, line: Int(line), hasAnchor: data.mapping_start.anchor != nil,
                hasTag: data.mapping_start.tag != nil)
        default: return Event(kind: Self.kind(event.type), line: Int(line))
        }
    }

    private static func kind(_ type: yaml_event_type_t) -> Event.Kind {
        switch type {
        case YAML_SEQUENCE_END_EVENT, YAML_MAPPING_END_EVENT: .end
        case YAML_DOCUMENT_START_EVENT: .documentStart
        case YAML_DOCUMENT_END_EVENT: .documentEnd
        case YAML_STREAM_END_EVENT: .streamEnd
        case YAML_ALIAS_EVENT: .alias
        default: .other
        }
    }

    private func failure() -> Failure {
        let state = parser.pointee
        let problem = state.problem.map { String(cString: $0) } ?? "it cannot be read"
        // Errors of encoding come with an offset, all others with a mark.
        let line =
            state.error == YAML_READER_ERROR
            ? input.prefix(state.problem_offset).count { $0 == UInt8(ascii: "\n") } : Int(state.problem_mark.line)
        return Failure(line: line + 1, problem: problem)
    }
}
