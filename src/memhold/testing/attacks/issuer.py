"""An authorization server on loopback, whose keys are ours: it signs what an attack asks for."""

from __future__ import annotations

import base64
import json
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa

__all__ = ["Issuer", "encoded"]


def encoded(value: bytes) -> str:
    """Base64 as tokens have it."""
    return base64.urlsafe_b64encode(value).rstrip(b"=").decode()


class Issuer:
    """Serves its public keys until it is closed; `hang` makes it take requests and never answer."""

    def __init__(self) -> None:
        self.rsa = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.ec = ec.generate_private_key(ec.SECP256R1())
        self.foreign = rsa.generate_private_key(public_exponent=65537, key_size=2048)
        self.audience = ""
        self.hang = threading.Event()
        self.paths: list[str] = []
        self._over = threading.Event()
        issuer = self

        class Answer(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                issuer.paths.append(self.path)
                if issuer.hang.is_set():
                    issuer._over.wait(60)
                body = json.dumps({"keys": issuer.keys}).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Answer)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    @property
    def keys(self) -> list[dict[str, Any]]:
        """Its public keys."""
        return [
            {**json.loads(jwt.algorithms.RSAAlgorithm.to_jwk(self.rsa.public_key())), "kid": "rsa", "use": "sig"},
            {**json.loads(jwt.algorithms.ECAlgorithm.to_jwk(self.ec.public_key())), "kid": "ec", "use": "sig"},
        ]

    def claims(self, **more: Any) -> dict[str, Any]:
        """What a token that counts says; None takes a claim away."""
        now = int(time.time())
        made = {
            "iss": self.url, "aud": self.audience, "sub": "attack-sub", "exp": now + 600, "iat": now,
            "scope": "memhold:read memhold:write", **more,
        }  # fmt: skip
        return {name: value for name, value in made.items() if value is not None}

    def token(
        self, claims: Mapping[str, Any] | None = None, *, raw: bytes | None = None, key: Any = None, **header: Any
    ) -> str:
        """A token signed with its RSA key, or another; `raw` are claims as bytes, also such as are no JSON."""
        said = {"alg": "RS256", "kid": "rsa", "typ": "at+jwt", **header}
        body = raw if raw is not None else json.dumps(self.claims() if claims is None else claims).encode()
        signed = f"{encoded(json.dumps(said).encode())}.{encoded(body)}"
        signature = jwt.algorithms.RSAAlgorithm(jwt.algorithms.RSAAlgorithm.SHA256).sign(
            signed.encode(), key or self.rsa
        )
        return f"{signed}.{encoded(signature)}"

    def close(self) -> None:
        """End it."""
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
