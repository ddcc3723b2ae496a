/** What callers pass that says more than JSON does: messages of any provider, times, further scopes. */

/** A time: a `Date`, or text of RFC 3339 with its zone, such as `2026-05-01T10:00:00Z`. */
export type Time = string | Date;

/** A message in the OpenAI chat or the Anthropic shape, as their SDKs have it, with what Memhold keeps beside it. */
export interface MessageInput {
  role: "system" | "developer" | "user" | "assistant" | "tool" | "function" | (string & {});
  content?: unknown;
  name?: string | undefined;
  tool_calls?: unknown;
  tool_call_id?: string | undefined;
  /** When it was said; left out: now. */
  event_time?: Time | undefined;
  /** JSON of the caller's; a recall can ask for it. */
  metadata?: Readonly<Record<string, unknown>> | undefined;
  /** False: found by words, never by meaning. */
  embed?: boolean | undefined;
}

/** What has a type and no role: kept whole, as it is, in its place, and read by nobody. */
export interface Item {
  type: string;
  role?: never;
}

/** One message or a list of them. */
export type Messages = MessageInput | Item | readonly (MessageInput | Item)[];

/** A further scope that a read looks into; what it leaves out is as in the scope that asks. */
export interface AlsoScope {
  namespace?: string | undefined;
  user?: string | null | undefined;
  agent?: string | null | undefined;
}

/** What every call takes beside its arguments. */
export interface CallOptions {
  /** Ends the call, and its retries. A write that was sent may still be carried out; its idempotency key settles it. */
  signal?: AbortSignal | undefined;
  /** Milliseconds for the call with all its tries. */
  timeoutMs?: number | undefined;
}
