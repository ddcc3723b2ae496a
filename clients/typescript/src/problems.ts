/** What an answer that is no success stands for. */

import { MemholdError } from "./error.js";
import { ERRORS, NotFound, ServerUnreachable, StoreError, TooLarge } from "./generated/errors.js";

const PREFIX = "urn:memhold:problem:";

/** The error of an answer: of the class that the server raised where it says so, else what its status tells. */
export function errorOf(status: number, text: string, retryAfter: string | null, url: string): MemholdError {
  const body = parsed(text);
  const asked = secondsOf(retryAfter);
  const told = typeof body.type === "string" && body.type.startsWith(PREFIX) ? body.type.slice(PREFIX.length) : null;
  if (told !== null) {
    const known = Object.hasOwn(ERRORS, told) ? ERRORS[told] : undefined;
    const values = typeof body.values === "object" && body.values !== null ? body.values : {};
    const waits = asked === undefined || "retry_after" in values ? {} : { retry_after: asked };
    const message = String(body.detail ?? body.title ?? status);
    return new (known ?? (status >= 500 ? StoreError : MemholdError))(message, { ...values, ...waits });
  }
  const where = `${url} answered ${status}`;
  if (typeof body.error === "string") {
    return new MemholdError(`${body.error}: ${String(body.error_description ?? where)}`, { code: body.error });
  }
  if (status === 502 || status === 503 || status === 504) {
    const said = `${where}: what stands in front of the server could not reach it`;
    return new ServerUnreachable(said, { sent: true, ...(asked === undefined ? {} : { retry_after: asked }) });
  }
  if (status === 413) return new TooLarge(`${where}: the body is larger than it takes; split it`, { size: -1, limit: -1 });
  if (status === 404) {
    return new NotFound(`${where}: there is no such route; check the address and the server's release`, { id: "" });
  }
  return new StoreError(`${where}; check that it is a Memhold server of this release`);
}

function parsed(text: string): Record<string, unknown> {
  try {
    const found: unknown = JSON.parse(text);
    return typeof found === "object" && found !== null ? (found as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** The seconds of a `Retry-After`, which is a number or a date (RFC 9110, 10.2.3). */
function secondsOf(header: string | null): number | undefined {
  if (header === null) return undefined;
  const seconds = /^\s*\d+\s*$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, seconds) : undefined;
}
