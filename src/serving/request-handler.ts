import type { Logger } from '../observability/logger.ts';
import type { ServedRequest } from './served-request.ts';
import type { Answer, Route } from './route.ts';

/** Decides which requests are allowed. */
export interface Guard {
  /** Returns undefined if the request is allowed, otherwise the response to send instead. */
  rejection(request: ServedRequest, path: string): Promise<Answer | undefined>;
}

export interface RequestHandlerOptions {
  /** Routes with distinct paths. */
  readonly routes: readonly Route[];
  /** Absent: every request is allowed. */
  readonly guard?: Guard;
  readonly logger: Logger;
}

/** Maximum number of costly responses in progress. */
const maxCostly = 2;

/** `/a, /b and /c` */
const inWords = new Intl.ListFormat('en-GB');

/**
 * Answers requests from routes. Responds with 404 and the known paths for an unknown path, with the guard's rejection, with 429
 * while too many costly responses are in progress, and with 500 if a route fails. Never rejects.
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
      const answer = await this.#answer(request);
      // Only the headers are sent.
      return request.method === 'HEAD' && answer.stream !== undefined ? { ...answer, stream: undefined } : answer;
    } catch (error) {
      this.#logger.error('serving a request failed', { path: request.path, error });
      return { status: 500, text: 'internal error: see the log\n' };
    }
  }

  async #answer(request: ServedRequest): Promise<Answer> {
    const found = this.#find(request.path);
    if (found === undefined)
      return { status: 404, text: `unknown path: this server has ${inWords.format(this.paths)}\n` };
    const { route, part } = found;
    const rejection = await this.#guard?.rejection(request, route.path);
    if (rejection !== undefined) return rejection;
    const query = new URLSearchParams(request.query);
    if (route.isCostly !== true) return route.answer(query, part, request);
    if (this.#costly >= maxCostly) return tooMany;
    this.#costly++;
    try {
      return await route.answer(query, part, request);
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
  text: 'too many such requests are in progress: retry in a second\n',
  headers: { 'retry-after': '1' },
};
