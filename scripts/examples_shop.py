"""The shop of scripts/examples-test.py: its app, and purchases with all that their players must have in the end."""

from collections import Counter

import evidence

APP = "com.example.game"
GEMS, SWORD, CHEST, MAP = f"{APP}.gems100", f"{APP}.sword", f"{APP}.chest", f"{APP}.map"
# The one user whose purchases of the sandbox are granted.
TESTER = "tester-1"


def apps(*more):
    """The apps file. The catalogue is late for the chest, and lacks the map for ever."""
    products = [
        {"id": GEMS, "type": "consumable", "items": [{"item": "gems", "quantity": 100}]},
        {"id": SWORD, "type": "nonConsumable", "items": [{"item": "sword", "quantity": 1}]},
        *more,
    ]
    return {"apps": [{"bundleId": APP, "sandbox": {"policy": "users", "users": [TESTER]}, "products": products}]}


def key(claim):
    """The user, and what the claim is for: the transaction, with the order that it pays."""
    order = claim.get("orderId")
    return claim["userId"], claim["transactionId"] + (f"/{order}" if order else "")


class Shop:
    """Purchases that players make, and what each must have for them in the end."""

    def __init__(self, apple):
        self.apple = apple
        self.number = 2_000_000_000_000_000
        self.inventory = Counter()
        self.paid = 0
        # State, reason and cause of waiting of each claim in the end, by its key.
        self.answers = {}

    def purchase(self, user, product, item, units, quantity=1, kind="consumable"):
        self.inventory[user, item] += units * quantity
        self.paid += 1
        return self.unpaid(product, quantity, kind)

    def unpaid(self, product, quantity=1, kind="consumable"):
        """A purchase that gives its player nothing, or nothing before the end."""
        self.number += 1
        return evidence.purchase(self.number, product, quantity=quantity, kind=kind)

    def gems(self, user, quantity=1):
        return self.purchase(user, GEMS, "gems", 100, quantity)

    def signed(self, purchase, environment="production"):
        return evidence.signed(self.apple.ask, APP, purchase, environment)

    def receipt(self, *purchases, size=None):
        return evidence.receipt(self.apple.ask, APP, purchases, **({"targetSize": size} if size else {}))

    def claim(self, user, purchase, answer=("granted", None), **proof):
        """A claim as a client brings it, and its answer: the state, with the reason or the cause of waiting."""
        proof = proof or {"signedTransaction": self.signed(purchase)}
        claim = {"userId": user, "bundleId": APP, "transactionId": purchase["transactionId"], **proof}
        self.answers[key(claim)] = answer
        return claim
