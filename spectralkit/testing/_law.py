"""Named laws, and running those that apply."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

SIX_SIGMA = 6.0


@dataclass(frozen=True)
class Law:
    """A named law and the capabilities without which it does not apply."""

    name: str
    needs: tuple[str, ...]
    run: Callable[[Any], None]


def law(book: list[Law], *needs: str) -> Callable:
    """Enter the decorated function into a book of laws under its own name."""

    def register(function: Callable) -> Callable:
        book.append(Law(function.__name__.removeprefix("_").replace("_", " "), needs, function))
        return function

    return register


def run_laws(laws: list[Law], case: Any, subject: str) -> dict[str, str]:
    report = {}
    for law in laws:
        missing = [need for need in law.needs if not case.has(need)]
        if missing:
            report[law.name] = f"does not apply: no {', '.join(missing)}"
            continue
        try:
            law.run(case)
        except AssertionError as error:
            raise AssertionError(f"{subject} breaks the law '{law.name}'. {error}") from error
        report[law.name] = "ran"
    return report
