import Kafka
import Testing

@testable import Worker

@Suite("Properties files")
struct PropertiesFileTests {
    @Test("Lines are key=value; comments and empty lines mean nothing")
    func reads() throws {
        let text = "# TLS\r\n\r\nsecurity.protocol = SASL_SSL\n  sasl.password=a=b #c \nssl.key.location=\n"
        let properties = try PropertiesFile.parse(text, file: "kafka.properties")
        #expect(
            properties.mapValues { $0.value.revealed() } == [
                "security.protocol": "SASL_SSL", "sasl.password": "a=b #c", "ssl.key.location": "",
            ])
        #expect(properties["sasl.password"]?.line == 4)
    }

    @Test("What librdkafka does not take is told with file and line, and nothing of a value")
    func refusedByLibrary() throws {
        let folder = try TemporaryFolder()
        var settings = KafkaSettings()
        settings.propertiesFile = try folder.write("# SASL\nsasl.passwort=canary\n", to: "kafka.properties")
        settings.properties = try PropertiesFile.load(folder.path + "/kafka.properties")
        let place = "\(folder.path)/kafka.properties:2"
        #expect(
            settings.words(.unknownProperty(key: "sasl.passwort"))
                == "\(place): librdkafka knows no property sasl.passwort")
        #expect(settings.words(.invalidPropertyValue(key: "sasl.passwort")).hasPrefix("\(place): "))
        #expect(settings.words(.closed) == "the client is closed")
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
        let error = #expect(throws: ConfigurationError.self) {
            try PropertiesFile.parse(text, file: "kafka.properties")
        }
        #expect(error?.description == line)
    }

    @Test("There is a bound to their number")
    func bounded() {
        let text = (0...PropertiesFile.maxProperties).map { "k\($0)=v\n" }.joined()
        #expect(throws: ConfigurationError.syntax(file: "f", line: 201, problem: "more than 200 properties")) {
            try PropertiesFile.parse(text, file: "f")
        }
    }

    @Test(
        "Bytes that nobody sees are refused",
        arguments: [("\u{FEFF}a=1\n", "byte order mark"), ("a=can\0ary\n", "NUL")])
    func unseen(text: String, named: String) throws {
        let folder = try TemporaryFolder()
        let path = try folder.write(text, to: "kafka.properties")
        let error = #expect(throws: ConfigurationError.self) { try PropertiesFile.load(path) }
        #expect(error?.description.contains(named) == true)
        #expect(error?.description.contains("ary") == false)
    }
}
