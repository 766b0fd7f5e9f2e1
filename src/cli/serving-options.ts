import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { cipherSuiteNames, tlsVersions } from '../serving/tls-settings.ts';
import { defaultSecureServing as defaults } from '../serving/secure-serving-options.ts';
import { duration, port, truth, wholeNumber } from './flag-values.ts';

/** Adds kube-scheduler's flags for secure serving, authentication and authorization. `securePort` is the default of --secure-port. */
export function withServingOptions(command: Command, securePort: number): Command {
  return command
    .option(
      '--bind-address <address>',
      'IP address to listen on. 0.0.0.0 or :: means all interfaces.',
      address,
      defaults.bindAddress,
    )
    .option(
      '--secure-port <port>',
      'Port to serve HTTPS on: /healthz, /livez, /readyz, /metrics, /configz and /debug. If 0, the process does not serve.',
      port('to serve nothing'),
      securePort,
    )
    .addOption(
      flag(
        '--permit-port-sharing',
        'If true, use SO_REUSEPORT, so that several processes can listen on the same port.',
        defaults.permitPortSharing,
      ),
    )
    .option(
      '--cert-dir <folder>',
      'Directory to keep the self-signed certificate in, and to find it in after a restart. (default: in memory)',
      path,
    )
    .option(
      '--tls-cert-file <file>',
      'File with the PEM-encoded serving certificate, followed by intermediate certificates.',
      path,
    )
    .option('--tls-private-key-file <file>', 'File with the PEM-encoded private key of --tls-cert-file.', path)
    .addOption(
      new Option('--tls-min-version <version>', 'Minimum TLS version.')
        .choices(Object.keys(tlsVersions))
        .default(defaults.tlsMinVersion),
    )
    .option(
      '--tls-cipher-suites <names>',
      'Comma-separated list of TLS 1.2 cipher suites. (default: the cipher suites of Node.js)',
      cipherSuites,
    )
    .option(
      '--client-ca-file <file>',
      'File with the PEM-encoded CAs of client certificates. (default: the CAs in the ConfigMap kube-system/extension-apiserver-authentication)',
      path,
    )
    .option(
      '--authentication-kubeconfig <file>',
      'Kubeconfig for TokenReviews and for reading the ConfigMap extension-apiserver-authentication. (default: as --kubeconfig)',
      path,
    )
    .addOption(
      flag(
        '--authentication-skip-lookup',
        'If true, do not read the ConfigMap extension-apiserver-authentication.',
        defaults.authenticationSkipLookup,
      ),
    )
    .addOption(
      flag(
        '--authentication-tolerate-lookup-failure',
        'If true, serve even if the ConfigMap extension-apiserver-authentication cannot be read.',
        defaults.authenticationTolerateLookupFailure,
      ),
    )
    .addOption(
      ttl(
        '--authentication-token-webhook-cache-ttl',
        'How long to cache TokenReview responses.',
        defaults.authenticationTokenWebhookCacheTtl,
      ),
    )
    .option(
      '--authorization-kubeconfig <file>',
      'Kubeconfig for SubjectAccessReviews. (default: as --kubeconfig)',
      path,
    )
    .addOption(
      new Option(
        '--authorization-always-allow-paths <paths>',
        'Comma-separated list of paths that all clients can get without authorization. A path can end in *.',
      )
        .argParser(paths)
        .default([...defaults.authorizationAlwaysAllowPaths], defaults.authorizationAlwaysAllowPaths.join(',')),
    )
    .addOption(
      ttl(
        '--authorization-webhook-cache-authorized-ttl',
        'How long to cache SubjectAccessReview responses that allow a request.',
        defaults.authorizationWebhookCacheAuthorizedTtl,
      ),
    )
    .addOption(
      ttl(
        '--authorization-webhook-cache-unauthorized-ttl',
        'How long to cache SubjectAccessReview responses that deny a request.',
        defaults.authorizationWebhookCacheUnauthorizedTtl,
      ),
    )
    .addOption(only(false, '--profiling', 'there is no /debug/pprof. Use the profiler of Node.js, such as --cpu-prof'))
    .addOption(only(false, '--contention-profiling', 'the process has no locks'))
    .addOption(only(true, '--disable-http2-serving', 'Tutti does not serve HTTP/2'))
    .option(
      '--http2-max-streams-per-connection <number>',
      'Accepted for compatibility with kube-scheduler. Has no effect: Tutti does not serve HTTP/2.',
      wholeNumber(0),
    )
    .addOption(
      new Option(
        '--permit-address-sharing [boolean]',
        'Accepted for compatibility with kube-scheduler. Has no effect: the process always uses SO_REUSEADDR.',
      )
        .argParser(truth)
        .preset('true'),
    );
}

/** Returns a flag of kube-scheduler that accepts only one value, because of `why`. */
function only(value: boolean, name: string, why: string): Option {
  return new Option(`${name} [boolean]`, `Accepted for compatibility with kube-scheduler. Must be ${value}: ${why}.`)
    .argParser((text) => {
      if (truth(text) !== value) throw new InvalidArgumentError(`It must be ${value}: ${why}.`);
      return value;
    })
    .preset('true');
}

/** Returns a boolean flag as in Go: `--flag` and `--flag=true` mean true, `--flag=false` means false. */
function flag(name: string, description: string, byDefault: boolean): Option {
  return new Option(`${name} [boolean]`, description).argParser(truth).preset('true').default(byDefault);
}

function ttl(name: string, description: string, byDefault: number): Option {
  return new Option(`${name} <duration>`, description)
    .argParser(cacheDuration)
    .default(byDefault, `${byDefault / 1_000}s`);
}

/** Parses a duration. 0 disables the cache. */
function cacheDuration(text: string): number {
  return /^0(ms|s|m|h)?$/.test(text) ? 0 : duration(text);
}

function path(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must be a path.');
  return text;
}

function address(text: string): string {
  if (text === '')
    throw new InvalidArgumentError('It must be an IP address of this machine, or 0.0.0.0 for all interfaces.');
  return text;
}

function cipherSuites(text: string): readonly string[] {
  const names = list(text);
  const unknown = names.find((name) => !cipherSuiteNames.includes(name));
  if (unknown === undefined && names.length > 0) return names;
  throw new InvalidArgumentError(
    `${unknown === undefined ? 'It must name at least one cipher suite' : `${unknown} is not supported`}. Choose from ${cipherSuiteNames.join(', ')}.`,
  );
}

/** Parses a list of paths. As in kube-scheduler, a trailing * matches any suffix. */
function paths(text: string): readonly string[] {
  return list(text).map((path) => {
    if (path.slice(0, -1).includes('*')) throw new InvalidArgumentError(`${path} can contain * only at its end.`);
    return path.startsWith('/') ? path : `/${path}`;
  });
}

function list(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
