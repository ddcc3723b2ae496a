/** Listings that come in pages. */

/** How a listing goes on: what a page holds, and how the next one is asked for. */
export interface Paging<P, T> {
  ask: (more: Readonly<Record<string, unknown>>) => Promise<P>;
  items: (page: P) => readonly T[];
  /** What the next page is asked with; null after the last. */
  next: (page: P) => Readonly<Record<string, unknown>> | null;
}

/**
 * A listing: `await` gives its first page, `for await` gives what is in all of them, one after the other.
 *
 * Nothing is asked before one of the two.
 */
export class Pages<P, T> implements PromiseLike<P>, AsyncIterable<T> {
  readonly #paging: Paging<P, T>;
  #first: Promise<P> | undefined;

  constructor(paging: Paging<P, T>) {
    this.#paging = paging;
  }

  then<A = P, B = never>(
    done?: ((page: P) => A | PromiseLike<A>) | null,
    failed?: ((reason: unknown) => B | PromiseLike<B>) | null,
  ): Promise<A | B> {
    return this.#firstPage().then(done, failed);
  }

  catch<B = never>(failed?: ((reason: unknown) => B | PromiseLike<B>) | null): Promise<P | B> {
    return this.then(null, failed);
  }

  /** The pages, one after the other. */
  async *pages(): AsyncGenerator<P, void, undefined> {
    let page: P = await this.#firstPage();
    for (;;) {
      yield page;
      const more = this.#paging.next(page);
      if (more === null) return;
      page = await this.#paging.ask(more);
    }
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* this.#paging.items(page);
  }

  #firstPage(): Promise<P> {
    return (this.#first ??= this.#paging.ask({}));
  }
}
