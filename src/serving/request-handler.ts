import type { Logger } from '../observability/logger.ts';
import type { ServedRequest } from './served-request.ts';
import type { Answer, Route } from './route.ts';

/** Decides who may ask. */
export interface Guard {
  /** Undefined: the request may be answered. Else what is answered instead. */
  rejection(request: ServedRequest, path: string): Promise<Answer | undefined>;
}

export interface RequestHandlerOptions {
  /** Their paths differ. */
  readonly routes: readonly Route[];
  /** Absent: everybody may ask for everything. */
  readonly guard?: Guard;
  readonly logger: Logger;
}

/** Costly answers that may be under way at a time. */
const mostCostly = 2;

/** `/a, /b and /c` */
const inWords = new Intl.ListFormat('en-GB');

/**
 * Answers requests from routes: 404, with the paths that there are, for any other path; what the guard says to those who may not ask; 429
 * while too many costly answers are under way; 500 for a route that fails. Never rejects.
 */
export class RequestHandler {
  /** path -> its route */
  readonly #routes: ReadonlyMap<string, Route>;
  readonly #guard: Guard | undefined;
  readonly #logger: Logger;
  #costly = 0;

  constructor({ routes, guard, logger }: RequestHandlerOptions) {
    this.#routes = new Map(routes.map((route) => [route.path, route]));
    this.#guard = guard;
    this.#logger = logger;
  }

  get paths(): readonly string[] {
    return [...this.#routes.keys()];
  }

  async handle(request: ServedRequest): Promise<Answer> {
    try {
      return await this.#answer(request);
    } catch (error) {
      this.#logger.error('serving a request failed', { path: request.path, error });
      return { status: 500, text: 'it could not be answered; the log says why\n' };
    }
  }

  async #answer(request: ServedRequest): Promise<Answer> {
    const found = this.#find(request.path);
    if (found === undefined) return { status: 404, text: `no such path: there are ${inWords.format(this.paths)}\n` };
    const { route, part } = found;
    const rejection = await this.#guard?.rejection(request, route.path);
    if (rejection !== undefined) return rejection;
    const query = new URLSearchParams(request.query);
    if (route.isCostly !== true) return route.answer(query, part);
    if (this.#costly >= mostCostly) return tooMany;
    this.#costly++;
    try {
      return await route.answer(query, part);
    } finally {
      this.#costly--;
    }
  }

  #find(path: string): { readonly route: Route; readonly part?: string } | undefined {
    const route = this.#routes.get(path);
    if (route !== undefined) return { route };
    const end = path.lastIndexOf('/');
    const parent = this.#routes.get(path.slice(0, end));
    return parent?.hasParts === true ? { route: parent, part: path.slice(end + 1) } : undefined;
  }
}

const tooMany: Answer = {
  status: 429,
  text: 'other such requests are being answered: ask again in a second\n',
  headers: { 'retry-after': '1' },
};
