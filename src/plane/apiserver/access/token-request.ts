import { toKubernetesTime } from '../../../api/kubernetes-time.ts';
import { conflict, invalid, notFound } from '../http/api-error.ts';
import type { JsonObject } from '../json.ts';
import { objectAt, textAt, textsAt } from '../kinds/access.ts';
import { invalidValue } from '../kinds/field-rules.ts';
import type { KindContext } from '../kinds/resource-type.ts';
import type { StoredObject } from '../store/stored-object.ts';
import { defaultAudience } from './service-account-tokens.ts';
import type { ServiceAccountTokens, TokenSubject } from './service-account-tokens.ts';

const defaultSeconds = 3600;
const leastSeconds = 600;

/** Answers a TokenRequest for an account: the same, with the token. Throws 404, 409 or 422. */
export function answerTokenRequest(
  context: KindContext,
  tokens: ServiceAccountTokens,
  account: StoredObject,
  request: JsonObject,
  id: string,
): JsonObject {
  const spec = objectAt(request, 'spec') ?? {};
  const seconds = spec.expirationSeconds ?? defaultSeconds;
  if (typeof seconds !== 'number' || seconds < leastSeconds || seconds > 2 ** 32) {
    throw invalid('TokenRequest', 'authentication.k8s.io', '', [
      invalidValue(
        'spec.expirationSeconds',
        seconds,
        typeof seconds === 'number' && seconds > leastSeconds
          ? 'may not specify a duration larger than 2^32 seconds'
          : 'may not specify a duration less than 10 minutes',
      ),
    ]);
  }
  const audiences = textsAt(spec, 'audiences');
  const named = audiences.length === 0 ? [defaultAudience] : audiences;
  const { namespace, name, uid } = account;
  const bound = boundTo(context, objectAt(spec, 'boundObjectRef'), namespace);
  const expiresMs = context.nowMs() + seconds * 1000;
  return {
    kind: 'TokenRequest',
    apiVersion: 'authentication.k8s.io/v1',
    metadata: { name, namespace, uid: id, creationTimestamp: context.now() },
    spec: { ...spec, audiences: named, expirationSeconds: seconds, boundObjectRef: spec.boundObjectRef ?? null },
    status: {
      token: tokens.sign({ namespace, name, uid, bound }, named, id, expiresMs),
      expirationTimestamp: toKubernetesTime(expiresMs),
    },
  };
}

function boundTo(context: KindContext, reference: JsonObject | undefined, namespace: string): TokenSubject['bound'] {
  if (reference === undefined) return undefined;
  const [kind, name, uid] = [textAt(reference, 'kind'), textAt(reference, 'name'), textAt(reference, 'uid')];
  if (kind !== 'Pod' && kind !== 'Secret') {
    throw invalid('TokenRequest', 'authentication.k8s.io', '', [
      invalidValue('spec.boundObjectRef.kind', kind, 'this API server binds tokens to a Pod or a Secret'),
    ]);
  }
  const resource = { group: '', plural: kind === 'Pod' ? 'pods' : 'secrets' };
  const holder = context.store.collection(resource.plural).get(namespace, name);
  if (holder === undefined) throw notFound(resource, name);
  if (uid !== '' && uid !== holder.uid) {
    throw conflict(
      resource,
      name,
      `the UID in the bound object reference (${uid}) does not match the UID in record. The object might have been deleted and then recreated`,
    );
  }
  return { kind, name, uid: holder.uid };
}
