"""Secrets in text: found with the rules of `detect-secrets`, and replaced or refused before anything is stored.

Only the library's rules are used, in memory: no files, no baselines, no look-ups. Its entropy rules are left out: on
ordinary text and code they find ids, hashes and paths (see docs/decisions/0017).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from threading import Lock
from typing import Any, Final, Literal

from memhold.ports.stores import Redactor
from memhold.values.errors import InvalidSetting, SecretFound

__all__ = ["SecretRedactor", "Span", "known_secrets", "mark"]

Mode = Literal["on", "refuse"]

_PLUGINS: Final = "detect_secrets.plugins"
_PIP: Final = "pip install 'memhold[redaction]'"

_GITLAB: Final = (
    *("glpat-", "gldt-", "glft-", "glsoat-", "glrt-", "glcbt-", "glimt-", "glptt-", "glagent-", "gloas-"),
    "GR1348941",
)

# Each rule of the library runs only around words that its secrets have: module, class, those words, how many
# characters around them are looked at, and whether the secret is what the rule's group holds (else all that matched).
_RULES: Final[tuple[tuple[str, str, tuple[str, ...], int, bool], ...]] = (
    ("aws", "AWSKeyDetector", ("A3T", "ABIA", "ACCA", "AKIA", "ASIA", "aws", "AWS"), 120, True),
    ("azure_storage_key", "AzureStorageKeyDetector", ("AccountKey=",), 120, False),
    ("basic_auth", "BasicAuthDetector", ("://",), 400, True),
    ("discord", "DiscordBotTokenDetector", (".",), 80, False),
    ("github_token", "GitHubTokenDetector", ("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), 80, False),
    ("gitlab_token", "GitLabTokenDetector", _GITLAB, 1100, False),
    ("ibm_cloud_iam", "IbmCloudIamDetector", ("key", "pwd", "pass", "token"), 120, True),
    ("ibm_cos_hmac", "IbmCosHmacDetector", ("secret",), 120, True),
    ("mailchimp", "MailchimpDetector", ("-us",), 60, False),
    ("npm", "NpmDetector", ("_authToken=",), 120, True),
    ("openai", "OpenAIDetector", ("T3BlbkFJ",), 220, False),
    ("pypi_token", "PypiTokenDetector", ("pypi-Ag",), 400, False),
    ("sendgrid", "SendGridDetector", ("SG.",), 90, False),
    ("slack", "SlackDetector", ("xox", "XOX", "hooks.slack.com"), 200, False),
    ("softlayer", "SoftlayerDetector", ("softlayer", "sl_", "sl-"), 160, True),
    ("square_oauth", "SquareOAuthDetector", ("sq0csp-",), 70, False),
    ("stripe", "StripeDetector", ("k_live_",), 60, False),
    ("telegram_token", "TelegramBotTokenDetector", (":",), 60, False),
    ("twilio", "TwilioKeyDetector", ("AC", "SK"), 60, False),
)

# Mistral's keys and some others have no prefix: 32 letters of both cases and digits behind the word "key".
_UNMARKED: Final = (
    r"(?i:key)s?[\s\"'`]{0,3}(?i:is|ist|lautet|est|es|provided)?[\s\"'`:=]{0,4}"
    r"\b((?=[A-Za-z0-9]*\d)(?=[A-Za-z0-9]*[a-z])(?=[A-Za-z0-9]*[A-Z])[A-Za-z0-9]{32,64})\b"
)

# What the library does not know (yet): the prefix that the issuer documents, and a length.
_OWN: Final[tuple[tuple[str, str, str], ...]] = (
    ("Anthropic API Key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{20,200}"),
    ("OpenAI API Key", "sk-", r"\bsk-(?:proj-|svcacct-|admin-)[A-Za-z0-9_-]{20,200}"),
    ("OpenAI API Key", "T3BlbkFJ", r"\bsk-[A-Za-z0-9_-]{16,200}T3BlbkFJ[A-Za-z0-9_-]{16,200}"),
    ("OpenRouter API Key", "sk-or-", r"sk-or-(?:v\d-)?[A-Za-z0-9_-]{20,200}"),
    ("DeepSeek API Key", "sk-", r"\bsk-(?=[a-z0-9]*\d)[a-z0-9]{32,64}\b"),
    ("Groq API Key", "gsk_", r"\bgsk_[A-Za-z0-9]{20,100}\b"),
    ("API Key", "ey", _UNMARKED),
    ("API Key", "EY", _UNMARKED),
    ("GitHub Token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,255}"),
    ("Google API Key", "AIza", r"AIza[0-9A-Za-z_-]{35}"),
    ("Hugging Face Token", "hf_", r"\bhf_[A-Za-z0-9]{30,40}\b"),
    ("Memhold Token", "mh_", r"\bmh_[a-z2-7]{16}_[a-z2-7]{52}[0-9a-f]{8}"),
    ("Memhold Pass", "mhp_", r"\bmhp_[a-z2-7]{8,4000}_[0-9a-f]{64}"),
    ("Bearer Token", "earer ", r"(?<=[Bb]earer )[A-Za-z0-9._~+/-]{20,4000}=*"),
)

_JWT = re.compile(r"(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_=.+/-]+")
_PEM = re.compile(r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PEM_END = re.compile(r"-----END (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----")
_PUTTY = re.compile(r"PuTTY-User-Key-File-\d:")
_LONG: Final = 4096
_BLOB = re.compile(r"(?:data:[^,\s]{0,200},)?[A-Za-z0-9+/_-]+=*")
"""Pictures and the like, in base64: nothing in them can be read, and any short pattern would turn up in it."""
_TOKEN_NAME = re.compile(r"(?:(?:access|auth|refresh|bearer|api|id)_?token|authorization)$", re.IGNORECASE)
_KEYWORD_REACH: Final = 160
_EDGES: Final = " \t\r\n\"'`=:,;"


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Where a secret stands in a text, and what kind it is."""

    start: int
    end: int
    kind: str


@dataclass(frozen=True, slots=True)
class _Rule:
    """One rule of the library: run `patterns` within `reach` characters of one of `anchors`."""

    kind: str
    anchors: re.Pattern[str]
    words: tuple[str, ...]
    reach: int
    patterns: tuple[re.Pattern[str], ...]
    grouped: bool

    def find(self, text: str) -> Iterator[Span]:
        if not any(word in text for word in self.words):
            return
        for start, end in _windows(self.anchors, text, self.reach):
            for pattern in self.patterns:
                for found in pattern.finditer(text, start, end):
                    group = self.grouped and found.lastindex is not None and found[found.lastindex]
                    yield _trimmed(text, *found.span(found.lastindex if group and found.lastindex else 0), self.kind)


def _windows(anchors: re.Pattern[str], text: str, reach: int) -> Iterator[tuple[int, int]]:
    """Stretches around the anchors; the next begins a quarter further at least, so dense anchors cost no more."""
    place = 0
    while (found := anchors.search(text, place)) is not None:
        yield max(0, found.start() - reach), min(len(text), found.end() + reach)
        place = max(found.end(), found.start() + reach // 4)


def _trimmed(text: str, start: int, end: int, kind: str) -> Span:
    while start < end and text[start] in _EDGES:
        start += 1
    while end > start and text[end - 1] in _EDGES.replace("=", ""):
        end -= 1
    return Span(start, end, kind)


class SecretRedactor:
    """`Redactor`: replaces what looks like a secret by what kind it was, or refuses the text.

    It holds no state but its patterns and a count by kind, so threads may share it.

    Raises:
        InvalidSetting: `detect-secrets` is not installed.
    """

    def __init__(self, mode: Mode) -> None:
        self._refuse = mode == "refuse"
        try:
            self._rules = _rules()
            self._jwt: Callable[[str], bool] = import_module(f"{_PLUGINS}.jwt").JwtTokenDetector.is_formally_valid
            self._keywords = _Keywords()
        except ImportError as error:
            message = f"redaction needs the package detect-secrets, which is not installed: {_PIP}"
            raise InvalidSetting(message, name="redaction") from error
        self._lock = Lock()
        self._counts: Counter[str] = Counter()

    @property
    def counts(self) -> dict[str, int]:
        """How many secrets were found since this was made, by kind."""
        with self._lock:
            return dict(self._counts)

    def redact(self, text: str, *, name: str = "", place: str = "") -> tuple[str, int]:
        """The text with `[redacted: KIND]` in the place of each secret, and how many there were.

        `name` is that of the field that holds the text: what stands under `password` is one, whatever it looks like.
        `place` is for the error.

        Raises:
            SecretFound: there is a secret, and the setting is `refuse`; it names kind and place, never the secret.
        """
        spans = self.spans(text, name)
        if not spans:
            return text, 0
        with self._lock:
            self._counts.update(span.kind for span in spans)
        if self._refuse:
            where = f" in {place}" if place else ""
            message = f"there is a secret{where} ({spans[0].kind}); take it out, nothing was stored"
            raise SecretFound(message, kind=spans[0].kind, place=place)
        return _replaced(text, spans)

    def spans(self, text: str, name: str = "") -> list[Span]:
        """The secrets of a text, in order, none overlapping another."""
        if name and self._keywords.is_secret(name, text):
            return [Span(0, len(text), "Secret Keyword")]
        if len(text) < 6 or (len(text) > _LONG and _BLOB.fullmatch(text)):
            return []
        return _without_overlaps(self._every(text))

    def _every(self, text: str) -> Iterator[Span]:
        for rule in self._rules:
            yield from rule.find(text)
        if "eyJ" in text:
            yield from self._jwts(text)
        if "PRIVATE KEY" in text or "PuTTY-User" in text:
            yield from _private_keys(text)
        yield from self._keywords.find(text)

    def _jwts(self, text: str) -> Iterator[Span]:
        for found in _JWT.finditer(text):
            parts = found[0].split(".", 2)
            if len(parts) > 1 and self._jwt(f"{parts[0]}.{parts[1]}"):
                yield Span(*found.span(), "JSON Web Token")


@lru_cache(maxsize=1)
def known_secrets() -> Redactor:
    """What replaces the secrets that can be known here: all of them with `detect-secrets`, else those with a mark.

    Those are private keys, and keys and tokens whose issuer says how they begin. It never refuses.
    """
    try:
        return SecretRedactor("on")
    except InvalidSetting:
        return _MarkedSecrets()


class _MarkedSecrets:
    """`Redactor` without any library: only what bears the mark of its issuer."""

    def redact(self, text: str, *, name: str = "", place: str = "") -> tuple[str, int]:
        """See `SecretRedactor.redact`; the name of a field tells nothing here."""
        del name, place
        if len(text) < 6 or (len(text) > _LONG and _BLOB.fullmatch(text)):
            return text, 0
        return _replaced(text, _without_overlaps(self._every(text)))

    def _every(self, text: str) -> Iterator[Span]:
        for rule in _own_rules():
            yield from rule.find(text)
        if "PRIVATE KEY" in text or "PuTTY-User" in text:
            yield from _private_keys(text)


def _replaced(text: str, spans: Sequence[Span]) -> tuple[str, int]:
    pieces, at = [], 0
    for span in spans:
        pieces += [text[at : span.start], mark(span.kind)]
        at = span.end
    return "".join([*pieces, text[at:]]), len(spans)


def mark(kind: str) -> str:
    """What stands where a secret stood. It has no quotes and no line breaks: JSON around it stays JSON."""
    return f"[redacted: {kind}]"


def _private_keys(text: str) -> Iterator[Span]:
    """From the first line of a key to its last; to the end of the text where that is missing."""
    place = 0
    while (found := _PEM.search(text, place)) is not None:
        end = _PEM_END.search(text, found.end())
        place = len(text) if end is None else end.end()
        yield Span(found.start(), place, "Private Key")
    if (found := _PUTTY.search(text)) is not None:
        yield Span(found.start(), len(text), "Private Key")


def _rules() -> tuple[_Rule, ...]:
    found = []
    for module, name, words, reach, grouped in _RULES:
        plugin: Any = getattr(import_module(f"{_PLUGINS}.{module}"), name)
        anchors = re.compile("|".join(map(re.escape, words)))
        found.append(_Rule(plugin.secret_type, anchors, words, reach, tuple(plugin.denylist), grouped))
    return (*found, *_own_rules())


@lru_cache(maxsize=1)
def _own_rules() -> tuple[_Rule, ...]:
    shapes = ((kind, word, re.compile(pattern)) for kind, word, pattern in _OWN)
    return tuple(
        _Rule(kind, re.compile(re.escape(word)), (word,), 4200, (shape,), grouped=shape.groups > 0)
        for kind, word, shape in shapes
    )


class _Keywords:
    """The library's rule for values behind words such as `password`: in quotes, and, where they look it, without."""

    def __init__(self) -> None:
        keyword: Any = import_module(f"{_PLUGINS}.keyword")
        heuristic: Any = import_module("detect_secrets.filters.heuristic")
        self._word = re.compile("|".join(keyword.DENYLIST), re.IGNORECASE)
        self._name = re.compile(f"(?:{'|'.join(keyword.DENYLIST)})s?$", re.IGNORECASE)
        self._quoted: dict[re.Pattern[str], int] = {
            keyword.FOLLOWED_BY_COLON_QUOTES_REQUIRED_REGEX: 5,
            keyword.FOLLOWED_BY_EQUAL_SIGNS_QUOTES_REQUIRED_REGEX: 5,
            keyword.FOLLOWED_BY_ARROW_FUNCTION_SIGN_QUOTES_REQUIRED_REGEX: 4,
        }
        self._bare: dict[re.Pattern[str], int] = {
            keyword.FOLLOWED_BY_COLON_REGEX: 4,
            keyword.FOLLOWED_BY_EQUAL_SIGNS_REGEX: 5,
        }
        self._harmless: tuple[Callable[[str], bool], ...] = (
            heuristic.is_templated_secret,
            heuristic.is_prefixed_with_dollar_sign,
            heuristic.is_not_alphanumeric_string,
            heuristic.is_sequential_string,
        )

    def is_secret(self, name: str, value: str) -> bool:
        """Whether a field of that name holds a secret: one word that is no placeholder."""
        if not 4 <= len(value) <= _LONG or any(c.isspace() for c in value) or not self._means_it(value):
            return False
        plain = re.sub(r"[\s.-]+", "_", name)
        return self._name.search(plain) is not None or (len(value) >= 16 and _TOKEN_NAME.search(plain) is not None)

    def find(self, text: str) -> Iterator[Span]:
        for hit in self._word.finditer(text):
            if _FOLLOWED.match(text, hit.end()):
                stop = text.find("\n", hit.end(), hit.end() + _KEYWORD_REACH)
                end = min(len(text), hit.end() + _KEYWORD_REACH) if stop < 0 else stop
                yield from self._behind(text, hit.start(), end)

    def _behind(self, text: str, start: int, end: int) -> Iterator[Span]:
        for pattern, group in self._quoted.items():
            found = pattern.match(text, start, end)
            if found and self._means_it(found[group]) and not any(c.isspace() for c in found[group].strip()):
                yield Span(*found.span(group), "Secret Keyword")
        for pattern, group in self._bare.items():
            found = pattern.match(text, start, end)
            first = found and re.match(r"\S+", found[group])
            value = first[0].rstrip(".,;:!?)'\"`]}") if first else ""
            if found and _looks_secret(value) and self._means_it(value):
                begin = found.start(group)
                yield Span(begin, begin + len(value), "Secret Keyword")

    def _means_it(self, value: str) -> bool:
        if len(value) < 4 or _CONSTANT.fullmatch(value) or self._word.fullmatch(value):
            return False
        if value.casefold() in _NOTHING or _ALGORITHM.fullmatch(value):
            return False
        return not any(harmless(value) for harmless in self._harmless)


_FOLLOWED = re.compile(r"""\w{0,40}[\]'"]{0,2}(?:\[\d{0,9}\])?\s{0,9}(?::|=|!=)""")
_CONSTANT = re.compile(r"[A-Z]+(?:_[A-Z0-9]+)+")
"""The name of a variable, such as `ACME_KEY`: where a secret is, and none itself."""
_NOTHING = frozenset({"none", "null", "undefined", "false", "true", "empty", "optional", "required"})
"""What stands where no secret is."""
_ALGORITHM = re.compile(
    r"(?:(?:HMAC|PBKDF2)[-_]?)?(?:SHA-?[123]?|BLAKE|MD|AES|RSA|[HREP]S)[-_]?\d{1,4}[bs]?", re.IGNORECASE
)
"""What a secret is made with is told openly: the names of digests, ciphers and signatures."""
_CALL = re.compile(r"[\w.]*+[()\[\]]|[\w-]++(?:\.[\w-]++)++$")


def _looks_secret(value: str) -> bool:
    """Without quotes a value must look it: letters and digits or signs, and no call, path or member of something."""
    if len(value) < 6 or "/" in value[:2] or _CALL.match(value) or "[redacted" in value:
        return False
    letters = any(c.isalpha() for c in value)
    return letters and (any(c.isdigit() for c in value) or any(c in "!@#$%^&*+~" for c in value))


def _without_overlaps(spans: Iterable[Span]) -> list[Span]:
    """Spans in order; of two that overlap one that holds both, named after the one that begins first."""
    found: list[Span] = []
    for span in sorted(spans, key=lambda one: (one.start, -one.end)):
        if span.start == span.end:
            continue
        if found and span.start < found[-1].end:
            last = found[-1]
            found[-1] = Span(last.start, max(last.end, span.end), last.kind)
        else:
            found.append(span)
    return found
