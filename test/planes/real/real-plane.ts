import { connectPlane } from '../connect-plane.ts';
import type { TestPlane } from '../plane.ts';
import { addNodes } from './add-nodes.ts';
import type { NodeSpec } from './add-nodes.ts';
import type { BinaryName } from './binaries.ts';
import { ControlPlane } from './control-plane.ts';
import { isHealthy } from './is-healthy.ts';
import type { ApiServerFeatures } from './program-arguments.ts';
import { controllerManagerArguments, kwokArguments, schedulerArguments } from './program-arguments.ts';
import { RealNode } from './node/real-node.ts';
import { freePorts } from './ports.ts';
import { ProcessGroup } from './process-group.ts';
import { writeSchedulerConfiguration } from './scheduler-configuration.ts';
import type { SchedulerSettings } from './scheduler-configuration.ts';
import { untilReady } from './until-ready.ts';

/** The schedulers that can run next to Tutti. */
export type PeerName = 'kube-scheduler' | 'scheduler-plugins-scheduler';

export interface RealPlaneOptions extends ApiServerFeatures {
  /** From `provideBinaries`; must include all programs that the plane runs. */
  readonly paths: Readonly<Record<'etcd' | 'kube-apiserver', string>> & Partial<Readonly<Record<BinaryName, string>>>;
  /** Runs kube-controller-manager: Jobs, StatefulSets, garbage collection and more. Default: off. */
  readonly controllerManager?: boolean;
  /** Runs kwok for all nodes: pods run and finish. Default: off; bound pods stay as they are. */
  readonly kwok?: boolean;
  /** Runs a kubelet and a containerd on this machine, as root (`provideNodeForSuite`); needs the controller manager. Default: off. */
  readonly node?: boolean;
}

/** A real API server with its etcd, and the requested components. */
export interface RealPlane extends TestPlane {
  /** Folder of all files of its programs, removed by `stop`. Each program logs to `<name>.log` there. */
  readonly folder: string;
  /** The node with real containers, if requested. */
  readonly node: RealNode | undefined;
  /** Resolves when all nodes exist and are ready. kwok manages them if it runs; otherwise no component does. */
  addNodes(specs: readonly NodeSpec[]): Promise<void>;
  /** Returns the process id of a program of the plane; undefined when it does not run. */
  pid(name: BinaryName): number | undefined;
  /** Simulates a failure of its machine: connections break, and new ones are refused until `startApiServer`. */
  stopApiServer(): Promise<void>;
  /** Restarts it at the same address with everything that was stored, and with other features if given. Resolves when it is ready. */
  startApiServer(features?: ApiServerFeatures): Promise<void>;
  /** Runs another scheduler until `stopPeer`. Resolves when it is ready, which may be before it has seen the cluster. */
  startPeer(name: PeerName, settings: SchedulerSettings): Promise<void>;
  stopPeer(name: PeerName): Promise<void>;
}

const readyWithinMs = 60_000;

/**
 * Starts a plane for exclusive use; takes about ten seconds and 300 MB. All programs listen on free loopback ports and end with this
 * process, however it ends. Rejects with the last output of a program.
 */
export async function openRealPlane(options: RealPlaneOptions): Promise<RealPlane> {
  const { paths, controllerManager = false, kwok = false, node = false } = options;
  const group = await ProcessGroup.open();
  const path = (name: BinaryName): string => {
    const found = paths[name];
    if (found === undefined) throw new Error(`the plane has no ${name}: request it from provideBinaries`);
    return found;
  };
  try {
    const controlPlane = await ControlPlane.start(group, options);
    const { kubeconfigPath } = controlPlane;
    const files = { folder: group.folder, kubeconfig: kubeconfigPath };
    const plane = await connectPlane({ name: 'real', kubeconfigPath, stop: () => group.close() });
    const [kwokPort, controllerManagerPort] = await freePorts(2);
    if (kwok) {
      await group.start('kwok', path('kwok'), kwokArguments(files, kwokPort!));
      await untilReady(
        group,
        'kwok',
        readyWithinMs,
        async () => (await fetch(`http://127.0.0.1:${kwokPort}/healthz`)).ok,
      );
    }
    if (controllerManager) {
      const args = controllerManagerArguments(files, controllerManagerPort!, kwok || node, options);
      await group.start('kube-controller-manager', path('kube-controller-manager'), args);
      await untilReady(group, 'kube-controller-manager', readyWithinMs, () => isHealthy(controllerManagerPort!));
    }
    return {
      ...plane,
      runsJobs: controllerManager,
      folder: group.folder,
      node: node ? await RealNode.start(group, path, plane.client, new URL(plane.url)) : undefined,
      addNodes: (specs) => addNodes(plane.client, specs, { kwok }),
      pid: (name) => group.pid(name),
      stopApiServer: () => controlPlane.stopApiServer(),
      startApiServer: (features) => controlPlane.startApiServer(features),
      async startPeer(name, settings) {
        const [port] = await freePorts(1);
        await writeSchedulerConfiguration(name, files, settings);
        await group.start(name, path(name), schedulerArguments(name, files, port!, options));
        await untilReady(group, name, readyWithinMs, () => isHealthy(port!));
      },
      stopPeer: (name) => group.kill(name),
    };
  } catch (error) {
    await group.close();
    throw error;
  }
}
