import { Option } from 'commander';
import type { Command } from 'commander';

/** Flags of kube-scheduler that Tutti does not have, in all processes -> what to do instead. */
const ofAll: Readonly<Record<string, string>> = {
  ...all(
    [
      '--requestheader-allowed-names',
      '--requestheader-client-ca-file',
      '--requestheader-extra-headers-prefix',
      '--requestheader-group-headers',
      '--requestheader-uid-headers',
      '--requestheader-username-headers',
    ],
    'nobody is let in by headers that another server writes. Let callers show their own token, or a certificate of --client-ca-file',
  ),
  '--tls-sni-cert-key': 'there is one certificate. Give one for all names, with --tls-cert-file',
  '--port': 'nothing is served without TLS. Leave it out, and give --secure-port for another port of HTTPS',
  '--address': 'nothing is served without TLS. Leave it out, and give --bind-address for the address of HTTPS',
  '--master': 'where the API server is stands in the kubeconfig. Write it there, and give --kubeconfig',
  ...all(
    ['--feature-gates', '--emulated-version', '--min-compatibility-version'],
    'it has no feature gates and is of one version. Leave it out',
  ),
  '--kube-api-content-type': 'the API server is spoken to in JSON. Leave it out',
  '--vmodule': 'there is one log level for all. Give -v, or --log-level',
  ...all(
    ['--disabled-metrics', '--allow-metric-labels', '--allow-metric-labels-manifest'],
    'all metrics are served. Drop what you do not want where it is scraped, with metric_relabel_configs',
  ),
  '--show-hidden-metrics-for-version': 'no metric is hidden. Leave it out',
};

const ofScheduler: Readonly<Record<string, string>> = {
  '--pod-max-in-unschedulable-pods-duration': 'it is five minutes, as there. Leave it out',
  ...all(
    ['--policy-config-file', '--policy-configmap', '--policy-configmap-namespace', '--algorithm-provider'],
    'kube-scheduler itself has had none since 1.23. Write profiles into a KubeSchedulerConfiguration, and give --config',
  ),
};

function all(names: readonly string[], instead: string): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, instead]));
}

/** Names of the rejected flags, for the documentation. */
export const rejectedFlags: readonly string[] = Object.keys({ ...ofAll, ...ofScheduler });

/** Makes flags that people bring from kube-scheduler an error that says what to do instead, and no unknown option. */
export function withRejectedFlags(command: Command, process: 'scheduler' | 'controller'): Command {
  const rejected = { ...ofAll, ...(process === 'scheduler' && ofScheduler) };
  for (const [name, instead] of Object.entries(rejected)) {
    const option = new Option(`${name} [value]`).hideHelp();
    command.addOption(option).on(`option:${option.name()}`, () => {
      command.error(`error: ${name} is a flag of kube-scheduler that Tutti does not have: ${instead}.`);
    });
  }
  return command;
}
