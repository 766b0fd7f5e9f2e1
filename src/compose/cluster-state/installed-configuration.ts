import type { Unknown } from '../../api/explain/basis.ts';
import { ForbiddenError, NotFoundError } from '../../client/api-errors.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import { defaultConfiguration, defaultProfile } from '../../config/scheduler-configuration.ts';
import type { SchedulerConfiguration } from '../../config/scheduler-configuration.ts';
import { listPages } from '../../informer/list-pages.ts';
import { componentSelector, defaultReleaseNamespace } from './release.ts';
import { usableConfiguration } from './usable-configuration.ts';
import type { UsableConfiguration } from './usable-configuration.ts';

export interface InstalledConfigurationOptions {
  readonly client: Pick<KubeClient, 'list'>;
  /** Namespace of the release. Absent: the one release in the cluster, or `defaultReleaseNamespace` if the caller may not look everywhere. */
  readonly namespace?: string | undefined;
  /** The release must schedule pods of these names. If no configuration is found, they are the names of the default profiles. Absent: any, or `tutti`. */
  readonly schedulerNames?: readonly string[] | undefined;
  readonly signal?: AbortSignal | undefined;
}

export interface InstalledConfiguration {
  readonly configuration: SchedulerConfiguration;
  /** `configuration` if it is the default one, because none was found, or several that differ. */
  readonly unknowns: readonly Unknown[];
}

/** Key of the file in the chart's ConfigMap. */
const fileKey = 'scheduler.yaml';

interface RawConfigMap {
  readonly metadata: { readonly namespace: string; readonly name: string };
  readonly data?: Readonly<Record<string, unknown>> | null;
}

/** Returns the configuration of the scheduler that the chart has installed; otherwise the default one, with Tutti's plugins. */
export async function installedConfiguration(options: InstalledConfigurationOptions): Promise<InstalledConfiguration> {
  const { schedulerNames } = options;
  const found = (await configMaps(options)).flatMap(usableIn).filter(({ configuration: { profiles } }) => {
    const names = profiles.map(({ schedulerName }) => schedulerName);
    return schedulerNames?.every((name) => names.includes(name)) ?? true;
  });
  const [only] = found;
  if (only !== undefined && found.length === 1) return only;
  return { configuration: assumedConfiguration(schedulerNames), unknowns: ['configuration'] };
}

/** Returns the configuration that is assumed for a scheduler whose own cannot be read. */
export function assumedConfiguration(schedulerNames: readonly string[] = ['tutti']): SchedulerConfiguration {
  return defaultConfiguration({ profiles: schedulerNames.map(defaultProfile) });
}

function usableIn({ metadata, data }: RawConfigMap): readonly UsableConfiguration[] {
  const text = data?.[fileKey];
  const usable =
    typeof text === 'string'
      ? usableConfiguration(`ConfigMap ${metadata.namespace}/${metadata.name}`, text)
      : undefined;
  return usable === undefined ? [] : [usable];
}

async function configMaps({
  client,
  namespace,
  signal,
}: InstalledConfigurationOptions): Promise<readonly RawConfigMap[]> {
  const listIn = async (where: string | undefined): Promise<readonly RawConfigMap[]> => {
    const path = where === undefined ? '/api/v1/configmaps' : `/api/v1/namespaces/${where}/configmaps`;
    const found: RawConfigMap[] = [];
    const call = { labelSelector: componentSelector('scheduler'), limit: 500, ...(signal !== undefined && { signal }) };
    await listPages(client, path, call, (items) => {
      found.push(...(items as readonly RawConfigMap[]));
      return true;
    });
    return found;
  };
  try {
    return await listIn(namespace);
  } catch (error) {
    if (!isHidden(error)) throw error;
    if (namespace !== undefined) return [];
  }
  try {
    return await listIn(defaultReleaseNamespace);
  } catch (error) {
    if (!isHidden(error)) throw error;
    return [];
  }
}

function isHidden(error: unknown): boolean {
  return error instanceof ForbiddenError || error instanceof NotFoundError;
}
