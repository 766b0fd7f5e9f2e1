import { readFile } from 'node:fs/promises';
import { messageOf } from '../../../base/message-of.ts';
import { UserError } from '../../../base/user-error.ts';
import type { KubeClient } from '../../../client/kube-client.ts';

/** Where the token comes from that the scheduler checks. */
export interface TokenFlags {
  readonly tokenFromServiceAccount?: { readonly namespace: string; readonly name: string };
  /** Path. */
  readonly schedulerTokenFile?: string;
}

/** The shortest lifetime that the API server accepts. */
const lifetimeSeconds = 600;

export class TokenFileError extends UserError {
  override readonly name = 'TokenFileError';
}

/**
 * Returns the token. A service account's is requested for ten minutes. The scheduler asks the API server who the caller is, without an
 * audience, so the token is one for the API server: a process that receives it can act there as the service account.
 */
export async function schedulerToken(
  { tokenFromServiceAccount: account, schedulerTokenFile: file }: TokenFlags,
  client: Pick<KubeClient, 'create'>,
  signal: AbortSignal,
): Promise<string> {
  if (account !== undefined) {
    const path = `/api/v1/namespaces/${account.namespace}/serviceaccounts/${account.name}/token`;
    const request = {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      spec: { audiences: [], expirationSeconds: lifetimeSeconds },
    };
    const { status } = await client.create<{ readonly status: { readonly token: string } }>(path, request, { signal });
    return status.token;
  }
  try {
    return (await readFile(file!, 'utf8')).trim();
  } catch (error) {
    throw new TokenFileError(`--scheduler-token-file ${file}: ${messageOf(error)}`, { cause: error });
  }
}
