import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { isNamespaceName, isObjectName } from '../../../api/object-name.ts';
import type { TokenFlags } from './scheduler-token.ts';

/** Flags that reach the scheduler itself. */
export interface LeaderFlags extends TokenFlags {
  /** Path. */
  readonly schedulerCa?: string;
  readonly schedulerServerName?: string;
  readonly insecureSkipSchedulerTlsVerify?: true;
}

export function withLeaderFlags(command: Command): Command {
  return command
    .addOption(
      new Option(
        '--token-from-service-account <namespace/name>',
        'Ask the scheduler with a token of this ServiceAccount, which may get /debug/queue. Needs permission to create serviceaccounts/token.',
      )
        .argParser(serviceAccount)
        .conflicts('schedulerTokenFile'),
    )
    .option('--scheduler-token-file <path>', 'Ask the scheduler with the token in this file.')
    .option('--scheduler-ca <path>', "Verify the scheduler's certificate with the authorities in this PEM file.")
    .option(
      '--scheduler-server-name <name>',
      "Name in the scheduler's certificate. (default: that of its Service, with the namespace and .svc)",
    )
    .addOption(
      new Option(
        '--insecure-skip-scheduler-tls-verify',
        "Do not verify the scheduler's certificate. Unless you have set one, the scheduler makes one that cannot be verified.",
      ).conflicts('schedulerCa'),
    );
}

function serviceAccount(text: string): { readonly namespace: string; readonly name: string } {
  const [namespace = '', name = '', ...rest] = text.split('/');
  if (isNamespaceName(namespace) && isObjectName(name) && rest.length === 0) return { namespace, name };
  throw new InvalidArgumentError(
    'It must be a namespace and the name of a ServiceAccount, such as tutti-system/debug.',
  );
}
