/** What is answered to one request. */
export interface Answer {
  readonly status: number;
  /** Default: plain text in UTF-8. */
  readonly type?: string;
  readonly text: string;
  /** Header names in lower case; beside those that every answer has. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** One path that a process serves; asked with GET or HEAD. */
export interface Route {
  /** `/readyz`: matched whole, without the query. */
  readonly path: string;
  /** It also answers for the paths right below its own, `/readyz/ping`. */
  readonly hasParts?: true;
  /** Answering takes so long that only a few are answered at the same time. */
  readonly isCostly?: true;
  /** `part` is `ping` for `/readyz/ping`. What it throws, or rejects with, is answered as 500 and logged. */
  answer(query: URLSearchParams, part?: string): Answer | Promise<Answer>;
}
