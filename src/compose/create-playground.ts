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

/** A node that is not there, and says it is. */
export interface PlaygroundNode {
  readonly name: string;
  /** Resource name -> quantity; what is not named there is none of. `pods` is 110 by default. Default: 4 CPU and 16Gi. */
  readonly allocatable?: Readonly<Record<string, string | number>>;
  readonly labels?: Readonly<Record<string, string>>;
  readonly taints?: readonly {
    readonly key: string;
    readonly value?: string;
    readonly effect: 'NoSchedule' | 'PreferNoSchedule' | 'NoExecute';
  }[];
  /** Cordoned from the beginning. */
  readonly unschedulable?: boolean;
}

export interface PlaygroundOptions {
  /** How many simulated nodes, `node-1` on, or which. Default: none. */
  readonly nodes?: number | readonly PlaygroundNode[];
  /** Of the scheduler. Default: Tutti's plugins, for pods that name `tutti`, `default-scheduler` or no scheduler. */
  readonly profiles?: readonly ProfileOptions[];
  /** As `createScheduler` takes them. */
  readonly plugins?: readonly OwnPlugin[];
  /** Port of the API server on 127.0.0.1. Default: any free one. */
  readonly port?: number;
  /** Default: text on standard error, from level warn. */
  readonly logger?: Logger;
}

/** A cluster in this process. Any Kubernetes client can use it, kubectl too. */
export interface Playground {
  /** Of the API server: HTTPS, with a certificate and for a token that the kubeconfig has. */
  readonly url: string;
  /** Of a kubeconfig file that leads to it; gone after `stop`. */
  readonly kubeconfigPath: string;
  /** Health and metrics of the scheduler. */
  readonly schedulerUrl: string;
  /**
   * Asks again and again until the condition answers something true, and resolves with that. Rejects with what the condition throws,
   * and with ConditionError when the time runs out.
   */
  until<T>(condition: () => T | Promise<T>, options?: UntilOptions): Promise<NonNullable<T>>;
  /** Ends everything; idempotent. */
  stop(): Promise<void>;
}

const schedulerNames = ['tutti', 'default-scheduler'];
const defaultAllocatable = { cpu: '4', memory: '16Gi' };

/**
 * A whole control plane in this process, to play with and to test against: API server, simulated nodes, the controller of
 * PodGroups, and a scheduler with your profiles and plugins.
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
 * Simulated nodes run the pods that are bound to them; a Node that you create through the API is an object that nobody stands
 * behind, and pods stay there as they are bound. Rejects with ProfileError, PortTakenError, PortDeniedError, or
 * TemporaryFolderError; then nothing is left running.
 */
export async function createPlayground(options: PlaygroundOptions = {}): Promise<Playground> {
  const { nodes = 0, plugins = [], port = 0 } = options;
  if (typeof nodes === 'number' && !(Number.isSafeInteger(nodes) && nodes >= 0)) {
    throw new TypeError(`nodes must be a whole number of at least 0, or a list of nodes, not ${nodes}`);
  }
  const specs: readonly PlaygroundNode[] =
    typeof nodes === 'number' ? Array.from({ length: nodes }, (_, index) => ({ name: `node-${index + 1}` })) : nodes;
  const logger = options.logger ?? createLogger({ level: 'warn', format: 'text', destination: process.stderr });
  // Loaded when it is called for: a scheduler has no use for the embedded plane.
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
