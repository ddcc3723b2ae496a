/** The verbs, by the names of the Python library; what they take and answer is as it crosses. */

import type { AlsoScope, CallOptions, MessageInput, Messages } from "./arguments.js";
import { InvalidInput, NotFound } from "./generated/errors.js";
import type * as api from "./generated/api.js";
import { OPERATIONS, type Answers, type Arguments, type Operation, type OperationId } from "./generated/api.js";
import { Pages } from "./pages.js";
import { Export, followed } from "./streams.js";
import { headerText, jsonBody, Transport, type Call, type MemholdOptions } from "./transport.js";

/** What a verb takes beside what stands in front: its other arguments, and what every call takes. */
export type Options<A, K extends keyof A = never> = Omit<A, K> & CallOptions;

/** Whose memory. Namespace and agent follow from the token. */
export interface ScopeOptions {
  /** Whose; left out: the token's user. A service's token (with the right `act`) must say for whom it acts. */
  user?: string | undefined;
  /** Where writes go, and whose window is continued; left out: the unnamed session. */
  session?: string | undefined;
  /** In whose name it writes: "user", "agent" or "tool", each perhaps with a name ("agent:planner"); never more than the token's. */
  actor?: string | undefined;
}

/** A context of the OpenAI shape: `messages` go into a chat completion as they are. */
export interface OpenAIContext extends Omit<api.Context, "messages" | "system" | "shape"> {
  shape: "openai";
  system: null;
  messages: OpenAIMessage[];
}

/** A context of the Anthropic shape: `messages` and `system` go into a messages request as they are. */
export interface AnthropicContext extends Omit<api.Context, "messages" | "system" | "shape"> {
  shape: "anthropic";
  /** The instructions; not there where there are none. */
  system?: string;
  messages: AnthropicMessage[];
}

type Text = { type: "text"; text: string };
type ImageUrl = { type: "image_url"; image_url: { url: string; detail?: "auto" | "low" | "high" } };

/** A message as a chat completion takes it. */
export type OpenAIMessage =
  | { role: "system" | "developer"; content: string }
  | { role: "user"; content: string | (Text | ImageUrl)[]; name?: string }
  | {
      role: "assistant";
      content?: string | Text[] | null;
      tool_calls?: { id: string; type: "function"; function: { name: string; arguments: string } }[];
    }
  | { role: "tool"; content: string | Text[]; tool_call_id: string };

type Image = {
  type: "image";
  source:
    | { type: "base64"; media_type: "image/jpeg" | "image/png" | "image/gif" | "image/webp"; data: string }
    | { type: "url"; url: string };
};

/** A message as a messages request takes it. */
export interface AnthropicMessage {
  role: "user" | "assistant";
  content:
    | string
    | (
        | Text
        | Image
        | { type: "tool_use"; id: string; name: string; input: unknown }
        | { type: "tool_result"; tool_use_id: string; content?: string | (Text | Image)[]; is_error?: boolean }
        | { type: "thinking"; thinking: string; signature: string }
        | { type: "redacted_thinking"; data: string }
      )[];
}

const HOUR_MS = 3_600_000;
/** Verbs that wait for models, and for how long a call of theirs may take: more than a server waits for them. */
const WAITING: Partial<Record<OperationId, number>> = { compact: 120_000, consolidate: 120_000, retain: 120_000 };
const ID = /^[A-Za-z0-9_-]{1,200}$/;

/** A Memhold server, or what it keeps for one token. Making one asks nothing. */
export class Memhold {
  readonly #transport: Transport;

  constructor(options: MemholdOptions = {}) {
    this.#transport = new Transport(options);
  }

  /** The address of the server. */
  get url(): string {
    return this.#transport.url;
  }

  /** The verbs for one scope. There is no "all": no user means the token's own. */
  scope(options: ScopeOptions = {}): Scope {
    return new Scope(this.#transport, options);
  }

  /** The verbs that look after the token's namespace; they need the right `admin`. */
  get admin(): Admin {
    return new Admin(this.#transport);
  }

  /** Whose memory the token is bound to, what it may do there, and the server's release. */
  who(options: CallOptions = {}): Promise<api.WhoAsks> {
    return this.send("who", {}, options);
  }

  /** Do the due work of the token's namespace until none is due, at most 45 seconds a call; false when time ran out. */
  async settle(timeout = 30, options: CallOptions = {}): Promise<boolean> {
    return (await this.send("settle", { timeout }, { timeoutMs: timeout * 1000 + 20_000, ...options })).settled;
  }

  /** Any operation of the server by its id (see `/docs` there), in the token's own scope. */
  send<K extends OperationId>(operation: K, given: Arguments[K], options: CallOptions = {}): Promise<Answers[K]> {
    return send(this.#transport, {}, operation, given, options);
  }
}

/**
 * The verbs of one scope. A write is acknowledged when it is durable and can be read at once; one without an
 * `idempotency_key` gets one, so that a call whose answer was lost is sent again and is still one write.
 *
 * An id of another scope is `NotFound`, exactly as one that never was.
 */
export class Scope {
  readonly #transport: Transport;
  readonly #options: ScopeOptions;
  /** Text or JSON at paths. */
  readonly documents: Documents;

  constructor(transport: Transport, options: ScopeOptions) {
    const unknown = Object.keys(options).find((name) => !["user", "session", "actor"].includes(name));
    if (unknown !== undefined) {
      const said = "a scope takes user, session and actor; namespace and agent are those of the token";
      throw new InvalidInput(`${unknown} is not known here: ${said}`);
    }
    headersOf(options);
    this.#transport = transport;
    this.#options = { ...options };
    this.documents = new Documents(this);
  }

  /** The user, the session and the actor, as far as they were named. */
  get scope(): Readonly<ScopeOptions> {
    return this.#options;
  }

  /** Any operation of the server by its id (see `/docs` there), in this scope. */
  send<K extends OperationId>(operation: K, given: Arguments[K], options: CallOptions = {}): Promise<Answers[K]> {
    return send(this.#transport, this.#options, operation, given, options);
  }

  // ---------------------------------------------------------------------------------------------- writing

  /** Append messages to the session's journal, all or none; their ids in the receipt are in their order. Needs no model. */
  add(messages: Messages, options: Options<api.AddMessagesArguments, "messages"> = {}): Promise<api.Receipt> {
    const [rest, call] = apart(options);
    return this.send("add_messages", { ...rest, messages }, call);
  }

  /**
   * Remember a note (`remember("Prefers window seats")`) or a fact (`remember({ attribute: "employer", value: "Acme" })`).
   *
   * The same note again is the same memory. A fact supersedes what its attribute said before, which the history keeps.
   */
  remember(text: string, options?: Options<api.RememberArguments, "text" | "attribute" | "value">): Promise<api.Remembered>;
  remember(told: Options<api.RememberArguments>): Promise<api.Remembered>;
  remember(told: string | Options<api.RememberArguments>, options: Options<api.RememberArguments, "text"> = {}): Promise<api.Remembered> {
    const [rest, call] = apart(typeof told === "string" ? { ...options, text: told } : told);
    return this.send("remember", rest, call);
  }

  /** Replace a fact's value or a note's text that was never true; the old one is retracted. */
  correct(memory_id: string, value: string, options: Options<api.CorrectArguments, "memory_id" | "value"> = {}): Promise<api.Remembered> {
    const [rest, call] = apart(options);
    return this.send("correct", { ...rest, memory_id, value }, call);
  }

  /** Pin a memory: it is long-term, never expires and is never merged away. */
  pin(memory_id: string, options: Options<api.PinArguments, "memory_id"> = {}): Promise<api.Remembered> {
    const [rest, call] = apart(options);
    return this.send("pin", { ...rest, memory_id }, call);
  }

  /** Take the pin away. */
  unpin(memory_id: string, options: Options<api.UnpinArguments, "memory_id"> = {}): Promise<api.Remembered> {
    const [rest, call] = apart(options);
    return this.send("unpin", { ...rest, memory_id }, call);
  }

  /** A person's yes: the memory counts as the user's word from now on. */
  confirm(memory_id: string, options: Options<api.ConfirmArguments, "memory_id"> = {}): Promise<api.Remembered> {
    const [rest, call] = apart(options);
    return this.send("confirm", { ...rest, memory_id }, call);
  }

  /** A person's no: the memory was never true, and what it took the place of holds again. */
  drop(memory_id: string, options: Options<api.DropArguments, "memory_id"> = {}): Promise<api.Remembered> {
    const [rest, call] = apart(options);
    return this.send("drop", { ...rest, memory_id }, call);
  }

  /** A person's no to a statement of a model that was not kept; `place` says which of the change's, counted from 0. */
  dismiss(change_id: string, place: number, options: Options<api.DismissArguments, "change_id" | "place"> = {}): Promise<api.Receipt> {
    const [rest, call] = apart(options);
    return this.send("dismiss", { ...rest, change_id, place }, call);
  }

  /**
   * Forget one message or memory (`forget(id)`), or what passes filters (`forget({ session: "s1" })`), for good.
   *
   * With it goes what was derived from it; no surface returns any of it from then on. `hard: false` hides instead.
   */
  forget(item_id: string, options?: Options<api.ForgetArguments, "item_id">): Promise<api.Erasure>;
  forget(filters: Options<api.ForgetArguments>): Promise<api.Erasure>;
  forget(target: string | Options<api.ForgetArguments>, options: Options<api.ForgetArguments, "item_id"> = {}): Promise<api.Erasure> {
    const [rest, call] = apart(typeof target === "string" ? { ...options, item_id: target } : target);
    return this.send("forget", rest, call);
  }

  /** Undo a change (`undo(id)`), as a new change, or all that passes filters (`undo({ actor: "cursor" })`). */
  undo(change_id: string, options?: Options<api.UndoArguments, "change_id">): Promise<api.Receipt>;
  undo(filters: Options<api.UndoArguments>): Promise<api.Receipt>;
  undo(target: string | Options<api.UndoArguments>, options: Options<api.UndoArguments, "change_id"> = {}): Promise<api.Receipt> {
    const [rest, call] = apart(typeof target === "string" ? { ...options, change_id: target } : target);
    return this.send("undo", rest, call);
  }

  // ---------------------------------------------------------------------------------------------- reading

  /**
   * Find messages and current memories, across all sessions of the user; an empty question lists the newest.
   *
   * `await` gives a page with its `hits`, `for await` all hits, page by page. `degraded` names what could not be asked.
   */
  recall(query = "", options: Options<api.RecallArguments, "query"> = {}): Pages<api.Recall, api.Hit> {
    const [rest, call] = apart(options);
    return new Pages({
      ask: (more) => this.send("recall", { ...rest, query, ...more }, call),
      items: (page) => page.hits,
      // Pages of several scopes go by offset.
      next: (page) => (rest.also?.length ? byOffset(page) : byCursor(page)),
    });
  }

  /** The messages to send: the session's window and memory, within a budget of tokens, valid for the provider. */
  context(messages: Messages | null, options: Options<api.ContextArguments, "messages" | "shape"> & { shape: "anthropic" }): Promise<AnthropicContext>;
  context(messages?: Messages | null, options?: Options<api.ContextArguments, "messages" | "shape"> & { shape?: "openai" }): Promise<OpenAIContext>;
  async context(
    messages: Messages | null = null,
    options: Options<api.ContextArguments, "messages"> = {},
  ): Promise<OpenAIContext | AnthropicContext> {
    const [rest, call] = apart(options);
    const { system, ...found } = await this.send("context", { ...rest, messages }, call);
    // What OpenAI's request calls null is left out of Anthropic's.
    return { ...found, ...(found.shape === "openai" ? { system: null } : system === null ? {} : { system }) } as OpenAIContext | AnthropicContext;
  }

  /** The message (msg_…) or memory (mem_…) of that id. */
  get(message_id: `msg_${string}`, options?: CallOptions): Promise<api.Message>;
  get(memory_id: `mem_${string}`, options?: CallOptions): Promise<api.Memory>;
  get(item_id: string, options?: CallOptions): Promise<api.Message | api.Memory>;
  get(item_id: string, options: CallOptions = {}): Promise<api.Message | api.Memory> {
    return item_id.startsWith("msg_")
      ? this.send("get_message", { message_id: item_id }, options)
      : this.send("get_memory", { memory_id: item_id }, options);
  }

  /** Memories, oldest first: `await` gives a page, `for await` all of them. */
  list(options: Options<api.ListMemoriesArguments> = {}): Pages<api.Page, api.Memory> {
    const [rest, call] = apart(options);
    return new Pages({ ask: (more) => this.send("list_memories", { ...rest, ...more }, call), items: (page) => page.items, next: byCursor });
  }

  /** Messages of the scope's session, oldest first: `await` gives a page, `for await` all; with `newest` page by page backwards. */
  messages(options: Options<api.MessagesArguments> = {}): Pages<api.MessagePage, api.Message> {
    const [rest, call] = apart(options);
    return new Pages({
      ask: (more) => this.send("messages", { ...rest, ...more }, call),
      items: (page) => page.items,
      next: ({ cursor }) => (cursor === null ? null : { [rest.newest ? "before" : "after"]: cursor }),
    });
  }

  /** Part of a message's text, from a character on: how a huge one is read whole, piece by piece. */
  async readMessage(message_id: string, options: Options<api.ReadMessageArguments, "message_id"> = {}): Promise<string> {
    const [rest, call] = apart(options);
    return (await this.send("read_message", { ...rest, message_id }, call)).text;
  }

  /** Every change that touched it, oldest first, with before and after; of a fact, the story of its attribute. */
  history(item_id: string, options: CallOptions = {}): Promise<api.Change[]> {
    return this.send("history", { item_id }, options);
  }

  /** What changed, in the order in which it was committed: `await` gives a page, `for await` all there is now. */
  changes(options: Options<api.ChangesArguments> = {}): Pages<api.Changes, api.Change> {
    const [rest, call] = apart(options);
    return new Pages({
      ask: (more) => this.send("changes", { ...rest, ...more }, call),
      items: (page) => page.items,
      next: (page) => (page.more ? { after: page.cursor } : null),
    });
  }

  /**
   * Changes as they come, from now on or behind `after`; goes on where a lost connection broke off: none twice.
   *
   * It ends when you leave the loop, with the signal's reason, or with an error where the server says no or was never there.
   */
  followChanges(options: Options<api.FollowChangesArguments> = {}): AsyncGenerator<api.Change, void, undefined> {
    const [rest, { signal, timeoutMs }] = apart(options);
    const open = (last: string | null): Promise<Response> =>
      this.#transport.response({
        method: "GET",
        path: OPERATIONS.follow_changes.path,
        query: last === null ? { ...rest } : {},
        headers: { ...headersOf(this.#options), ...(last === null ? {} : { "last-event-id": last }) },
        again: true,
        signal,
        timeoutMs,
      });
    return followed(open, signal);
  }

  /** The history: a summary for each consolidated window, by words, or the newest first without a query. */
  summaries(query?: string, options: Options<api.SummariesArguments, "query"> = {}): Pages<api.Recall, api.Hit> {
    const [rest, call] = apart(options);
    return new Pages({ ask: (more) => this.send("summaries", { ...rest, query, ...more }, call), items: (page) => page.hits, next: byCursor });
  }

  /** The sessions of the scope's user: how many messages each holds, and when; the unnamed one is "". */
  sessions(options: Options<api.SessionsArguments> = {}): Pages<api.SessionPage, api.SessionInfo> {
    const [rest, call] = apart(options);
    return new Pages({ ask: (more) => this.send("sessions", { ...rest, ...more }, call), items: (page) => page.items, next: byCursor });
  }

  /** Copy the scope's session into a new one, with its window and metadata; both go on apart. */
  copySession(to: string, options: Options<api.CopySessionArguments, "to"> = {}): Promise<api.Receipt> {
    const [rest, call] = apart(options);
    return this.send("copy_session", { ...rest, to }, call);
  }

  /** What the application keeps beside the scope's session; empty where that is nothing. */
  sessionMetadata(options: CallOptions = {}): Promise<Record<string, unknown>> {
    return this.send("session_metadata", {}, options);
  }

  /** Keep JSON beside the scope's session, in the place of what is kept there; an empty object erases it. */
  setSessionMetadata(metadata: Readonly<Record<string, unknown>>, options: CallOptions = {}): Promise<Record<string, unknown>> {
    return this.send("set_session_metadata", { metadata }, options);
  }

  /** For each of these memories that an answer held, when one last did. */
  lastRecalled(ids: readonly string[], options: CallOptions = {}): Promise<Record<string, string>> {
    return this.send("last_recalled", { ids }, options);
  }

  /** What a person should settle, oldest first. */
  suspicions(options: Options<api.SuspicionsArguments> = {}): Promise<api.OpenSuspicion[]> {
    const [rest, call] = apart(options);
    return this.send("suspicions", rest, call);
  }

  /** Settle what `suspicions` lists, as one change that can be undone. */
  settleSuspicion(
    suspicion_id: string,
    verdict: "same" | "different",
    options: Options<api.SettleSuspicionArguments, "suspicion_id" | "verdict"> = {},
  ): Promise<api.Receipt> {
    const [rest, call] = apart(options);
    return this.send("settle_suspicion", { ...rest, suspicion_id, verdict }, call);
  }

  /** What was recalled, as text for a prompt, in a fence that this store knows again and never learns from. */
  fence(ids: readonly string[], lines: readonly string[], options: CallOptions = {}): Promise<string> {
    return this.send("fence", { ids, lines }, options);
  }

  /** What the scope's user has here, and what is still to be done for it. */
  status(options: CallOptions = {}): Promise<api.Status> {
    return this.send("status", {}, options);
  }

  // ---------------------------------------------------------------------------------------------- tidying

  /** Close the scope's session: its window is kept, searchable, and the next message begins a clean one. Waits for no model. */
  endSession(options: Options<api.EndSessionArguments> = {}): Promise<api.Receipt> {
    const [rest, call] = apart(options);
    return this.send("end_session", rest, call);
  }

  /** Consolidate now what waits in the scope's session, or, without a session, in all of its user. Sent once. */
  consolidate(options: CallOptions = {}): Promise<api.Consolidated> {
    return this.send("consolidate", {}, options);
  }

  /** One run of compaction now; call it again while `more` says so. Sent once. */
  compact(options: Options<api.CompactArguments> = {}): Promise<api.Compacted> {
    const [rest, call] = apart(options);
    return this.send("compact", rest, call);
  }

  /** List what is past the age, the inactivity or the count of each kind; with `dry_run: false` hide it. */
  retain(options: Options<api.RetainArguments> = {}): Promise<api.Retained[]> {
    const [rest, call] = apart(options);
    return this.send("retain", rest, call);
  }

  // ---------------------------------------------------------------------------------------------- moving

  /**
   * Bring a file of conversations or memories into this scope. Twice adds nothing, so a call whose answer was lost is sent
   * again, unless the file is a stream, which can be read once. `timeoutMs` is an hour where it is left out.
   */
  async importFile(
    file: string | Blob | Uint8Array<ArrayBuffer> | ArrayBuffer | ReadableStream<Uint8Array>,
    options: Options<api.ImportFileArguments> = {},
  ): Promise<api.Report> {
    const [rest, { signal, timeoutMs }] = apart(options);
    const { method, path } = OPERATIONS.import_file;
    const headers = { ...headersOf(this.#options), "content-type": "application/octet-stream" };
    const again = !(file instanceof ReadableStream);
    const call: Call = { method, path, query: { ...rest }, headers, body: file, again, signal, timeoutMs: timeoutMs ?? HOUR_MS };
    return (await this.#transport.json(call)) as api.Report;
  }

  /**
   * What this scope holds at one moment: as JSONL, entry by entry, which `importFile` reads back; as Markdown for people; or
   * what holds now in the shape of mem0 or of the MCP reference memory.
   */
  export(options: Options<api.ExportArguments, "format"> & { format: "markdown" }): Promise<api.Pages>;
  export(options?: Options<api.ExportArguments, "format"> & { format?: "jsonl" | "mem0" | "mcp-memory" }): Promise<Export>;
  async export(options: Options<api.ExportArguments> = {}): Promise<api.Pages | Export> {
    const [rest, { signal, timeoutMs }] = apart(options);
    const { method, path } = OPERATIONS.export;
    const query = { session: this.#options.session, ...rest };
    const call: Call = { method, path, query, headers: headersOf(this.#options), again: true, signal, timeoutMs: timeoutMs ?? HOUR_MS };
    if (rest.format === "markdown") return (await this.#transport.json(call)) as api.Pages;
    return new Export(await this.#transport.response(call), signal);
  }
}

/** Documents by name: text or JSON at a path, which is 1 to 32 names. What a content replaced is kept. */
export class Documents {
  readonly #scope: Scope;

  constructor(scope: Scope) {
    this.#scope = scope;
  }

  /** Write a content at a path. The last writer wins, unless `if_rev` says what must stand there (0: nothing). */
  put(path: readonly string[], content: unknown, options: Options<api.PutDocumentArguments, "path" | "content"> = {}): Promise<api.DocumentWrite> {
    const [rest, call] = apart(options);
    return this.#scope.send("put_document", { ...rest, path, content }, call);
  }

  /** What stands at a path, or stood there in a revision or at a time. */
  read(path: readonly string[], options: Options<api.ReadDocumentArguments, "path"> = {}): Promise<api.Document> {
    const [rest, call] = apart(options);
    return this.#scope.send("read_document", { ...rest, path }, call);
  }

  /** The documents at and below a path: `await` gives a page, `for await` all of them. */
  list(prefix: readonly string[] = [], options: Options<api.ListDocumentsArguments, "prefix"> = {}): Pages<api.DocumentPage, api.Document> {
    const [rest, call] = apart(options);
    return new Pages({ ask: (more) => this.#scope.send("list_documents", { ...rest, prefix, ...more }, call), items: (page) => page.items, next: byCursor });
  }

  /** Documents by words and meaning, the best first: `await` gives a page with its `hits`, `for await` all of them. */
  search(query: string, options: Options<api.SearchDocumentsArguments, "query"> = {}): Pages<api.DocumentHits, api.DocumentHit> {
    const [rest, call] = apart(options);
    return new Pages({ ask: (more) => this.#scope.send("search_documents", { ...rest, query, ...more }, call), items: (page) => page.hits, next: byOffset });
  }

  /** Move a document, with `below` and all that stands below it; its history goes on at the other path. */
  move(path: readonly string[], to: readonly string[], options: Options<api.MoveDocumentArguments, "path" | "to"> = {}): Promise<api.Receipt> {
    const [rest, call] = apart(options);
    return this.#scope.send("move_document", { ...rest, path, to }, call);
  }

  /** Hide a document with all that stood at its path before, which can be undone; with `hard` erase it for good. */
  delete(path: readonly string[], options: Options<api.DeleteDocumentArguments, "path"> = {}): Promise<api.Erasure> {
    const [rest, call] = apart(options);
    return this.#scope.send("delete_document", { ...rest, path }, call);
  }
}

/** The verbs that look after the token's namespace; they need the right `admin`. */
export class Admin {
  readonly #transport: Transport;
  /** The tokens of the namespace. */
  readonly tokens: Tokens;

  constructor(transport: Transport) {
    this.#transport = transport;
    this.tokens = new Tokens(transport);
  }

  /** What the namespace and those below it hold: counts and bytes; with `days`, how that grew on so many too. */
  usage(options: Options<api.UsageArguments> = {}): Promise<api.Usage[]> {
    const [rest, call] = apart(options);
    return send(this.#transport, {}, "usage", rest, call);
  }

  /** What models were used for, of every namespace: told to whoever runs the server with no token, to no holder of one. */
  modelUsage(options: Options<api.ModelUsageArguments> = {}): Promise<api.Tally[]> {
    const [rest, call] = apart(options);
    return send(this.#transport, {}, "model_usage", rest, call);
  }

  /** Where a text's bytes still stand in the store's files, which are every namespace's: told as `modelUsage` is. */
  residue(text: string, options: CallOptions = {}): Promise<api.Residue> {
    return send(this.#transport, {}, "residue", { text }, { timeoutMs: 600_000, ...options });
  }

  /** Whose memory the namespace holds, by name: `await` gives a page, `for await` all of them. */
  users(options: Options<api.UsersArguments> = {}): Pages<string[], string> {
    const [rest, call] = apart(options);
    const most = rest.limit ?? 1000;
    return new Pages({
      ask: (more) => send(this.#transport, {}, "users", { ...rest, ...more }, call),
      items: (page) => page,
      next: (page) => (page.length < most ? null : { after: page.at(-1) }),
    });
  }

  /** What is wrong or worth a note. */
  doctor(options: CallOptions = {}): Promise<api.Finding[]> {
    return send(this.#transport, {}, "doctor", {}, options);
  }

  /** Whether a write is durable now: a small one is made and taken back. */
  ready(options: CallOptions = {}): Promise<api.Readiness> {
    return send(this.#transport, {}, "ready", {}, options);
  }

  /** Build the words index of the namespace anew. */
  reindex(options: CallOptions = {}): Promise<api.Rebuilt> {
    return send(this.#transport, {}, "reindex", {}, { timeoutMs: 600_000, ...options });
  }
}

/** Tokens are made, listed and revoked with the right `admin`, and exchanged with the right `act`. */
export class Tokens {
  readonly #transport: Transport;

  constructor(transport: Transport) {
    this.#transport = transport;
  }

  /** Make a token of the namespace; its `secret` is told now and kept nowhere. Sent once. */
  create(options: Options<api.CreateTokenArguments> = {}): Promise<api.NewToken> {
    const [rest, call] = apart(options);
    return send(this.#transport, {}, "create_token", rest, call);
  }

  /** The tokens without their secrets, the oldest first; revoked and expired ones too. */
  list(options: CallOptions = {}): Promise<api.AccessToken[]> {
    return send(this.#transport, {}, "list_tokens", {}, options);
  }

  /** Revoke a token: from now on no process lets it in. */
  revoke(token_id: string, options: CallOptions = {}): Promise<api.AccessToken> {
    return send(this.#transport, {}, "revoke_token", { token_id }, options);
  }

  /** A token of one user that lives minutes, for a service's token: what a browser or an agent may be given. */
  exchange(user: string, options: { rights?: readonly ("read" | "write")[]; expires_in?: number } & CallOptions = {}): Promise<api.Exchanged> {
    const [{ rights, expires_in }, call] = apart(options);
    const given: api.ExchangeTokenArguments = {
      grant_type: "urn:ietf:params:oauth:grant-type:token-exchange",
      subject_token: user,
      subject_token_type: "urn:memhold:params:oauth:token-type:user",
      ...(rights === undefined ? {} : { scope: rights.join(" ") }),
      ...(expires_in === undefined ? {} : { expires_in }),
    };
    return send(this.#transport, {}, "exchange_token", given, call);
  }
}

// ------------------------------------------------------------------------------------------------ sending

/** Send an operation by its declaration, and read its answer. */
async function send<K extends OperationId>(
  transport: Transport,
  scope: ScopeOptions,
  operation: K,
  given: Arguments[K],
  options: CallOptions,
): Promise<Answers[K]> {
  if (operation === "follow_changes" || operation === "import_file") {
    throw new InvalidInput(`${operation} is a stream; call followChanges or importFile of a scope`);
  }
  const { method, path, session, again, keyed }: Operation = OPERATIONS[operation];
  const { idempotency_key, rev, ...left } = given as Record<string, unknown>;
  const inPath = Object.keys(left).filter((name) => path.includes(`{${name}}`));
  const rest = Object.fromEntries(Object.entries(left).filter(([name]) => !inPath.includes(name)));
  const headers: Record<string, string> = headersOf(scope);
  if (rev !== undefined && rev !== null) headers["if-match"] = `"${wholeNumber(rev)}"`;
  const once = keyed && rest.dry_run !== true;
  if (once) headers["idempotency-key"] = headerText("idempotency_key", idempotency_key ?? newKey());
  const query = { ...(session ? { session: scope.session } : {}), ...(method === "POST" ? {} : rest) };
  const found = await transport.json({
    method,
    path: inPath.reduce((filled, name) => filled.replace(`{${name}}`, idInPath(left[name])), path),
    query,
    ...bodyOf(operation, method, rest, headers),
    again: again || once || rest.dry_run === true,
    signal: options.signal,
    timeoutMs: options.timeoutMs ?? WAITING[operation],
  });
  return found as Answers[K];
}

function bodyOf(operation: OperationId, method: string, rest: Record<string, unknown>, headers: Record<string, string>): Pick<Call, "headers" | "body"> {
  if (method !== "POST" || (Object.keys(rest).length === 0 && !["create_token"].includes(operation))) return { headers };
  if (operation === "exchange_token") {
    const form = new URLSearchParams(Object.entries(rest).map(([name, value]) => [name, String(value)]));
    return { headers: { ...headers, "content-type": "application/x-www-form-urlencoded" }, body: form.toString() };
  }
  return { headers: { ...headers, "content-type": "application/json" }, body: jsonBody(rest) };
}

function headersOf({ user, actor }: ScopeOptions): Record<string, string> {
  return {
    ...(user === undefined ? {} : { "x-memhold-user": headerText("user", user) }),
    ...(actor === undefined ? {} : { "memhold-actor": headerText("actor", actor) }),
  };
}

function idInPath(id: unknown): string {
  if (typeof id === "string" && ID.test(id)) return id;
  throw new NotFound(`nothing with the id ${JSON.stringify(id)} in this scope`, { id: String(id) });
}

function wholeNumber(rev: unknown): number {
  if (!Number.isSafeInteger(rev)) throw new InvalidInput(`rev is ${String(rev)}; pass the whole number that the memory has`);
  return rev as number;
}

/** A key that no other write has: 128 random bits. */
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** The arguments of a verb, and what every call takes. */
function apart<A extends CallOptions>(options: A): [Omit<A, keyof CallOptions>, CallOptions] {
  const { signal, timeoutMs, ...rest } = options;
  return [rest, { signal, timeoutMs }];
}

function byCursor(page: { cursor: string | null }): { cursor: string } | null {
  return page.cursor === null ? null : { cursor: page.cursor };
}

function byOffset(page: { next_offset: number | null }): { offset: number } | null {
  return page.next_offset === null ? null : { offset: page.next_offset };
}

export type { AlsoScope, CallOptions, MessageInput, Messages };
