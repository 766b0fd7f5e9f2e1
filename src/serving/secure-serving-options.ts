import type { TlsVersionName } from './tls-settings.ts';

/** HTTPS serving options, named after kube-scheduler's flags. Durations are in milliseconds. */
export interface SecureServingOptions {
  readonly bindAddress: string;
  readonly securePort: number;
  /** Whether other processes may serve on the same port; the kernel distributes connections among them. */
  readonly permitPortSharing: boolean;
  readonly certDir?: string;
  readonly tlsCertFile?: string;
  readonly tlsPrivateKeyFile?: string;
  readonly tlsMinVersion: TlsVersionName;
  /** IANA names from `cipherSuiteNames`. Absent: Node's defaults. */
  readonly tlsCipherSuites?: readonly string[];
  readonly clientCaFile?: string;
  /** Kubeconfig for token and access reviews. Absent: the process's own connection to the API server. */
  readonly authenticationKubeconfig?: string;
  readonly authorizationKubeconfig?: string;
  /** Skip the lookup of the client CA in the cluster. */
  readonly authenticationSkipLookup: boolean;
  /** Serve even if that lookup fails. */
  readonly authenticationTolerateLookupFailure: boolean;
  readonly authenticationTokenWebhookCacheTtl: number;
  readonly authorizationAlwaysAllowPaths: readonly string[];
  readonly authorizationWebhookCacheAuthorizedTtl: number;
  readonly authorizationWebhookCacheUnauthorizedTtl: number;
}

/** kube-scheduler's defaults. */
export const defaultSecureServing = {
  bindAddress: '0.0.0.0',
  permitPortSharing: false,
  tlsMinVersion: 'VersionTLS12',
  authenticationSkipLookup: false,
  authenticationTolerateLookupFailure: true,
  authenticationTokenWebhookCacheTtl: 10_000,
  authorizationAlwaysAllowPaths: ['/healthz', '/readyz', '/livez'],
  authorizationWebhookCacheAuthorizedTtl: 10_000,
  authorizationWebhookCacheUnauthorizedTtl: 10_000,
} as const satisfies Partial<SecureServingOptions>;

export const defaultSecurePorts = { scheduler: 10_259, controller: 10_260 } as const;
