"""A planning agent: asks two things, waits for Continue, plans with what it is given."""

import os
import sys

from bot.client import Client


def main(item: str, owner: str) -> None:
    client = Client(os.environ["HITL_URL"], os.environ["HITL_KEY"])
    run = client.start(item, flow="plan-example", goal="Plan the importer.", owner=owner)["id"]
    client.ask(
        run,
        [
            {
                "text": "Which database should the importer use?",
                "question_type": "multiple_choice",
                "options": [{"label": "PostgreSQL", "description": "the replicas run it"}, {"label": "SQLite"}],
                "recommended": ["A"],
            },
            {"text": "What must it not break?", "question_type": "freeform"},
        ],
    )
    document = None
    while document is None:
        document = client.wait(run)
    for question in document["questions"]:
        answer = question["answer"]
        words = "my best assumption" if answer is None else ", ".join(answer["labels"]) or answer["text"] or answer["reason"]
        print(f"{question['text']} -> {words}")
    client.finish(run)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
