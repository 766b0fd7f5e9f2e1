import { messageOf } from '../../../base/message-of.ts';
import { packageVersion } from '../../../base/package-files.ts';
import { UserError } from '../../../base/user-error.ts';
import { releaseObjects } from '../../../compose/cluster-state/release-objects.ts';
import type { ConnectionFlags } from '../../cluster-flags.ts';
import type { CommandContext } from '../../command-context.ts';
import { exitCodes } from '../../exit-codes.ts';
import { printNote } from '../../output/print.ts';
import { serialize } from '../../output/serialize.ts';
import { safeText } from '../../../base/safe-text.ts';
import { withCluster } from '../with-cluster.ts';
import { imageVersion } from './image-version.ts';

/** The flags of `tutti version`. */
export interface VersionFlags extends ConnectionFlags {
  readonly client?: true;
  readonly schedulerNamespace?: string;
  readonly output: 'text' | 'json' | 'yaml';
}

/** A scheduler that the chart has installed. */
interface SchedulerVersion {
  readonly namespace: string;
  /** Of its Deployment. */
  readonly name: string;
  readonly image: string;
  /** Tag of the image; absent: it has only a digest. */
  readonly version?: string;
}

interface RawDeployment {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly spec?: { readonly template?: { readonly spec?: { readonly containers?: readonly RawContainer[] } } };
}

interface RawContainer {
  readonly name?: string;
  readonly image?: string;
}

/** Prints the version of this program, and those of the schedulers in the cluster as far as they can be read. Resolves to 0. */
export async function runVersion(flags: VersionFlags, context: CommandContext): Promise<number> {
  const { stdout } = context;
  const clientVersion = packageVersion();
  const schedulers = flags.client === true ? [] : await installedSchedulers(flags, context);
  if (flags.output === 'text') {
    const lines = [
      `Client:    ${clientVersion}`,
      ...schedulers.map(
        ({ namespace, name, image, version = 'unknown' }) =>
          `Scheduler: ${version} (Deployment ${namespace}/${name}, image ${image})`,
      ),
    ];
    stdout.write(lines.map((line) => `${safeText(line)}\n`).join(''));
  } else {
    stdout.write(serialize({ clientVersion, schedulers }, flags.output));
  }
  return exitCodes.ok;
}

/** Returns none, and prints why, if the cluster cannot be asked: the version of this program is an answer too. */
async function installedSchedulers(flags: VersionFlags, context: CommandContext): Promise<readonly SchedulerVersion[]> {
  const { schedulerNamespace: namespace } = flags;
  const { signal } = context.interruption;
  try {
    return await withCluster(flags, context, async ({ client }) => {
      const found = await releaseObjects<RawDeployment>({ client, namespace, signal }, '/apis/apps/v1', 'deployments');
      if (found === undefined) printNote('scheduler: you may not list Deployments, so its version is unknown', context);
      else if (found.length === 0) printNote('scheduler: no Deployment of the chart was found', context);
      return (found ?? []).flatMap(versionOf);
    });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    printNote(`scheduler: ${messageOf(error)}`, context);
    return [];
  }
}

function versionOf({ metadata: { namespace, name }, spec }: RawDeployment): readonly SchedulerVersion[] {
  const image = spec?.template?.spec?.containers?.find((container) => container.name === 'scheduler')?.image;
  if (image === undefined) return [];
  const version = imageVersion(image);
  return [{ namespace, name, image, ...(version !== undefined && { version }) }];
}
