// Ten verbs as a program with types calls them; what must not compile is marked. It is compiled and run.
import Anthropic from "@anthropic-ai/sdk";
import OpenAI from "openai";
import { Memhold, MemholdError, NotFound, type Change, type Hit, type Memory, type Message, type Receipt } from "memhold";

const memory: Memhold = new Memhold({ url: process.env["MEMHOLD_URL"] ?? "", timeoutMs: 30_000 });
const alice = memory.scope({ session: "typed" });

const turn: OpenAI.ChatCompletionMessageParam[] = [
  { role: "user", content: "I moved to Lisbon, and I'm allergic to peanuts." },
  { role: "assistant", content: null, tool_calls: [{ id: "call_1", type: "function", function: { name: "look", arguments: "{}" } }] },
  { role: "tool", tool_call_id: "call_1", content: "nothing" },
  { role: "assistant", content: "Noted." },
];
const receipt: Receipt = await alice.add(turn, { idempotency_key: "turn-1" });
const blocks: Anthropic.MessageParam[] = [
  { role: "user", content: [{ type: "text", text: "And I like tea." }] },
  { role: "assistant", content: "Good." },
];
await alice.add(blocks);
const first: Message = await alice.get(receipt.ids[0] as `msg_${string}`);
const fact = await alice.remember({ attribute: "favorite food", value: "sushi", event_time: new Date() });
const note = await alice.remember("Prefers window seats", { topics: ["travel"], importance: "high" });
const kept: Memory | null = note.memory;
if (fact.memory === null || kept === null) throw new Error("nothing was remembered");
await alice.correct(fact.memory.id, "ramen", { rev: fact.memory.rev });
const hits: Hit[] = (await alice.recall("favorite food", { kinds: ["fact"], limit: 3 })).hits;
const listed: string[] = [];
for await (const one of alice.list({ kinds: ["note"] })) listed.push(one.text);
const story: Change[] = await alice.history(kept.id);
await alice.undo(story[0]!.id);
await alice.documents.put(["notes", "paris"], { open: true });
const erased: boolean = (await alice.forget(first.id)).erased;
const lost = await alice.get("mem_00000000000000000000000000000000").catch((error: unknown) => error);

const question = { role: "user" as const, content: "What can I cook tonight?" };
const model = process.env["MODEL"] ?? "chaos";
const window = await alice.context(question, { budget: 4000, signal: AbortSignal.timeout(30_000) });
const openai = new OpenAI({ baseURL: `${process.env["MODEL_URL"]}/v1`, apiKey: "none", maxRetries: 0 });
const chat = await openai.chat.completions.create({ model, messages: window.messages });
const anthropic = new Anthropic({ baseURL: process.env["MODEL_URL"] ?? null, apiKey: "none", maxRetries: 0 });
const { system, messages } = await alice.context([question], { shape: "anthropic" });
const reply = await anthropic.messages.create({ model, max_tokens: 100, messages, ...(system === undefined ? {} : { system }) });

// @ts-expect-error: a misspelt filter
void (() => alice.recall("x", { kind: ["fact"] }));
// @ts-expect-error: no such kind
void (() => alice.recall("x", { kinds: ["facts"] }));
// @ts-expect-error: a message needs a role
void (() => alice.add({ content: "x" }));
// @ts-expect-error: an OpenAI window has no instructions apart
void (() => window.system.length);
// @ts-expect-error: namespaces are the token's
void (() => memory.scope({ namespace: "acme" }));

const told = [erased, hits[0]?.value, listed, lost instanceof NotFound && lost instanceof MemholdError, lost instanceof NotFound ? lost.id.length : 0];
console.log(JSON.stringify([...told, chat.choices.length, reply.content.length, window.used <= window.budget]));
