from typing import Literal, TypedDict

class Homoglyph(TypedDict):
    c: str
    n: str

class Confusable(TypedDict):
    character: str
    alias: str
    homoglyphs: list[Homoglyph]

def is_confusable(
    string: str, greedy: bool = ..., preferred_aliases: list[str] = ...
) -> list[Confusable] | Literal[False]: ...
