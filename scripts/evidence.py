"""Purchases, and their evidence as the simulated App Store makes it: `ask` puts an order to it, by its path."""

import time


def purchase(number, product, **members):
    """A purchase of this moment, with the number of its transaction."""
    moment = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    return {"transactionId": str(number), "productId": product, "purchasedAt": moment} | members


def signed(ask, app, bought, environment="production", **order):
    transaction = {"bundleId": app, "environment": environment, "purchase": bought}
    return ask("signed-transactions", {"transaction": transaction} | order)["signedTransaction"]


def receipt(ask, app, purchases, **order):
    content = {
        "bundleId": app, "environment": "production", "purchases": purchases,
        "creationDate": purchases[-1]["purchasedAt"],
    }
    return ask("receipts", content | order)["receipt"]
