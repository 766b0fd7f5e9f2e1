import { randomBytes } from 'node:crypto';
import { podGroupDefinition } from '../api/pod-group-schema.ts';
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
  /** Of the API server on 127.0.0.1; 0 takes any free one. */
  readonly port: number;
  readonly nodes: readonly SimulatedNodeSpec[];
  /** Of the scheduler; undefined: none runs. */
  readonly profiles: readonly ProfileConfiguration[] | undefined;
  /** As `runScheduler` takes them. */
  readonly plugins?: readonly OwnPlugin[];
  readonly logger: Logger;
  /** Where the kubeconfig is written, and stays; absent: to a temporary folder, which goes with the plane. */
  readonly kubeconfigFile?: string;
  /** Registers what a process that exits at once must still do, synchronously. */
  readonly onExit?: (callback: () => void) => void;
}

export interface RunningPlane {
  /** Of the API server: HTTPS, to whoever brings the token that the kubeconfig has. */
  readonly url: string;
  /** Leads there, as administrator. */
  readonly endpoint: Endpoint;
  readonly kubeconfigPath: string;
  /** Health and metrics of the scheduler, when one runs, and of the controller. */
  readonly schedulerUrl: string | undefined;
  readonly controllerUrl: string;
  /** Whether something will become of a pod on a node, or of a workload, by itself, however long that takes. */
  isMoving(): boolean;
  /** Ends everything, a temporary kubeconfig included; idempotent. */
  stop(): Promise<void>;
}

const unlimited = { qps: 0, burst: 1 };
/** What clients on this machine may call the API server. */
const serverNames = ['127.0.0.1', 'localhost', '::1'];
const certificateYears = 1;

/**
 * A whole control plane in this process: API server, simulated nodes and volumes, workload controllers, controller and scheduler, joined only
 * over HTTP.
 * Resolves when all of them run. Rejects with PortTakenError, PortDeniedError, TemporaryFolderError, KubeconfigFileError, or the errors of the profiles
 * and plugins; then nothing is left running.
 */
export async function startPlane(options: PlaneOptions): Promise<RunningPlane> {
  const { logger, profiles, plugins = [], kubeconfigFile } = options;
  if (kubeconfigFile !== undefined) checkKubeconfigFile(kubeconfigFile);
  const onProblem = ({ message, subject, error }: BackgroundProblem): void => logger.warn(message, { subject, error });
  /** What has been started; stopped in reverse order. */
  const started: (() => Promise<void>)[] = [];
  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= (async () => {
      for (const end of started.toReversed()) await end();
    })();
    return stopping;
  };
  try {
    // Others on this machine can reach the port: only who may read the kubeconfig gets in.
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
    // First, so that the scheduler's first look at the cluster shows all of them.
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
      logger: logger.child({ process: 'controller' }),
    });
    started.push(() => controller.stop());
    const configuration =
      profiles && defaultConfiguration({ profiles, clientConnection: unlimited, leaderElection: noLeaderElection });
    const scheduler =
      configuration &&
      (await runScheduler({ ...local, configuration, plugins, logger: logger.child({ process: 'scheduler' }) }));
    if (scheduler !== undefined) started.push(() => scheduler.stop());

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
