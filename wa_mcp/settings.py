"""Settings: one frozen model, read once, from flags and `WA_MCP_...` variables."""

from collections.abc import Mapping
from ipaddress import ip_address
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, SecretStr, ValidationError
from pydantic_core import PydanticCustomError

from toolkits.dataset import BUNDLED

__all__ = ["PREFIX", "Settings", "SettingsError", "read_settings"]

PREFIX: Final = "WA_MCP_"

_INSTANCE: Final = r"^[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}$"
SHORTEST_TOKEN: Final = 16
_LISTS: Final = frozenset({"allowed_host"})


class SettingsError(ValueError):
    """A setting that does not exist or does not fit; the message names it and says what was expected."""


def _public(url: str | None) -> str | None:
    if url is None:
        return None
    if not url.startswith(("http://", "https://")) or any(mark in url for mark in "?# ") or not _host(url):
        raise PydanticCustomError("url", "expected http:// or https:// and a host, without query or fragment")
    return url.rstrip("/")


def _host(url: str) -> str | None:
    """Find the host that a URL names, None where it names none or is no URL."""
    try:
        parts = urlsplit(url)
        return parts.hostname if parts.port != 0 else None
    except ValueError:
        return None


def _bare(hosts: tuple[str, ...]) -> tuple[str, ...]:
    for host in hosts:
        if not host or any(mark in host for mark in "/?#@* "):
            raise PydanticCustomError("host", "expected a host name, with or without a port")
    return hosts


class Settings(BaseModel):
    """What a server is told when it starts.

    Attributes:
        host: Address to listen on.
        port: TCP port to listen on; 0 takes a free one.
        data: Folder of the data set.
        checkpoint_root: Folder that all checkpoints lie under.
        instance: Name of this server among others that share a checkpoint.
        public_url: Where clients reach the server, if that is not `http://host:port`.
        allowed_host: Host names, besides loopback's and the public URL's, that requests may name.
        max_sessions: Sessions that may live at once.
        idle_after: Seconds without a call after which a session is closed; 0 closes none.
        offer: Ready-made session URLs that the server prints, to try it.
        on_checkpoint: What a call does while a checkpoint is open: be refused, or wait.
        wait_limit: Seconds that such a call waits at most.
        lease_grace: Seconds that a checkpoint stays open on top of its controller's timeouts.
        admin_token: What a controller has to show; made when the server starts if none is given.
        admin_token_file: File that holds that token, and nothing else.
        log_level: How much is logged: debug, info, warning or error.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    host: Annotated[str, Field(min_length=1)] = "127.0.0.1"
    port: Annotated[int, Field(ge=0, le=65535)] = 8765
    data: Path = BUNDLED
    checkpoint_root: Path = Path("checkpoints")
    instance: Annotated[str, Field(pattern=_INSTANCE)] = "main"
    public_url: Annotated[str | None, AfterValidator(_public)] = None
    allowed_host: Annotated[tuple[str, ...], AfterValidator(_bare)] = ()
    max_sessions: Annotated[int, Field(ge=1, le=1_000_000)] = 20_000
    idle_after: Annotated[float, Field(ge=0, allow_inf_nan=False)] = 0.0
    offer: Annotated[int, Field(ge=0, le=1000)] = 1
    on_checkpoint: Literal["refuse", "wait"] = "refuse"
    wait_limit: Annotated[float, Field(gt=0, le=3600)] = 60.0
    lease_grace: Annotated[float, Field(ge=0, le=3600)] = 30.0
    admin_token: SecretStr | None = None
    admin_token_file: Path | None = None
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    def token(self) -> str | None:
        """Give the controllers' token, None if there is none.

        Raises:
            SettingsError: Its file cannot be read, there are two tokens, or it is too short to be one.
        """
        if self.admin_token is not None and self.admin_token_file is not None:
            raise SettingsError("give the controllers' token in the environment or in a file, not both")
        # No header can end in spaces, so no token does either.
        token = None if self.admin_token is None else self.admin_token.get_secret_value().strip(" ")
        if self.admin_token_file is not None:
            try:
                token = self.admin_token_file.read_text(encoding="ascii").strip()
            except (OSError, UnicodeDecodeError) as error:
                raise SettingsError(
                    f"--admin-token-file: {self.admin_token_file} cannot be read: {error}"
                ) from None
        if token is not None and not (
            token.isascii() and token.isprintable() and len(token) >= SHORTEST_TOKEN
        ):
            raise SettingsError(
                f"the controllers' token must be {SHORTEST_TOKEN} or more printable ASCII characters"
            )
        return token

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach the server."""
        try:
            return ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def base_url(self, port: int | None = None) -> str:
        """Give the URL that sessions' paths are put behind, without a slash at its end."""
        if self.public_url is not None:
            return self.public_url
        # Nobody can be called at "all addresses", but then this machine's loopback is one of them.
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self.host, self.host)
        host = f"[{host}]" if ":" in host else host
        return f"http://{host}:{self.port if port is None else port}"


def read_settings(environment: Mapping[str, str], flags: Mapping[str, Any]) -> Settings:
    """Make the settings from `WA_MCP_...` variables and from flags, which win.

    Lists in variables are separated by commas.

    Raises:
        SettingsError: A variable that is no setting, or a value that does not fit.
    """
    given: dict[str, Any] = {}
    for variable, text in environment.items():
        if not variable.startswith(PREFIX):
            continue
        name = variable.removeprefix(PREFIX).lower()
        if name not in Settings.model_fields or variable != variable.upper():
            known = ", ".join(PREFIX + field.upper() for field in Settings.model_fields)
            raise SettingsError(f"{variable} is not a setting; known are {known}")
        given[name] = _listed(text) if name in _LISTS else text
    given |= {name: value for name, value in flags.items() if value is not None}
    try:
        return Settings(**given)
    except ValidationError as error:
        raise SettingsError("; ".join(_complaints(error, flags))) from None


def _listed(text: str) -> tuple[str, ...]:
    return tuple(stripped for part in text.split(",") if (stripped := part.strip()))


def _complaints(error: ValidationError, flags: Mapping[str, Any]) -> list[str]:
    complaints: list[str] = []
    for detail in error.errors():
        name = str(detail["loc"][0])
        flag = flags.get(name) is not None
        shown = f"--{name.replace('_', '-')}" if flag else PREFIX + name.upper()
        complaints.append(f"{shown}: {detail['msg']}, got {detail['input']!r}")
    return complaints
