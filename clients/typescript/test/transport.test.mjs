// What is sent, what is sent again and what is raised, without a server.

import assert from "node:assert/strict";
import { test } from "node:test";
import { Memhold, MemholdError, InvalidInput, NotFound, RateLimited, ServerUnreachable, StoreBusy, StoreError, StoreFull, TooLarge } from "memhold";

const problem = (name, status, values = {}, headers = {}) =>
  new Response(JSON.stringify({ type: `urn:memhold:problem:${name}`, title: name, status, detail: `${name}: do this`, values }), { status, headers });
const receipt = () => Response.json({ ids: ["msg_1"], change_ids: [], replayed: false }, { status: 201 });

/** A scope whose server answers with these, one after the other; what was sent is kept. */
function scripted(answers, options = {}, scope = {}) {
  const sent = [];
  const fetch = async (url, init) => {
    sent.push({ url, headers: new Headers(init.headers), init });
    const next = answers.shift();
    if (next === undefined) throw new Error("one request too many");
    if (next instanceof Error) throw next;
    return typeof next === "function" ? next(init) : next;
  };
  const mem = new Memhold({ url: "http://memhold.test/", token: "mh_1", fetch, ...options });
  return { mem, scope: mem.scope(scope), sent };
}

const lost = (code) => Object.assign(new TypeError("fetch failed"), { cause: Object.assign(new Error("socket"), { code }) });
/** An answer that never comes. */
const silent = (init) =>
  new Promise((_, reject) => init.signal.addEventListener("abort", () => reject(new DOMException("aborted", "AbortError"))));
const said = { role: "user", content: "hello" };

test("all tries of a write carry one key, and another write another", async () => {
  const { scope, sent } = scripted([lost("ECONNRESET"), problem("StoreBusy", 503), new Response("<html>", { status: 502 }), receipt(), receipt()]);
  await scope.add(said);
  await scope.add(said);
  const keys = sent.map((one) => one.headers.get("idempotency-key"));
  assert.match(keys[0], /^[0-9a-f]{32}$/);
  assert.deepEqual(keys.slice(0, 4), Array(4).fill(keys[0]));
  assert.notEqual(keys[4], keys[0]);
  assert.deepEqual(new Set(sent.slice(0, 4).map((one) => one.init.body)), new Set(['{"messages":{"role":"user","content":"hello"}}']));
});

test("a commit whose answer was lost is settled by the same key", async () => {
  const { scope, sent } = scripted([problem("OutcomeUnknown", 503), receipt()]);
  await scope.add(said);
  assert.equal(sent.length, 2);
});

test("tries are bounded, and the last error is told", async () => {
  const { scope, sent } = scripted(Array.from({ length: 9 }, () => problem("StoreBusy", 503)), { maxRetries: 2 });
  const error = await scope.add(said).catch((found) => found);
  assert.ok(error instanceof StoreBusy && error instanceof StoreError && error instanceof MemholdError);
  assert.equal(sent.length, 3);
});

test("what may not be done twice is sent once, unless it never left", async () => {
  for (const call of [(scope) => scope.consolidate(), (scope) => scope.compact(), (scope) => scope.setSessionMetadata({})]) {
    const { scope, sent } = scripted([lost("ECONNRESET")]);
    const error = await call(scope).catch((found) => found);
    assert.ok(error instanceof ServerUnreachable && error.sent === true);
    assert.equal(sent.length, 1);
  }
  const { scope, sent } = scripted([lost("ECONNREFUSED"), lost("UND_ERR_CONNECT_TIMEOUT"), Response.json({ waiting: 0 })]);
  await scope.consolidate();
  assert.equal(sent.length, 3);
  const dry = scripted([lost("ECONNRESET"), Response.json({ more: false })]);
  await dry.scope.compact({ dry_run: true });
  assert.equal(dry.sent.length, 2);
  const created = scripted([lost("ECONNRESET")]);
  await assert.rejects(created.mem.admin.tokens.create(), ServerUnreachable);
});

test("an error that another try does not mend is raised at once", async () => {
  for (const [name, status] of [["InvalidMessage", 422], ["NotFound", 404], ["StoreFull", 507], ["Conflict", 409]]) {
    const { scope, sent } = scripted([problem(name, status, { index: 3 })]);
    const error = await scope.add(said).catch((found) => found);
    assert.deepEqual([error.name, error.message, error.values.index, error.index], [name, `${name}: do this`, 3, 3]);
    assert.equal(sent.length, 1);
  }
});

test("Retry-After is honoured, in seconds, as a date, and as the problem says it", async (t) => {
  t.mock.timers.enable({ apis: ["Date"], now: 1_000_000_000_000 });
  const date = new Date(Date.now() + 3000).toUTCString();
  const { setTimeout } = globalThis;
  t.after(() => (globalThis.setTimeout = setTimeout));
  for (const [answer, wanted] of [
    [() => problem("RateLimited", 429, { retry_after: 0.3 }), 300],
    [() => problem("StoreBusy", 503, {}, { "retry-after": "7" }), 7000],
    [() => new Response("", { status: 503, headers: { "retry-after": date } }), 3000],
  ]) {
    const waits = [];
    // The other timer of a call is its end.
    globalThis.setTimeout = (run, ms) => (ms > 30_000 ? setTimeout(run, ms) : (waits.push(ms), setTimeout(run, 0)));
    const { scope, sent } = scripted([answer(), Response.json({ hits: [] })]);
    await scope.recall("x");
    assert.deepEqual([sent.length, waits], [2, [wanted]]);
  }
});

test("a wait that is longer than the call may take is not begun", async () => {
  const { scope, sent } = scripted([problem("RateLimited", 429, { retry_after: 3600 })]);
  const error = await scope.consolidate({ timeoutMs: 5000 }).catch((found) => found);
  assert.ok(error instanceof RateLimited);
  assert.deepEqual([error.retry_after, sent.length], [3600, 1]);
});

test("a call that takes too long ends, and says that it may have been carried out", async () => {
  const { scope, sent } = scripted([silent, silent], { timeoutMs: 30 });
  const error = await scope.add(said).catch((found) => found);
  assert.ok(error instanceof ServerUnreachable && error.sent);
  assert.match(error.message, /timeout/);
  assert.equal(sent.length, 1);
});

test("an answer whose end is lost is a lost answer", async () => {
  const broken = () => new Response(new ReadableStream({ start: (control) => control.error(new Error("gone")) }), { status: 201 });
  const { scope, sent } = scripted([broken(), receipt()]);
  await scope.add(said);
  assert.equal(sent.length, 2);
});

test("a signal ends a call, a wait and what was not begun, with its reason", async () => {
  const reason = new Error("the user left");
  const early = AbortSignal.abort(reason);
  const first = scripted([]);
  await assert.rejects(first.scope.add(said, { signal: early }), reason);
  assert.equal(first.sent.length, 0);
  for (const answer of [silent, problem("RateLimited", 429, { retry_after: 30 })]) {
    const ending = new AbortController();
    const { scope, sent } = scripted([answer]);
    const call = scope.add(said, { signal: ending.signal });
    setTimeout(() => ending.abort(reason), 20);
    await assert.rejects(call, reason);
    assert.equal(sent.length, 1);
  }
});

test("who and whose stand in headers, as UTF-8", async () => {
  const { scope, sent } = scripted([receipt()], {}, { user: "zoë 김", actor: "agent:planner", session: "a b/c" });
  await scope.add(said, { idempotency_key: "ключ" });
  const bytes = (name) => Buffer.from(sent[0].headers.get(name), "latin1").toString();
  assert.deepEqual([bytes("x-memhold-user"), bytes("memhold-actor"), bytes("idempotency-key")], ["zoë 김", "agent:planner", "ключ"]);
  assert.equal(sent[0].headers.get("authorization"), "Bearer mh_1");
  assert.equal(sent[0].url, "http://memhold.test/v1/messages?session=a%20b%2Fc");
});

test("a listing gives its first page, or all of them, and asks nothing before", async () => {
  const page = (ids, cursor) => Response.json({ items: ids.map((id) => ({ id })), cursor, damaged: [] });
  const { scope, sent } = scripted([page(["a", "b"], "c1"), page([], "c2"), page(["c"], null), page(["a"], "c1")]);
  scope.list();
  const found = [];
  for await (const one of scope.list({ kinds: ["note", "fact"], states: null, limit: 2 })) found.push(one.id);
  assert.deepEqual(found, ["a", "b", "c"]);
  assert.deepEqual(sent.map((one) => new URL(one.url).search), [
    "?kinds=note%2Cfact&states=any&limit=2",
    "?kinds=note%2Cfact&states=any&limit=2&cursor=c1",
    "?kinds=note%2Cfact&states=any&limit=2&cursor=c2",
  ]);
  assert.equal((await scope.list()).cursor, "c1");
});

test("what JSON would lose in silence is refused before it is sent", async () => {
  const { scope, sent } = scripted([]);
  const bad = new Date(Number.NaN);
  for (const call of [
    () => scope.forget({ before: bad }),
    () => scope.recall("x", { limit: Number.NaN }),
    () => scope.list({ written_since: bad }),
    () => scope.add({ ...said, event_time: bad }),
    () => scope.documents.put(["a"], 10n),
    () => scope.correct("mem_1", "x", { rev: 1.5 }),
    () => scope.add(said, { idempotency_key: " a\n" }),
    () => scope.add(said, { timeoutMs: Number.NaN }),
  ]) {
    await assert.rejects(async () => call(), InvalidInput);
  }
  await assert.rejects(scope.get("mem_1/../../admin/users"), NotFound);
  assert.throws(() => scripted([], {}, { namespace: "acme" }), InvalidInput);
  assert.throws(() => scripted([], {}, { user: "a\u0000" }), InvalidInput);
  for (const url of ["", "memhold", "file:///x", undefined]) assert.throws(() => new Memhold({ url }), InvalidInput);
  await assert.rejects(scripted([], { token: "mh_1\nx" }).scope.status(), InvalidInput);
  assert.equal(sent.length, 0);
});

test("an address and a token that are left out are those of the environment", async (t) => {
  const { MEMHOLD_URL, MEMHOLD_TOKEN } = process.env;
  t.after(() => Object.assign(process.env, { MEMHOLD_URL: MEMHOLD_URL ?? "", MEMHOLD_TOKEN: MEMHOLD_TOKEN ?? "" }));
  Object.assign(process.env, { MEMHOLD_URL: "http://told.test", MEMHOLD_TOKEN: "mh_told" });
  const told = scripted([Response.json({})], { url: undefined, token: undefined });
  await told.scope.status();
  assert.deepEqual([told.sent[0].url, told.sent[0].headers.get("authorization")], ["http://told.test/v1/status", "Bearer mh_told"]);
});

test("an error says its name where it is printed", () => {
  const error = new NotFound("gone", { id: "x", name: "another", message: "another" });
  assert.equal(error.stack.split("\n")[0], "NotFound: gone");
  assert.deepEqual([error.name, error.message, error.id], ["NotFound", "gone", "x"]);
});

test("a server that is none of ours is told apart", async () => {
  const of = async (answer) => scripted([answer]).scope.consolidate().catch((found) => found);
  assert.ok((await of(new Response("<html>hello</html>"))) instanceof StoreError);
  assert.ok((await of(new Response("", { status: 302, headers: { location: "http://elsewhere.test" } }))) instanceof StoreError);
  assert.ok((await of(new Response("", { status: 404 }))) instanceof NotFound);
  assert.ok((await of(new Response("", { status: 413 }))) instanceof TooLarge);
  assert.ok((await of(problem("OfTomorrow", 507))) instanceof StoreError);
  assert.ok((await of(problem("constructor", 400))) instanceof MemholdError);
  assert.ok((await of(problem("StoreFull", 507))) instanceof StoreFull);
});

test("a body that no server takes is said to be too large where the connection ends", async () => {
  const { scope } = scripted([lost("EPIPE"), lost("EPIPE")], { maxRetries: 1 });
  const error = await scope.add({ role: "user", content: "x".repeat(17 * 1024 * 1024) }).catch((found) => found);
  assert.ok(error instanceof TooLarge && error.limit === 16 * 1024 * 1024);
});

test("a stream of changes goes on behind the last one that was seen", async () => {
  const stream = (text) => new Response(text, { headers: { "content-type": "text/event-stream" } });
  const event = (seq) => `id: ${seq}\nevent: change\ndata: ${JSON.stringify({ id: `chg_${seq}`, seq })}\n\n`;
  const { scope, sent } = scripted([
    stream("retry: 1\nid: 7\n\n"),
    stream(`retry: 1\r\nid: 7\r\n\r\n${event(8)}: still here\n\n${event(9)}id: 10\ndata: {"cut`),
    problem("StoreBusy", 503),
    stream(`id: 9\n\n${event(10)}`),
  ]);
  const found = [];
  for await (const change of scope.followChanges({})) {
    found.push(change.seq);
    if (change.seq === 10) break;
  }
  assert.deepEqual(found, [8, 9, 10]);
  assert.deepEqual(sent.map((one) => one.headers.get("last-event-id")), [null, "7", "9", "9"]);
  const gone = scripted([stream(`retry: 1\n\n${event(4)}`), lost("ECONNREFUSED"), lost("ECONNREFUSED"), stream(event(5))], { maxRetries: 0 });
  const changes = gone.scope.followChanges({ after: 3 });
  assert.deepEqual([(await changes.next()).value.seq, (await changes.next()).value.seq], [4, 5]);
  assert.deepEqual(gone.sent.map((one) => one.headers.get("last-event-id")), [null, "4", "4", "4"]);
  await assert.rejects(scripted([lost("ECONNREFUSED")], { maxRetries: 0 }).scope.followChanges().next(), ServerUnreachable);
  const denied = scripted([stream("retry: 1\n\n"), problem("Unauthenticated", 401)]);
  await assert.rejects(denied.scope.followChanges({ after: 3 }).next(), { name: "Unauthenticated" });
});

test("an export is read line by line, however it is cut, and a lost end is told", async () => {
  const bytes = new TextEncoder().encode('{"type":"message","text":"zoë"}\n{"type":"memory"}\n');
  const pieces = (cut, end) =>
    new Response(
      new ReadableStream({
        start(control) {
          for (let at = 0; at < bytes.length; at += cut) control.enqueue(bytes.slice(at, at + cut));
          end(control);
        },
      }),
      { headers: { "memhold-counts": '{"message":1}' } },
    );
  for (const cut of [1, 7, 1000]) {
    const { scope } = scripted([pieces(cut, (control) => control.close())]);
    const exported = await scope.export();
    const found = [];
    for await (const entry of exported) found.push(entry.type, entry.text);
    assert.deepEqual([found, exported.counts], [["message", "zoë", "memory", undefined], { message: 1 }]);
  }
  const { scope } = scripted([pieces(1000, (control) => control.error(new Error("reset")))]);
  const exported = await scope.export();
  await assert.rejects(async () => {
    for await (const _ of exported);
  }, ServerUnreachable);
});
