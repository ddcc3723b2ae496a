/** Answers that are read piece by piece: the lines of an export, and changes as they come. */

import { MemholdError } from "./error.js";
import type { Change } from "./generated/api.js";
import { InvalidInput, ServerUnreachable } from "./generated/errors.js";
import { sleep } from "./transport.js";

/** A stream of changes says something every 15 seconds; one that is silent for so long is gone. */
const SILENT_MS = 60_000;

/** The lines of a response, without their ends. It lets go of the response however it ends. */
async function* lines(response: Response, signal?: AbortSignal, silentMs?: number): AsyncGenerator<string, void, undefined> {
  if (response.body === null) return;
  const reader = response.body.getReader();
  const decoder = new TextDecoder();
  const stop = (): void => void reader.cancel(signal?.reason).catch(() => undefined);
  signal?.addEventListener("abort", stop);
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await inTime(reader.read(), silentMs);
      signal?.throwIfAborted();
      rest += done ? decoder.decode() : decoder.decode(value, { stream: true });
      const found = rest.split("\n");
      rest = found.pop() ?? "";
      for (const line of found) yield line.endsWith("\r") ? line.slice(0, -1) : line;
      if (done) break;
    }
    if (rest !== "") yield rest;
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof MemholdError) throw error;
    const said = `the connection was lost before the answer had ended (${String(error)}); ask again`;
    throw new ServerUnreachable(said, { sent: true });
  } finally {
    signal?.removeEventListener("abort", stop);
    void reader.cancel().catch(() => undefined);
  }
}

async function inTime<T>(reading: Promise<T>, ms: number | undefined): Promise<T> {
  if (ms === undefined) return reading;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`nothing came for ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([reading, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** An export of a scope as it comes, read once: entry by entry where it has one on each line, or as bytes or text. */
export class Export implements AsyncIterable<Record<string, unknown>> {
  /** How many entries there are of each type. */
  readonly counts: Readonly<Record<string, number>>;
  /** How many entries have no place in a format of others, by what they are. */
  readonly left_out: Readonly<Record<string, number>>;
  /** Ids of rows that are damaged on the server's disk and in no file, the first 200 of them. */
  readonly damaged: readonly string[];
  readonly #response: Response;
  readonly #signal: AbortSignal | undefined;

  constructor(response: Response, signal?: AbortSignal) {
    this.#response = response;
    this.#signal = signal;
    const told = (name: string): Record<string, number> => JSON.parse(response.headers.get(name) ?? "{}") as Record<string, number>;
    this.counts = told("memhold-counts");
    this.left_out = told("memhold-left-out");
    this.damaged = JSON.parse(response.headers.get("memhold-damaged") ?? "[]") as string[];
  }

  /** The bytes of the file, as `importFile` takes them. */
  get body(): ReadableStream<Uint8Array> {
    return this.#response.body ?? new Blob([]).stream();
  }

  /** The whole file as text. */
  text(): Promise<string> {
    return this.#response.text();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Record<string, unknown>, void, undefined> {
    if (this.#response.headers.get("content-type")?.startsWith("application/json")) {
      throw new InvalidInput("this format is one JSON document and has no lines; read its text()");
    }
    for await (const line of lines(this.#response, this.#signal)) {
      if (line !== "") yield JSON.parse(line) as Record<string, unknown>;
    }
  }
}

/**
 * Changes as they come, from a stream that is opened again where it broke off: none twice, none left out.
 *
 * `open` gets the id behind which to go on, where one is known. Once a server answered, one that is gone is waited for.
 */
export async function* followed(
  open: (lastEventId: string | null) => Promise<Response>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Change, void, undefined> {
  let last: string | null = null;
  let pauseMs = 2000;
  for (let answered = false; ; await sleep(pauseMs, signal)) {
    try {
      const response = await open(last);
      answered = true;
      let id: string | null = null;
      let data = "";
      for await (const line of lines(response, signal, SILENT_MS)) {
        const [, field, value] = /^([a-z]+):? ?(.*)$/.exec(line) ?? [];
        if (field === "id") id = value ?? null;
        else if (field === "data") data += value ?? "";
        else if (field === "retry") pauseMs = Number(value) || pauseMs;
        else if (line === "") {
          const change = data === "" ? null : (JSON.parse(data) as Change);
          data = "";
          last = id ?? last;
          if (change !== null) yield change;
        }
      }
    } catch (error) {
      if (!(error instanceof ServerUnreachable) || !answered) throw error;
    }
  }
}
