import type { KubeClient } from '../../src/client/kube-client.ts';
import type { Transport } from '../../src/client/transport.ts';

/** Credentials with which a process reaches the server. */
export interface ProcessAccount {
  readonly kubeconfigPath: string;
  readonly transport: Transport;
}

/**
 * A Kubernetes API server with the PodGroup CRD, for tests. Each test brings its own nodes, schedulers and controllers. The interface hides
 * how the server is made, so that the same scenarios run on any plane.
 */
export interface TestPlane {
  /** Kind of plane, for example `embedded`. */
  readonly name: string;
  /** The server's gitVersion. */
  readonly version: string;
  readonly url: string;
  /** Grants administrator access; deleted by `stop`. */
  readonly kubeconfigPath: string;
  readonly transport: Transport;
  readonly client: KubeClient;
  /** A Job controller runs there. Absent: none does. */
  readonly runsJobs?: boolean;
  /** Credentials of Tutti's own processes. Absent: administrator. */
  readonly accounts?: Readonly<Record<'scheduler' | 'controller', ProcessAccount>>;
  /** Ends everything that the plane started; idempotent. */
  stop(): Promise<void>;
}

/** Starts a plane for exclusive use. */
export type OpenPlane = () => Promise<TestPlane>;
