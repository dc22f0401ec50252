"""The faults of scripts/faults-test.py that concern Apple, the apps file and what producers send."""

import json
import time

from confluent_kafka import Consumer

from checkout import Failure
from faults_judge import Blind, Line, Refuses, Sees, ends
from faults_lane import APP, GEMS, SECRET, Lane
from faults_stage import certificate

STOPPED, HELD = "Apple cannot be asked at an endpoint", "Submissions of an app are held until a person acts"
# Receipts that are enough for a breaker to open.
MANY = 30


def play_apple(lane):
    def faulty(name, words, sees, cause, mend, fresh=False):
        claims = [lane.receipt() for _ in range(MANY)] if lane.stage.wants(name) else []

        def make():
            cause()
            lane.submit(*claims)

        lane.fault(
            name, make, mend, fresh=fresh, line=Line(STOPPED, words), alert="GrantorAppleStopped", check=sees,
        )

    production = "Apple verifyReceipt, production"
    faulty(
        "Apple cannot be reached", "(?i)connect", Sees(production, "warning", "cannot be reached"),
        lane.apple.part.kill, lane.apple.start,
    )
    _, foreign, _ = certificate(lane.folder, "foreign")
    faulty(
        "Apple's certificate of a foreign authority", "GRANTOR_APPLE_CA_FILE",
        Sees(production, "failed", "GRANTOR_APPLE_CA_FILE"), lambda: lane.start(GRANTOR_APPLE_CA_FILE=foreign),
        lane.restart, fresh=True,
    )

    def scripted(name, behaviour, words, sees):
        def make():
            lane.apple.tell("scripts", {"behaviour": behaviour})
            # A worker that runs takes trouble within a minute of the last one for the same, and tells nothing anew.
            lane.start()

        faulty(name, words, sees, make, lambda: lane.apple.tell("scripts"), fresh=True)

    def share(fault):
        return {"faults": [{"share": 1, "fault": fault}]}

    scripted("Apple answers 503", {"outage": "unavailable"}, "HTTP 503", Sees(production, "warning", "HTTP 503"))
    scripted(
        "Apple answers with a page", share({"html": {}}), "sent what is no reply",
        Sees(production, "failed", "a page that is none of Apple's"),
    )
    scripted("Apple does not answer", share({"hang": {}}), "time", Sees(production, "warning", "took too long"))


class PeopleLane(Lane):
    """Its app has a key of the App Store Server API, and a second app a shared secret that may be wrong."""

    SECOND = "com.example.studio"

    def apps(self, *more, **members):
        self.file("second-secret", SECRET)
        addresses = self.apple.addresses
        key = {
            "issuerId": addresses["issuerId"], "keyId": addresses["keyId"], "privateKeyFile": addresses["apiKeyFile"],
        }
        second = {
            "bundleId": self.SECOND, "sandbox": {"policy": "reject"}, "sharedSecretFiles": ["second-secret"],
            "products": "any",
        }
        return super().apps(second, *more, **({"serverAPI": key} | members))

    def mend_apps(self):
        self.reload(self.apps())


def play_people(lane):
    producers(lane)
    apps(lane)
    secrets(lane)


def producers(lane):
    unseen = Blind("it reads no submissions")
    lane.fault(
        "record that is no JSON", lambda: lane.produce("u", "not a submission"), lambda: None,
        line=Line("Records hold no submission", "reason: not_json"), alert="GrantorQuarantine", check=unseen,
    )

    def forged():
        claims = [lane.signed() for _ in range(150)]
        for claim in claims:
            claim["signedTransaction"] = claim["signedTransaction"][:-8] + "AAAAAAAA"
        lane.submit(*claims)

    def answered():
        reader = Consumer({
            "bootstrap.servers": lane.kafka.address, "group.id": f"{lane.name}-judge", "auto.offset.reset": "earliest",
        })
        reader.subscribe([lane.topic("failed")])
        record = reader.poll(60)
        reader.close()
        reason = json.loads(record.value())["reason"] if record and not record.error() else "none"
        if reason != "signature_invalid":
            raise Failure(f"purchases.failed has {reason}")
        return f"no line: each is answered on purchases.failed, as {reason}"

    lane.fault(
        "forged transactions", forged, lambda: None, line=answered, alert="GrantorForgeries", check=unseen,
    )

    def ahead():
        moment = int((time.time() + 900) * 1000)
        lane.submit(*[lane.signed(signedDate=moment) for _ in range(7)])

    lane.fault(
        "this host's clock is slow", ahead, lambda: None, line=Line("ahead of this host's clock", "compare"),
        alert="GrantorClockWrong", check=Blind("it compares this clock with PostgreSQL's only"),
    )
    lane.fault(
        "submissions of an app that the apps file lacks",
        lambda: lane.submit(*[lane.signed(app="com.example.unknown") for _ in range(7)]), lambda: None,
        line=Line("the apps file lacks their app", "app: com.example.unknown"), alert="GrantorCatalogueIncomplete",
        check=unseen,
    )


def apps(lane):
    chest, sword = f"{APP}.chest", f"{APP}.sword"
    lane.fault(
        "product that the apps file lacks", lambda: lane.submit(lane.signed(chest)),
        lambda: lane.reload(lane.apps(products=[chest])), line=Line(HELD, "product_not_configured.*list the product"),
        alert="GrantorHeld", check=Blind("it does not count what is held"),
    )
    lane.fault(
        "product that the apps file lacks, beside another one", lambda: lane.submit(lane.receipt(GEMS, sword)),
        lambda: None, line=Line("were passed over beside others", f"product: {sword}"), alert="GrantorPassedOver",
        check=Blind("it does not count what is passed over"),
    )
    broken = "apps:\n  - bundleId: [\n"
    lane.fault(
        "apps file with a mistake at SIGHUP", lambda: lane.reload(broken), lane.mend_apps,
        line=Line("The apps file cannot be used", r"apps\.yaml:\d+"), alert="GrantorAppsFileRefused",
        check=Refuses(r"apps\.yaml:\d+"),
    )

    def start():
        lane.file("apps.yaml", broken)
        lane.start()

    def mend():
        lane.file("apps.yaml", json.dumps(lane.apps()))
        lane.restart()

    lane.fault(
        "apps file with a mistake at the start", start, mend, fresh=True, line=ends(r"apps\.yaml:\d+"),
        alert="GrantorDown", check=Refuses(r"apps\.yaml:\d+"),
    )
    lane.fault(
        "misspelt setting", lambda: lane.start(GRANTOR_LEDGER_ULR="sqlite:x"), fresh=True,
        line=ends("GRANTOR_LEDGER_ULR"), alert="GrantorDown", check=Refuses("GRANTOR_LEDGER_ULR"),
    )


def secrets(lane):
    def wrong_secret():
        file = lane.apps()
        lane.file("second-secret", SECRET[::-1])
        lane.reload(file)
        lane.submit(lane.receipt(f"{lane.SECOND}.gems", app=lane.SECOND))

    lane.fault(
        "shared secret that Apple refuses", wrong_secret, lane.mend_apps,
        line=Line(HELD, "shared_secret_refused.*correct sharedSecretFiles"), alert="GrantorHeld",
        check=Blind("Apple tells it of an app's own receipt only"),
    )
    _, _, foreign = certificate(lane.folder, "other-key")

    def wrong_key():
        key = lane.apps()["apps"][0]["serverAPI"] | {"privateKeyFile": foreign}
        lane.reload(lane.apps(serverAPI=key))
        purchase = lane.purchase()
        transaction = {"bundleId": APP, "environment": "production", "purchase": purchase}
        lane.apple.tell("transactions", {"transactions": [{"transaction": transaction}]})
        lane.submit({"bundleId": APP, "transactionId": purchase["transactionId"]})

    lane.fault(
        "key that the App Store Server API refuses", wrong_key, lane.mend_apps,
        line=Line(HELD, "credentials_refused.*correct serverAPI"), alert="GrantorHeld",
        check=Sees(f"App Store Server API, {APP}", "failed", "HTTP 401"),
    )
