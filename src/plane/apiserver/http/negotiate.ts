import { notAcceptable } from './api-error.ts';

/** The form in which the client wants an object or a list. */
export type ObjectForm = 'object' | 'table';

const jsonTypes = new Set(['', '*/*', 'application/*', 'application/json']);

/**
 * Returns the first form in the Accept header that the server supports, regardless of quality values. Throws 406 if there is none, such
 * as for protobuf without JSON as an alternative.
 */
export function negotiateForm(header = ''): ObjectForm {
  for (const entry of header.split(',')) {
    const [mediaType = '', ...rest] = entry.split(';').map((part) => part.trim());
    if (!jsonTypes.has(mediaType.toLowerCase())) continue;
    /** parameter name -> value */
    const parameters = new Map(rest.map((part) => part.split('=') as [string, string]));
    if (!parameters.has('as')) return 'object';
    const isServed = parameters.get('g') === 'meta.k8s.io' && parameters.get('v') === 'v1';
    if (isServed && parameters.get('as') === 'Table') return 'table';
  }
  throw notAcceptable(['application/json']);
}
