import type { Node } from '../../api/node.ts';
import type { Clock } from '../../base/clock.ts';
import type { Random } from '../../base/random.ts';
import { HttpTransport } from '../../client/http/http-transport.ts';
import type { KubeClient } from '../../client/kube-client.ts';
import type { WriteFence } from '../../client/write-fence.ts';
import type { ExtenderConfiguration } from '../../config/scheduler-configuration.ts';
import type { Extender } from '../../framework/extender.ts';
import type { Logger } from '../../observability/logger.ts';
import type { ExtenderPort } from '../ports.ts';
import { ExtenderBinding } from './extender-binding.ts';
import { extenderEndpoint } from './extender-endpoint.ts';
import { httpExtender } from './http-extender.ts';
import { WholeObjects } from './whole-objects.ts';

export interface HttpExtendersOptions {
  readonly configurations: readonly ExtenderConfiguration[];
  readonly client: Pick<KubeClient, 'get' | 'patch'>;
  readonly clock: Clock;
  readonly random: Random;
  readonly logger: Logger;
  /** Stops binds of a process that is not the leader. If absent, it may always bind. */
  readonly fence?: WriteFence | undefined;
}

/** The open extenders of a scheduler. */
export interface HttpExtenders {
  readonly port: ExtenderPort;
  /** Passed to the scheduler; defined if an extender needs whole nodes. */
  readonly nodeRead: ((node: Node, raw: unknown) => void) | undefined;
  close(): Promise<void>;
}

/** Shorter than the five seconds after which many servers close idle connections. */
const idleTimeoutMs = 3_000;

/** Creates the extenders without connecting yet. Undefined if none is configured. Rejects with ExtenderConfigurationError. */
export async function openHttpExtenders(options: HttpExtendersOptions): Promise<HttpExtenders | undefined> {
  const { configurations, client, clock, random, logger, fence } = options;
  if (configurations.length === 0) return undefined;
  const objects = new WholeObjects({ client, clock, random });
  const binding = new ExtenderBinding({ client, clock, random, logger });
  const transports: HttpTransport[] = [];
  const extenders: Extender[] = [];
  for (const [index, configuration] of configurations.entries()) {
    const place = `extenders[${index}]`;
    const { name, endpoint, isUnverified } = await extenderEndpoint(configuration, place);
    if (isUnverified) logger.warn('the certificate of this extender is not verified', { extender: name });
    const transport = new HttpTransport({ endpoint, idleTimeoutMs });
    transports.push(transport);
    extenders.push(httpExtender({ configuration, name, transport, clock, objects, binding, fence }));
  }
  const needsNodes = configurations.some(({ nodeCacheCapable }) => !nodeCacheCapable);
  return {
    port: { extenders, whole: (pod, signal) => objects.pod(pod, signal) },
    nodeRead: needsNodes ? (node, raw) => objects.keepNode(node, raw) : undefined,
    close: async () => {
      await Promise.all(transports.map((transport) => transport.close()));
    },
  };
}
