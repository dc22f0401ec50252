import FileTesting
import Testing

@testable import Configuration

@Suite("Properties files")
struct PropertiesFileTests {
    private func parse(_ text: String) throws(ConfigurationError) -> PropertiesFile {
        try PropertiesFile(text, path: "kafka.properties")
    }

    @Test("Lines are key=value; comments and empty lines say nothing")
    func reads() throws {
        let file = try parse("# TLS\r\n\r\nsecurity.protocol = SASL_SSL\n  sasl.password=a=b #c \nssl.key.location=\n")
        #expect(
            file.properties.mapValues { $0.value.revealed() } == [
                "security.protocol": "SASL_SSL", "sasl.password": "a=b #c", "ssl.key.location": "",
            ])
        #expect(file.place(of: "sasl.password") == "kafka.properties:4")
        #expect(file.place(of: "acks") == nil)
        #expect(file.shown == "kafka.properties: sasl.password, security.protocol, ssl.key.location")
    }

    @Test(
        "Errors name file, line and key, and nothing of a value",
        arguments: [
            ("a=1\ncanary\n", "kafka.properties:2: must be key=value"),
            ("Canary word=1\n", "kafka.properties:1: the key must be of lower-case letters, digits, '.', '_' and '-'"),
            ("=canary\n", "kafka.properties:1: the key must be of lower-case letters, digits, '.', '_' and '-'"),
            ("a=canary\n\na=canary\n", "kafka.properties:3: a is set twice"),
            (
                "bootstrap.servers=canary\n",
                "kafka.properties:1: bootstrap.servers is set by GRANTOR_KAFKA_BOOTSTRAP_SERVERS "
                    + "(kafka.bootstrapServers in the file)"
            ),
            (
                "group.id=canary\n",
                "kafka.properties:1: group.id is set by GRANTOR_KAFKA_GROUP_ID (kafka.groupId in the file)"
            ),
        ])
    func refuses(text: String, line: String) {
        let error = #expect(throws: ConfigurationError.self) { try parse(text) }
        #expect(error?.description == line)
    }

    @Test("There is a bound to their number")
    func bounded() {
        let text = (0...PropertiesFile.maxProperties).map { "k\($0)=v\n" }.joined()
        let error = #expect(throws: ConfigurationError.self) { try parse(text) }
        #expect(error?.description == "kafka.properties:201: more than 200 properties")
    }

    @Test(
        "Bytes that no editor shows are refused",
        arguments: [("\u{FEFF}a=1\n", "byte order mark"), ("a=can\0ary\n", "NUL")])
    func unseen(text: String, named: String) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(text, to: "kafka.properties")
        let error = #expect(throws: ConfigurationError.self) {
            try PropertiesFile.read(path, namedBy: .setting(Settings.propertiesFile.name))
        }
        #expect(error?.description.contains(named) == true)
        #expect(error?.description.contains("ary") == false)
    }
}
