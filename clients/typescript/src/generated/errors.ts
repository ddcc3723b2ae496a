// Generated from the server's declarations by scripts/generate_typescript.py: change those, and run it.

import { MemholdError, named } from "../error.js";

/** The call cannot be carried out as it was written; nothing was stored. */
export class InvalidInput extends MemholdError {
  static {
    named(this, "InvalidInput");
  }
}

/** A namespace, user, agent or session that cannot be used as a name. */
export class InvalidScope extends InvalidInput {
  static {
    named(this, "InvalidScope");
  }
}

/** A request names two users; nothing of it was carried out. */
export class TwoUsers extends InvalidScope {
  static {
    named(this, "TwoUsers");
  }
}

/** A message that is neither OpenAI chat nor Anthropic shape, or has nothing in it. */
export class InvalidMessage extends InvalidInput {
  declare readonly index: number;
  static {
    named(this, "InvalidMessage");
  }
}

/** Something is over a documented limit; nothing of the call was stored. */
export class TooLarge extends InvalidInput {
  declare readonly size: number;
  declare readonly limit: number;
  static {
    named(this, "TooLarge");
  }
}

/** A time without a zone: Memhold never guesses one. */
export class NaiveTime extends InvalidInput {
  static {
    named(this, "NaiveTime");
  }
}

/** A setting that is unknown or out of range. */
export class InvalidSetting extends InvalidInput {
  static {
    named(this, "InvalidSetting");
  }
}

/**
 * What was to be stored holds a secret, and the setting `redaction` is `refuse`. Nothing was stored.
 *
 * `kind` is that of the secret, `place` where it stands; the secret itself is nowhere in the error.
 */
export class SecretFound extends InvalidInput {
  declare readonly kind: string;
  declare readonly place: string;
  static {
    named(this, "SecretFound");
  }
}

/** The id is valid but names another kind of thing than the verb takes. */
export class WrongKind extends InvalidInput {
  declare readonly id: string;
  static {
    named(this, "WrongKind");
  }
}

/** A file that no importer knows, or a line of it that cannot be read. */
export class UnreadableImport extends InvalidInput {
  declare readonly path: string;
  declare readonly line: number | null;
  static {
    named(this, "UnreadableImport");
  }
}

/** No such id in this scope. An id of another scope gives exactly the same answer. */
export class NotFound extends MemholdError {
  declare readonly id: string;
  static {
    named(this, "NotFound");
  }
}

/** The world is not as the call assumed; nothing was changed. */
export class Conflict extends MemholdError {
  static {
    named(this, "Conflict");
  }
}

/** The same idempotency key came with other content. */
export class IdempotencyConflict extends Conflict {
  declare readonly key: string;
  static {
    named(this, "IdempotencyConflict");
  }
}

/** The memory has changed since it was read. */
export class RevisionConflict extends Conflict {
  declare readonly expected: number;
  declare readonly actual: number;
  static {
    named(this, "RevisionConflict");
  }
}

/** Later changes stand on this one; `blocking` holds their ids, newest first. */
export class UndoConflict extends Conflict {
  declare readonly blocking: readonly string[];
  static {
    named(this, "UndoConflict");
  }
}

/** What was asked for was forgotten for good and cannot be brought back. */
export class Forgotten extends MemholdError {
  declare readonly id: string;
  static {
    named(this, "Forgotten");
  }
}

/** The store could not do its work. The call was not acknowledged; earlier writes are safe. */
export class StoreError extends MemholdError {
  static {
    named(this, "StoreError");
  }
}

/** The store was closed. */
export class StoreClosed extends StoreError {
  static {
    named(this, "StoreClosed");
  }
}

/** Another process held the file for longer than `busy_timeout`; try again. */
export class StoreBusy extends StoreError {
  static {
    named(this, "StoreBusy");
  }
}

/** The database cannot be reached, or refuses to let us in. Nothing of this call was stored. */
export class StoreUnreachable extends StoreError {
  static {
    named(this, "StoreUnreachable");
  }
}

/**
 * The connection was lost after the commit was sent, and nothing tells whether it took effect.
 *
 * Send it again with the same idempotency key: it is written once.
 */
export class OutcomeUnknown extends StoreError {
  static {
    named(this, "OutcomeUnknown");
  }
}

/** There is no room on the disk. Every acknowledged write is there; writing goes on when there is room. */
export class StoreFull extends StoreError {
  static {
    named(this, "StoreFull");
  }
}

/** The file or its folder cannot be written. */
export class StoreReadOnly extends StoreError {
  static {
    named(this, "StoreReadOnly");
  }
}

/** The file is damaged: run `memhold doctor`, then `memhold restore`. */
export class StoreCorrupt extends StoreError {
  static {
    named(this, "StoreCorrupt");
  }
}

/**
 * A block of the words index is damaged: `memhold reindex` builds it anew from the texts.
 *
 * `first` is the document number that the block begins with, `reason` what does not fit.
 */
export class CorruptIndex extends StoreCorrupt {
  declare readonly first: number;
  declare readonly reason: string;
  static {
    named(this, "CorruptIndex");
  }
}

/** The path is not a Memhold file; it was left untouched. */
export class NotAStore extends StoreError {
  declare readonly path: string;
  static {
    named(this, "NotAStore");
  }
}

/** The file was written by a newer Memhold; it was left untouched. */
export class NewerStore extends StoreError {
  declare readonly found: number;
  declare readonly supported: number;
  static {
    named(this, "NewerStore");
  }
}

/** A read took longer than the setting `read_timeout` and was stopped: ask for less, or raise that setting. */
export class ReadTimeout extends StoreError {
  static {
    named(this, "ReadTimeout");
  }
}

/**
 * A call to a model failed. It tells the shape of the failure and never a word of the user's.
 *
 * `cls` says what to do, `retry_after` how many seconds the provider asked for, `rule` which line of the
 * classifier's table decided, `slow` whether the model took too long, `refused` whether it would not speak about
 * this content, and `cause` the type of the exception underneath. `reason` is in our words; `said` are the
 * provider's first ones, with everything masked that is not of errors. `attempts` are the calls that were made on
 * the same model. `context` are the tokens that the model's context takes, where a refusal of a long request told
 * them.
 */
export class ModelError extends MemholdError {
  declare readonly model: string;
  declare readonly cls: string;
  declare readonly status: number | null;
  declare readonly code: string | null;
  declare readonly retry_after: number | null;
  declare readonly rule: string;
  declare readonly reason: string;
  declare readonly said: string;
  declare readonly slow: boolean;
  declare readonly refused: boolean;
  declare readonly cause: string | null;
  declare readonly attempts: readonly Record<string, unknown>[];
  declare readonly context: number | null;
  static {
    named(this, "ModelError");
  }
}

/** A file of a local model is missing or not what was shipped; reinstall the package, or name another model. */
export class ModelDamaged extends ModelError {
  declare readonly path: string;
  declare readonly expected: string;
  declare readonly found: string;
  static {
    named(this, "ModelDamaged");
  }
}

/** The link was not asked: it rests for `retry_after` more seconds (null: until its key changes). */
export class ModelResting extends ModelError {
  static {
    named(this, "ModelResting");
  }
}

/**
 * No link of a chain gave an answer. `attempts` holds every call in order; `advice` is what the work should do.
 *
 * `retry`: try the whole chain later. `park`: every link rests, wait for `retry_after` or a new key. `shorten`: ask
 * again with less. `poison`: no model can, set the work aside. `refused`: three different models would not.
 */
export class ChainFailed extends ModelError {
  declare readonly advice: string;
  static {
    named(this, "ChainFailed");
  }
}

/** A server did not let the call in; nothing was done. */
export class AccessDenied extends MemholdError {
  static {
    named(this, "AccessDenied");
  }
}

/** There was no token, or one that is unknown, expired or revoked; a server does not say which. */
export class Unauthenticated extends AccessDenied {
  static {
    named(this, "Unauthenticated");
  }
}

/** A scope that the token is not bound to, or a right (`right`) that it does not carry. */
export class ScopeDenied extends AccessDenied {
  declare readonly right: string | null;
  static {
    named(this, "ScopeDenied");
  }
}

/** Too many calls; the next one may come in `retry_after` seconds. */
export class RateLimited extends AccessDenied {
  declare readonly retry_after: number;
  static {
    named(this, "RateLimited");
  }
}

/**
 * No answer came from a server.
 *
 * `sent` is false where the call cannot have been carried out; true where it may have been: the same call with the
 * same idempotency key settles it.
 */
export class ServerUnreachable extends MemholdError {
  declare readonly sent: boolean;
  static {
    named(this, "ServerUnreachable");
  }
}

/** A backup that does not agree with its manifest; nothing was restored. */
export class BackupDamaged extends MemholdError {
  declare readonly path: string;
  static {
    named(this, "BackupDamaged");
  }
}

/** The class of each problem that a server answers with, by the end of its type. */
export const ERRORS: Readonly<Record<string, typeof MemholdError>> = {
  InvalidInput,
  InvalidScope,
  TwoUsers,
  InvalidMessage,
  TooLarge,
  NaiveTime,
  InvalidSetting,
  SecretFound,
  WrongKind,
  UnreadableImport,
  NotFound,
  Conflict,
  IdempotencyConflict,
  RevisionConflict,
  UndoConflict,
  Forgotten,
  StoreError,
  StoreClosed,
  StoreBusy,
  StoreUnreachable,
  OutcomeUnknown,
  StoreFull,
  StoreReadOnly,
  StoreCorrupt,
  CorruptIndex,
  NotAStore,
  NewerStore,
  ReadTimeout,
  ModelError,
  ModelDamaged,
  ModelResting,
  ChainFailed,
  AccessDenied,
  Unauthenticated,
  ScopeDenied,
  RateLimited,
  ServerUnreachable,
  BackupDamaged,
};
