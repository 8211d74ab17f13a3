"""A maintenance job: removes nothing without an eligible yes. Silence, a no, or free words mean: leave it."""

import os
import sys

from bot.client import Client


def main(item: str, owner: str) -> None:
    client = Client(os.environ["HITL_URL"], os.environ["HITL_KEY"])
    run = client.start(item, flow="cleanup-example", goal="Remove stale review apps.", owner=owner)["id"]
    client.ask(run, [{"text": "Remove the 14 review apps older than 30 days?", "question_type": "yes_no"}])
    document = None
    while document is None:
        document = client.wait(run)
    answer = document["questions"][0]["answer"]
    agreed = answer is not None and answer["kind"] == "yes"
    print("removing them" if agreed else "leaving them alone")
    client.finish(run, reason="removed" if agreed else "left alone")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
