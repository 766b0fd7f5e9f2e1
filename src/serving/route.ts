/** What is answered to one request. */
export interface Answer {
  readonly status: number;
  /** Default: plain text in UTF-8. */
  readonly type?: string;
  readonly text: string;
}

/** One path that a process serves; asked with GET or HEAD. */
export interface Route {
  /** `/readyz`: matched whole, without the query. */
  readonly path: string;
  /** What it throws, or rejects with, is answered as 500 and logged. */
  answer(query: URLSearchParams): Answer | Promise<Answer>;
}
