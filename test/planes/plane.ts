import type { KubeClient } from '../../src/client/kube-client.ts';
import type { Transport } from '../../src/client/transport.ts';

/** As whom a process reaches the server. */
export interface ProcessAccount {
  readonly kubeconfigPath: string;
  readonly transport: Transport;
}

/**
 * A Kubernetes API server with the PodGroup CRD, for tests: nodes, schedulers and controllers are the test's own. Nothing of
 * how the server is made shows, so that the same scenarios run on any.
 */
export interface TestPlane {
  /** Which kind of plane: `embedded`. */
  readonly name: string;
  /** The server's gitVersion. */
  readonly version: string;
  readonly url: string;
  /** Lets anybody in as administrator; gone after `stop`. */
  readonly kubeconfigPath: string;
  readonly transport: Transport;
  readonly client: KubeClient;
  /** Somebody acts on Jobs there. Absent: nobody does. */
  readonly runsJobs?: boolean;
  /** As whom Tutti's own processes do. Absent: as administrators, too. */
  readonly accounts?: Readonly<Record<'scheduler' | 'controller', ProcessAccount>>;
  /** Ends everything the plane started; idempotent. */
  stop(): Promise<void>;
}

/** Starts a plane that nobody else uses. */
export type OpenPlane = () => Promise<TestPlane>;
