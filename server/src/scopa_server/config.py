"""The server's settings, from options and environment, checked."""

from argparse import ArgumentError, ArgumentParser
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal
from urllib.parse import urlsplit

from scopa_server.bounds import SPARABLE, Bounds, Sparable
from scopa_server.options import OPTIONS, PREFIX, Option, file_of
from scopa_server.values import Network

_CLIENTS_OWN: Final = frozenset({"SCOPA_SERVER", "SCOPA_NAME"})
_MOST_OF_A_SECRET: Final = 65536


class BadOption(ValueError):
    """An option can't be followed. The message says which, why and what to do; no secrets."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Config(Bounds):
    """What the operator asked for. Times are in seconds; what may hold a secret isn't shown."""

    host: str
    port: int
    workers: int
    public_url: str | None
    tls_cert: Path | None
    tls_key: Path | None
    origins: tuple[str, ...]
    trusted_proxies: tuple[Network, ...]
    access_key: str | None = field(repr=False)
    store: str = field(repr=False)
    room_ttl: int
    match_ttl: int
    admin_host: str
    admin_port: int | Literal["auto"] | None
    log_level: str
    log_format: str
    warnings: tuple[str, ...] = ()

    @property
    def store_name(self) -> str:
        """The store for logs and messages: without user, password and options."""
        return _without_secrets(self.store)


def parse(argv: Sequence[str], environ: Mapping[str, str]) -> Config:
    """Read options and `SCOPA_*` variables; raises BadOption. An option wins over a variable."""
    # An empty variable is what compose files make of an unset one: as good as none.
    given = {name: text for name, text in environ.items() if name.startswith(PREFIX) and text}
    warnings = _unknown_variables(given)
    options = _options(argv)
    warnings += _shown_secrets(options)
    given |= options
    found: dict[str, Any] = {option.field: _value(option, given) for option in OPTIONS}
    config = Config(**found, spared=_spared(given), warnings=warnings)
    _agree(config)
    return config


def fit_to_serve(config: Config) -> None:
    """Refuse what is wrong for a server alone, not for the operator's commands: BadOption."""
    if config.workers > 1 and config.store.startswith("sqlite:"):
        raise BadOption(
            "--workers needs a store that processes can share: a SQLite file serves one process; "
            "use --store redis://…, or leave --workers out"
        )


def _options(argv: Sequence[str]) -> dict[str, str]:
    parser = ArgumentParser(add_help=False, allow_abbrev=False, exit_on_error=False)
    for option in OPTIONS:
        parser.add_argument(option.flag, dest=option.flag, action="append")
        if option.secret:
            parser.add_argument(file_of(option.flag), dest=file_of(option.flag), action="append")
    try:
        known, rest = parser.parse_known_args(argv)
    except ArgumentError as error:
        name = error.argument_name
        raise BadOption(f"{name} needs a value; {name}=VALUE if it begins with a dash") from None
    if rest:
        raise BadOption(_unknown_word(rest))
    given: dict[str, list[str] | None] = vars(known)
    return {flag: _last(flag, texts) for flag, texts in given.items() if texts}


def _last(flag: str, texts: list[str]) -> str:
    if "" in texts:
        raise BadOption(f"{flag} is empty: give it a value, or leave it out")
    return ",".join(texts) if flag in {o.flag for o in OPTIONS if o.many} else texts[-1]


def _value(option: Option, given: Mapping[str, str]) -> object:
    source, text = _find(option, given)
    if text is None:
        return () if option.many else None
    try:
        return option.read(text)
    except ValueError as error:
        raise BadOption(f"{source} {error}") from None


def _find(option: Option, given: Mapping[str, str]) -> tuple[str, str | None]:
    """Where an option's text stands, and the text."""
    for name in (option.flag, option.variable):
        file = file_of(name)
        if option.secret and file in given:
            if name in given:
                raise BadOption(f"{name} and {file} are both given: keep one of them")
            return file, _secret(file, given[file])
        if name in given:
            return name, given[name]
    return option.flag, option.default


def _spared(given: Mapping[str, str]) -> frozenset[Sparable]:
    """The limits that nobody asked for: whatever is asked for holds for everybody."""
    asked = {option.field for option in OPTIONS if given.keys() & {option.flag, option.variable}}
    return SPARABLE - asked


def _secret(source: str, path: str) -> str:
    try:
        with Path(path).open(encoding="utf-8") as file:
            text = file.read(_MOST_OF_A_SECRET).strip()
    except (OSError, ValueError):
        raise BadOption(f"{source} must name a text file that the server can read") from None
    if not text:
        raise BadOption(f"{source} names an empty file: write the value into it")
    return text


def _agree(config: Config) -> None:
    if (config.tls_cert is None) != (config.tls_key is None):
        raise BadOption("--tls-cert and --tls-key belong together: give both or neither")
    if config.port and (config.host, config.port) == (config.admin_host, config.admin_port):
        raise BadOption("--port and --admin-port are the same: change one of them")


def _unknown_word(words: Sequence[str]) -> str:
    """Name the first unknown option; never its value or a word alone: it may be a secret."""
    named = next((word.partition("=")[0] for word in words if word.startswith("--")), None)
    if named is None:
        return "there is a word that belongs to no option; see --help"
    return f"there is no option {named}{_meant(named, _flags())}"


def _unknown_variables(given: Mapping[str, str]) -> tuple[str, ...]:
    known = {option.variable for option in OPTIONS}
    known |= {file_of(option.variable) for option in OPTIONS if option.secret}
    return tuple(
        f"{name} is no setting of the server and is ignored{_meant(name, known)}"
        for name in sorted(given.keys() - known - _CLIENTS_OWN)
    )


def _shown_secrets(options: Mapping[str, str]) -> tuple[str, ...]:
    """Say which options other users of the machine can read in the list of processes."""
    shown = [o.flag for o in OPTIONS if o.secret and _is_secret(options.get(o.flag, ""))]
    return tuple(
        f"{flag} can be read by every user of this machine while the server runs: "
        f"use {file_of(flag)} or the environment"
        for flag in shown
    )


def _is_secret(text: str) -> bool:
    """Whether an option's text is one: a store's is if there is a password in it."""
    scheme, colon, rest = text.partition(":")
    if colon and scheme.partition("+")[0] in {"sqlite", "redis", "rediss", "unix"}:
        return scheme != "sqlite" and ("@" in rest or "password=" in rest)
    return bool(text)


def _flags() -> set[str]:
    flags = {option.flag for option in OPTIONS}
    return flags | {file_of(option.flag) for option in OPTIONS if option.secret}


def _without_secrets(store: str) -> str:
    scheme = store.partition(":")[0]
    if scheme == "sqlite":
        return store
    try:
        parts = urlsplit(store)
    except ValueError:
        return f"{scheme}:"
    # A password with a bare / ? or # in it reaches beyond where passwords stand.
    if "@" in store.replace(parts.netloc, "", 1):
        return f"{scheme}:"
    return f"{scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"


def _meant(name: str, known: set[str]) -> str:
    from difflib import get_close_matches

    close = get_close_matches(name, sorted(known), 1, cutoff=0.75)
    return f"; did you mean {close[0]}?" if close else "; see --help"
