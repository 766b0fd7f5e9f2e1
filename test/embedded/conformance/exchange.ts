import type { JsonValue } from '../../../src/plane/apiserver/json.ts';

/** One request and what of its answer counts, after normalisation. */
export interface Exchange {
  /** Method and path, with the media types where they are not plain JSON. */
  readonly request: string;
  readonly status: number;
  /** Of the headers those that clients act on. */
  readonly headers: Readonly<Record<string, string>>;
  /** JSON where it is JSON; the changes in their order where it is a watch. */
  readonly answer: JsonValue;
}
