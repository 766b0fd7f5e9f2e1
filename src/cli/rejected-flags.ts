import { Option } from 'commander';
import type { Command } from 'commander';

/** Flag of kube-scheduler that Tutti does not support, in all processes -> the reason and what to do instead. */
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
    'it does not authenticate clients by headers that a proxy sets. Let clients send their own token, or a certificate signed by a CA in --client-ca-file',
  ),
  '--tls-sni-cert-key': 'it serves one certificate. Use a certificate for all names, with --tls-cert-file',
  '--port': 'it serves only HTTPS. Remove the flag, and use --secure-port for another port',
  '--address': 'it serves only HTTPS. Remove the flag, and use --bind-address for the address',
  '--master': 'it reads the address of the API server from the kubeconfig. Set the address there, and use --kubeconfig',
  ...all(
    ['--feature-gates', '--emulated-version', '--min-compatibility-version'],
    'it has no feature gates and emulates no other version. Remove the flag',
  ),
  '--kube-api-content-type': 'it sends JSON to the API server. Remove the flag',
  '--vmodule': 'it has one log level for all modules. Use -v or --log-level',
  ...all(
    ['--disabled-metrics', '--allow-metric-labels', '--allow-metric-labels-manifest'],
    'it serves all metrics. Drop the ones that you do not need in Prometheus, with metric_relabel_configs',
  ),
  '--show-hidden-metrics-for-version': 'it hides no metrics. Remove the flag',
};

const ofScheduler: Readonly<Record<string, string>> = {
  '--pod-max-in-unschedulable-pods-duration':
    'the duration is always five minutes, which is the default of kube-scheduler. Remove the flag',
  ...all(
    ['--policy-config-file', '--policy-configmap', '--policy-configmap-namespace', '--algorithm-provider'],
    'kube-scheduler removed scheduling policies in 1.23. Set profiles in a KubeSchedulerConfiguration, and use --config',
  ),
};

function all(names: readonly string[], instead: string): Readonly<Record<string, string>> {
  return Object.fromEntries(names.map((name) => [name, instead]));
}

/** Names of the rejected flags, for the documentation. */
export const rejectedFlags: readonly string[] = Object.keys({ ...ofAll, ...ofScheduler });

/** Adds hidden flags that fail with what to do instead, so that kube-scheduler's flags are not just unknown options. */
export function withRejectedFlags(command: Command, process: 'scheduler' | 'controller'): Command {
  const rejected = { ...ofAll, ...(process === 'scheduler' && ofScheduler) };
  for (const [name, instead] of Object.entries(rejected)) {
    const option = new Option(`${name} [value]`).hideHelp();
    command.addOption(option).on(`option:${option.name()}`, () => {
      command.error(`error: Tutti does not support the flag ${name} of kube-scheduler: ${instead}.`);
    });
  }
  return command;
}
