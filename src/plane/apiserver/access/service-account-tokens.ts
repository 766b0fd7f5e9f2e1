import { Buffer } from 'node:buffer';
import { createHmac, timingSafeEqual } from 'node:crypto';
import type { JsonObject, JsonValue } from '../json.ts';
import { objectAt, textAt, textsAt } from '../kinds/access.ts';
import type { Store } from '../store/store.ts';
import { serviceAccountName } from './user.ts';
import type { User } from './user.ts';

/** Who this server's tokens are for unless the request says otherwise, and who signs them. */
export const defaultAudience = 'https://kubernetes.default.svc.cluster.local';

const algorithm: JsonObject = { alg: 'HS256', typ: 'JWT' };
const claimsOfKubernetes = 'kubernetes.io';

export interface TokenSubject {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** A pod or a secret: the token ends with it. */
  readonly bound: { readonly kind: 'Pod' | 'Secret'; readonly name: string; readonly uid: string } | undefined;
}

/** What a valid token says. */
export interface VerifiedToken {
  readonly user: User;
  /** Those asked for that the token is for. */
  readonly audiences: readonly string[];
}

/**
 * Signs the tokens of service accounts and verifies them: JSON web tokens with Kubernetes' claims. A token is good for as
 * long as the server runs that has the key; whoever can guess the key can make tokens for anybody.
 */
export class ServiceAccountTokens {
  readonly #store: Store;
  readonly #nowMs: () => number;
  readonly #key: Uint8Array;

  constructor(options: { readonly store: Store; readonly nowMs: () => number; readonly key: Uint8Array }) {
    this.#store = options.store;
    this.#nowMs = options.nowMs;
    this.#key = options.key;
  }

  sign(subject: TokenSubject, audiences: readonly string[], id: string, expiresMs: number): string {
    const now = Math.floor(this.#nowMs() / 1000);
    const { namespace, name, uid, bound } = subject;
    const claims: JsonObject = {
      aud: [...audiences],
      exp: Math.floor(expiresMs / 1000),
      iat: now,
      iss: defaultAudience,
      jti: id,
      [claimsOfKubernetes]: {
        namespace,
        serviceaccount: { name, uid },
        ...(bound && { [bound.kind.toLowerCase()]: { name: bound.name, uid: bound.uid } }),
      },
      nbf: now,
      sub: serviceAccountName(namespace, name),
    };
    const text = `${encode(algorithm)}.${encode(claims)}`;
    return `${text}.${this.#signature(text)}`;
  }

  /** What the token says, or what is wrong with it. It is for one of `audiences`, by default this server. */
  verify(token: string, audiences: readonly string[] = [defaultAudience]): VerifiedToken | string {
    const [head = '', body = '', signature = '', ...more] = token.split('.');
    // As texts, for decoding passes over characters that do not belong there.
    const given = Buffer.from(signature);
    const right = Buffer.from(this.#signature(`${head}.${body}`));
    if (more.length > 0 || given.length !== right.length || !timingSafeEqual(given, right)) {
      return 'the token was not signed by this server';
    }
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString('utf8')) as JsonObject;
    const now = this.#nowMs() / 1000;
    if (now >= Number(claims.exp)) return 'service account token has expired';
    if (now < Number(claims.nbf)) return 'service account token is not valid yet';
    const shared = textsAt(claims, 'aud').filter((audience) => audiences.includes(audience));
    if (shared.length === 0) {
      return `token audiences ${JSON.stringify(claims.aud)} is invalid for the target audiences ${JSON.stringify(audiences)}`;
    }
    return this.#subject(objectAt(claims, claimsOfKubernetes), textAt(claims, 'jti'), shared);
  }

  #subject(own: JsonObject | undefined, id: string, audiences: readonly string[]): VerifiedToken | string {
    const namespace = textAt(own, 'namespace');
    const account = objectAt(own, 'serviceaccount');
    const name = textAt(account, 'name');
    const present = this.#store.collection('serviceaccounts').get(namespace, name);
    if (present?.uid !== textAt(account, 'uid')) {
      return `serviceaccounts ${JSON.stringify(name)} not found`;
    }
    const extra: Record<string, string[]> = { 'authentication.kubernetes.io/credential-id': [`JTI=${id}`] };
    for (const kind of ['pod', 'secret']) {
      const bound = objectAt(own, kind);
      if (bound === undefined) continue;
      const holder = this.#store.collection(`${kind}s`).get(namespace, textAt(bound, 'name'));
      if (holder?.uid !== textAt(bound, 'uid')) return 'service account token has been invalidated';
      if (kind === 'secret') continue;
      extra['authentication.kubernetes.io/pod-name'] = [textAt(bound, 'name')];
      extra['authentication.kubernetes.io/pod-uid'] = [textAt(bound, 'uid')];
    }
    const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
    return { user: { name: serviceAccountName(namespace, name), uid: present.uid, groups, extra }, audiences };
  }

  #signature(text: string): string {
    return createHmac('sha256', this.#key).update(text).digest('base64url');
  }
}

function encode(value: JsonValue): string {
  return Buffer.from(JSON.stringify(value)).toString('base64url');
}
