import { randomBytes } from 'node:crypto';
import { podGroupDefinition } from '../api/pod-group-schema.ts';
import { configMapOf } from '../config/installed-file.ts';
import { defaultConfiguration, noLeaderElection } from '../config/scheduler-configuration.ts';
import type { ProfileConfiguration } from '../config/scheduler-configuration.ts';
import { systemClock } from '../base/system-clock.ts';
import { fixedEndpoint } from '../client/endpoint.ts';
import type { Endpoint } from '../client/endpoint.ts';
import { KubeClient } from '../client/kube-client.ts';
import { localKubeconfig } from '../client/local-kubeconfig.ts';
import { HttpTransport } from '../client/http/http-transport.ts';
import type { BackgroundProblem } from '../plane/apiserver/background-work.ts';
import { EmbeddedApiServer } from '../plane/apiserver/embedded-api-server.ts';
import { listenHttp } from '../plane/apiserver/listen-http.ts';
import type { SimulatedNodeSpec } from '../plane/nodes/node-object.ts';
import { WorkloadControllers } from '../plane/workloads/workload-controllers.ts';
import { SimulatedNodes } from '../plane/nodes/simulated-nodes.ts';
import { makeSelfSignedCertificate } from '../serving/certificates/self-signed-certificate.ts';
import { simulatedProvisioner, SimulatedVolumes } from '../plane/nodes/simulated-volumes.ts';
import type { Logger } from '../observability/logger.ts';
import type { OwnPlugin } from '../plugins/own-plugin.ts';
import { runController } from './controller.ts';
import { runScheduler } from './scheduler.ts';
import { checkKubeconfigFile, writeKubeconfigFile, writeTemporaryKubeconfig } from './write-kubeconfig.ts';

export interface PlaneOptions {
  /** Port of the API server on 127.0.0.1; 0: any free port. */
  readonly port: number;
  readonly nodes: readonly SimulatedNodeSpec[];
  /** Profiles of the scheduler; undefined: no scheduler runs. */
  readonly profiles: readonly ProfileConfiguration[] | undefined;
  /** As in `runScheduler`. */
  readonly plugins?: readonly OwnPlugin[];
  readonly logger: Logger;
  /** File for the kubeconfig, which stays; absent: a temporary folder, which `stop` removes. */
  readonly kubeconfigFile?: string;
  /** Registers work that a process must do synchronously before it exits. */
  readonly onExit?: (callback: () => void) => void;
}

export interface RunningPlane {
  /** URL of the API server: HTTPS, with the token of the kubeconfig. */
  readonly url: string;
  /** Endpoint of the API server, as administrator. */
  readonly endpoint: Endpoint;
  readonly kubeconfigPath: string;
  /** Health and metrics of the scheduler, if it runs, and of the controller. */
  readonly schedulerUrl: string | undefined;
  readonly controllerUrl: string;
  /** Whether a pod on a node, or a workload, will still change by itself, however long that takes. */
  isMoving(): boolean;
  /** Stops everything and removes a temporary kubeconfig; idempotent. */
  stop(): Promise<void>;
}

const unlimited = { qps: 0, burst: 1 };
/** Names and addresses under which clients on this machine reach the API server. */
const serverNames = ['127.0.0.1', 'localhost', '::1'];
const certificateYears = 1;

/**
 * Starts a whole control plane in this process: API server, simulated nodes and volumes, workload controllers, PodGroup
 * controller and scheduler, connected only over HTTP. Resolves when all of them run. Rejects with PortUnavailableError,
 * TemporaryFolderError, KubeconfigFileError, or the errors of profiles and plugins; then nothing is left running.
 */
export async function startPlane(options: PlaneOptions): Promise<RunningPlane> {
  const { logger, profiles, plugins = [], kubeconfigFile } = options;
  if (kubeconfigFile !== undefined) checkKubeconfigFile(kubeconfigFile);
  const onProblem = ({ message, subject, error }: BackgroundProblem): void => logger.warn(message, { subject, error });
  /** Stop functions of everything that was started; called in reverse order. */
  const started: (() => Promise<void>)[] = [];
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= (async () => {
      for (const end of started.toReversed()) await end();
    })();
    return stopping;
  };
  try {
    // Other users of this machine can reach the port, so the API server requires the token of the kubeconfig.
    const token = randomBytes(32).toString('base64url');
    const certificate = await makeSelfSignedCertificate(serverNames, systemClock.now(), certificateYears);
    const server = new EmbeddedApiServer({
      clock: systemClock,
      random: Math.random,
      administratorToken: token,
      onProblem,
    });
    const listener = await listenHttp(server, options.port, { certificate });
    started.push(async () => {
      server.close();
      await listener.close();
    });
    const endpoint = fixedEndpoint(listener.url, {
      tls: { ca: certificate.certificates },
      tlsKey: 'plane',
      headers: { authorization: `Bearer ${token}` },
    });
    const transport = new HttpTransport({ endpoint });
    started.push(() => transport.close());
    const client = new KubeClient({ transport, clock: systemClock, userAgent: 'tutti-up' });
    await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', podGroupDefinition);

    const nodes = new SimulatedNodes({
      transport,
      clock: systemClock,
      random: Math.random,
      nodes: options.nodes,
      adoptsNodes: true,
      onProblem,
    });
    started.push(() => nodes.stop());
    // First, so that the scheduler's first lists include all of them.
    await nodes.start();
    const volumes = new SimulatedVolumes({
      transport,
      clock: systemClock,
      random: Math.random,
      provisioners: [simulatedProvisioner],
      onProblem,
    });
    started.push(() => volumes.stop());
    await volumes.start();
    const workloads = new WorkloadControllers({
      transport,
      clock: systemClock,
      random: Math.random,
      onProblem,
    });
    started.push(() => workloads.stop());
    await workloads.start();
    const local = { endpoint, serving: { kind: 'local', port: 0 } } as const;
    const controller = await runController({
      ...local,
      ...unlimited,
      workers: 1,
      schedulerNames: profiles?.map(({ schedulerName }) => schedulerName),
      logger: logger.child({ process: 'controller' }),
    });
    started.push(() => controller.stop());
    const configuration =
      profiles && defaultConfiguration({ profiles, clientConnection: unlimited, leaderElection: noLeaderElection });
    const scheduler =
      configuration &&
      (await runScheduler({ ...local, configuration, plugins, logger: logger.child({ process: 'scheduler' }) }));
    if (scheduler !== undefined) started.push(() => scheduler.stop());
    if (configuration !== undefined)
      await client.create('/api/v1/namespaces/kube-system/configmaps', configMapOf(configuration));

    const text = localKubeconfig(listener.url, { certificate: certificate.certificates, token });
    const kubeconfig =
      kubeconfigFile === undefined ? writeTemporaryKubeconfig(text) : writeKubeconfigFile(kubeconfigFile, text);
    options.onExit?.(() => kubeconfig.remove());
    started.push(() => Promise.resolve(kubeconfig.remove()));
    return {
      url: listener.url,
      endpoint,
      kubeconfigPath: kubeconfig.path,
      schedulerUrl: scheduler?.url,
      controllerUrl: controller.url!,
      isMoving: () => nodes.areMoving || workloads.areMoving,
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
