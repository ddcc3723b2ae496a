// Every verb against a real server, by what every runtime has: no module of Node.js, Deno or a worker.

import { Conflict, IdempotencyConflict, InvalidInput, Memhold, MemholdError, NotFound, RevisionConflict, ScopeDenied, Unauthenticated, WrongKind } from "memhold";

export function is(found, wanted, what = "") {
  const [one, other] = [JSON.stringify(found), JSON.stringify(wanted)];
  if (one !== other) throw new Error(`${what} ${one} is not ${other}`);
}

export function holds(value, what) {
  if (!value) throw new Error(`this does not hold: ${what}`);
}

export async function raises(kind, work) {
  try {
    await work();
  } catch (error) {
    if (error instanceof kind) return error;
    throw new Error(`${kind.name} was awaited, and ${error} came`, { cause: error });
  }
  throw new Error(`${kind.name} was awaited, and nothing was raised`);
}

async function all(listing) {
  const found = [];
  for await (const one of listing) found.push(one);
  return found;
}

/** Makes a `fetch` that tells which operations were called, by method and path. */
function watched(seen) {
  return (input, init) => {
    seen.push(`${init.method} ${new URL(input).pathname}`);
    return fetch(input, init);
  };
}

/** What a service does for its users, from the first message to the last. Gives what was called. */
export async function journey({ url, service, name }) {
  const seen = [];
  const mem = new Memhold({ url, token: service, fetch: watched(seen) });
  const user = `${name} Zoë 김`;
  const zoe = mem.scope({ user, session: "s1" });

  const who = await mem.who();
  holds(who.service && who.rights.includes("act"), "the token is a service's");
  await writing(zoe);
  await windows(zoe);
  await facts(zoe);
  await dismissed(mem.scope({ user: "doubter", session: "s" }));
  await documents(zoe);
  await sessions(mem, user);
  await moving(mem, zoe, user);
  await tidying(zoe);
  await errors(mem, zoe, url);
  await administered(mem, zoe, user);
  await byTheirPaths(zoe);
  await followed(zoe);
  return seen;
}

async function writing(zoe) {
  const turn = [
    { role: "user", content: "I moved to Lisbon, and I am allergic to peanuts.", event_time: new Date("2026-01-05T10:00:00Z") },
    { role: "assistant", content: "Noted.", metadata: { from: "test" } },
  ];
  const first = await zoe.add(turn, { idempotency_key: "ключ-1" });
  const second = await zoe.add(turn, { idempotency_key: "ключ-1" });
  is([first.replayed, second.replayed, second.ids], [false, true, first.ids]);
  await raises(IdempotencyConflict, () => zoe.add({ role: "user", content: "other" }, { idempotency_key: "ключ-1" }));
  const message = await zoe.get(first.ids[0]);
  is([message.text, message.event_time.slice(0, 10), message.role], [turn[0].content, "2026-01-05", "user"]);
  is(await zoe.readMessage(first.ids[0], { offset: 11, limit: 6 }), "Lisbon");
  for (let number = 0; number < 7; number += 1) await zoe.add({ role: "user", content: `line ${number}` });
  is((await all(zoe.messages({ limit: 2 }))).length, 9);
  is((await all(zoe.messages({ limit: 4, newest: true }))).length, 9);
  is((await zoe.messages({ limit: 2 })).items.map((one) => one.id), first.ids);
}

async function windows(zoe) {
  const question = { role: "user", content: "What can I cook tonight?" };
  const window = await zoe.context(question, { budget: 4000 });
  is([window.shape, window.system, window.messages.at(-1)], ["openai", null, question]);
  holds(JSON.stringify(window.messages).includes("peanuts"), "the window has what was said");
  const other = await zoe.context([question], { budget: 4000, shape: "anthropic" });
  holds(other.messages.every((one) => one.role !== "system"), "instructions stand apart");
  const empty = await zoe.context(null);
  holds(empty.messages.length > 0, "the session's own window");
  const found = await zoe.recall("where does she live, Lisbon?", { limit: 3, roles: ["user"] });
  is([found.hits[0].text, found.degraded], ["I moved to Lisbon, and I am allergic to peanuts.", []]);
  const hits = await all(zoe.recall("line", { limit: 2, kinds: ["message"] }));
  is(new Set(hits.map((one) => one.id)).size, hits.length, "no hit twice");
  holds(hits.length >= 7, "every page");
  const also = await all(zoe.recall("line", { limit: 3, also: [{ user: `${zoe.scope.user} other` }] }));
  holds(also.length >= 7, "pages of several scopes");
  const fenced = await zoe.fence([found.hits[0].id], [found.hits[0].text]);
  holds(fenced.includes("Lisbon"), "a fence");
}

async function facts(zoe) {
  const sushi = await zoe.remember({ attribute: "favorite food", value: "sushi", event_time: "2026-01-05T00:00:00Z" });
  const ramen = await zoe.remember({ attribute: "favorite food", value: "ramen", event_time: new Date("2026-06-01") });
  is((await zoe.recall("favorite food", { kinds: ["fact"] })).hits[0].text, "favorite food: ramen");
  const then = await zoe.recall("favorite food", { kinds: ["fact"], as_of: new Date("2026-03-01") });
  is(then.hits[0].text, "favorite food: sushi");
  const right = await zoe.correct(ramen.memory.id, "kimchi jjigae", { rev: ramen.memory.rev });
  await raises(RevisionConflict, () => zoe.correct(right.memory.id, "x", { rev: 99 }));
  is((await zoe.history(right.memory.id)).map((one) => one.verb), ["remember", "remember", "correct"]);
  await zoe.undo(right.receipt.change_ids[0]);
  is((await zoe.recall("favorite food", { kinds: ["fact"] })).hits[0].text, "favorite food: ramen");
  is((await zoe.get(sushi.memory.id)).state, "superseded");
  const note = await zoe.remember("Prefers window seats", { topics: ["travel"], expires_at: undefined });
  is((await zoe.pin(note.memory.id)).memory.pinned, true);
  is((await zoe.unpin(note.memory.id)).memory.pinned, false);
  holds((await zoe.confirm(note.memory.id)).memory.last_confirmed_at !== null, "it is confirmed");
  const wrong = await zoe.remember("Never said");
  is((await zoe.drop(wrong.memory.id)).memory?.state ?? "retracted", "retracted");
  await raises(MemholdError, () => zoe.dismiss(wrong.receipt.change_ids[0], 0));
  const listed = await all(zoe.list({ limit: 1, kinds: ["fact", "note"], states: null }));
  is(new Set(listed.map((one) => one.id)).size, listed.length);
  holds(listed.length >= 4, "every state");
  const told = await zoe.forget({ topics: ["travel"], dry_run: true });
  is((await zoe.get(note.memory.id)).id, note.memory.id);
  is(told.memories, [note.memory.id]);
  is((await zoe.forget(note.memory.id)).erased, true);
  await raises(MemholdError, () => zoe.get(note.memory.id));
  await zoe.remember({ attribute: "employer", value: "Acme" });
  is(await zoe.suspicions({ settled: true }), []);
  is(await zoe.lastRecalled([]), {});
  await raises(NotFound, () => zoe.settleSuspicion("sus_00000000000000000000000000000000", "same"));
}

/** A person's no to what a model said and no line does: the store holds one window with two such statements. */
async function dismissed(doubter) {
  const [window] = (await doubter.summaries()).hits;
  const change = (await doubter.history(window.id)).find((one) => one.verb === "consolidate");
  const said = change.detail.ungrounded.map((one) => one.value);
  is([...said].sort(), ["forty", "pizza"]);
  const no = await doubter.dismiss(change.id, 1);
  is(no.ids, [window.id]);
  is((await doubter.dismiss(change.id, 1)).change_ids, [], "dismissed twice, it is dismissed once");
  const told = (await doubter.history(window.id)).at(-1);
  is([told.id, told.verb, JSON.stringify(told.detail).includes(said[1])], [no.change_ids[0], "dismiss", false]);
  is((await doubter.changes({ verb: "dismiss" })).items.map((one) => one.id), no.change_ids);
  await doubter.undo(no.change_ids[0]);
  is((await doubter.dismiss(change.id, 1)).change_ids.length, 1);
  await doubter.undo((await doubter.history(window.id)).at(-1).id);
  await raises(NotFound, () => doubter.dismiss(change.id, 2));
}

async function documents(zoe) {
  const put = await zoe.documents.put(["notes", "paris"], "The hotel is near the station.", { if_rev: 0 });
  await raises(RevisionConflict, () => zoe.documents.put(["notes", "paris"], "again", { if_rev: 0 }));
  await zoe.documents.put(["tasks", "1"], { status: "open", score: 5, tags: [] });
  const read = await zoe.documents.read(["notes", "paris"]);
  is([read.content, read.rev], ["The hotel is near the station.", put.document.rev]);
  is((await all(zoe.documents.list([], { limit: 1 }))).map((one) => one.path.join("/")), ["notes/paris", "tasks/1"]);
  is((await zoe.documents.list([], { filter: { status: "open" } })).items.length, 1);
  is((await all(zoe.documents.search("hotel", { limit: 1 })))[0].document.path, ["notes", "paris"]);
  await zoe.documents.move(["notes", "paris"], ["trips", "paris"]);
  await zoe.documents.delete(["trips", "paris"]);
  await raises(NotFound, () => zoe.documents.read(["trips", "paris"]));
}

async function sessions(mem, user) {
  const one = mem.scope({ user, session: "s1" });
  await one.setSessionMetadata({ title: "Plans", at: new Date(0) });
  is(await one.sessionMetadata(), { title: "Plans", at: "1970-01-01T00:00:00.000Z" });
  await one.copySession("s2", { until: 2 });
  is((await all(mem.scope({ user, session: "s2" }).messages())).length, 2);
  is((await all(mem.scope({ user }).sessions({ limit: 1, order: "name" }))).map((found) => found.name), ["s1", "s2"]);
  const agent = mem.scope({ user, session: "s3", actor: "agent:planner" });
  const receipt = await agent.add({ role: "user", content: "A line that an agent brought." });
  is((await agent.get(receipt.ids[0])).origin, "agent");
  await raises(InvalidInput, () => mem.scope({ user, namespace: "other" }));
}

async function moving(mem, zoe, user) {
  const exported = await zoe.export();
  const entries = await all(exported);
  holds(entries.length > 5 && Object.keys(exported.counts).length > 0, "entries and their counts");
  const text = await (await zoe.export({ format: "jsonl" })).text();
  const file = new TextEncoder().encode(text);
  const other = mem.scope({ user: `${user} moved` });
  const report = await other.importFile(file);
  holds(report.added > 0, "what was imported");
  is((await other.importFile(new Blob([file]))).added, 0, "twice adds nothing");
  is((await other.importFile((await zoe.export()).body, { dry_run: true })).added, 0);
  const damaged = '{"role":"user","content":"one"}\n{"cut\n{"role":"user","content":"two"}\n';
  const [problem] = (await mem.scope({ user: `${user} damaged` }).importFile(damaged, { on_error: "skip" })).problems;
  holds(problem.line === 2 && problem.why !== "", "what could not be read is told");
  const others = await zoe.export({ format: "mem0" });
  holds(JSON.stringify(JSON.parse(await others.text())).includes("ramen") && others.left_out !== undefined, "mem0's shape");
  await raises(InvalidInput, async () => all(await zoe.export({ format: "mem0" })));
  holds((await all(await zoe.export({ format: "mcp-memory" }))).some((one) => one.type === "entity"), "the reference server's");
  const pages = await zoe.export({ format: "markdown" });
  holds(pages.files["MEMORY.md"].includes("ramen"), "Markdown");
}

async function tidying(zoe) {
  const ended = await zoe.endSession();
  holds(ended.ids.length === 1, "the window is raw: no model reads here");
  is((await zoe.summaries()).hits.length, 0);
  is((await all(zoe.summaries("Lisbon", { raw: true }))).length > 0, true);
  is(await zoe.retain({ kinds: ["note"], most: 0 }).then((found) => Array.isArray(found)), true);
  await zoe.consolidate();
  is((await zoe.compact({ dry_run: true })).more, false);
  holds((await zoe.status()).messages > 0, "a count");
}

async function errors(mem, zoe, url) {
  const lost = await raises(NotFound, () => zoe.get("mem_00000000000000000000000000000000"));
  is([lost.name, lost.id, lost instanceof MemholdError], ["NotFound", "mem_00000000000000000000000000000000", true]);
  await raises(NotFound, () => zoe.get("../../admin/usage"));
  await raises(WrongKind, () => zoe.send("get_memory", { memory_id: "chg_00000000000000000000000000000000" }));
  await raises(InvalidInput, () => zoe.recall("x", { limitt: 3 }));
  await raises(InvalidInput, () => zoe.list({ kindz: ["note"] }));
  await raises(InvalidInput, () => zoe.recall("x", { limit: 0 }));
  await raises(InvalidInput, async () => zoe.forget({ before: new Date(Number.NaN) }));
  await raises(Unauthenticated, () => new Memhold({ url, token: "mh_wrong" }).who());
  await raises(InvalidInput, () => mem.scope().add({ role: "user", content: "nobody's" }));
  await raises(Conflict, () => zoe.copySession("s2"));
}

async function administered(mem, zoe, user) {
  is(typeof (await mem.settle(5)), "boolean");
  holds((await mem.admin.usage()).length > 0, "usage");
  holds((await mem.admin.usage({ days: 2 }))[0].days.length > 0, "usage by days");
  await raises(ScopeDenied, () => mem.admin.modelUsage({ days: 7 }));
  await raises(ScopeDenied, () => mem.admin.residue("Lisbon"));
  holds((await all(mem.admin.users({ limit: 1 }))).includes(user), "every page of users");
  holds(Array.isArray(await mem.admin.doctor()), "findings");
  is((await mem.admin.ready()).writes, true);
  holds((await mem.admin.reindex()).scopes > 0, "words");
  const made = await mem.admin.tokens.create({ user, rights: ["read"], label: "browser" });
  const reader = new Memhold({ url: mem.url, token: made.secret });
  is((await reader.who()).user, user);
  await raises(ScopeDenied, () => reader.scope().remember("x"));
  await raises(ScopeDenied, () => reader.scope({ user: "another" }).status());
  holds((await mem.admin.tokens.list()).some((one) => one.id === made.token.id), "it is listed");
  await mem.admin.tokens.revoke(made.token.id);
  await raises(Unauthenticated, () => reader.who());
  const passed = await mem.admin.tokens.exchange(user, { rights: ["read"], expires_in: 60 });
  let asked = 0;
  const browser = new Memhold({ url: mem.url, token: async () => ((asked += 1), passed.access_token) });
  is((await browser.scope().recall("favorite food", { kinds: ["fact"] })).hits[0].value, "ramen");
  is(asked, 1);
  await raises(MemholdError, () => mem.admin.tokens.exchange("", {}));
}

/** Operations that another verb covers, by their ids. */
async function byTheirPaths(zoe) {
  const note = await zoe.remember("Kept by its path");
  const message = (await zoe.add({ role: "user", content: "Said by its path" })).ids[0];
  is((await zoe.send("message_history", { message_id: message }))[0].verb, "add");
  const hidden = await zoe.send("forget_memory", { memory_id: note.memory.id, hard: false, rev: note.memory.rev });
  await zoe.send("undo_change", { change_id: hidden.change_id });
  is((await zoe.get(note.memory.id)).id, note.memory.id);
  is((await zoe.send("forget_message", { message_id: message })).erased, true);
}

async function followed(zoe) {
  const before = await all(zoe.changes({ limit: 3 }));
  is(new Set(before.map((one) => one.id)).size, before.length);
  const ending = new AbortController();
  const ids = [];
  for await (const change of zoe.followChanges({ after: before.at(-3).seq })) {
    ids.push(change.id);
    if (ids.length === 2) break;
  }
  is(ids, before.slice(-2).map((one) => one.id));
  const waiting = zoe.followChanges({ after: before.at(-1).seq, signal: ending.signal }).next();
  ending.abort(new Error("enough"));
  is((await raises(Error, () => waiting)).message, "enough");
}
