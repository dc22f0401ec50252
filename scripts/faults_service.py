"""The faults of scripts/faults-test.py between a worker and an app's inventory service."""

import hashlib
import hmac
import json
import ssl
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from checkout import free_port

from faults_judge import Blind, Line, Sees
from faults_lane import APP, Lane
from faults_stage import certificate

AWAY = "An inventory service cannot be called"
# Grants that are enough for a breaker to open.
MANY = 30


class Service:
    """A service that checks signatures, and gives nothing. `answer` is what it says to a genuine call."""

    def __init__(self, folder, secret):
        self.folder, self.secret, self.port, self.answer, self.server = folder, secret.encode(), free_port(), 204, None
        both, self.authority, _ = certificate(folder, "service")
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(both)

    def start(self):
        service = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            timeout = 10

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                self.reply(service.answer if service.knows(self.headers["Grantor-Signature"], body) else 401)

            def do_GET(self):
                self.reply(405)

            def reply(self, status):
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *words):
                pass

        class Server(ThreadingHTTPServer):
            daemon_threads, request_queue_size = True, 128

            def finish_request(self, request, address):
                # On the call's own thread: a client that distrusts the certificate holds nobody up.
                request = service.context.wrap_socket(request, server_side=True)
                super().finish_request(request, address)

            def handle_error(self, request, address):
                pass

        self.server = Server(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def knows(self, header, body):
        parts = [part.split("=", 1) for part in header.split(",")]
        at = next(value for name, value in parts if name == "t")
        wanted = hmac.new(self.secret, at.encode() + b"." + body, hashlib.sha256).hexdigest()
        return any(hmac.compare_digest(wanted, value) for name, value in parts if name == "v1")


class ServiceLane(Lane):
    RIGHT, WRONG = "the-services-own-secret", "a-secret-of-somebody"

    def __init__(self, *words):
        self.service = None
        super().__init__(*words)
        self.service = Service(self.folder, self.RIGHT)
        self.service.start()
        self.file("apps.yaml", json.dumps(self.apps()))

    def apps(self, secret=RIGHT, authority=None):
        if not self.service:
            return super().apps()
        fulfillment = {
            "url": f"https://127.0.0.1:{self.service.port}/grants", "timeout": "2s",
            "secretFiles": [self.file(f"service-{len(secret)}", secret)], "caFile": authority or self.service.authority,
        }
        return super().apps(fulfillment=fulfillment)


def play(lane):
    service = lane.service

    def buy(count=MANY):
        lane.submit(*[lane.signed() for _ in range(count)])

    def right():
        lane.reload(lane.apps())

    name = f"inventory service, {APP}"
    away = {"alert": "GrantorFulfilmentOverdue"}

    def down():
        service.stop()
        buy()

    lane.fault(
        "inventory service is down", down, service.start, line=Line(AWAY, "the service cannot be reached"),
        check=Sees(name, "warning", "cannot be reached"), **away,
    )

    def refuse():
        service.answer = 422
        buy(1)

    def accept():
        service.answer = 204

    lane.fault(
        "inventory service refuses grants", refuse, accept,
        line=Line("An inventory service refuses paid grants", "refused: 1"), alert="GrantorFulfilmentRefused",
        check=Blind("it sends the service no grant"),
    )

    def wrong_secret():
        lane.reload(lane.apps(secret=lane.WRONG))
        buy()

    lane.fault(
        "secret that the inventory service does not know", wrong_secret, right,
        line=Line(AWAY, "HTTP 401.*secretFiles"), check=Blind("it sends the service no grant"), **away,
    )
    _, foreign, _ = certificate(lane.folder, "foreign")

    def distrust():
        lane.reload(lane.apps(authority=foreign))
        buy()

    lane.fault(
        "service's certificate of a foreign authority", distrust, right, line=Line(AWAY, "not trusted .caFile."),
        check=Sees(name, "failed", "not trusted .caFile."), **away,
    )
