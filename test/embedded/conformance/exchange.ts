import type { JsonValue } from '../../../src/plane/apiserver/json.ts';

/** One request and the compared part of its response, after normalization. */
export interface Exchange {
  /** Method and path, with the media types unless they are plain JSON. */
  readonly request: string;
  readonly status: number;
  /** Headers that clients act on. */
  readonly headers: Readonly<Record<string, string>>;
  /** Parsed JSON, or text; for a watch the changes in order. */
  readonly answer: JsonValue;
}
