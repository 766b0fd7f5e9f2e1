import type { ObservedPod } from './observed.ts';

/** Returns commands to try in another terminal. `pods` are the existing pods; undefined if the user has applied nothing yet. */
export function invitation(kubeconfigPath: string, pods: readonly ObservedPod[] | undefined): readonly string[] {
  const commands = pods === undefined ? firstCommands : inspectCommands(pods);
  return [
    'The control plane stays up until Ctrl-C. In another terminal, try:',
    `  export KUBECONFIG=${kubeconfigPath}`,
    ...commands.map((command) => `  ${command}`),
  ];
}

const firstCommands = ['kubectl get nodes', 'kubectl apply -f YOUR-JOB.yaml', 'kubectl get jobs,pg,pods'];

function inspectCommands(pods: readonly ObservedPod[]): readonly string[] {
  const hasOtherNamespaces = pods.some(({ namespace }) => namespace !== 'default');
  const allNamespaces = hasOtherNamespaces ? ' -A' : '';
  const latest = pods.at(-1);
  const namespaceFlag = latest === undefined || latest.namespace === 'default' ? '' : ` -n ${latest.namespace}`;
  return [
    `kubectl get pg${allNamespaces}`,
    `kubectl get pods -o wide${allNamespaces}`,
    ...(latest === undefined ? [] : [`kubectl describe pod ${latest.name}${namespaceFlag}`]),
  ];
}
