#!/usr/bin/env python3
"""An inventory service that Grantor calls for each grant before its event is published (docs/fulfilment.md).

    DATABASE=postgres://… SECRETS=one[,next] CERTIFICATE=server.pem KEY=server.key service.py [PORT]

The signature is checked before anything is read. One transaction of the database has the event's id under a unique key
and the items, so a call that comes again gives nothing. A yes is said when the transaction is on stable storage. An
error of the database is answered 503: Grantor calls again. SECRETS are two while they are changed. A purchase of
Apple's sandbox is answered with a yes and gives nothing, unless GIVE_SANDBOX is yes.
"""

import hashlib
import hmac
import json
import os
import ssl
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import psycopg

# Seconds that a call's signature may be off this host's clock.
TOLERANCE = 300
# Bytes of a grant's event at most.
MOST_BYTES = 1 << 20
# Purchases of Apple's sandbox were made without money.
GIVES_SANDBOX = os.environ.get("GIVE_SANDBOX") == "yes"
SECRETS = [secret.encode() for secret in os.environ["SECRETS"].split(",")]


def is_genuine(header, body, now):
    """Whether one of the secrets has signed the body lately. Never throws, whatever the header holds."""
    parts = [part.split("=", 1) for part in header.split(",") if "=" in part]
    at = next((value for name, value in parts if name == "t"), "")
    # No time has more digits, and Python reads no number of thousands of them.
    if len(at) > 15 or not at.isascii() or not at.isdigit() or abs(now - int(at)) > TOLERANCE:
        return False
    codes = [value.encode() for name, value in parts if name == "v1"]
    wanted = [hmac.new(secret, at.encode() + b"." + body, hashlib.sha256).hexdigest().encode() for secret in SECRETS]
    return any(hmac.compare_digest(code, one) for code in codes for one in wanted)


def give(connection, key, event):
    """Gives a grant's items once.
    Returns whether they were given now; otherwise they were given before."""
    with connection.transaction():
        new = connection.execute(
            "INSERT INTO given_events (event_id) VALUES (%s) ON CONFLICT DO NOTHING", (key,)
        )
        if new.rowcount == 0:
            return False
        for item in event["items"]:
            connection.execute(
                """
                INSERT INTO inventory (user_id, item, quantity) VALUES (%s, %s, %s)
                ON CONFLICT (user_id, item) DO UPDATE SET quantity = inventory.quantity + excluded.quantity
                """,
                (event["userId"], item["item"], item["quantity"]),
            )
    return True


class Grants(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    # A caller that sends nothing holds its thread for so many seconds at most.
    timeout = 60

    def do_POST(self):
        length = self.headers.get("Content-Length", "")
        if not length.isdigit() or int(length) > MOST_BYTES:
            self.close_connection = True
            return self.answer(413)
        body = self.rfile.read(int(length))
        if not is_genuine(self.headers.get("Grantor-Signature", ""), body, time.time()):
            return self.answer(401)
        event = json.loads(body)
        # The body's, because it is signed: whoever sends a call again under another header gets nothing.
        key = event["eventId"]
        if self.headers.get("Idempotency-Key") != key:
            return self.answer(400)
        if event["environment"] != "production" and not GIVES_SANDBOX:
            return self.answer(200, key)
        try:
            with psycopg.connect(os.environ["DATABASE"], autocommit=True) as connection:
                is_new = give(connection, key, event)
        except psycopg.Error as error:
            print(error, file=sys.stderr)
            return self.answer(503)
        # Both are a yes.
        return self.answer(200 if is_new else 409, key)

    def do_GET(self):
        """`grantor check` asks so whether the service is there."""
        self.answer(405)

    def answer(self, status, key=None):
        self.send_response(status)
        if status == 405:
            self.send_header("Allow", "POST")
        if key:
            self.send_header("Idempotency-Key", key)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def main():
    port = int(sys.argv[1]) if len(sys.argv) > 1 else 8443
    server = ThreadingHTTPServer(("127.0.0.1", port), Grants)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(os.environ["CERTIFICATE"], os.environ["KEY"])
    # The handshake is the thread's of its connection, so that a slow caller keeps nobody else out.
    server.socket = context.wrap_socket(server.socket, server_side=True, do_handshake_on_connect=False)
    server.serve_forever()


if __name__ == "__main__":
    main()
