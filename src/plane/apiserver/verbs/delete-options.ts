import type { TransportRequest } from '../../../client/transport.ts';
import { badRequest } from '../http/api-error.ts';
import { bodyText, decodeBody, requireObject } from '../http/decode-body.ts';
import type { JsonObject } from '../json.ts';
import { objectAt } from '../kinds/access.ts';
import { isInt64 } from '../schema/formats.ts';
import { fieldForbidden, notSupported } from '../schema/field-error.ts';
import { invalidOptions, readDryRun } from './request-options.ts';

export interface DeleteOptions {
  readonly dryRun: boolean;
  /** Undefined: the object's own grace period. */
  readonly gracePeriodSeconds: number | undefined;
  readonly propagationPolicy: 'Background' | 'Orphan';
  readonly preconditions: { readonly uid?: string; readonly resourceVersion?: string };
}

/** The options of the server's own deletions. */
export const backgroundDeletion: DeleteOptions = {
  dryRun: false,
  gracePeriodSeconds: undefined,
  propagationPolicy: 'Background',
  preconditions: {},
};

/** Reads the options from the body, or from the query if the body is empty. Throws 400, 413, 415 or 422. */
export function readDeleteOptions(request: TransportRequest, query: URLSearchParams): DeleteOptions {
  const sent = bodyText(request) === '' ? queryOptions(query) : requireObject(decodeBody(request));
  if (sent.kind !== undefined && sent.kind !== 'DeleteOptions') {
    throw badRequest(`the body of a DELETE must be DeleteOptions, not ${JSON.stringify(sent.kind)}`);
  }
  return parseDeleteOptions(sent, query);
}

/** Reads options inside another object, such as an Eviction. Throws 400 or 422. */
export function parseDeleteOptions(sent: JsonObject, query: URLSearchParams): DeleteOptions {
  const grace = sent.gracePeriodSeconds ?? undefined;
  if (grace !== undefined && (typeof grace !== 'number' || !isInt64(grace))) {
    throw badRequest(`gracePeriodSeconds must be a 64-bit integer, not ${JSON.stringify(grace)}`);
  }
  const dryRun = [...query.getAll('dryRun'), ...(Array.isArray(sent.dryRun) ? sent.dryRun.map(String) : [])];
  const preconditions = objectAt(sent, 'preconditions');
  const uid = preconditions?.uid;
  const resourceVersion = preconditions?.resourceVersion;
  return {
    dryRun: readDryRun(dryRun, 'DeleteOptions'),
    gracePeriodSeconds: grace,
    propagationPolicy: readPropagation(sent),
    preconditions: {
      ...(typeof uid === 'string' && { uid }),
      ...(typeof resourceVersion === 'string' && { resourceVersion }),
    },
  };
}

function readPropagation(sent: JsonObject): DeleteOptions['propagationPolicy'] {
  if ((sent.orphanDependents ?? null) !== null) {
    throw invalidOptions('DeleteOptions', fieldForbidden('orphanDependents', 'use propagationPolicy'));
  }
  const policy = sent.propagationPolicy ?? 'Background';
  if (policy === 'Background' || policy === 'Orphan') return policy;
  throw invalidOptions('DeleteOptions', notSupported('propagationPolicy', policy, ['Background', 'Orphan']));
}

function queryOptions(query: URLSearchParams): JsonObject {
  const grace = query.get('gracePeriodSeconds');
  return {
    ...(grace !== null && { gracePeriodSeconds: Number(grace) }),
    propagationPolicy: query.get('propagationPolicy'),
    orphanDependents: query.get('orphanDependents'),
  };
}
