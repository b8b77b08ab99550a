"""Made-up memories: short, varied, none twice."""

import random
from collections.abc import Iterator

_WHO = [
    "Ann",
    "Ben",
    "Carla",
    "Dev",
    "Elif",
    "Femi",
    "Grace",
    "Hiro",
    "Ines",
    "Jonas",
    "Kavya",
    "Lars",
    "Mina",
    "Noor",
    "Omar",
    "Pia",
]
_TEAM = [
    "billing",
    "search",
    "payments",
    "mobile",
    "platform",
    "support",
    "design",
    "security",
    "data",
    "growth",
]
_DID = [
    "decided to move {what} to {tool}",
    "saw {what} fail after the update of {tool}",
    "asked {other} to review {what} before {day}",
    "measured {what} with {tool}: {number} requests a second",
    "wants {what} documented for the {team} team",
    "postponed the migration of {what} until {day}",
    "prefers {tool} over spreadsheets for {what}",
    "found that {what} costs {number} euros a month",
    "showed {other} how {tool} handles {what}",
    "wrote down why {what} must not depend on {tool}",
]
_WHAT = [
    f"{kind} {thing}"
    for kind in ["the nightly", "the public", "the legacy", "the internal", "the regional"]
    for thing in [
        "invoice export",
        "login page",
        "event queue",
        "price list",
        "audit report",
        "image cache",
        "mail sender",
        "address book",
        "backup job",
        "release pipeline",
    ]
]
_TOOL = [
    "Postgres",
    "Kafka",
    "Redis",
    "Terraform",
    "Grafana",
    "SQLite",
    "Airflow",
    "Figma",
    "Jenkins",
    "Nginx",
    "Elastic",
]
_DAY = ["Monday", "Tuesday", "Wednesday", "Thursday", "Friday"]


def endless(seed: int) -> Iterator[str]:
    """Sentences of 10 to 20 words; the same ones in the same order for the same seed."""
    draw = random.Random(seed)
    number = 0
    while True:
        number += 1
        said = draw.choice(_DID).format(
            what=draw.choice(_WHAT),
            tool=draw.choice(_TOOL),
            other=draw.choice(_WHO),
            team=draw.choice(_TEAM),
            day=draw.choice(_DAY),
            number=draw.randrange(10, 9000),
        )
        yield f"{draw.choice(_WHO)} from {draw.choice(_TEAM)} {said} (ticket {seed}-{number})."


def questions(seed: int) -> Iterator[str]:
    """Questions about such sentences, hardly one twice."""
    draw = random.Random(seed)
    while True:
        yield draw.choice(
            [
                "What did {who} decide about {what} and {tool}?",
                "Who measured {what} with {tool} for {team}?",
                "Why was {what} postponed until {day}?",
                "How much does {what} of the {team} team cost?",
                "Did {who} show anybody how {tool} handles {what}?",
            ]
        ).format(
            who=draw.choice(_WHO),
            what=draw.choice(_WHAT),
            tool=draw.choice(_TOOL),
            team=draw.choice(_TEAM),
            day=draw.choice(_DAY),
        )
