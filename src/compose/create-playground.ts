import process from 'node:process';
import { systemClock } from '../base/system-clock.ts';
import { createLogger } from '../observability/logger.ts';
import type { Logger } from '../observability/logger.ts';
import { defaultProfile } from '../config/scheduler-configuration.ts';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import { enableOwn } from './own-plugins.ts';
import { profileFrom } from './profile-options.ts';
import type { ProfileOptions } from './profile-options.ts';
import { until } from './until.ts';
import type { UntilOptions } from './until.ts';

export type { UntilOptions };

/** A simulated node. */
export interface PlaygroundNode {
  readonly name: string;
  /** Resource name -> quantity; a missing resource is 0, except `pods`, which is 110. Default: 4 CPU and 16Gi of memory. */
  readonly allocatable?: Readonly<Record<string, string | number>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly {
    readonly key: string;
    readonly value?: string;
    readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  }[];
  /** Cordoned from the start. */
  readonly unschedulable?: boolean;
}

export interface PlaygroundOptions {
  /** Number of simulated nodes (`node-1` and so on), or their specs. Default: none. */
  readonly nodes?: number | readonly PlaygroundNode[];
  /** Profiles of the scheduler. Default: Tutti's plugins, for pods that name `tutti`, `default-scheduler` or no scheduler. */
  readonly profiles?: readonly ProfileOptions[];
  /** As in `createScheduler`. */
  readonly plugins?: readonly OwnPlugin[];
  /** Port of the API server on 127.0.0.1. Default: any free port. */
  readonly port?: number;
  /** Default: text on standard error, at level warn. */
  readonly logger?: Logger;
}

/** A cluster in this process. It works with any Kubernetes client, including kubectl. */
export interface Playground {
  /** URL of the API server: HTTPS; the kubeconfig has its certificate and token. */
  readonly url: string;
  /** Path of a kubeconfig file for it; `stop` removes the file. */
  readonly kubeconfigPath: string;
  /** URL of the scheduler's health and metrics endpoints. */
  readonly schedulerUrl: string;
  /**
   * Polls the condition until it returns a truthy value, and resolves with that value. Rejects with the condition's error, and
   * with ConditionError on timeout.
   */
  until<T>(condition: () => T | Promise<T>, options?: UntilOptions): Promise<NonNullable<T>>;
  /** Stops everything; idempotent. */
  stop(): Promise<void>;
}

const schedulerNames = ['tutti', 'default-scheduler'];
const defaultAllocatable = { cpu: '4', memory: '16Gi' };

/**
 * Starts a whole control plane in this process, to try things out and for tests: API server, simulated nodes, PodGroup controller,
 * and a scheduler with your profiles and plugins.
 *
 *     import { CoreV1Api, KubeConfig } from '@kubernetes/client-node';
 *     import { createPlayground } from 'tutti-scheduler';
 *
 *     const playground = await createPlayground({ nodes: 3 });
 *     const kubeConfig = new KubeConfig();
 *     kubeConfig.loadFromFile(playground.kubeconfigPath);
 *     const core = kubeConfig.makeApiClient(CoreV1Api);
 *     const spec = { containers: [{ name: 'main', image: 'busybox' }] };
 *     await core.createNamespacedPod({ namespace: 'default', body: { metadata: { name: 'pod1' }, spec } });
 *     const node = await playground.until(async () => {
 *       const pod = await core.readNamespacedPod({ name: 'pod1', namespace: 'default' });
 *       return pod.spec?.nodeName;
 *     });
 *     console.log(`pod1 is on ${node}`);
 *     await playground.stop();
 *
 * Simulated nodes run the pods that are bound to them. Nodes that you create through the API are simulated too, unless they have a
 * kubelet. Rejects with ProfileError, PortUnavailableError or TemporaryFolderError; then nothing is left running.
 */
export async function createPlayground(options: PlaygroundOptions = {}): Promise<Playground> {
  const { nodes = 0, plugins = [], port = 0 } = options;
  if (typeof nodes === 'number' && !(Number.isSafeInteger(nodes) && nodes >= 0)) {
    throw new TypeError(`nodes must be a whole number of at least 0, or a list of nodes, not ${nodes}`);
  }
  const specs: readonly PlaygroundNode[] =
    typeof nodes === 'number' ? Array.from({ length: nodes }, (_, index) => ({ name: `node-${index + 1}` })) : nodes;
  const logger = options.logger ?? createLogger({ level: 'warn', format: 'text', destination: process.stderr });
  // Imported on first use: a scheduler does not need the embedded plane.
  const { startPlane } = await import('./plane.ts');
  const plane = await startPlane({
    port,
    nodes: specs.map((spec) => ({ allocatable: defaultAllocatable, ...spec })),
    profiles: options.profiles?.map(profileFrom) ?? enableOwn(schedulerNames.map(defaultProfile), plugins),
    plugins,
    logger,
  });
  const { url, kubeconfigPath, schedulerUrl } = plane;
  return {
    url,
    kubeconfigPath,
    schedulerUrl: schedulerUrl!,
    until: (condition, untilOptions) => until(systemClock, condition, untilOptions),
    stop: () => plane.stop(),
  };
}
