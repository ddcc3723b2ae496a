/** Calls to a server: what is sent again and when, and what comes back as a value or as the server's own error. */

import { MemholdError } from "./error.js";
import { InvalidInput, OutcomeUnknown, RateLimited, ServerUnreachable, StoreBusy, StoreClosed, StoreError, TooLarge } from "./generated/errors.js";
import { errorOf } from "./problems.js";

/** Where a server is and how it is called. */
export interface MemholdOptions {
  /** The address of the server, such as `http://127.0.0.1:8484`. Left out: `MEMHOLD_URL` of the environment. */
  url?: string | undefined;
  /** The token (`mh_…`), or what gives one each time, for tokens that live minutes. Left out: `MEMHOLD_TOKEN` of the environment. */
  token?: string | (() => string | Promise<string>) | undefined;
  /** Milliseconds for each call with all its tries. Left out: 60,000. */
  timeoutMs?: number | undefined;
  /** How often a call is sent again at most. Left out: 4. */
  maxRetries?: number | undefined;
  /** What makes requests. Left out: the runtime's own. */
  fetch?: typeof globalThis.fetch | undefined;
}

/** One call; `again` where a second arrival changes nothing: it reads, or carries an idempotency key. */
export interface Call {
  method: string;
  path: string;
  query?: Readonly<Record<string, unknown>>;
  headers?: Readonly<Record<string, string>>;
  body?: RequestInit["body"];
  again: boolean;
  signal?: AbortSignal | undefined;
  timeoutMs?: number | undefined;
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 5000;
/** Bytes of a body that a server takes where nobody sets it otherwise. */
const MAX_BODY = 16 * 1024 * 1024;
/** How runtimes say that a request never left. */
const NOT_SENT = /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|UND_ERR_CONNECT_TIMEOUT|connection refused|dns error|bad port/i;
const NOW = (): number => performance.now();

type Tried<T> = { value: T } | { error: MemholdError; again: boolean };

/** A server at one address. It holds no connection of its own: the runtime's `fetch` does. */
export class Transport {
  readonly url: string;
  readonly #token: MemholdOptions["token"];
  readonly #timeoutMs: number;
  readonly #maxRetries: number;
  readonly #fetch: typeof globalThis.fetch;

  constructor(options: MemholdOptions) {
    this.url = addressOf(options.url ?? ofEnvironment("MEMHOLD_URL"));
    this.#token = options.token ?? ofEnvironment("MEMHOLD_TOKEN");
    this.#timeoutMs = inRange(options.timeoutMs ?? 60_000, "timeoutMs", 1);
    this.#maxRetries = inRange(options.maxRetries ?? 4, "maxRetries", 0);
    const given = options.fetch;
    // Called as a method of something else, a browser's fetch refuses.
    this.#fetch = given ?? ((input, init) => globalThis.fetch(input, init));
  }

  /** The JSON that a call gives. */
  async json(call: Call): Promise<unknown> {
    return this.#answered(call, async (response) => {
      const text = await response.text();
      try {
        return JSON.parse(text) as unknown;
      } catch {
        const said = `${this.url} answered ${response.status} without JSON; check that it is a Memhold server`;
        throw new StoreError(said);
      }
    });
  }

  /** The response to a call that succeeded, its body unread. The time of a call counts until its headers are there. */
  async response(call: Call): Promise<Response> {
    return this.#answered(call, (response) => Promise.resolve(response));
  }

  async #answered<T>(call: Call, read: (response: Response) => Promise<T>): Promise<T> {
    const end = NOW() + inRange(call.timeoutMs ?? this.#timeoutMs, "timeoutMs", 1);
    for (let tried = 1; ; tried += 1) {
      call.signal?.throwIfAborted();
      const found = await this.#try(call, Math.max(1, end - NOW()), read);
      if ("value" in found) return found.value;
      const pause = pauseMs(tried, found.error);
      if (!found.again || tried > this.#maxRetries || pause > end - NOW()) throw tooLarge(call, found.error);
      await sleep(pause, call.signal);
    }
  }

  async #try<T>(call: Call, leftMs: number, read: (response: Response) => Promise<T>): Promise<Tried<T>> {
    const ending = new AbortController();
    const stop = (): void => ending.abort(call.signal?.reason);
    const timer = setTimeout(() => ending.abort(), leftMs);
    call.signal?.addEventListener("abort", stop);
    try {
      const response = await this.#fetch(`${this.url}${call.path}${queryOf(call.query ?? {})}`, {
        method: call.method,
        headers: { ...(await this.#authorization()), ...call.headers },
        redirect: "manual",
        signal: ending.signal,
        ...(call.body === undefined || call.body === null ? {} : { body: call.body }),
        // A body that is a stream is sent while nothing is read; Node.js wants that said.
        ...(call.body instanceof ReadableStream ? ({ duplex: "half" } as object) : {}),
      });
      if (response.ok) return { value: await read(response) };
      const error = errorOf(response.status, await response.text(), response.headers.get("retry-after"), this.url);
      return { error, again: again(call, error) };
    } catch (error) {
      if (call.signal?.aborted) throw call.signal.reason;
      if (error instanceof MemholdError) throw error;
      const lost = this.#lost(error, ending.signal.aborted);
      return { error: lost, again: call.again || !lost.sent };
    } finally {
      clearTimeout(timer);
      call.signal?.removeEventListener("abort", stop);
    }
  }

  async #authorization(): Promise<Record<string, string>> {
    const token = typeof this.#token === "function" ? await this.#token() : this.#token;
    if (token === undefined) return {};
    if (!/^[\x21-\x7e]+$/.test(token)) throw new InvalidInput("the token is no text that can be sent; pass it as it was given");
    return { authorization: `Bearer ${token}` };
  }

  #lost(error: unknown, late: boolean): ServerUnreachable {
    const cause = error instanceof Error ? (error.cause as { code?: unknown; message?: unknown } | undefined) : undefined;
    const words = [cause?.code, cause?.message, error instanceof Error ? error.message : error].filter(Boolean).map(String);
    const kind = late ? "timeout" : (words[0] ?? "no reason was given");
    const sent = late || !words.some((one) => NOT_SENT.test(one));
    const said = sent
      ? `the connection to ${this.url} was lost before an answer came (${kind}); the call may have been carried out: send it again with the same idempotency key`
      : `${this.url} cannot be reached (${kind}); check the address, and that 'memhold serve' runs there`;
    return new ServerUnreachable(said, { sent, reason: kind });
  }
}

function again(call: Call, error: MemholdError): boolean {
  if (error instanceof RateLimited) return true;
  const passing = [ServerUnreachable, StoreBusy, StoreClosed, OutcomeUnknown].some((one) => error instanceof one);
  return call.again && passing;
}

/** How long to wait before the next try: as long as the server asks, else longer each time, and never all at once. */
function pauseMs(tried: number, error: MemholdError): number {
  const asked = error.values.retry_after;
  if (typeof asked === "number") return asked * 1000;
  return (0.5 + Math.random() / 2) * Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** (tried - 1));
}

/** A server ends a connection that brings more than it takes, and who is still sending does not hear why. */
function tooLarge(call: Call, error: MemholdError): MemholdError {
  if (!(error instanceof ServerUnreachable) || typeof call.body !== "string" || call.path === "/v1/import") return error;
  const size = new TextEncoder().encode(call.body).length;
  if (size <= MAX_BODY) return error;
  return new TooLarge(`the call has ${size} bytes, and a server takes ${MAX_BODY}; split it`, { size, limit: MAX_BODY });
}

/** Wait, or end with the reason of the signal. */
export function sleep(ms: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = (): void => {
      clearTimeout(timer);
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop);
      resolve();
    }, ms);
    if (signal?.aborted) stop();
    else signal?.addEventListener("abort", stop, { once: true });
  });
}

function queryOf(query: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined);
  if (given.length === 0) return "";
  return `?${given.map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(asText(name, value))}`).join("&")}`;
}

function asText(name: string, value: unknown): string {
  if (value === null) return "any";
  if (Array.isArray(value)) return value.map((one) => asText(name, one)).join(",");
  const plain = jsonBody({ [name]: value });
  return typeof value === "string" || value instanceof Date ? (JSON.parse(plain) as Record<string, string>)[name]! : plain.slice(plain.indexOf(":") + 1, -1);
}

/**
 * Arguments as JSON, in which a time is text. What JSON would turn into `null` in silence is refused: a filter that is lost
 * widens what is answered or erased.
 */
export function jsonBody(given: Readonly<Record<string, unknown>>): string {
  return JSON.stringify(given, function (this: unknown, name: string, value: unknown): unknown {
    const raw = (this as Record<string, unknown>)[name];
    const bad =
      (raw instanceof Date && Number.isNaN(raw.getTime())) ||
      (typeof value === "number" && !Number.isFinite(value)) ||
      ["bigint", "function", "symbol"].includes(typeof value) ||
      (value === undefined && Array.isArray(this));
    if (bad) throw new InvalidInput(`${name || "the value"} is ${String(raw)}, which cannot be sent; pass a value that JSON has`);
    return value;
  });
}

/** Some runtimes send headers as UTF-8 by themselves; elsewhere a header is bytes, and these are of UTF-8. */
const SENDS_UTF8 = ((): boolean => {
  try {
    return new Headers({ "x-memhold-user": "\u0100" }).get("x-memhold-user") === "\u0100";
  } catch {
    return false;
  }
})();

/** A text as a header carries it. */
export function headerText(name: string, value: unknown): string {
  // eslint-disable-next-line no-control-regex
  if (typeof value !== "string" || value === "" || value !== value.trim() || /[\x00-\x1f\x7f]/.test(value)) {
    throw new InvalidInput(`${name} is ${JSON.stringify(value)}, which cannot be sent; use printable text without space around it`);
  }
  if (SENDS_UTF8) return value;
  return Array.from(new TextEncoder().encode(value), (byte) => String.fromCharCode(byte)).join("");
}

function addressOf(url: unknown): string {
  if (typeof url !== "string" || !/^https?:\/\/[^/]/i.test(url)) {
    throw new InvalidInput(`url is ${JSON.stringify(url) ?? "not given"}; pass the address of a server, such as http://127.0.0.1:8484, or set MEMHOLD_URL`);
  }
  return url.replace(/\/+$/, "");
}

function inRange(value: unknown, name: string, least: number): number {
  if (typeof value !== "number" || !(value >= least)) throw new InvalidInput(`${name} is ${String(value)}; pass a number from ${least} on`);
  // A timer takes 31 bits of milliseconds.
  return Math.min(value, 2 ** 31 - 1);
}

function ofEnvironment(name: string): string | undefined {
  try {
    const found = (globalThis as { process?: { env?: Record<string, string | undefined> } }).process?.env?.[name];
    return found === "" ? undefined : found;
  } catch {
    return undefined; // an environment that may not be read
  }
}
