// Generated from the server's declarations by scripts/generate_typescript.py: change those, and run it.

import type { AlsoScope, Messages, Time } from "../arguments.js";

/**
 * A token without its secret: whose requests it lets in, and what they may do.
 *
 * `rights` stand in the order of `RIGHTS`. `last_used` is a day (UTC, ISO-8601) and no finer: it says which tokens
 * can go, and does not follow anybody around. `actor` says in whose name requests with it write; see `Scope`.
 */
export interface AccessToken {
  id: string;
  namespace: string;
  user: string | null;
  agent: string | null;
  rights: ("read" | "write" | "admin" | "act" | "projects")[];
  label: string;
  created_at: string;
  expires_at: string | null;
  revoked_at: string | null;
  last_used: string | null;
  actor: string;
}

/**
 * By whom a change was made.
 *
 * The user, an agent or a tool (with its name), a model (its name, the prompt's version), rules, an import
 * (format).
 */
export interface Author {
  origin: "user" | "agent" | "tool" | "import" | "rules" | "model";
  name: string | null;
  version: string | null;
}

/**
 * One entry of the audit trail.
 *
 * It holds ids, times and a reason without content; before and after live in the revisions that its effects name.
 * `detail` is what else there is to say (a model's reply, counts); it may hold content, and is lost when anything
 * it speaks of is forgotten. A consolidation moves its sessions' cursors from `first - 1` to `last` of each span.
 */
export interface Change {
  id: string;
  seq: number;
  verb: string;
  reason: string;
  by: Author;
  at: string;
  sources: string[];
  effects: Effect[];
  spans: Span[];
  detail: Record<string, unknown>;
  undoes: string | null;
  undone_by: string | null;
}

/**
 * A stretch of the audit trail, oldest first, effects without content.
 *
 * `cursor` is the `seq` up to which it was read: pass it as `after` for what comes next; with `more` there is some.
 * `damaged` are ids of changes between these that are damaged on the disk: they are left out.
 */
export interface Changes {
  items: Change[];
  cursor: number;
  more: boolean;
  damaged: string[];
}

/**
 * What one run of compaction did, group by group.
 *
 * `merged` counts memories that others now stand for. `more` says that another run has something to look at;
 * `judged` that a model is configured to judge near-duplicates: without one only exact copies are merged.
 */
export interface Compacted {
  groups: Merging[];
  merged: number;
  more: boolean;
  judged: boolean;
  dry_run: boolean;
  last_error: string | null;
}

/**
 * What a `consolidate` did: the summaries it made, the RAW windows that no model took yet, and what still waits.
 *
 * `set_aside` are RAW memories that are not tried again by themselves, `waiting` counts messages. `last_error` says
 * why something waits or is set aside: no model is configured, or what the models answered, without content.
 */
export interface Consolidated {
  summaries: string[];
  raw: string[];
  set_aside: string[];
  waiting: number;
  last_error: string | null;
}

/**
 * The messages to send, and what was done to make them fit and valid.
 *
 * `messages` are of `shape` and valid for its provider; in the Anthropic shape the instructions stand apart in
 * `system` (null in the OpenAI shape). `used` is what everything returned costs in tokens, never over `budget -
 * reserve`, counted by `tokenizer`: `estimate`, or the vocabulary of the model's family. `strategy` is the one that
 * was followed. `dropped` lists what was left out, `degraded` the slots that could not be asked, `repairs` what had
 * to be changed for the provider. `damaged` are ids of rows that are damaged on the disk and were left out
 * (`degraded` says so). `shown` are the ids of the memories and messages that stand in fences, in their order.
 * `also` has the same of each further scope that was named; `degraded` and `damaged` are of all of them.
 */
export interface Context {
  messages: Record<string, unknown>[];
  system: string | null;
  shape: "openai" | "anthropic";
  strategy: string;
  used: number;
  budget: number;
  reserve: number;
  tokenizer: string;
  shown: string[];
  dropped: LeftOut[];
  degraded: string[];
  damaged: string[];
  repairs: string[];
  also: Part[];
}

/** What was written on one day (UTC, ISO-8601) and is still there: messages, memories, and the bytes of both. */
export interface DayWritten {
  day: string;
  messages: number;
  memories: number;
  bytes: number;
}

/**
 * What stands at a path, or stood there.
 *
 * `content` is text, or JSON as it was put. `rev` is another number with each content of the scope: it only grows,
 * is never given twice, and is what `if_rev` compares. `created_at` is when something first stood at the path and
 * was replaced ever since, `updated_at` when this was put there, or moved there. `size` counts the bytes of the
 * content (of JSON, as compact text). `index` says whether it may be found by its words and meaning; `fields`,
 * where there are any, by which of its members alone. `state` is "active" for what stands there now. `origin` says
 * who wrote it and `actor` the name of that. `id` is that of a memory: `history`, `get` and `forget` take it.
 */
export interface Document {
  path: string[];
  rev: number;
  id: string;
  content: unknown;
  size: number;
  created_at: string;
  updated_at: string;
  expires_at: string | null;
  metadata: Record<string, unknown>;
  index: boolean;
  fields: string[];
  state: "active" | "superseded" | "retracted" | "merged" | "expired" | "forgotten";
  origin: "user" | "agent" | "tool" | "import" | "rules" | "model";
  actor: string | null;
  agent: string | null;
}

/** A document that a search found: its score, which compares hits of one answer only, and why it is there. */
export interface DocumentHit {
  document: Document;
  score: number;
  why: Reason[];
}

/** The answer to a search, the best first; its fields are those of a `Recall`. */
export interface DocumentHits {
  hits: DocumentHit[];
  total: number;
  next_offset: number | null;
  degraded: string[];
  damaged: string[];
  lag: Record<string, number>;
  confidence: number | null;
}

/**
 * One page of a listing; pass `cursor` back for the next one (null after the last).
 *
 * Without `content` asked for, that of each is null. `damaged` are ids of rows between these that are damaged on
 * the disk: they are left out.
 */
export interface DocumentPage {
  items: Document[];
  cursor: string | null;
  damaged: string[];
}

/**
 * What a write to a path gives: its receipt, and the document that it wrote.
 *
 * `document` is null where a replay finds it forgotten.
 */
export interface DocumentWrite {
  receipt: Receipt;
  document: Document | null;
}

/**
 * What a change did to one memory: from which revision to which; revision 0 means "was not there".
 *
 * `before` and `after` are filled when a change is read and its content was not forgotten since.
 */
export interface Effect {
  memory_id: string;
  rev_before: number;
  rev_after: number;
  before: Memory | null;
  after: Memory | null;
}

/**
 * A value that a text says and that holds no longer: the fact of it, since when it does not, and what holds now.
 *
 * `since` is when it ended, of a value that was corrected when that was told. `now` (of the fact `now_fact`) is
 * null where nothing took its place, or what did is gone too.
 */
export interface Ended {
  fact: string;
  value: string;
  since: string;
  now: string | null;
  now_fact: string | null;
}

/**
 * What a forget did, or would do (`dry_run`): ids by what they were, and how far the bytes are gone.
 *
 * `erased` is true once no byte is left in the store's files; until then `waiting_for` says what holds them
 * ("reader": an open read of some process, "rebuild": the file is written anew behind the call, "room": there is
 * none on the disk to do so, "mirror": the files of the setting `mirror` cannot be written, "store": the store
 * failed once it had forgotten), and that is due work. On PostgreSQL it is true once no query of any session can
 * reach a byte of it ("vacuum": its tables are vacuumed behind the call); its log, standbys and archives are
 * PostgreSQL's. `quotations` are messages that stay and lose a quotation of what goes. No surface returns any of it
 * from the moment of the acknowledgement. `replayed` says that the same idempotency key had been seen and nothing
 * was forgotten now. `below` names the namespaces below the scope's own from which something of it went; a replay
 * does not tell them.
 */
export interface Erasure {
  messages: string[];
  memories: string[];
  hidden: string[];
  due_again: string[];
  quotations: string[];
  change_id: string | null;
  hard: boolean;
  dry_run: boolean;
  erased: boolean;
  waiting_for: string | null;
  replayed: boolean;
  below: string[];
}

/** The answer of RFC 8693: a token of one user. */
export interface Exchanged {
  access_token: string;
  issued_token_type: string;
  token_type: "Bearer";
  expires_in: number;
  scope: string;
}

/**
 * Where one message or memory stands in an answer, and what keeps it out of it.
 *
 * `kept_out` is null where it is on the page. Else: "limit" (it stands behind the page), "repeats" (`by` says the
 * same and stands for it), "signals" (none found it), "superseded" (by `by`, where something took its place),
 * "state: …" (a memory's, such as expired or merged), "filter: …" (which of the query's; it may be several),
 * "snapshot" (it came after the moment that is asked), "hidden", "forgotten", or "unknown" (the scope has no such
 * thing). `rank` is its place in the answer, from 1, or where it would stand if nothing kept it out; null where
 * nothing is there to rank. `why` are the signals that speak for it, `silent` those that were asked and say nothing
 * of it.
 */
export interface Expected {
  id: string;
  kept_out: string | null;
  rank: number | null;
  score: number;
  by: string | null;
  why: Reason[];
  silent: string[];
}

/**
 * One thing that `doctor` looked at and did not like: what it is, where, and what to do.
 *
 * `wrong` is something that must be mended; `note` is worth knowing and harms nothing now. `namespace` is the one
 * that it is found in; null where it is no single one.
 */
export interface Finding {
  check: string;
  severity: "wrong" | "note";
  what: string;
  advice: string;
  where: string;
  namespace: string | null;
}

/**
 * One answer of a recall: a message or a memory, with what it stands on and why it was found.
 *
 * `score` compares hits of one answer only. `superseded_by` names the memory that replaced a value which this hit
 * still mentions. `outdated` are the values that this text says and that hold no longer: replaced, removed or
 * corrected (where `superseded_by` is null, nothing took their place). The `sources` of a message are messages that
 * say the same, and memories that quote it, and were folded into it. `neighbours` are the turns around a message,
 * where they were asked for. `excerpt` is what is asked: of a text of more than 600 characters its sentences that
 * match, about so long, with "…" where something is left out; of a shorter one the sentence that is nearest in
 * meaning, null where it has one, or nothing was asked by meaning. `origin` says who said it and `actor` the name
 * of that, `last_confirmed_at` when a person last said that it is so. `together` are the notes that add to this
 * one, which compaction found: they are told with it, whether the question finds them or not. A document has its
 * `path`, and the first 4,000 characters of its text. Of a message, `text` is what one writer wrote of it:
 * `written_by` says who, and `speaker` the name that they came with, if any; `role` is the provider's. Of a memory
 * `speaker` is the name of the person who stated it, where it came with one. `scope` is whose memory it stands in,
 * where the read named further scopes (`also`; null elsewhere): its id is known there, and its score compares with
 * hits of that scope only. `quote` are the words that a model's statement rests on, `standing` whether something
 * speaks against it, and `doubts` what.
 */
export interface Hit {
  id: string;
  kind: "message" | "fact" | "note" | "summary" | "raw" | "rollup" | "instruction" | "document";
  text: string;
  score: number;
  tier: "mid" | "long" | null;
  state: "active" | "superseded" | "retracted" | "merged" | "expired" | "forgotten";
  created_at: string;
  event_time: string;
  sources: string[];
  why: Reason[];
  role: string | null;
  written_by: "user" | "participant" | "assistant" | "tool" | "attachment" | "harness" | null;
  speaker: string | null;
  session: string | null;
  agent: string | null;
  subject: string | null;
  attribute: string | null;
  value: string | null;
  valid_from: string | null;
  valid_to: string | null;
  superseded_by: string | null;
  outdated: Ended[];
  pinned: boolean;
  topics: string[];
  entities: string[];
  metadata: Record<string, unknown>;
  neighbours: Message[];
  together: Memory[];
  origin: "user" | "agent" | "tool" | "import" | "rules" | "model";
  actor: string | null;
  last_confirmed_at: string | null;
  excerpt: string | null;
  path: string[];
  scope: Scope | null;
  quote: string;
  standing: "stated" | "doubtful";
  doubts: string[];
}

/**
 * Something that the context does not show, or not whole.
 *
 * `id` is a message's or a memory's (null for `count` messages that the journal does not hold, or that are so old
 * that they were not even read: at most so many, as some may have been forgotten). Reasons: `cut` (the strategy
 * wants no more of the window), `budget` (no room for it), `shortened` (its middle is left out; `read_message(id)`
 * gives all of it), `unlikely` (not likely to help, where `fill` is "useful").
 */
export interface LeftOut {
  slot: "system" | "corrections" | "instructions" | "profile" | "noted" | "summaries" | "memories" | "documents" | "messages" | "window";
  id: string | null;
  reason: "cut" | "budget" | "shortened" | "unlikely";
  count: number;
}

/**
 * What is derived or told, in one of its revisions.
 *
 * The content (kind, subject, attribute, value, text) never changes: another value is another memory that
 * supersedes this one. What changes from revision to revision is its state, tier, validity, evidence and labels.
 * `valid_from` and `valid_to` say when it held; `recorded_at` and `unrecorded_at` when this revision was what
 * Memhold knew.
 *
 * `origin` says who said it and `actor` the name of that (a client, a model, a format); neither ever changes.
 * `last_confirmed_at` is when a person last said that it is so, null where nobody has.
 *
 * `quotes` are the words of messages that a model's statement rests on, the first the one it is told from; they are
 * erased with their message. `standing` is `doubtful` where something speaks against it: `doubts` say what, in
 * words for people. What is doubtful displaces nothing and stands in no system message.
 */
export interface Memory {
  id: string;
  number: number;
  kind: "fact" | "note" | "summary" | "raw" | "rollup" | "instruction" | "document";
  text: string;
  state: "active" | "superseded" | "retracted" | "merged" | "expired" | "forgotten";
  tier: "mid" | "long";
  agent: string | null;
  session: string | null;
  subject: string | null;
  attribute: string | null;
  value: string | null;
  key: string | null;
  operation: "set" | "add";
  topics: string[];
  entities: string[];
  metadata: Record<string, unknown>;
  importance: "low" | "mid" | "high";
  pinned: boolean;
  origin: "user" | "agent" | "tool" | "import" | "rules" | "model";
  trust: "user" | "assistant" | "tool";
  evidence: number;
  sources: string[];
  event_time: string;
  valid_from: string;
  valid_to: string | null;
  expires_at: string | null;
  created_at: string;
  recorded_at: string;
  unrecorded_at: string | null;
  superseded_by: string | null;
  rev: number;
  actor: string | null;
  last_confirmed_at: string | null;
  quotes: MemoryQuote[];
  standing: "stated" | "doubtful";
  doubts: string[];
}

/** Words of a message that a memory rests on, verbatim. */
export interface MemoryQuote {
  message_id: string;
  text: string;
}

/**
 * What a compaction did with some memories, or would do (`dry_run`), and why.
 *
 * `memory` is what stands for them now. `distance` is that of the two farthest (0 is the same), `characters` what a
 * call about them shows. `waiting` has no vector yet (`dry_run`); `too_long` was not asked at all; `stale` changed
 * meanwhile and is looked at again; `failed` is tried again, `reason` says why without content.
 */
export interface Merging {
  outcome: "copies" | "group" | "pair" | "superseded" | "linked" | "suspected" | "rolled_up" | "told_anew" | "kept_apart" | "waiting" | "too_long" | "failed" | "stale";
  sources: string[];
  reason: string;
  memory: string | null;
  distance: number;
  characters: number;
}

/**
 * One entry of the journal.
 *
 * `body` is the message as the caller gave it (after redaction), and is returned equal. `text` is what a person
 * would read in it: what is indexed and shown. `change_id` is the change that appended it. `quotes` are the
 * stretches of `text` that came out of this store, in order; see `memhold.messages.fences`. `origin` says who said
 * it, `actor` the name of what brought it (a client, an application, a format), where it has one: `role` is only
 * what it claims to be. An item that came without a role has the role "" and no text.
 *
 * `passages` say who wrote which stretch of `text`, in order: several where what a person typed stands beside what
 * was returned or attached (`memhold.values.origins` decides it, once, when the message arrives). The indexes hold
 * it once for each of its writers, under consecutive `numbers`.
 */
export interface Message {
  id: string;
  number: number;
  session: string;
  seq: number;
  role: string;
  body: Record<string, unknown>;
  shape: "openai" | "anthropic";
  text: string;
  event_time: string;
  recorded_at: string;
  change_id: string;
  agent: string | null;
  embed: boolean;
  metadata: Record<string, unknown>;
  quotes: Quote[];
  origin: "user" | "agent" | "tool" | "import" | "rules" | "model";
  actor: string | null;
  passages: Passage[];
}

/**
 * Messages of a session, oldest first; pass `cursor` as `after` for the next page (null after the last).
 *
 * `damaged` are ids of messages between these that are damaged on the disk: they are left out.
 */
export interface MessagePage {
  items: Message[];
  cursor: number | null;
  damaged: string[];
}

/**
 * How a configured model fares, as far as calls of any process have shown.
 *
 * `answers` is false where its last call failed or its key is not set, null where nobody asked it yet. `since` is
 * when the failures in a row began, `reason` what is wrong, `said` the provider's first words with everything
 * masked that is not of errors, `advice` what to do. `unloads` counts the calls that found the model unloaded,
 * since ever; `form` is how it is asked for arguments, where that was found out (`tool`, `schema`, `object`,
 * `text`).
 */
export interface ModelHealth {
  model: string;
  answers: boolean | null;
  url: string | null;
  key_variable: string | null;
  since: string | null;
  reason: string;
  said: string;
  advice: string;
  unloads: number;
  form: string | null;
}

/** A token as it is told once, to whoever made it: `secret` is what a client sends, and is kept nowhere. */
export interface NewToken {
  token: AccessToken;
  secret: string;
}

/** A suspicion with the two memories it is about, as they now stand; `memory` is the newer statement. */
export interface OpenSuspicion {
  suspicion: Suspicion;
  memory: Memory;
  other: Memory;
}

/**
 * One page of a listing, oldest first; pass `cursor` back for the next one (null after the last).
 *
 * `damaged` are ids of rows that stand between these and are damaged on the disk: they are left out.
 */
export interface Page {
  items: Memory[];
  cursor: string | null;
  damaged: string[];
}

/**
 * An export for people: each file's name and text, and how many memories they show.
 *
 * `left_out` counts what stands in neither, by what it is; `damaged` are ids of rows that are damaged on the disk.
 */
export interface Pages {
  files: Record<string, string>;
  counts: Record<string, number>;
  left_out: Record<string, number>;
  damaged: string[];
}

/**
 * What a context tells of a further scope that the read named, in fences of its own: as `Context` has it.
 *
 * `used` is what it costs at most; nothing is shown of a scope for which there is no room.
 */
export interface Part {
  scope: Scope;
  used: number;
  shown: string[];
  dropped: LeftOut[];
}

/** A stretch of a message's `text` that one writer wrote: characters `start` to before `end`. */
export interface Passage {
  start: number;
  end: number;
  written_by: "user" | "participant" | "assistant" | "tool" | "attachment" | "harness";
}

/** What could not be read: the line (from 1; of a document, the line where the element begins) and why. */
export interface Problem {
  line: number | null;
  why: string;
}

export interface ProblemDetails {
  /** `urn:memhold:problem:` and the class that the library raises. */
  type: string;
  title: string;
  status: number;
  /** What to do. */
  detail: string;
  /** The error's attributes. */
  values?: Record<string, unknown>;
}

/**
 * A stretch of a message's `text` that Memhold itself had written: characters `start` to before `end`.
 *
 * `ids` are the messages and memories that it shows. It is recalled text, and no new evidence of anything.
 */
export interface Quote {
  start: number;
  end: number;
  ids: string[];
}

/**
 * Whether the store takes writes now, and what it stands on: `due` pieces of work, models and how they fare.
 *
 * `waiting` counts the pieces of work that wait for a model, now or later: windows, and what stands for several of
 * one scope. `error` is the class of what a write failed with. Models are told of and decide nothing: a save needs
 * none. `cached_bytes` is what this process keeps of indexes and vectors between questions. `degraded` names
 * "damaged" where the file is, as far as this process looked: answers may lack what cannot be reached.
 */
export interface Readiness {
  writes: boolean;
  error: string | null;
  due: number;
  models: Record<string, ModelHealth>;
  waiting: number;
  cached_bytes: number;
  degraded: string[];
}

/**
 * Why a hit is there: the signal, its rank in that signal (from 1), the signal's score (0 to 1), and the words.
 *
 * `part` is what the signal adds to the hit's score; all parts together are the score. `signal` may also name what
 * moved the hit beside the signals: `newer`, `follows`, `answers` (it was said to one of the best, a question),
 * `outdated`, `given up` or `asker` (another person says it of themselves), of which the last three take from it,
 * or `rerank`, which adds or takes.
 */
export interface Reason {
  signal: string;
  rank: number;
  score: number;
  words: string[];
  part: number;
}

/** What a reindex did: scopes dealt with, documents indexed anew, and due work that was missing. */
export interface Rebuilt {
  scopes: number;
  documents: number;
  due_added: number;
}

/**
 * The answer to a recall.
 *
 * `total` counts everything that matched. `cursor` is for the next page (null after the last): with it, what is
 * found all along is shown exactly once, whatever is written, hidden or forgotten in between. `next_offset` is
 * where the next page begins by count. `degraded` names the signals that are configured and could not be asked (and
 * "damaged", where rows on the disk are: `damaged` are their ids, left out of the answer; without ids the file is,
 * and what cannot be reached in it is not here), `not_configured` the signals that are off; `lag` counts what a
 * signal has not indexed yet. `confidence` says how likely it is that the answer is among the hits (0 to 1, null
 * where nothing was asked): below `recall.confidence.THRESHOLD` take it for "nothing relevant". Pass `snapshot`
 * back with an offset, and the pages are of one moment. `account` is the whole story of the ranking, where
 * `explain` asked for it, `expected` the story of the one that `expect` named.
 */
export interface Recall {
  hits: Hit[];
  total: number;
  next_offset: number | null;
  degraded: string[];
  damaged: string[];
  not_configured: string[];
  lag: Record<string, number>;
  confidence: number | null;
  snapshot: string | null;
  cursor: string | null;
  account: Record<string, unknown> | null;
  expected: Expected | null;
}

/**
 * What a write returns once it is durable.
 *
 * `replayed` says that the same idempotency key had been seen and nothing was written now; `forgotten` that what
 * the first call wrote was forgotten since. `redacted` counts the secrets that were replaced before storage.
 * `notice` is a sentence for whoever runs this: what was written is safe, and waits for a model that does not work.
 */
export interface Receipt {
  ids: string[];
  change_ids: string[];
  replayed: boolean;
  forgotten: boolean;
  visibility: Visibility;
  redacted: number;
  notice: string | null;
}

/** A receipt and the memory that it is for; `memory` is null only when a replay finds it forgotten. */
export interface Remembered {
  receipt: Receipt;
  memory: Memory | null;
}

/**
 * What an import did.
 *
 * `format` names the formats of all files, where it was a folder. `read` counts the messages, memories and
 * documents (`memories` of them are memories, `documents` documents), `added` those that were new, `replaced` the
 * memories that stand in the file several times, with one id and different words: the last holds, the others are
 * its past. `skipped` counts what could not be read (the first hundred in `problems`), `left_out`, by what it is,
 * what is well formed and has no place here. After a `dry_run` nothing was written, and `added` is 0; `known`
 * counts what came before, as it is there, or is hidden, or was forgotten: an import would pass it over.
 */
export interface Report {
  format: string;
  read: number;
  added: number;
  skipped: number;
  left_out: Record<string, number>;
  sessions: number;
  memories: number;
  problems: Problem[];
  dry_run: boolean;
  documents: number;
  replaced: number;
  known: number;
}

/**
 * Where the bytes of a text still stand, in the store's files and those of its mirror: file name and count.
 *
 * Of a store on PostgreSQL it names tables in place of files, and how many of their values hold the text.
 */
export interface Residue {
  found: Record<string, number>;
  files: number;
  bytes: number;
}

/** A memory that the rules of a `retain` do not keep, and which rule that is; `change_id` is what hid it. */
export interface Retained {
  id: string;
  kind: "message" | "fact" | "note" | "summary" | "raw" | "rollup" | "instruction" | "document";
  rule: "age" | "inactivity" | "count";
  change_id: string | null;
}

/**
 * Whose memory a verb works on.
 *
 * There is no "all": an absent user means memories of no user, never of every user. On reads an absent agent means
 * all agents of this user, and an absent session means every session; on writes they mean no agent and the unnamed
 * session.
 *
 * `actor` says in whose name it writes: "user" (a person, through an application), "agent" or "tool", each perhaps
 * with a name ("agent:claude-code"). It says nothing of whose memory it is, and narrows no read.
 *
 * Names are held in composed form (NFC): two spellings of one name are one scope.
 *
 * Raises: InvalidScope: a name or the actor cannot be used; see `memhold.values.names`.
 */
export interface Scope {
  namespace: string;
  user: string | null;
  agent: string | null;
  session: string | null;
  actor: string;
}

/**
 * One session: its name ("" is the unnamed one), how many messages and items are in it, and when.
 *
 * `created_at` is when it began, `last_at` when something was last added, `ended_at` when it was ended and nothing
 * was added since. `messages` counts what the scope sees; what was forgotten or hidden does not count. `metadata`
 * is the application's own. A scope with an agent is given the sessions of which it sees a message or the metadata,
 * and of `last_at` and `ended_at` what concerns these.
 */
export interface SessionInfo {
  name: string;
  messages: number;
  created_at: string;
  last_at: string;
  ended_at: string | null;
  metadata: Record<string, unknown>;
}

/** A page of sessions; `cursor` asks for the next one, null where there is none. */
export interface SessionPage {
  items: SessionInfo[];
  cursor: string | null;
}

/** Whether nothing is due any more. */
export interface Settled {
  settled: boolean;
}

/**
 * A stretch of a session's journal, `first` to `last` inclusive.
 *
 * What an add appended, what a consolidation took in.
 */
export interface Span {
  session: string;
  first: number;
  last: number;
}

/**
 * What a scope holds and what is still to be done for it; counts by kind, tier and state.
 *
 * `memories`, `tiers` and `states` count memories of every state, `active` those that hold, by kind. `due` is work
 * that could be done now, `waiting` work for later: expiries to come, retries, housekeeping. `pending` counts
 * messages that no consolidation took in yet, `raw` memories that wait for a model, `set_aside` those of them that
 * are not tried again by themselves, `parked` due work that waits for its next try or a model. `models` says of
 * each model that is configured how it fares; `windows` counts the windows of messages that wait for one.
 * `open_suspicions` counts what a person should settle: contradictions, and keys that may be one concept.
 * `retracted_not_stated` counts the memories of an older store that were retracted since they rested on no person's
 * words; while more are looked for, `writers` is due. `unquoted` counts what a model made of an older store that is
 * still to be given the words of its line. `redacted` counts the secrets that were replaced in this scope since
 * this process opened the store. `uncompared` counts notes that compaction has not compared with others yet (at
 * most 140), `compact_calls_left` the calls that it may still make by itself today (UTC) for the whole store: where
 * that is 0, they wait for tomorrow. null where no model judges. `degraded` names what any `recall` would lack now
 * ("words", "meaning", and "damaged" where rows or the file are), `damaged` the ids of damaged rows that were met
 * on the way here; `doctor` looks at every row.
 */
export interface Status {
  messages: number;
  sessions: number;
  memories: Record<string, number>;
  tiers: Record<string, number>;
  states: Record<string, number>;
  due: Record<string, number>;
  waiting: Record<string, number>;
  leased: number;
  raw: number;
  oldest_due_at: string | null;
  last_error: string | null;
  store: string;
  schema: number;
  pending: number;
  set_aside: number;
  parked: number;
  models: Record<string, ModelHealth>;
  windows: number;
  open_suspicions: number;
  retracted_not_stated: number;
  unquoted: number;
  redacted: number;
  uncompared: number;
  compact_calls_left: number | null;
  degraded: string[];
  damaged: string[];
  active: Record<string, number>;
}

/**
 * Something that a person should settle: two keys that may be one concept, or a statement against what was told.
 *
 * It names memories and a rule, and holds no content. For a `key`, `memory_id` is the fact under the newer key and
 * `other_id` one under the older; for a `contradiction`, the statement that was kept apart and what the user told.
 * `settled` is the verdict while the change `settled_by` stands. `looked` says who has looked at it: `likeness` (an
 * embedding, which left it open; a model may still decide) or `decided` (for good, also where that was undone).
 */
export interface Suspicion {
  id: string;
  kind: "key" | "contradiction";
  memory_id: string;
  other_id: string;
  rule: string;
  at: string;
  change_id: string;
  settled: "same" | "different" | null;
  settled_by: string | null;
  looked: "likeness" | "decided" | null;
}

/**
 * Counts for one day (UTC), model and purpose. `nanousd` is 1e-9 USD; `unpriced` calls have no price in it.
 *
 * `retries` are calls beyond the first to the same model; `milliseconds` is the time of all calls together.
 */
export interface Tally {
  day: string;
  model: string;
  purpose: string;
  calls: number;
  answered: number;
  retries: number;
  input_tokens: number;
  output_tokens: number;
  milliseconds: number;
  nanousd: number;
  unpriced: number;
  failures: Record<string, number>;
}

/** Part of a message's text. */
export interface Text {
  text: string;
}

/**
 * What one namespace holds: counts, and the bytes of its messages, memories and words index.
 *
 * `days` are the last days on which something was written that is still there, where they were asked for, the
 * oldest first: how it grew.
 */
export interface Usage {
  namespace: string;
  users: number;
  sessions: number;
  messages: number;
  memories: number;
  changes: number;
  bytes: number;
  days: DayWritten[];
}

/**
 * Where a write can be found: true, false, or null for "not known".
 *
 * `recent`: by recency and by id; `words`: by its words; `meaning`: by its vector; `consolidated`: it is part of a
 * memory.
 */
export interface Visibility {
  recent: boolean | null;
  words: boolean | null;
  meaning: boolean | null;
  consolidated: boolean | null;
}

/** Whose memory the caller's token is bound to, and what it may do there; a service's is bound to no user. */
export interface WhoAsks {
  namespace: string;
  user: string | null;
  agent: string | null;
  actor: string;
  rights: string[];
  service: boolean;
  memhold: string;
}

/** What `messages` takes. */
export interface MessagesArguments {
  /** The `seq` to begin behind. Default: 0. */
  after?: number | undefined;
  /** The `seq` to end in front of; left out: the end. */
  before?: number | undefined;
  /** The last `limit` of them instead of the first. Default: false. */
  newest?: boolean | undefined;
  /** Most messages. Default: 1000. */
  limit?: number | undefined;
}

/** What `add_messages` takes. */
export interface AddMessagesArguments {
  /**
   * One message or a list of them, in the OpenAI chat or the Anthropic shape. Beside its own fields a message may
   * carry `event_time`, `metadata` and `embed` (false: found by words, never by meaning). What has a `type` and no
   * `role` is an item: kept whole, as it is, in its place, and read by nobody.
   */
  messages: Messages;
  /** Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one. */
  idempotency_key?: string | undefined;
}

/** What `list_memories` takes. */
export interface ListMemoriesArguments {
  /** Only these kinds. */
  kinds?: readonly ("fact" | "note" | "summary" | "raw" | "rollup" | "instruction" | "document")[] | undefined;
  /** Only in these states; null for every state. */
  states?: readonly ("active" | "superseded" | "retracted" | "merged" | "expired" | "forgotten")[] | null | undefined;
  /** Only memories of this session. */
  session?: string | undefined;
  /** Only what was said by these: "user", "agent", "tool", "import", "rules" or "model". */
  origin?: "user" | "agent" | "tool" | "import" | "rules" | "model" | undefined;
  /** Only of this name: a client's, an application's, a model's, a format's. */
  actor?: string | undefined;
  /** Only facts about this: "user", or whom or what else they are told of. */
  subject?: string | undefined;
  /** Only what was written at this time or later, whatever time it tells of. */
  written_since?: Time | undefined;
  /** Only what was written before this time. */
  written_until?: Time | undefined;
  /**
   * Only what no person confirmed at this time or later; what the user told counts as confirmed when it was told.
   */
  unconfirmed_since?: Time | undefined;
  /** Most memories of the page. Default: 100. */
  limit?: number | undefined;
  /** What the last page gave. */
  cursor?: string | undefined;
}

/** What `remember` takes. */
export interface RememberArguments {
  /** A note, in one or two sentences. */
  text?: string | null | undefined;
  /** What the fact is about, such as "favorite food" or "employer". */
  attribute?: string | null | undefined;
  /** What it is. Goes with `attribute`. */
  value?: string | null | undefined;
  /** Of whom or what the fact is. Default: "user". */
  subject?: string | undefined;
  /**
   * "set" replaces the value, "add" puts one beside it, "remove" ends it. Left out, the attribute decides: pets and
   * languages add, a job or an address is replaced.
   */
  operation?: "set" | "add" | "remove" | null | undefined;
  /** Since when it holds; left out: from now on. */
  event_time?: Time | null | undefined;
  /** How much it matters. Default: "mid". */
  importance?: "low" | "mid" | "high" | undefined;
  /** Keep it long-term: it never expires and is never merged away. Default: false. */
  pinned?: boolean | undefined;
  /** When it may leave. */
  expires_at?: Time | null | undefined;
  /** Topics to filter by later. */
  topics?: readonly string[] | undefined;
  /** People, places and things it names. */
  entities?: readonly string[] | undefined;
  /** JSON of the caller's; a recall can ask for it. */
  metadata?: Readonly<Record<string, unknown>> | null | undefined;
  /** Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one. */
  idempotency_key?: string | undefined;
}

/** What `correct` takes. */
export interface CorrectArguments {
  /** The fact or note that was never true (mem_…). */
  memory_id: string;
  /** The right value of the fact, or text of the note. */
  value: string;
  /** Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one. */
  idempotency_key?: string | undefined;
  /** Only if it is still at this revision. */
  rev?: number | undefined;
}

/** What `pin` takes. */
export interface PinArguments {
  /** The memory (mem_…). */
  memory_id: string;
  /** Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one. */
  idempotency_key?: string | undefined;
  /** Only if it is still at this revision. */
  rev?: number | undefined;
}

/** What `unpin` takes. */
export interface UnpinArguments {
  /** The memory (mem_…). */
  memory_id: string;
  /** Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one. */
  idempotency_key?: string | undefined;
  /** Only if it is still at this revision. */
  rev?: number | undefined;
}

/** What `confirm` takes. */
export interface ConfirmArguments {
  /** The memory (mem_…). */
  memory_id: string;
  /** Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one. */
  idempotency_key?: string | undefined;
  /** Only if it is still at this revision. */
  rev?: number | undefined;
}

/** What `drop` takes. */
export interface DropArguments {
  /** The memory (mem_…). */
  memory_id: string;
  /** Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one. */
  idempotency_key?: string | undefined;
  /** Only if it is still at this revision. */
  rev?: number | undefined;
}

/** What `dismiss` takes. */
export interface DismissArguments {
  /** The change (chg_…) that left it out. */
  change_id: string;
  /** Which of its statements, counted from 0. */
  place: number;
  /** Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one. */
  idempotency_key?: string | undefined;
}

/** What `forget` takes. */
export interface ForgetArguments {
  /** A memory (mem_…) or message (msg_…) to forget. */
  item_id?: string | null | undefined;
  /** Several of those instead, at most 1,000, as one change: all of them, or none. */
  ids?: readonly string[] | undefined;
  /** Forget this whole conversation. */
  session?: string | null | undefined;
  /** Forget all conversations whose names begin so. */
  session_prefix?: string | null | undefined;
  /** Memories of these kinds. */
  kinds?: readonly ("fact" | "note" | "summary" | "raw" | "rollup" | "instruction" | "document")[] | null | undefined;
  /** Memories with all of these topics. */
  topics?: readonly string[] | undefined;
  /** Memories with all of these entities. */
  entities?: readonly string[] | undefined;
  /** Of before this time. */
  before?: Time | null | undefined;
  /** Of after this time. */
  after?: Time | null | undefined;
  /** All that is known of this user, in namespaces below too. Default: false. */
  everything?: boolean | undefined;
  /** What was said by these: "user", "agent", "tool", "import", "rules" or "model". */
  origin?: "user" | "agent" | "tool" | "import" | "rules" | "model" | null | undefined;
  /** Of this name: a client's, an application's, a model's, a format's. */
  actor?: string | null | undefined;
  /** What was written at this time or later, whatever time it tells of. */
  written_since?: Time | null | undefined;
  /** What was written before this time. */
  written_until?: Time | null | undefined;
  /** Erase for good; false hides instead, which can be undone. Default: true. */
  hard?: boolean | undefined;
  /**
   * "erase" takes the messages that it names as its sources along, "keep" leaves them, and it is not learnt from
   * them again. Default: "erase".
   */
  sources?: "erase" | "keep" | undefined;
  /** Only list what would go. Default: false. */
  dry_run?: boolean | undefined;
  /** How many seconds to wait for a reader that holds the bytes. Default: 1.0. */
  wait?: number | undefined;
  /** Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one. */
  idempotency_key?: string | undefined;
}

/** What `undo` takes. */
export interface UndoArguments {
  /** The change (chg_…), as `history` and every receipt name it. */
  change_id?: string | null | undefined;
  /** Changes that were made by these: "user", "agent", "tool", "import", "rules" or "model". */
  origin?: "user" | "agent" | "tool" | "import" | "rules" | "model" | null | undefined;
  /** Of this name: a client's, an application's, a model's, a format's. */
  actor?: string | null | undefined;
  /** Made at this time or later. */
  written_since?: Time | null | undefined;
  /** Made before this time. */
  written_until?: Time | null | undefined;
  /** Undo first what stands on it. Default: false. */
  cascade?: boolean | undefined;
  /**
   * What a model made of a window is due to be made again; otherwise the window stays as raw text. Default: false.
   */
  redo?: boolean | undefined;
  /**
   * Only tell: the receipt has the ids that would change, and the changes that would be undone. Default: false.
   */
  dry_run?: boolean | undefined;
  /** Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one. */
  idempotency_key?: string | undefined;
}

/** What `recall` takes. */
export interface RecallArguments {
  /** What to look for, in plain words; empty for the newest. */
  query?: string | undefined;
  /** Most hits. Default: 10. */
  limit?: number | undefined;
  /** How many hits to pass over; `cursor` is the safer way to the next page. Default: 0. */
  offset?: number | undefined;
  /** Only these kinds. */
  kinds?: readonly ("message" | "fact" | "note" | "summary" | "raw" | "rollup" | "instruction" | "document")[] | null | undefined;
  /** Only memories in these states. */
  states?: readonly ("active" | "superseded" | "retracted" | "merged" | "expired" | "forgotten")[] | null | undefined;
  /** Only memories of these tiers. */
  tiers?: readonly ("mid" | "long")[] | null | undefined;
  /** Only what these wrote. */
  roles?: readonly string[] | null | undefined;
  /** Only what this person said. */
  speaker?: string | null | undefined;
  /** Who asks, by name. */
  asker?: string | null | undefined;
  /** Only this conversation; left out: across all. */
  session?: string | null | undefined;
  /** Only with all of these topics. */
  topics?: readonly string[] | undefined;
  /** Only with all of these entities. */
  entities?: readonly string[] | undefined;
  /**
   * Only with these values in their metadata: a value, a list of which it is one, or operators, as {"year":
   * {"$gte": 2024}, "team": ["red", "blue"]}; see `documents.list` for all. {"$or": [...]} holds filters of which
   * one must pass.
   */
  metadata?: Readonly<Record<string, unknown>> | null | undefined;
  /** Of this time or later. */
  since?: Time | null | undefined;
  /** Of before this time. */
  until?: Time | null | undefined;
  /** Answer with what held at this time. */
  as_of?: Time | null | undefined;
  /** Answer with what was known at this time. */
  known_at?: Time | null | undefined;
  /** Past values too. Default: false. */
  include_superseded?: boolean | undefined;
  /** Somebody only looks: the question is evidence of nothing, and no use of what it finds. Default: false. */
  browse?: boolean | undefined;
  /** Ask only these signals, such as "words"; left out: all that are there. */
  signals?: readonly string[] | null | undefined;
  /** So many turns before and after each message. Default: 0. */
  neighbours?: number | undefined;
  /**
   * The conversation that the question is part of: its last turns say what "it" and "he" are. It is not stored, and
   * only the last six turns are looked at.
   */
  messages?: Messages | null | undefined;
  /** With an account of how the question was read and what each signal gave. Default: false. */
  explain?: boolean | undefined;
  /**
   * The id of a message or memory that should be among the hits: the answer's `expected` says where it stands, or
   * which signal, filter, state or replacement kept it out, and at which rank it would stand.
   */
  expect?: string | null | undefined;
  /** The first page's `snapshot`, which keeps later writes out; with `offset`. */
  snapshot?: string | null | undefined;
  /** The `cursor` of the page before, all else the same. */
  cursor?: string | null | undefined;
  /**
   * Further scopes to look into, at most eight, each an object with `namespace`, `user` or `agent`; what it leaves
   * out is as here. Each is ranked alone and the best come in turn; each hit says its `scope`. Nothing is written
   * there. Pages go by offset, and `expect` and `explain` are of one scope.
   */
  also?: readonly AlsoScope[] | undefined;
}

/** What `context` takes. */
export interface ContextArguments {
  /**
   * What the user says now, as text; or the caller's new messages, or the whole conversation, perhaps with a system
   * prompt in front. They are not stored; what the session's end holds already is not shown twice, so they may be
   * added before or after.
   */
  messages?: Messages | null | undefined;
  /** Tokens in all. Default: 8000. */
  budget?: number | undefined;
  /**
   * What a conversation that does not fit loses. "adaptive" cuts its oldest turns and leaves memory half of the
   * room, or more of a small one; "full_history" leaves memory less. "memory_first" sends only the last `tail`
   * messages before the newest user's, whatever room there is. Default: "adaptive".
   */
  strategy?: string | undefined;
  /** The provider's shape, "openai" or "anthropic". Default: "openai". */
  shape?: "openai" | "anthropic" | undefined;
  /** Tokens kept back for the answer, tools and whatever else is sent; left out: a twentieth. */
  reserve?: number | null | undefined;
  /** What memory is asked for; left out: the newest user's message. */
  query?: string | null | undefined;
  /** Messages that "memory_first" keeps, more where a tool pair demands it. Left out: 2. */
  tail?: number | null | undefined;
  /** From how many turns on "adaptive" is "memory_first". Left out, or 0: never. */
  crossover_turn_threshold?: number | null | undefined;
  /**
   * The model that is asked: its family's tokenizer counts, or an estimate within a tenth of it; of a family that
   * is not known, one meant to be over any. Left out: the setting `context_model`.
   */
  model?: string | null | undefined;
  /**
   * The name of the person who asks, where several people talk: only what they told instructs, and "I" and "my" are
   * theirs. Left out: the `name` of the newest message that a person wrote.
   */
  asker?: string | null | undefined;
  /**
   * "all" tells what has room, best first; "useful" stops in the same order where what is left is not likely to
   * help (docs/context.md has figures). Default: "all".
   */
  fill?: "all" | "useful" | undefined;
  /**
   * Paths of documents that may be told where the question finds them, with all that stands below them:
   * [["handbook"]], or [[]] for every document. Left out: none.
   */
  documents?: readonly (readonly string[])[] | undefined;
  /**
   * Further scopes whose memory is told beside this one's, as of `recall`. Together they get a quarter of the
   * budget, and what this one leaves; each stands in fences of its own. What another user said is data there: none
   * of it instructs.
   */
  also?: readonly AlsoScope[] | undefined;
}

/** What `last_recalled` takes. */
export interface LastRecalledArguments {
  /** At most 1,000 memories. */
  ids: readonly string[];
}

/** What `history` takes. */
export interface HistoryArguments {
  /** A memory (mem_…) or message (msg_…). */
  item_id: string;
}

/** What `changes` takes. */
export interface ChangesArguments {
  /** The `seq` of a change to begin behind. Default: 0. */
  after?: number | undefined;
  /** Most changes of the page. Default: 100. */
  limit?: number | undefined;
  /** Only those of this verb: "remember", "correct", "dismiss" and so on, as it stands in a change. */
  verb?: string | undefined;
}

/** What `summaries` takes. */
export interface SummariesArguments {
  /** What to look for; left out: the newest first. */
  query?: string | undefined;
  /** Most summaries. Default: 10. */
  limit?: number | undefined;
  /** How many to pass over. Default: 0. */
  offset?: number | undefined;
  /** Of windows that began at this time or later. */
  since?: Time | undefined;
  /** Of windows that began before this time. */
  until?: Time | undefined;
  /** Only this conversation. */
  session?: string | undefined;
  /** With windows that no model has read yet. Default: false. */
  raw?: boolean | undefined;
  /**
   * "day", "week" or "month": the roll-ups of that level instead. Their `sources` are the ids of what each was made
   * of, their `metadata` its `level` and `period`.
   */
  level?: string | undefined;
  /** The `cursor` of the page before, all else the same. */
  cursor?: string | undefined;
}

/** What `sessions` takes. */
export interface SessionsArguments {
  /** Only sessions whose name begins so. */
  prefix?: string | undefined;
  /** "began" (as they began), "newest" or "oldest" (by the last message), or "name". Default: "began". */
  order?: "began" | "newest" | "oldest" | "name" | undefined;
  /** Most sessions of the page. Default: 100. */
  limit?: number | undefined;
  /** The `cursor` of the page before, all else the same. */
  cursor?: string | undefined;
}

/** What `copy_session` takes. */
export interface CopySessionArguments {
  /** The name of the session to make. */
  to: string;
  /** Up to this `seq`; left out: all of it. */
  until?: number | null | undefined;
  /** Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one. */
  idempotency_key?: string | undefined;
}

/** What `session_metadata` takes. */
export interface SessionMetadataArguments {
}

/** What `set_session_metadata` takes. */
export interface SetSessionMetadataArguments {
  /** Names and JSON values, at most 256 KiB in all. */
  metadata: Readonly<Record<string, unknown>>;
}

/** What `suspicions` takes. */
export interface SuspicionsArguments {
  /** With those that were settled. Default: false. */
  settled?: boolean | undefined;
  /** At most how many, from 1; null for all, of which thousands take a fifth of a second. */
  limit?: number | undefined;
  /**
   * The id of the last one that is known (sus_…), settled since or not: those behind it. Where it is there no more,
   * they begin anew.
   */
  after?: string | undefined;
}

/** What `settle_suspicion` takes. */
export interface SettleSuspicionArguments {
  /** The suspicion (sus_…). */
  suspicion_id: string;
  /**
   * Of two keys, "same" makes their facts one timeline, "different" keeps them apart for good. Of a contradiction,
   * "same" takes the statement as the user's own word, "different" leaves what the user told.
   */
  verdict: "same" | "different";
  /** Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one. */
  idempotency_key?: string | undefined;
}

/** What `fence` takes. */
export interface FenceArguments {
  /** The memories and messages that the lines tell. */
  ids: readonly string[];
  /** The text, line by line. */
  lines: readonly string[];
}

/** What `status` takes. */
export interface StatusArguments {
}

/** What `end_session` takes. */
export interface EndSessionArguments {
  /** Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one. */
  idempotency_key?: string | undefined;
}

/** What `retain` takes. */
export interface RetainArguments {
  /** Memories of these kinds. Default: ["fact", "note"]. */
  kinds?: readonly ("fact" | "note" | "summary" | "raw" | "rollup" | "instruction" | "document")[] | undefined;
  /** Those that were made longer ago than this (over HTTP: in seconds). */
  older_than?: number | null | undefined;
  /** Those that no recall returned for this long (over HTTP: in seconds). */
  unused_for?: number | null | undefined;
  /** Keep this many of each kind, the newest. */
  most?: number | null | undefined;
  /** Only list; false hides. Default: true. */
  dry_run?: boolean | undefined;
  /** Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one. */
  idempotency_key?: string | undefined;
}

/** What `put_document` takes. */
export interface PutDocumentArguments {
  /** The names from the outermost on, such as ("notes", "paris"); each 1 to 256 characters. */
  path: readonly string[];
  /** Text, or JSON (an object, a list, a number, true or false), up to 8 MiB. */
  content: unknown;
  /** Only if what stands there is at this revision; 0: only if nothing stands there. */
  if_rev?: number | null | undefined;
  /** JSON of the caller's; `list` and `search` can ask for it. */
  metadata?: Readonly<Record<string, unknown>> | null | undefined;
  /** When it stands there no longer. */
  expires_at?: Time | null | undefined;
  /** Whether words and meaning may find it; of a very long content samples are indexed. Default: true. */
  index?: boolean | undefined;
  /** Of JSON: the members by which alone they find it, as ["title", "author.name", "chapters[*].text"]. */
  fields?: readonly string[] | null | undefined;
  /** Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one. */
  idempotency_key?: string | undefined;
}

/** What `read_document` takes. */
export interface ReadDocumentArguments {
  /** The names from the outermost on. */
  path: readonly string[];
  /** What this revision of the path held. */
  at_rev?: number | null | undefined;
  /** What stood there at this time. */
  as_of?: Time | null | undefined;
  /** What was known then to stand there. */
  known_at?: Time | null | undefined;
}

/** What `list_documents` takes. */
export interface ListDocumentsArguments {
  /** The names that a path begins with; none: all documents. */
  prefix?: readonly string[] | undefined;
  /**
   * Of JSON contents: members and what they are, as {"status": "open", "score": {"$gt": 4}}. Operators are $eq,
   * $ne, $gt, $gte, $lt, $lte, $in, $nin, $contains (of a list) and $exists. A list is of values of which it is
   * one; {"$or": [...]} holds filters of which one must pass.
   */
  filter?: Readonly<Record<string, unknown>> | null | undefined;
  /** The same of the metadata. */
  metadata?: Readonly<Record<string, unknown>> | null | undefined;
  /** "path", "newest" or "oldest" (by the last write). Default: "path". */
  order?: "path" | "newest" | "oldest" | undefined;
  /** With the contents; a page then ends behind 16 MiB. Default: false. */
  content?: boolean | undefined;
  /** Most documents of the page, up to 1,000. Default: 100. */
  limit?: number | undefined;
  /** The `cursor` of the page before, all else being the same. */
  cursor?: string | null | undefined;
}

/** What `search_documents` takes. */
export interface SearchDocumentsArguments {
  /** What to look for; empty: the newest first. */
  query: string;
  /** The names that a path begins with; none: all documents. */
  prefix?: readonly string[] | undefined;
  /** Of JSON contents; see `list`. */
  filter?: Readonly<Record<string, unknown>> | null | undefined;
  /** The same of the metadata. */
  metadata?: Readonly<Record<string, unknown>> | null | undefined;
  /** Most hits. Default: 10. */
  limit?: number | undefined;
  /** How many to pass over. Default: 0. */
  offset?: number | undefined;
}

/** What `move_document` takes. */
export interface MoveDocumentArguments {
  /** Where it stands. */
  path: readonly string[];
  /** Where it is to stand; nothing may stand there. */
  to: readonly string[];
  /** With everything that stands below it, up to 1,000 documents. Default: false. */
  below?: boolean | undefined;
  /** Only if it is at this revision. */
  if_rev?: number | null | undefined;
  /** Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one. */
  idempotency_key?: string | undefined;
}

/** What `delete_document` takes. */
export interface DeleteDocumentArguments {
  /** Where it stands. */
  path: readonly string[];
  /** With everything at and below the path. Default: false. */
  below?: boolean | undefined;
  /** Erase for good, as `forget` does, also what was hidden before. Default: false. */
  hard?: boolean | undefined;
  /** Only if it is at this revision. */
  if_rev?: number | null | undefined;
  /** How many seconds a hard delete waits for a reader that holds the bytes. Default: 1.0. */
  wait?: number | undefined;
  /** Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one. */
  idempotency_key?: string | undefined;
}

/** What `get_message` takes. */
export interface GetMessageArguments {
  message_id: string;
}

/** What `forget_message` takes. */
export interface ForgetMessageArguments {
  message_id: string;
  /** Default: true. */
  hard?: boolean | undefined;
  /** Default: "erase". */
  sources?: "erase" | "keep" | undefined;
  /** Default: false. */
  dry_run?: boolean | undefined;
  /** Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one. */
  idempotency_key?: string | undefined;
}

/** What `read_message` takes. */
export interface ReadMessageArguments {
  /** The message (msg_…). */
  message_id: string;
  /** The character to begin at. Default: 0. */
  offset?: number | undefined;
  /** Most characters. Default: 100000. */
  limit?: number | undefined;
}

/** What `message_history` takes. */
export interface MessageHistoryArguments {
  message_id: string;
}

/** What `get_memory` takes. */
export interface GetMemoryArguments {
  memory_id: string;
}

/** What `forget_memory` takes. */
export interface ForgetMemoryArguments {
  memory_id: string;
  /** Default: true. */
  hard?: boolean | undefined;
  /** Default: "erase". */
  sources?: "erase" | "keep" | undefined;
  /** Default: false. */
  dry_run?: boolean | undefined;
  /** Any text unique to this write; sent twice with one key, it is one write. Left out, the client makes one. */
  idempotency_key?: string | undefined;
  /** Only if it is still at this revision. */
  rev?: number | undefined;
}

/** What `undo_change` takes. */
export interface UndoChangeArguments {
  change_id: string;
}

/** What `consolidate` takes. */
export interface ConsolidateArguments {
}

/** What `compact` takes. */
export interface CompactArguments {
  /** Only show what would be looked at and why: it asks no model and changes nothing. Default: false. */
  dry_run?: boolean | undefined;
}

/** What `who` takes. */
export interface WhoArguments {
}

/** What `follow_changes` takes. */
export interface FollowChangesArguments {
  /** Begin behind this `seq`; 0 for all. */
  after?: number | null | undefined;
}

/** What `import_file` takes. */
export interface ImportFileArguments {
  /** Found out where it is not named. */
  format?: string | null | undefined;
  /** The zone of times that name none, such as Europe/Lisbon. Default: "UTC". */
  zone?: string | undefined;
  session_prefix?: string | undefined;
  /** Default: "stop". */
  on_error?: "stop" | "skip" | undefined;
  /** Each line counts as said by its role, and not as imported. Default: false. */
  live?: boolean | undefined;
  /** Default: 128. */
  batch?: number | undefined;
  /** Only tell what is in the file; nothing is written. Default: false. */
  dry_run?: boolean | undefined;
}

/** What `export` takes. */
export interface ExportArguments {
  /** Default: "jsonl". */
  format?: "jsonl" | "markdown" | "mem0" | "mcp-memory" | undefined;
  session?: string | null | undefined;
}

/** What `settle` takes. */
export interface SettleArguments {
  /** Default: 30.0. */
  timeout?: number | undefined;
}

/** What `usage` takes. */
export interface UsageArguments {
  /** How it grew on so many days too. */
  days?: number | null | undefined;
}

/** What `users` takes. */
export interface UsersArguments {
  /** Begin behind this. */
  after?: string | null | undefined;
  /** Default: 1000. */
  limit?: number | undefined;
}

/** What `doctor` takes. */
export interface DoctorArguments {
}

/** What `ready` takes. */
export interface ReadyArguments {
}

/** What `reindex` takes. */
export interface ReindexArguments {
}

/** What `model_usage` takes. */
export interface ModelUsageArguments {
  /** Of the last so many days. */
  days?: number | null | undefined;
}

/** What `residue` takes. */
export interface ResidueArguments {
  /** 4 characters or more. */
  text: string;
}

/** What `list_tokens` takes. */
export interface ListTokensArguments {
}

/** What `create_token` takes. */
export interface CreateTokenArguments {
  user?: string | null | undefined;
  agent?: string | null | undefined;
  /** Default: ["read", "write"]. */
  rights?: readonly ("read" | "write" | "admin" | "act" | "projects")[] | undefined;
  label?: string | undefined;
  /** Left out: the caller's own. */
  actor?: string | null | undefined;
  /** Seconds; left out: as long as the caller's token. */
  expires_in?: number | null | undefined;
}

/** What `revoke_token` takes. */
export interface RevokeTokenArguments {
  token_id: string;
}

/** What `exchange_token` takes. */
export interface ExchangeTokenArguments {
  grant_type: "urn:ietf:params:oauth:grant-type:token-exchange";
  /** The user's name. */
  subject_token: string;
  subject_token_type: "urn:memhold:params:oauth:token-type:user";
  requested_token_type?: "urn:ietf:params:oauth:token-type:access_token" | undefined;
  /** read, write or both, with a space between. */
  scope?: string | undefined;
  /** Seconds. */
  expires_in?: number | undefined;
}

/**
 * How an operation is sent: `session` where the scope's session says where it goes, `again` where a second arrival
 * changes nothing, `keyed` where an idempotency key makes it so.
 */
export interface Operation {
  readonly method: "GET" | "POST" | "DELETE";
  readonly path: string;
  readonly session: boolean;
  readonly again: boolean;
  readonly keyed: boolean;
}

/** Every operation of the server, by its id. */
export const OPERATIONS = {
  messages: { method: "GET", path: "/v1/messages", session: true, again: true, keyed: false },
  add_messages: { method: "POST", path: "/v1/messages", session: true, again: false, keyed: true },
  list_memories: { method: "GET", path: "/v1/memories", session: false, again: true, keyed: false },
  remember: { method: "POST", path: "/v1/memories", session: true, again: false, keyed: true },
  correct: { method: "POST", path: "/v1/memories/{memory_id}/correct", session: true, again: false, keyed: true },
  pin: { method: "POST", path: "/v1/memories/{memory_id}/pin", session: true, again: false, keyed: true },
  unpin: { method: "POST", path: "/v1/memories/{memory_id}/unpin", session: true, again: false, keyed: true },
  confirm: { method: "POST", path: "/v1/memories/{memory_id}/confirm", session: true, again: false, keyed: true },
  drop: { method: "POST", path: "/v1/memories/{memory_id}/drop", session: true, again: false, keyed: true },
  dismiss: { method: "POST", path: "/v1/changes/{change_id}/dismiss", session: false, again: false, keyed: true },
  forget: { method: "POST", path: "/v1/forget", session: false, again: false, keyed: true },
  undo: { method: "POST", path: "/v1/undo", session: false, again: false, keyed: true },
  recall: { method: "POST", path: "/v1/recall", session: true, again: true, keyed: false },
  context: { method: "POST", path: "/v1/context", session: true, again: true, keyed: false },
  last_recalled: { method: "POST", path: "/v1/memories/last-recalled", session: false, again: true, keyed: false },
  history: { method: "GET", path: "/v1/memories/{item_id}/history", session: false, again: true, keyed: false },
  changes: { method: "GET", path: "/v1/changes", session: false, again: true, keyed: false },
  summaries: { method: "GET", path: "/v1/summaries", session: false, again: true, keyed: false },
  sessions: { method: "GET", path: "/v1/sessions", session: false, again: true, keyed: false },
  copy_session: { method: "POST", path: "/v1/sessions/copy", session: true, again: false, keyed: true },
  session_metadata: { method: "GET", path: "/v1/sessions/metadata", session: true, again: true, keyed: false },
  set_session_metadata: { method: "POST", path: "/v1/sessions/metadata", session: true, again: false, keyed: false },
  suspicions: { method: "GET", path: "/v1/suspicions", session: false, again: true, keyed: false },
  settle_suspicion: { method: "POST", path: "/v1/suspicions/{suspicion_id}/settle", session: true, again: false, keyed: true },
  fence: { method: "POST", path: "/v1/fence", session: false, again: true, keyed: false },
  status: { method: "GET", path: "/v1/status", session: false, again: true, keyed: false },
  end_session: { method: "POST", path: "/v1/sessions/end", session: true, again: false, keyed: true },
  retain: { method: "POST", path: "/v1/retain", session: true, again: false, keyed: true },
  put_document: { method: "POST", path: "/v1/documents/put", session: false, again: false, keyed: true },
  read_document: { method: "POST", path: "/v1/documents/read", session: false, again: true, keyed: false },
  list_documents: { method: "POST", path: "/v1/documents/list", session: false, again: true, keyed: false },
  search_documents: { method: "POST", path: "/v1/documents/search", session: false, again: true, keyed: false },
  move_document: { method: "POST", path: "/v1/documents/move", session: false, again: false, keyed: true },
  delete_document: { method: "POST", path: "/v1/documents/delete", session: false, again: false, keyed: true },
  get_message: { method: "GET", path: "/v1/messages/{message_id}", session: false, again: true, keyed: false },
  forget_message: { method: "DELETE", path: "/v1/messages/{message_id}", session: false, again: false, keyed: true },
  read_message: { method: "GET", path: "/v1/messages/{message_id}/text", session: false, again: true, keyed: false },
  message_history: { method: "GET", path: "/v1/messages/{message_id}/history", session: false, again: true, keyed: false },
  get_memory: { method: "GET", path: "/v1/memories/{memory_id}", session: false, again: true, keyed: false },
  forget_memory: { method: "DELETE", path: "/v1/memories/{memory_id}", session: false, again: false, keyed: true },
  undo_change: { method: "POST", path: "/v1/changes/{change_id}/undo", session: false, again: false, keyed: false },
  consolidate: { method: "POST", path: "/v1/sessions/consolidate", session: true, again: false, keyed: false },
  compact: { method: "POST", path: "/v1/compact", session: true, again: false, keyed: false },
  who: { method: "GET", path: "/v1/scope", session: false, again: true, keyed: false },
  follow_changes: { method: "GET", path: "/v1/changes/stream", session: false, again: true, keyed: false },
  import_file: { method: "POST", path: "/v1/import", session: false, again: true, keyed: false },
  export: { method: "GET", path: "/v1/export", session: false, again: true, keyed: false },
  settle: { method: "POST", path: "/v1/admin/settle", session: false, again: true, keyed: false },
  usage: { method: "GET", path: "/v1/admin/usage", session: false, again: true, keyed: false },
  users: { method: "GET", path: "/v1/admin/users", session: false, again: true, keyed: false },
  doctor: { method: "GET", path: "/v1/admin/doctor", session: false, again: true, keyed: false },
  ready: { method: "GET", path: "/v1/admin/ready", session: false, again: true, keyed: false },
  reindex: { method: "POST", path: "/v1/admin/reindex", session: false, again: true, keyed: false },
  model_usage: { method: "GET", path: "/v1/admin/models/usage", session: false, again: true, keyed: false },
  residue: { method: "POST", path: "/v1/admin/residue", session: false, again: false, keyed: false },
  list_tokens: { method: "GET", path: "/v1/tokens", session: false, again: true, keyed: false },
  create_token: { method: "POST", path: "/v1/tokens", session: false, again: false, keyed: false },
  revoke_token: { method: "DELETE", path: "/v1/tokens/{token_id}", session: false, again: true, keyed: false },
  exchange_token: { method: "POST", path: "/v1/token-exchange", session: false, again: true, keyed: false },
} as const satisfies Record<string, Operation>;

export type OperationId = keyof typeof OPERATIONS;

/** The arguments of each operation. */
export interface Arguments {
  messages: MessagesArguments;
  add_messages: AddMessagesArguments;
  list_memories: ListMemoriesArguments;
  remember: RememberArguments;
  correct: CorrectArguments;
  pin: PinArguments;
  unpin: UnpinArguments;
  confirm: ConfirmArguments;
  drop: DropArguments;
  dismiss: DismissArguments;
  forget: ForgetArguments;
  undo: UndoArguments;
  recall: RecallArguments;
  context: ContextArguments;
  last_recalled: LastRecalledArguments;
  history: HistoryArguments;
  changes: ChangesArguments;
  summaries: SummariesArguments;
  sessions: SessionsArguments;
  copy_session: CopySessionArguments;
  session_metadata: SessionMetadataArguments;
  set_session_metadata: SetSessionMetadataArguments;
  suspicions: SuspicionsArguments;
  settle_suspicion: SettleSuspicionArguments;
  fence: FenceArguments;
  status: StatusArguments;
  end_session: EndSessionArguments;
  retain: RetainArguments;
  put_document: PutDocumentArguments;
  read_document: ReadDocumentArguments;
  list_documents: ListDocumentsArguments;
  search_documents: SearchDocumentsArguments;
  move_document: MoveDocumentArguments;
  delete_document: DeleteDocumentArguments;
  get_message: GetMessageArguments;
  forget_message: ForgetMessageArguments;
  read_message: ReadMessageArguments;
  message_history: MessageHistoryArguments;
  get_memory: GetMemoryArguments;
  forget_memory: ForgetMemoryArguments;
  undo_change: UndoChangeArguments;
  consolidate: ConsolidateArguments;
  compact: CompactArguments;
  who: WhoArguments;
  follow_changes: FollowChangesArguments;
  import_file: ImportFileArguments;
  export: ExportArguments;
  settle: SettleArguments;
  usage: UsageArguments;
  users: UsersArguments;
  doctor: DoctorArguments;
  ready: ReadyArguments;
  reindex: ReindexArguments;
  model_usage: ModelUsageArguments;
  residue: ResidueArguments;
  list_tokens: ListTokensArguments;
  create_token: CreateTokenArguments;
  revoke_token: RevokeTokenArguments;
  exchange_token: ExchangeTokenArguments;
}

/** What each operation answers. */
export interface Answers {
  messages: MessagePage;
  add_messages: Receipt;
  list_memories: Page;
  remember: Remembered;
  correct: Remembered;
  pin: Remembered;
  unpin: Remembered;
  confirm: Remembered;
  drop: Remembered;
  dismiss: Receipt;
  forget: Erasure;
  undo: Receipt;
  recall: Recall;
  context: Context;
  last_recalled: Record<string, string>;
  history: Change[];
  changes: Changes;
  summaries: Recall;
  sessions: SessionPage;
  copy_session: Receipt;
  session_metadata: Record<string, unknown>;
  set_session_metadata: Record<string, unknown>;
  suspicions: OpenSuspicion[];
  settle_suspicion: Receipt;
  fence: string;
  status: Status;
  end_session: Receipt;
  retain: Retained[];
  put_document: DocumentWrite;
  read_document: Document;
  list_documents: DocumentPage;
  search_documents: DocumentHits;
  move_document: Receipt;
  delete_document: Erasure;
  get_message: Message;
  forget_message: Erasure;
  read_message: Text;
  message_history: Change[];
  get_memory: Memory;
  forget_memory: Erasure;
  undo_change: Receipt;
  consolidate: Consolidated;
  compact: Compacted;
  who: WhoAsks;
  follow_changes: unknown;
  import_file: Report;
  export: Pages;
  settle: Settled;
  usage: Usage[];
  users: string[];
  doctor: Finding[];
  ready: Readiness;
  reindex: Rebuilt;
  model_usage: Tally[];
  residue: Residue;
  list_tokens: AccessToken[];
  create_token: NewToken;
  revoke_token: AccessToken;
  exchange_token: Exchanged;
}
