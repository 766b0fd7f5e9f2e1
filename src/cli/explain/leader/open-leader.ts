import { readFile } from 'node:fs/promises';
import { messageOf } from '../../../base/message-of.ts';
import { UserError } from '../../../base/user-error.ts';
import { openPortForward } from '../../../client/port-forward.ts';
import { installedConfiguration } from '../../../compose/cluster-state/installed-configuration.ts';
import type { SchedulerLookupFlags } from '../../cluster-flags.ts';
import type { OpenCluster } from '../with-cluster.ts';
import { findLeader, NoLeaderError } from './find-leader.ts';
import { ForwardedLeader } from './forwarded-leader.ts';
import type { SchedulerTrust } from './forwarded-leader.ts';
import type { LeaderFlags } from './leader-flags.ts';
import { schedulerToken } from './scheduler-token.ts';

/** A flag that reaches the scheduler is missing or cannot be used. */
export class LeaderFlagError extends UserError {
  override readonly name = 'LeaderFlagError';
}

/** How long the API server may take to open a connection. */
const timeoutMs = 15_000;

/** Returns whether the user has allowed to ask the scheduler itself: without a token it answers nothing. */
export function mayAskLeader({ tokenFromServiceAccount, schedulerTokenFile }: LeaderFlags): boolean {
  return tokenFromServiceAccount !== undefined || schedulerTokenFile !== undefined;
}

/**
 * Finds the scheduler that leads, and connects to its endpoints through the API server. Rejects with NoLeaderError, LeaderFlagError,
 * TokenFileError, and the errors of the client.
 */
export async function openLeader(
  { client, endpoint }: Pick<OpenCluster, 'client' | 'endpoint'>,
  flags: LeaderFlags & SchedulerLookupFlags,
  signal: AbortSignal,
): Promise<ForwardedLeader> {
  if (!mayAskLeader(flags)) {
    throw new LeaderFlagError(
      'the scheduler needs a token: set --token-from-service-account or --scheduler-token-file',
    );
  }
  const { schedulerName: schedulerNames, schedulerNamespace: namespace } = flags;
  const lookup = { client, namespace, schedulerNames, signal };
  const { configuration, unknowns } = await installedConfiguration(lookup);
  if (unknowns.includes('configuration')) {
    throw new NoLeaderError('the configuration of the scheduler cannot be read, so its Lease is unknown');
  }
  const pod = await findLeader(client, configuration, signal);
  const trust = await trustOf(flags, `${pod.service}.${pod.namespace}.svc`);
  const token = await schedulerToken(flags, client, signal);
  const target = { endpoint, namespace: pod.namespace, pod: pod.name, port: pod.port, timeoutMs };
  return new ForwardedLeader({ open: () => openPortForward(target), trust, token, signal, version: pod.version });
}

async function trustOf(
  { schedulerCa, schedulerServerName, insecureSkipSchedulerTlsVerify }: LeaderFlags,
  serviceName: string,
): Promise<SchedulerTrust> {
  if (schedulerCa !== undefined) {
    try {
      const ca = await readFile(schedulerCa, 'utf8');
      return { kind: 'verified', ca, serverName: schedulerServerName ?? serviceName };
    } catch (error) {
      throw new LeaderFlagError(`--scheduler-ca ${schedulerCa}: ${messageOf(error)}`, { cause: error });
    }
  }
  if (insecureSkipSchedulerTlsVerify === true) return { kind: 'unverified' };
  throw new LeaderFlagError(
    "the scheduler's certificate cannot be verified: set --scheduler-ca, or --insecure-skip-scheduler-tls-verify if it has made its own",
  );
}
