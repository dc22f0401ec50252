import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Gives players what they paid for, each purchase once, however often its event comes: consumer.py in Java.
 *
 * <p>{@code DATABASE=jdbc:postgresql:… KAFKA=host:9092 java -cp … Consumer.java [GROUP]}, with kafka-clients,
 * jackson-databind and PostgreSQL's JDBC driver in the class path.
 *
 * <p>One transaction of the database has the event's id under a unique key and the items. Kafka's offsets are committed
 * after it. Any error ends the program, and whatever starts it again goes on where it was. Runs until SIGTERM.
 */
public final class Consumer {
    private static final String GRANTED = "purchases.granted";
    private static final String FAILED = "purchases.failed";
    /** Tells why submissions wait, where the workers have it as GRANTOR_TOPIC_PENDING. */
    private static final String PENDING = System.getenv("PENDING_TOPIC");
    /** The types that this program knows. A later version of an event comes beside it, on the same topic. */
    private static final Set<String> TYPES = Set.of(
        "com.grantor.purchase.granted.v1", "com.grantor.purchase.failed.v1", "com.grantor.purchase.pending.v1");
    /** Purchases of Apple's sandbox were made without money. */
    private static final boolean GIVES_SANDBOX = "yes".equals(System.getenv("GIVE_SANDBOX"));

    private final ObjectMapper json = new ObjectMapper();
    private final Connection connection;

    private Consumer(Connection connection) {
        this.connection = connection;
    }

    public static void main(String[] arguments) throws Exception {
        var settings = new Properties();
        settings.put("bootstrap.servers", System.getenv("KAFKA"));
        settings.put("group.id", arguments.length > 0 ? arguments[0] : "inventory");
        // A group without offsets reads everything that is there.
        settings.put("auto.offset.reset", "earliest");
        settings.put("enable.auto.commit", "false");
        // How long the partitions of a consumer that was killed wait for another one.
        settings.put("session.timeout.ms", System.getenv().getOrDefault("SESSION_TIMEOUT_MS", "45000"));
        settings.put("key.deserializer", ByteArrayDeserializer.class.getName());
        settings.put("value.deserializer", ByteArrayDeserializer.class.getName());
        try (var connection = DriverManager.getConnection(System.getenv("DATABASE"));
                var kafka = new KafkaConsumer<byte[], byte[]>(settings)) {
            connection.setAutoCommit(false);
            var main = Thread.currentThread();
            Runtime.getRuntime().addShutdownHook(new Thread(() -> {
                kafka.wakeup();
                try {
                    main.join();
                } catch (InterruptedException interrupted) {
                    Thread.currentThread().interrupt();
                }
            }));
            new Consumer(connection).run(kafka);
        } catch (WakeupException end) {
            System.err.println("told to end");
        }
    }

    private void run(KafkaConsumer<byte[], byte[]> kafka) throws Exception {
        kafka.subscribe(PENDING == null ? List.of(GRANTED, FAILED) : List.of(GRANTED, FAILED, PENDING));
        while (true) {
            var records = kafka.poll(Duration.ofSeconds(1));
            if (records.isEmpty()) {
                continue;
            }
            for (var record : records) {
                apply(record);
            }
            connection.commit();
            kafka.commitSync();
        }
    }

    private void apply(ConsumerRecord<byte[], byte[]> record) throws Exception {
        var type = header(record, "ce_type");
        if (type == null || !TYPES.contains(type)) {
            return;
        }
        var event = json.readTree(record.value());
        if (record.topic().equals(PENDING)) {
            await(event);
            return;
        }
        if (record.topic().equals(FAILED)) {
            fail(event);
            return;
        }
        var isPaid = event.get("environment").asText().equals("production") || GIVES_SANDBOX;
        if (isPaid) {
            give(event);
        }
        // A copy that another submission asked for names it in a header.
        var asked = header(record, "grantor-repeat-of");
        confirm(event, asked == null ? event.get("submissionId").asText() : asked, isPaid);
    }

    /** A header's text; null where the record has none of that name. */
    private static String header(ConsumerRecord<byte[], byte[]> record, String name) {
        var found = record.headers().lastHeader(name);
        return found == null ? null : new String(found.value(), StandardCharsets.UTF_8);
    }

    private void give(JsonNode event) throws SQLException {
        var isNew = run(
            "INSERT INTO given_events (event_id) VALUES (?) ON CONFLICT DO NOTHING",
            UUID.fromString(event.get("eventId").asText())) > 0;
        if (!isNew) {
            return;
        }
        for (var item : event.get("items")) {
            run(
                "INSERT INTO inventory (user_id, item, quantity) VALUES (?, ?, ?) ON CONFLICT (user_id, item)"
                    + " DO UPDATE SET quantity = inventory.quantity + excluded.quantity",
                event.get("userId").asText(), item.get("item").asText(), item.get("quantity").asLong());
        }
    }

    /** A purchase pays the order that its event names, and no other. One that was claimed without an order first
     * belongs to none: its items are given, and an order that was claimed for it later is not paid. Nor does the
     * sandbox pay one. */
    private void confirm(JsonNode event, String submission, boolean isPaid) throws SQLException {
        var order = isPaid ? event.path("orderId").asText("") : "";
        run(
            "UPDATE submissions SET state = CASE WHEN order_id IN ('', ?) THEN 'granted' ELSE 'failed' END,"
                + " reason = CASE WHEN order_id IN ('', ?) THEN NULL ELSE ? END"
                + " WHERE submission_id = ? AND user_id = ? AND state <> 'granted'",
            order, order, isPaid ? "granted_to_another_order" : "sandbox_pays_nothing", submission,
            event.get("userId").asText());
    }

    /** A granted event of the same submission counts more, whichever comes first. The app is not compared, because a
     * failure of a malformed submission may name none. */
    private void fail(JsonNode event) throws SQLException {
        run(
            "UPDATE submissions SET state = 'failed', reason = ?"
                + " WHERE submission_id = ? AND user_id = ? AND state <> 'granted'",
            event.get("reason").asText(), event.get("submissionId").asText(), event.get("userId").asText());
    }

    /** Notes why a submission waits. Old events may come late, and an answer counts more. Of two events of one
     * moment {@code retrying} counts. */
    private void await(JsonNode event) throws SQLException {
        var at = OffsetDateTime.parse(event.get("pendingAt").asText());
        run(
            "UPDATE submissions SET waits_for = ?, waits_by = ? WHERE submission_id = ? AND user_id = ?"
                + " AND state = 'pending' AND (waits_by IS NULL OR waits_by < ? OR waits_by = ? AND ? = 'retrying')",
            event.get("cause").asText(), at, event.get("submissionId").asText(), event.get("userId").asText(), at, at,
            event.get("state").asText());
    }

    /** Carries a statement out, and returns how many rows it changed. */
    private int run(String sql, Object... values) throws SQLException {
        try (var statement = connection.prepareStatement(sql)) {
            for (int place = 0; place < values.length; place++) {
                statement.setObject(place + 1, values[place]);
            }
            return statement.executeUpdate();
        }
    }
}
