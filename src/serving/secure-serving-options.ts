import type { TlsVersionName } from './tls-settings.ts';

/** How a process serves over HTTPS, in the words of kube-scheduler's flags. Durations are milliseconds. */
export interface SecureServingOptions {
  readonly bindAddress: string;
  readonly securePort: number;
  /** Whether other processes may serve on the same port; the kernel shares connections out among them. */
  readonly permitPortSharing: boolean;
  readonly certDir?: string;
  readonly tlsCertFile?: string;
  readonly tlsPrivateKeyFile?: string;
  readonly tlsMinVersion: TlsVersionName;
  /** IANA's names, of `cipherSuiteNames`. Absent: Node's own choice. */
  readonly tlsCipherSuites?: readonly string[];
  readonly clientCaFile?: string;
  /** To ask who somebody is, and what they may do. Absent: as the process itself reaches the API server. */
  readonly authenticationKubeconfig?: string;
  readonly authorizationKubeconfig?: string;
  /** No authorities of client certificates are looked for in the cluster. */
  readonly authenticationSkipLookup: boolean;
  /** Serve although they cannot be looked for. */
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
