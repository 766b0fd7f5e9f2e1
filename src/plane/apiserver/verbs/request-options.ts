import { badRequest, invalid } from '../http/api-error.ts';
import type { StatusCause } from '../http/api-error.ts';
import { negotiateForm } from '../http/negotiate.ts';
import { fieldForbidden, notSupported } from '../schema/field-error.ts';
import type { Presentation } from './present.ts';

export type FieldValidation = 'Strict' | 'Warn' | 'Ignore';

export interface WriteOptions {
  readonly dryRun: boolean;
  readonly fieldValidation: FieldValidation;
}

/** Reads the options of create, update and patch. Errors name them by `kind`. Throws 422. */
export function readWriteOptions(query: URLSearchParams, kind: string): WriteOptions {
  const fieldValidation = query.get('fieldValidation') ?? '';
  const supported = ['', 'Ignore', 'Strict', 'Warn'];
  if (!supported.includes(fieldValidation)) {
    throw invalidOptions(kind, notSupported('fieldValidation', fieldValidation, supported));
  }
  return {
    dryRun: readDryRun(query.getAll('dryRun'), kind),
    fieldValidation: fieldValidation === '' ? 'Warn' : (fieldValidation as FieldValidation),
  };
}

/** Returns whether the client requests a dry run. Throws 422 for any value but "All" and the empty string. */
export function readDryRun(values: readonly string[], kind: string): boolean {
  if (values.some((value) => value !== 'All' && value !== '')) {
    throw invalidOptions(kind, notSupported('dryRun', [...values], ['All']));
  }
  return values.includes('All');
}

export interface ListOptions {
  readonly labelSelector: string | undefined;
  readonly fieldSelector: string | undefined;
  /** Undefined when absent. */
  readonly resourceVersion: number | undefined;
  readonly watch: boolean;
  readonly allowWatchBookmarks: boolean;
  readonly sendInitialEvents: boolean;
  readonly timeoutSeconds: number | undefined;
}

/** Reads the options of list and watch. Throws 400 or 422. */
export function readListOptions(query: URLSearchParams): ListOptions {
  const text = (name: string): string | undefined => nonEmpty(query.get(name));
  const resourceVersion = text('resourceVersion');
  const match = text('resourceVersionMatch');
  const sendInitialEvents = readFlag(query, 'sendInitialEvents');
  if (resourceVersion !== undefined && !/^\d+$/.test(resourceVersion)) {
    throw badRequest(`resourceVersion: Invalid value: ${JSON.stringify(resourceVersion)}: must be a decimal number`);
  }
  if (text('continue') !== undefined)
    throw badRequest('continue key is not valid: lists of this API server have one page');
  if (match !== undefined && match !== 'NotOlderThan') {
    throw invalidOptions('ListOptions', notSupported('resourceVersionMatch', match, ['NotOlderThan']));
  }
  if (sendInitialEvents && match === undefined) {
    const rule = 'sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
    throw invalidOptions('ListOptions', fieldForbidden('resourceVersionMatch', rule));
  }
  return {
    labelSelector: text('labelSelector'),
    fieldSelector: text('fieldSelector'),
    resourceVersion: resourceVersion === undefined ? undefined : Number(resourceVersion),
    watch: readFlag(query, 'watch'),
    allowWatchBookmarks: readFlag(query, 'allowWatchBookmarks'),
    sendInitialEvents,
    timeoutSeconds: readNumber(query, 'timeoutSeconds'),
  };
}

/** Reads the form in which the client wants the response. Throws 400 or 406. */
export function readPresentation(accept: string | undefined, query: URLSearchParams): Presentation {
  const includeObject = nonEmpty(query.get('includeObject')) ?? 'Metadata';
  if (includeObject !== 'Metadata' && includeObject !== 'Object') {
    throw badRequest(`includeObject: Invalid value: ${JSON.stringify(includeObject)}: must be 'Metadata' or 'Object'`);
  }
  return { form: negotiateForm(accept), includeObject };
}

export function invalidOptions(kind: string, cause: StatusCause): Error {
  return invalid(kind, 'meta.k8s.io', '', [cause]);
}

function nonEmpty(text: string | null): string | undefined {
  return text === null || text === '' ? undefined : text;
}

function readFlag(query: URLSearchParams, name: string): boolean {
  const value = query.get(name);
  return value !== null && value !== 'false' && value !== '0';
}

function readNumber(query: URLSearchParams, name: string): number | undefined {
  const value = query.get(name);
  if (value === null || value === '') return undefined;
  if (!/^\d{1,15}$/.test(value)) throw badRequest(`${name}: Invalid value: ${JSON.stringify(value)}: must be a number`);
  return Number(value);
}
