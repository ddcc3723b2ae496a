"""How much of what was decided in one session is told, unasked, when the next one starts. Made-up projects.

What is tried is tried on the first part; the second and the third were written before, and are for one look at the end.
In the third the talk repeats itself less (a line stands again only with another one behind it), and decisions name files too. Every project has five decisions, each told once in one of three manners (plain, in an aside of a longer line, against
what was there) among other talk, in English, German or Spanish. The parts share no sentence and no value.
"""

# ruff: noqa: E501 - sentences as people write them

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal

from memhold.faces.agents.briefing import Whose, at_start
from memhold.faces.python.open import AsyncMemhold

__all__ = ["TURNS", "briefings_quality", "decided_in"]

TURNS = (10, 30, 60)
PROJECTS, DECISIONS, BUDGET, TRIES = 12, 5, 800, 5

Part = Literal["first", "second", "third"]

_DECIDED: Mapping[tuple[Part, str], Sequence[tuple[str, str]]] = {
    ("first", "en"): (
        ("We'll go with Postgres for the ledger.", "Postgres"),
        (
            "Thanks, that reads better. For the queue I settled on NATS, the ops people know it. Can you carry on?",
            "NATS",
        ),
        ("No, not Friday: releases go out on Wednesday.", "Wednesday"),
        ("Branch names start with the ticket number.", "ticket number"),
        ("Looks fine to me. By the way, timestamps are stored in UTC, the old rows too.", "UTC"),
        ("Let's drop Moment and take Luxon instead.", "Luxon"),
        ("The public API stays on version 3 until spring.", "version 3"),
        ("Good. I talked to Priya and she wants the export as Parquet, so that's what it will be.", "Parquet"),
        ("Scrap the REST idea, it'll be gRPC.", "gRPC"),
    ),
    ("first", "de"): (
        ("Wir nehmen Postgres für das Kassenbuch.", "Postgres"),
        (
            "Danke, liest sich besser. Für die Warteschlange habe ich mich für NATS entschieden, das kennt der Betrieb.",
            "NATS",
        ),
        ("Nein, nicht freitags: ausgeliefert wird am Mittwoch.", "Mittwoch"),
        ("Zweignamen beginnen mit der Vorgangsnummer.", "Vorgangsnummer"),
        ("Passt so. Übrigens liegen Zeitstempel in UTC, auch die alten.", "UTC"),
        ("Statt Moment nehmen wir Luxon.", "Luxon"),
    ),
    ("first", "es"): (
        ("Usaremos Postgres para el libro mayor.", "Postgres"),
        ("Gracias, se lee mejor. Para la cola me quedo con NATS, que operaciones ya conoce.", "NATS"),
        ("No, el viernes no: publicamos los miércoles.", "miércoles"),
        ("Las ramas empiezan con el número de incidencia.", "número de incidencia"),
        ("Me vale. Por cierto, las fechas se guardan en UTC, también las antiguas.", "UTC"),
        ("Quita Moment, mejor Luxon.", "Luxon"),
    ),
    ("second", "en"): (
        ("Money is kept as integer cents everywhere.", "integer cents"),
        (
            "Nice work. I thought about it over lunch and I'd rather have Redis hold the sessions. Next, the header.",
            "Redis",
        ),
        ("Forget Jest, Vitest does the job.", "Vitest"),
        ("Our minimum is Python 3.12.", "3.12"),
        ("That fixed it. Marta has agreed that invoices are deleted after seven years.", "seven years"),
        ("Not the blue one, the teal palette.", "teal"),
        ("Error texts are written in plain English, with no codes in them.", "plain English"),
        ("Okay, and hosting moves to Hetzner once the contract ends.", "Hetzner"),
        ("I'm against a monorepo; each service gets a repository.", "each service"),
    ),
    ("second", "de"): (
        ("Beträge stehen überall in ganzen Cent.", "ganzen Cent"),
        ("Schön geworden. Beim Essen überlegt: die Sitzungen soll doch Redis halten. Weiter mit dem Kopf.", "Redis"),
        ("Vergiss Jest, Vitest reicht.", "Vitest"),
        ("Das Minimum ist Python 3.12.", "3.12"),
        ("Das war es. Marta ist einverstanden, dass Rechnungen nach sieben Jahren gelöscht werden.", "sieben Jahren"),
        ("Nicht die blaue, die türkise Palette.", "türkise"),
    ),
    ("second", "es"): (
        ("Los importes van siempre en céntimos enteros.", "céntimos enteros"),
        ("Quedó bien. Lo pensé en la comida y prefiero que Redis guarde las sesiones. Ahora la cabecera.", "Redis"),
        ("Olvida Jest, con Vitest basta.", "Vitest"),
        ("El mínimo es Python 3.12.", "3.12"),
        ("Con eso funciona. Marta está de acuerdo en borrar las facturas a los siete años.", "siete años"),
        ("La azul no, la paleta turquesa.", "turquesa"),
    ),
    ("third", "en"): (
        ("Sign-in is by passkey only, we do not store passwords at all.", "passkey"),
        ("Hm. I slept on it: the worker gets rewritten in Rust, Go was a detour.", "Rust"),
        ("All public types live in src/contract.ts and nowhere else.", "src/contract.ts"),
        ("Support for Windows is off the table this year.", "Windows"),
        ("Yes. And Tomas signs off every change of the schema.", "Tomas"),
        ("We keep backups for ninety days, then they go.", "ninety days"),
        ("Two reviewers per merge, no exceptions.", "Two reviewers"),
        ("Instead of the nightly cron we react to events from the outbox table.", "outbox"),
        ("I prefer tabs, whatever the linter says.", "tabs"),
    ),
    ("third", "de"): (
        ("Anmelden geht nur mit Passkey, Passwörter speichern wir nicht.", "Passkey"),
        ("Drüber geschlafen: der Dienst wird in Rust neu geschrieben, Go war ein Umweg.", "Rust"),
        ("Alle öffentlichen Typen stehen in src/contract.ts und sonst nirgends.", "src/contract.ts"),
        ("Windows wird dieses Jahr nicht unterstützt.", "Windows"),
        ("Gut. Jede Änderung am Schema zeichnet Tomas ab.", "Tomas"),
        ("Sicherungen behalten wir neunzig Tage.", "neunzig Tage"),
    ),
    ("third", "es"): (
        ("Se entra solo con passkey, no guardamos contraseñas.", "passkey"),
        ("Lo he consultado con la almohada: el servicio se reescribe en Rust, Go fue un desvío.", "Rust"),
        ("Todos los tipos públicos viven en src/contract.ts y en ningún otro sitio.", "src/contract.ts"),
        ("Este año no damos soporte a Windows.", "Windows"),
        ("Bien. Tomás firma cada cambio del esquema.", "Tomás"),
        ("Las copias se guardan noventa días.", "noventa días"),
    ),
}
_ASIDES: Mapping[tuple[Part, str], Sequence[str]] = {
    ("first", "en"): (
        "Can you look at the failing test in {f}? It says {n} items were expected and none came.",
        "Why does {f} import the settings twice?",
        "Run the tests again please.",
        "Now add a docstring to the helper in {f}.",
        "I get a timeout after {n} seconds when I open the page.",
        "Thanks, that works. Show me the diff of {f}.",
        "Hm, the build on my laptop took {n} minutes, is that normal?",
        "Rename the variable on line {n}, it is hard to read.",
        "ok",
        "What would happen if the file in {f} is empty?",
    ),
    ("first", "de"): (
        "Schau dir bitte den roten Test in {f} an, er erwartet {n} Einträge.",
        "Warum lädt {f} die Einstellungen zweimal?",
        "Lass die Tests noch einmal laufen.",
        "Ergänze einen Kommentar an der Hilfsfunktion in {f}.",
        "Nach {n} Sekunden bricht die Seite bei mir ab.",
        "Danke, klappt. Zeig mir den Unterschied in {f}.",
        "ja",
    ),
    ("first", "es"): (
        "Mira la prueba que falla en {f}, esperaba {n} elementos.",
        "¿Por qué {f} carga la configuración dos veces?",
        "Ejecuta las pruebas otra vez.",
        "Añade un comentario a la función de {f}.",
        "La página se corta a los {n} segundos.",
        "Gracias, funciona. Enséñame los cambios de {f}.",
        "sí",
    ),
    ("second", "en"): (
        "There's a red squiggle under the call in {f}, what does it want?",
        "Split {f} into two, it has {n} lines by now.",
        "The log shows the same warning {n} times, see for yourself.",
        "Great. Next, tidy up {f}.",
        "It still crashes when I click save.",
        "Could the cache in {f} be stale?",
        "Please commit that.",
        "I don't understand what the second loop does.",
        "yes, do that",
        "Explain the stack trace: KeyError in {f}, line {n}.",
    ),
    ("second", "de"): (
        "Unter dem Aufruf in {f} ist es rot, was fehlt da?",
        "Teile {f} auf, das sind schon {n} Zeilen.",
        "Im Protokoll steht dieselbe Warnung {n} Mal.",
        "Prima. Räum als Nächstes {f} auf.",
        "Beim Speichern stürzt es noch immer ab.",
        "Kann der Zwischenspeicher in {f} veraltet sein?",
        "genau",
    ),
    ("second", "es"): (
        "Hay algo en rojo bajo la llamada de {f}, ¿qué falta?",
        "Divide {f}, ya tiene {n} líneas.",
        "El registro muestra el mismo aviso {n} veces.",
        "Genial. Ahora ordena {f}.",
        "Sigue fallando al guardar.",
        "¿Puede estar caducada la caché de {f}?",
        "vale",
    ),
    ("third", "en"): (
        "The spinner never stops when the network drops, reproduce it with the throttled profile.",
        "Move the retry loop out of the constructor.",
        "I see two rows for the same customer, one of them with an empty address.",
        "What does the third argument of resolve do?",
        "That broke the login page on my phone, the button sits below the keyboard.",
        "Inline the helper, it has a single caller.",
        "Write a test with a leap day in it.",
        "The designer says the shadow is too strong.",
        "Compare the timings before and after.",
        "Try again with the flag set.",
        "Good, and the empty state?",
        "Undo the last edit, it made the diff noisy.",
        "Where is the locale read?",
        "CI is red because a snapshot changed, have a look.",
        "Add a guard for negative amounts in {f}.",
        "Print the query plan for the slow report.",
        "The tooltip flickers while dragging.",
        "Could you shorten the error text a bit?",
        "Bump the fixture, it still has last year's date.",
        "Why is the bundle {n} kB larger now?",
        "Extract the parsing into its own module.",
        "no, the other one",
        "Sort the list by name before you render it.",
        "The map shows the pin in the sea.",
        "Fine, go on.",
        "Check whether the lock is released when the job fails.",
        "There is a typo in the heading.",
        "Use the existing date picker here.",
    ),
    ("third", "de"): (
        "Der Kreisel dreht sich ewig, wenn das Netz weg ist.",
        "Zieh die Schleife aus dem Konstruktor heraus.",
        "Ich sehe zwei Zeilen für denselben Kunden, eine ohne Anschrift.",
        "Was macht das dritte Argument?",
        "Auf dem Telefon liegt der Knopf unter der Tastatur.",
        "Schreib einen Test mit einem Schalttag.",
        "Vergleich die Zeiten vorher und nachher.",
        "Nimm die letzte Änderung zurück.",
        "Die Prüfung ist rot, ein Abbild hat sich geändert.",
        "Sortier die Liste, bevor du sie zeigst.",
        "Der Hinweis flackert beim Ziehen.",
        "Kürz den Fehlertext in {f} ein wenig.",
        "weiter",
        "Warum ist das Paket um {n} kB größer?",
    ),
    ("third", "es"): (
        "El indicador gira sin fin cuando se cae la red.",
        "Saca el bucle del constructor.",
        "Veo dos filas del mismo cliente, una sin dirección.",
        "¿Qué hace el tercer argumento?",
        "En el móvil el botón queda debajo del teclado.",
        "Escribe una prueba con un día bisiesto.",
        "Compara los tiempos de antes y después.",
        "Deshaz el último cambio.",
        "La revisión está en rojo, cambió una captura.",
        "Ordena la lista antes de mostrarla.",
        "El aviso parpadea al arrastrar.",
        "Acorta un poco el texto de error en {f}.",
        "sigue",
        "¿Por qué el paquete pesa {n} kB más?",
    ),
}
_REPLIES = (
    "Done: I changed {f} and the {n} tests of that part pass.",
    "I looked into {f}. The cause is in line {n}; the value is read before it is set. I moved the call up and ran everything again, with no other failure.",
    "It comes from {f}, where the list is built anew at each call.",
)
_FILES = ("src/cart.py", "app/views.ts", "lib/parse.rb", "core/mail.go", "web/form.tsx", "jobs/nightly.py")


def _session(part: Part, place: int, turns: int) -> tuple[list[tuple[str, str]], list[str]]:
    """The lines of a session, and what has to be told of it: the decisions stand anywhere in it."""
    language = ("en", "de", "en", "es")[place % 4]
    chance = random.Random(f"{part} {place} {turns}")
    decided = chance.sample(_DECIDED[part, language], DECISIONS)
    places = dict(zip(sorted(chance.sample(range(turns), DECISIONS)), decided, strict=True))
    lines: list[tuple[str, str]] = []
    talk = _ASIDES[part, language]
    unsaid = chance.sample(talk, len(talk)) if part == "third" else []
    for turn in range(turns):
        if turn in places:
            said = places[turn][0]
        elif part == "third":
            said = unsaid.pop() if unsaid else " ".join(chance.sample(talk, 2))
        else:
            said = chance.choice(talk)
        for role, text in (("user", said), ("assistant", chance.choice(_REPLIES))):
            lines.append(
                (role, text.replace("{f}", chance.choice(_FILES)).replace("{n}", str(chance.randrange(3, 400))))
            )
    return lines, [word for _, word in decided]


def decided_in(part: Part, place: int, turns: int) -> tuple[list[str], list[str]]:
    """What the user says in a made-up project's session, and a word of each of its five decisions."""
    lines, words = _session(part, place, turns)
    return [text for role, text in lines if role == "user"], words


async def briefings_quality(part: Part) -> Mapping[str, object]:
    """The share of decisions in the next start's text, by turns of the session, and what a start costs.

    Every second project's session is told whole in one session, the others' in three of a third of the turns.
    """
    found: dict[str, object] = {"benchmark": "briefings", "part": part, "projects": PROJECTS}
    for turns in TURNS:
        told = [one async for one in _told(part, turns)]
        found[f"{turns} turns"] = round(sum(share for share, _ in told) / len(told), 3)
        found[f"{turns} turns, processor ms"] = round(1000 * sorted(cost for _, cost in told)[len(told) // 2], 1)
    return found


async def _told(part: Part, turns: int) -> AsyncIterator[tuple[float, float]]:
    for place in range(PROJECTS):
        lines, words = _session(part, place, turns)
        with tempfile.TemporaryDirectory() as folder:
            async with AsyncMemhold.open(Path(folder) / "m.db", embedding="none") as mem:
                await _keep(mem, lines, 1 if place % 2 else 3)
                whose = Whose(project="project/made-up", namespace="default", user="ana", agent=None, session="next")
                text = await at_start(mem, whose, BUDGET, shown=set())
                before = time.process_time()
                for _ in range(TRIES):
                    await at_start(mem, whose, BUDGET, shown=set())
                yield sum(word in text for word in words) / len(words), (time.process_time() - before) / TRIES


async def _keep(mem: AsyncMemhold, lines: Sequence[tuple[str, str]], sessions: int) -> None:
    begin = datetime(2026, 3, 2, 9, tzinfo=UTC)
    size = -(-len(lines) // (2 * sessions)) * 2
    for number in range(sessions):
        scope = mem.scope(namespace="project/made-up", user="ana", session=f"before {number}")
        await scope.add(
            [
                {"role": role, "content": text, "event_time": begin + timedelta(days=number, minutes=minute)}
                for minute, (role, text) in enumerate(lines[number * size : (number + 1) * size])
            ]
        )
