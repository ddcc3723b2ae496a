/** The root of the errors: what a server raised, in its words and with its values. */

/**
 * Catch it to catch everything that Memhold raises on purpose. The message says what to do. Its subclasses are those of
 * the Python library; `name` is the class.
 */
export class MemholdError extends Error {
  static {
    named(this, "MemholdError");
  }

  /** The attributes of the error, by name; each is a property of the error too. */
  readonly values: Readonly<Record<string, unknown>>;

  constructor(message: string, values: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.values = values;
    for (const [name, value] of Object.entries(values)) {
      if (!(name in this)) Object.defineProperty(this, name, { value, enumerable: true });
    }
  }
}

/** Give the errors of a class their name where the trace of one is begun: before there is an instance. */
export function named(one: { prototype: Error }, name: string): void {
  Object.defineProperty(one.prototype, "name", { value: name, configurable: true, writable: true });
}
