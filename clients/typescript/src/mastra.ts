/** Memhold as the memory of Mastra's agents: a processor that brings what is known, and takes down each turn. */

import type { MastraDBMessage } from "@mastra/core/agent";
import type { ProcessInputArgs, Processor, ProcessOutputResultArgs } from "@mastra/core/processors";
import type { Memhold, OpenAIMessage, Scope, ScopeOptions } from "./client.js";
import type { MessageInput } from "./arguments.js";
import { MemholdError } from "./error.js";
import { InvalidInput, ServerUnreachable } from "./generated/errors.js";

type MessageList = ProcessInputArgs["messageList"];
type Part = MastraDBMessage["content"]["parts"][number];

/** What a call of an agent says of whose memory it is: `memory: { thread, resource }`. */
export interface Whose {
  thread: string | undefined;
  resource: string | undefined;
}

export interface MemholdMemoryOptions {
  /**
   * The scope of a call; null where it has no memory. Left out: the resource is the user and the thread the session, for a
   * service's token; a call that names no resource has no memory. With a token of one user: `({ thread }) => ({ session: thread })`.
   */
  scope?: (whose: Whose) => ScopeOptions | null;
  /** Tokens for all that is brought, with the new messages. */
  budget?: number;
  /** How many milliseconds a turn waits for memory at most, when it begins and when it ends. */
  waitMs?: number;
  /** For how many milliseconds a server that did not answer is let alone. */
  restMs?: number;
  /** Who is told that memory went, came back or refused something; never with the words of a message. */
  log?: (line: string) => void;
}

/** A message that waits to be written: it is written once, however often it is tried. */
interface Waiting {
  scope: Scope;
  messages: MessageInput[];
  key: string;
}

/** Messages that wait in this process for a server that is gone; beyond it the oldest are given up, and the log says so. */
const MOST_WAITING = 1000;
/** Messages that are known to be written: a caller who sends the whole conversation each time costs no call for them. */
const MOST_KNOWN = 10_000;
const SYSTEM_TAG = "memhold";

/**
 * Pass it as an input and an output processor: `new Agent({ inputProcessors: [memory], outputProcessors: [memory], … })`.
 *
 * Before a turn it brings what is known of the user, the conversation so far and what an earlier one said of the question;
 * after it each message is in the journal, once, in its order. A store that is gone ends no turn: the turn goes on without
 * memory, and what could not be written waits in this process and is written with the next turn that finds the store.
 */
export class MemholdMemory implements Processor<"memhold"> {
  readonly id = "memhold";
  readonly name = "Memhold";
  readonly #memory: Memhold;
  readonly #scopeOf: (whose: Whose) => ScopeOptions | null;
  readonly #budget: number;
  readonly #waitMs: number;
  readonly #restMs: number;
  readonly #log: (line: string) => void;
  readonly #known = new Set<string>();
  #waiting: Waiting[] = [];
  #writing: Promise<void> = Promise.resolve();
  #restsUntil = 0;
  #gone = false;

  constructor(memory: Memhold, options: MemholdMemoryOptions = {}) {
    this.#memory = memory;
    this.#scopeOf = options.scope ?? (({ thread, resource }) => (resource === undefined ? null : { user: resource, session: thread }));
    this.#budget = options.budget ?? 8000;
    this.#waitMs = options.waitMs ?? 5000;
    this.#restMs = options.restMs ?? 30_000;
    this.#log = options.log ?? ((line) => console.warn(`memhold: ${line}`));
  }

  /** How many messages wait for a server that is gone. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Bring what memory holds for the new messages. */
  async processInput({ messageList }: ProcessInputArgs): Promise<MessageList> {
    const scope = this.#scope(messageList);
    if (scope === null || this.#rests()) return messageList;
    const input = messageList.get.input.db();
    const asked = input.flatMap(toOpenAI);
    try {
      // What waits was said before this.
      await this.#write();
      const window = await scope.context(asked.length === 0 ? null : asked, { budget: this.#budget, timeoutMs: this.#waitMs });
      this.#came();
      bring(messageList, unsaid(window.messages, asked), input[0]?.createdAt);
    } catch (error) {
      this.#failed(error, "the turn goes on without memory");
    }
    return messageList;
  }

  /** Take the turn down. It is durable when this returns, unless the server is gone. */
  async processOutputResult({ messageList, result }: ProcessOutputResultArgs): Promise<MessageList> {
    const scope = this.#scope(messageList);
    const response = messageList.get.response.db();
    if (scope === null || (result?.finishReason === "error" && response.length === 0)) return messageList;
    for (const message of [...messageList.get.input.db(), ...response]) {
      const messages = toOpenAI(message);
      if (messages.length === 0) continue;
      const key = await keyOf(scope, message.id, messages);
      if (this.#known.has(key)) continue;
      this.#remember(key);
      this.#waiting.push({ scope, messages, key });
    }
    if (!this.#rests()) await this.#write();
    return messageList;
  }

  /** Write what waits, now; false where some still waits. */
  async flush(): Promise<boolean> {
    await this.#write();
    return this.#waiting.length === 0;
  }

  #scope(messageList: MessageList): Scope | null {
    const info = messageList.serialize().memoryInfo;
    const options = this.#scopeOf({ thread: info?.threadId, resource: info?.resourceId });
    return options === null ? null : this.#memory.scope(options);
  }

  /** One writer at a time, so that the order stays. */
  #write(): Promise<void> {
    this.#writing = this.#writing.catch(() => undefined).then(() => this.#writeAll());
    return this.#writing;
  }

  async #writeAll(): Promise<void> {
    const end = performance.now() + this.#waitMs;
    for (let next = this.#waiting[0]; next !== undefined; next = this.#waiting[0]) {
      try {
        await next.scope.add(next.messages, { idempotency_key: next.key, timeoutMs: Math.max(1, end - performance.now()) });
        this.#came();
      } catch (error) {
        if (!(error instanceof InvalidInput)) {
          this.#failed(error, `${this.#waiting.length} messages wait`);
          this.#giveUp();
          return;
        }
        this.#log(`a message was refused (${error.name}) and is left out`);
      }
      this.#waiting.shift();
    }
  }

  #giveUp(): void {
    const over = this.#waiting.length - MOST_WAITING;
    if (over <= 0) return;
    this.#waiting = this.#waiting.slice(over);
    this.#log(`${over} messages that waited too long are lost`);
  }

  #remember(key: string): void {
    this.#known.add(key);
    const [oldest] = this.#known;
    if (this.#known.size > MOST_KNOWN && oldest !== undefined) this.#known.delete(oldest);
  }

  #rests(): boolean {
    return performance.now() < this.#restsUntil;
  }

  #came(): void {
    if (this.#gone) this.#log("memory is back");
    this.#gone = false;
    this.#restsUntil = 0;
  }

  #failed(error: unknown, what: string): void {
    if (!(error instanceof MemholdError)) throw error;
    if (error instanceof ServerUnreachable) this.#restsUntil = performance.now() + this.#restMs;
    // What was refused may stand in the words of a refusal.
    const said = error instanceof InvalidInput ? error.name : `${error.name}: ${error.message}`;
    if (!this.#gone) this.#log(`${said}; ${what}`);
    this.#gone = true;
  }
}

/** The messages of a window that the caller does not have: all but the new ones, of which one may be shortened. */
function unsaid(window: readonly OpenAIMessage[], asked: readonly MessageInput[]): OpenAIMessage[] {
  const left = [...window];
  if (asked.at(-1)?.role === "user") left.pop();
  for (const message of asked) {
    const text = JSON.stringify(message.content);
    const place = left.findLastIndex((one) => one.role === message.role && JSON.stringify(one.content) === text);
    if (place >= 0) left.splice(place, 1);
  }
  return left;
}

/** Put a window in front of what is asked: instructions as a system message, the rest as messages of before. */
function bring(messageList: MessageList, window: readonly OpenAIMessage[], asked: Date | undefined): void {
  const told = window.filter((one) => one.role === "system");
  if (told.length > 0) messageList.addSystem(told.map((one) => one.content as string).join("\n\n"), SYSTEM_TAG);
  const before = fromOpenAI(window.filter((one) => one.role !== "system"));
  // A list orders its messages by their times.
  const end = new Date(asked ?? Date.now()).getTime() - before.length;
  const dated = before.map((message, place) => ({ ...message, id: newId(), createdAt: new Date(end + place) }));
  if (dated.length > 0) messageList.add(dated, "memory");
}

// ------------------------------------------------------------------------------------------------ conversion

/** A message of Mastra as chat completions have it: calls with their results become messages of their own. */
function toOpenAI(message: MastraDBMessage): MessageInput[] {
  const parts = message.content.parts;
  if (message.role === "user") {
    const content = parts.flatMap(userPart);
    if (content.length === 0) return [];
    return [{ role: "user", content: content.every((one) => one.type === "text") ? content.map((one) => one.text).join("\n") : content }];
  }
  return message.role === "assistant" ? assistant(parts) : [];
}

type UserPart = { type: "text"; text: string } | { type: "image_url"; image_url: { url: string }; text?: never };

function userPart(part: Part): UserPart[] {
  if (part.type === "text") return part.text === "" ? [] : [{ type: "text", text: part.text }];
  if (part.type !== "file") return [];
  const { data, mimeType } = part as unknown as { data: unknown; mimeType?: string };
  if (typeof data !== "string" || !mimeType?.startsWith("image/")) return [{ type: "text", text: `[a file: ${mimeType ?? "of no known type"}]` }];
  const url = /^(data:|https?:)/.test(data) ? data : `data:${mimeType};base64,${data}`;
  return [{ type: "image_url", image_url: { url } }];
}

/** Words, then calls, then their results; words that come after results begin a message of their own. */
function assistant(parts: readonly Part[]): MessageInput[] {
  const found: MessageInput[] = [];
  let text: string[] = [];
  let calls: { id: string; type: "function"; function: { name: string; arguments: string } }[] = [];
  let results: MessageInput[] = [];
  const close = (): void => {
    const said = text.join("\n");
    if (calls.length > 0) found.push({ role: "assistant", content: said || null, tool_calls: calls }, ...results);
    else if (said !== "") found.push({ role: "assistant", content: said });
    [text, calls, results] = [[], [], []];
  };
  for (const part of parts) {
    if (part.type === "text" && part.text !== "") {
      if (calls.length > 0) close();
      text.push(part.text);
    } else if (part.type === "tool-invocation" && part.toolInvocation.state === "result") {
      const { toolCallId, toolName, args, result } = part.toolInvocation;
      calls.push({ id: toolCallId, type: "function", function: { name: toolName, arguments: JSON.stringify(args ?? {}) } });
      results.push({ role: "tool", tool_call_id: toolCallId, content: typeof result === "string" ? result : (JSON.stringify(result) ?? "null") });
    }
  }
  close();
  return found;
}

type Undated = Omit<MastraDBMessage, "id" | "createdAt">;

function fromOpenAI(messages: readonly OpenAIMessage[]): Undated[] {
  return messages.flatMap((message, place): Undated[] => {
    if (message.role === "user") return [of("user", contentParts(message.content))];
    if (message.role !== "assistant") return [];
    const results = new Map<string, unknown>();
    for (const one of messages.slice(place + 1)) {
      if (one.role !== "tool") break;
      results.set(one.tool_call_id, one.content);
    }
    const calls = (message.tool_calls ?? []).filter((call) => results.has(call.id)).map((call) => invocation(call, results.get(call.id)));
    const parts = [...contentParts(message.content ?? ""), ...calls];
    return parts.length === 0 ? [] : [of("assistant", parts)];
  });
}

function of(role: "user" | "assistant", parts: Part[]): Undated {
  return { role, content: { format: 2, parts } };
}

function contentParts(content: string | readonly { type: string; text?: string; image_url?: { url: string } }[]): Part[] {
  const parts = typeof content === "string" ? [{ type: "text", text: content }] : content;
  return parts.flatMap((part): Part[] => {
    if (part.image_url !== undefined) {
      const mimeType = /^data:([^;,]+)/.exec(part.image_url.url)?.[1] ?? "image/*";
      return [{ type: "file", data: part.image_url.url, mimeType } as Part];
    }
    return part.text ? [{ type: "text", text: part.text }] : [];
  });
}

function invocation(call: { id: string; function: { name: string; arguments: string } }, result: unknown): Part {
  const args = parsed(call.function.arguments);
  return { type: "tool-invocation", toolInvocation: { state: "result", toolCallId: call.id, toolName: call.function.name, args, result } };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return { text };
  }
}

/** A key that is this message's and no other's: the same message again is the same write, one that was changed is another. */
async function keyOf(scope: Scope, id: string, messages: readonly MessageInput[]): Promise<string> {
  const text = JSON.stringify([scope.scope, id, messages]);
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `mastra-${Array.from(new Uint8Array(digest).slice(0, 16), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

function newId(): string {
  return `memhold-${Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}
