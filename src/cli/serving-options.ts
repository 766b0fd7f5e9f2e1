import { InvalidArgumentError, Option } from 'commander';
import type { Command } from 'commander';
import { cipherSuiteNames, tlsVersions } from '../serving/tls-settings.ts';
import { defaultSecureServing as defaults } from '../serving/secure-serving-options.ts';
import { duration, port, truth, wholeNumber } from './flag-values.ts';

/** The flags of kube-scheduler about what is served, and to whom; `securePort` is the port's default. */
export function withServingOptions(command: Command, securePort: number): Command {
  return command
    .option(
      '--bind-address <address>',
      'address to serve on; 0.0.0.0 or :: for all of them',
      address,
      defaults.bindAddress,
    )
    .option(
      '--secure-port <port>',
      'port of HTTPS for /healthz, /livez, /readyz, /metrics, /configz and /debug; 0 serves nothing',
      port('to serve nothing'),
      securePort,
    )
    .addOption(
      flag(
        '--permit-port-sharing',
        'let other processes serve on the same port, as SO_REUSEPORT does',
        defaults.permitPortSharing,
      ),
    )
    .option(
      '--cert-dir <folder>',
      'where a certificate that is made at the start is kept, and found again (default: in memory)',
      path,
    )
    .option(
      '--tls-cert-file <file>',
      'certificate to serve with, in PEM, followed by those that lead to an authority',
      path,
    )
    .option('--tls-private-key-file <file>', 'its private key, in PEM', path)
    .addOption(
      new Option('--tls-min-version <version>', 'oldest version of TLS that is spoken')
        .choices(Object.keys(tlsVersions))
        .default(defaults.tlsMinVersion),
    )
    .option(
      '--tls-cipher-suites <names>',
      "cipher suites of TLS 1.2 that are spoken, with commas between (default: Node's choice)",
      cipherSuites,
    )
    .option(
      '--client-ca-file <file>',
      'authorities of client certificates, in PEM (default: those that kube-system/extension-apiserver-authentication names)',
      path,
    )
    .option(
      '--authentication-kubeconfig <file>',
      'kubeconfig with which tokens are reviewed and that ConfigMap is read (default: as --kubeconfig)',
      path,
    )
    .addOption(flag('--authentication-skip-lookup', 'do not read that ConfigMap', defaults.authenticationSkipLookup))
    .addOption(
      flag(
        '--authentication-tolerate-lookup-failure',
        'serve although that ConfigMap cannot be read',
        defaults.authenticationTolerateLookupFailure,
      ),
    )
    .addOption(
      ttl(
        '--authentication-token-webhook-cache-ttl',
        'how long it is remembered whose a token is',
        defaults.authenticationTokenWebhookCacheTtl,
      ),
    )
    .option(
      '--authorization-kubeconfig <file>',
      'kubeconfig with which rights are reviewed (default: as --kubeconfig)',
      path,
    )
    .addOption(
      new Option('--authorization-always-allow-paths <paths>', 'paths that everybody may get, with commas between')
        .argParser(paths)
        .default([...defaults.authorizationAlwaysAllowPaths], defaults.authorizationAlwaysAllowPaths.join(',')),
    )
    .addOption(
      ttl(
        '--authorization-webhook-cache-authorized-ttl',
        'how long it is remembered that somebody may get a path',
        defaults.authorizationWebhookCacheAuthorizedTtl,
      ),
    )
    .addOption(
      ttl(
        '--authorization-webhook-cache-unauthorized-ttl',
        'how long it is remembered that somebody may not',
        defaults.authorizationWebhookCacheUnauthorizedTtl,
      ),
    )
    .addOption(
      only(false, '--profiling', 'there is no /debug/pprof. Profile the process with Node.js, such as by --cpu-prof'),
    )
    .addOption(only(false, '--contention-profiling', 'there are no locks to contend for'))
    .addOption(only(true, '--disable-http2-serving', 'HTTP/2 is not spoken'))
    .option(
      '--http2-max-streams-per-connection <number>',
      'as given for kube-scheduler; no effect, HTTP/2 is not spoken',
      wholeNumber(0),
    )
    .addOption(
      new Option(
        '--permit-address-sharing [boolean]',
        'as given for kube-scheduler; no effect, addresses are always bound with SO_REUSEADDR',
      )
        .argParser(truth)
        .preset('true'),
    );
}

/** A flag of kube-scheduler that can say one thing only, for `why`. */
function only(value: boolean, name: string, why: string): Option {
  return new Option(`${name} [boolean]`, `as given for kube-scheduler; must be ${value}: ${why}`)
    .argParser((text) => {
      if (truth(text) !== value) throw new InvalidArgumentError(`It must be ${value}: ${why}.`);
      return value;
    })
    .preset('true');
}

/** As Go has them: `--flag` and `--flag=true` say yes, `--flag=false` says no. */
function flag(name: string, description: string, byDefault: boolean): Option {
  return new Option(`${name} [boolean]`, description).argParser(truth).preset('true').default(byDefault);
}

function ttl(name: string, description: string, byDefault: number): Option {
  return new Option(`${name} <duration>`, description)
    .argParser(cacheDuration)
    .default(byDefault, `${byDefault / 1_000}s`);
}

/** Nothing is remembered for 0. */
function cacheDuration(text: string): number {
  return /^0(ms|s|m|h)?$/.test(text) ? 0 : duration(text);
}

function path(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must be a path.');
  return text;
}

function address(text: string): string {
  if (text === '') throw new InvalidArgumentError('It must be an address of this machine, or 0.0.0.0 for all of them.');
  return text;
}

function cipherSuites(text: string): readonly string[] {
  const names = list(text);
  const unknown = names.find((name) => !cipherSuiteNames.includes(name));
  if (unknown === undefined && names.length > 0) return names;
  throw new InvalidArgumentError(
    `${unknown === undefined ? 'There must be at least one' : `There is no ${unknown}`}: choose of ${cipherSuiteNames.join(', ')}.`,
  );
}

/** The star that kube-scheduler takes at the end stands for whatever follows. */
function paths(text: string): readonly string[] {
  return list(text).map((path) => {
    if (path.slice(0, -1).includes('*')) throw new InvalidArgumentError(`Only the end of ${path} may be a star.`);
    return path.startsWith('/') ? path : `/${path}`;
  });
}

function list(text: string): readonly string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter((part) => part !== '');
}
