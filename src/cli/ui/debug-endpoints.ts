import type { Readable } from 'node:stream';

/** The response of a debug endpoint. The body is not read yet. */
export interface DebugResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readable;
}

export interface DebugRequest {
  /** With the query: `/debug/explain?namespace=ml&name=red`. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  /** Ends the request, and the body with it. */
  readonly signal: AbortSignal;
}

/** The debug endpoints of the scheduler whose timeline is shown. */
export interface DebugEndpoints {
  /** Resolves as soon as the headers of the response are here, whatever its status. Rejects with a UserError if the scheduler cannot be reached. */
  get(request: DebugRequest): Promise<DebugResponse>;
}
