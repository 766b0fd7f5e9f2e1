import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { podGroupDefinition } from '../../../src/api/pod-group-schema.ts';
import type { Clock } from '../../../src/base/clock.ts';
import { seededRandom } from '../../../src/base/random.ts';
import { systemClock } from '../../../src/base/system-clock.ts';
import { VirtualClock } from '../../../src/base/virtual-clock.ts';
import { localKubeconfig } from '../../../src/client/local-kubeconfig.ts';
import { fixedEndpoint } from '../../../src/client/endpoint.ts';
import { KubeClient } from '../../../src/client/kube-client.ts';
import { HttpTransport } from '../../../src/client/http/http-transport.ts';
import { runController } from '../../../src/compose/controller.ts';
import { defaultConfiguration, defaultProfile, noLeaderElection } from '../../../src/config/scheduler-configuration.ts';
import { runScheduler } from '../../../src/compose/scheduler.ts';
import { EmbeddedApiServer } from '../../../src/plane/apiserver/embedded-api-server.ts';
import type { Intercept } from '../../../src/plane/apiserver/embedded-api-server.ts';
import { listenHttp } from '../../../src/plane/apiserver/listen-http.ts';
import { SimulatedNodes } from '../../../src/plane/nodes/simulated-nodes.ts';
import { silentLogger } from '../../../src/observability/silent-logger.ts';
import { Recorder } from './recorder.ts';
import type { Transcript } from './exchange.ts';

/** A plane like that of `tutti up`, with two nodes of two CPUs each, that records the requests to its API server. */
export interface RecordedPlane {
  readonly kubeconfigPath: string;
  /** Folder for files of the test's programs; removed by `stop`. */
  readonly folder: string;
  /** Returns the requests so far. */
  transcript(): Transcript;
  stop(): Promise<void>;
}

/** Returns the server of a session: the same requests at the same times get the same responses. */
export function sessionServer(clock: Clock, intercept?: Intercept): EmbeddedApiServer {
  return new EmbeddedApiServer({ clock, random: seededRandom(1), ...(intercept && { intercept }) });
}

export async function openRecordedPlane(): Promise<RecordedPlane> {
  const startMs = Date.now();
  const clock = new VirtualClock(startMs);
  const recorder = new Recorder(clock);
  const server = sessionServer(clock, recorder.intercept);
  const listener = await listenHttp(server, 0);
  const endpoint = fixedEndpoint(listener.url);
  const transport = new HttpTransport({ endpoint });
  const client = new KubeClient({ transport, clock: systemClock, userAgent: 'tutti-up' });
  await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', podGroupDefinition);
  const nodes = new SimulatedNodes({
    transport,
    clock: systemClock,
    random: Math.random,
    nodes: ['node-1', 'node-2'].map((name) => ({ name, allocatable: { cpu: '2', memory: '4Gi' } })),
  });
  const local = { endpoint, serving: { kind: 'local', port: 0 }, logger: silentLogger } as const;
  const unlimited = { qps: 0, burst: 1 };
  const profiles = ['tutti', 'default-scheduler'].map(defaultProfile);
  const [controller, scheduler] = await Promise.all([
    runController({ ...local, ...unlimited, workers: 1 }),
    runScheduler({
      ...local,
      configuration: defaultConfiguration({ profiles, clientConnection: unlimited, leaderElection: noLeaderElection }),
    }),
    nodes.start(),
  ]);
  const folder = await mkdtemp(join(tmpdir(), 'tutti-kubectl-'));
  const kubeconfigPath = join(folder, 'kubeconfig');
  await writeFile(kubeconfigPath, localKubeconfig(listener.url));
  return {
    kubeconfigPath,
    folder,
    transcript: () => ({ startMs, exchanges: [...recorder.exchanges] }),
    stop: async () => {
      recorder.stop();
      await Promise.all([scheduler.stop(), controller.stop(), nodes.stop()]);
      await transport.close();
      server.close();
      await listener.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
