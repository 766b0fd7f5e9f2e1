import type { ObservedPod } from './observed.ts';

/** What to try in another terminal, with the pods that are there; undefined: how to begin where nothing has been applied. */
export function invitation(kubeconfigPath: string, pods: readonly ObservedPod[] | undefined): readonly string[] {
  const commands = pods === undefined ? beginnings : looksAt(pods);
  return [
    'The control plane stays up until Ctrl-C. In another terminal, try:',
    `  export KUBECONFIG=${kubeconfigPath}`,
    ...commands.map((command) => `  ${command}`),
  ];
}

const beginnings = ['kubectl get nodes', 'kubectl apply -f YOUR-JOB.yaml', 'kubectl get jobs,podgroups,pods'];

function looksAt(pods: readonly ObservedPod[]): readonly string[] {
  const isElsewhere = pods.some(({ namespace }) => namespace !== 'default');
  const everywhere = isElsewhere ? ' -A' : '';
  const latest = pods.at(-1);
  const where = latest === undefined || latest.namespace === 'default' ? '' : ` -n ${latest.namespace}`;
  return [
    `kubectl get podgroups${everywhere}`,
    `kubectl get pods -o wide${everywhere}`,
    ...(latest === undefined ? [] : [`kubectl describe pod ${latest.name}${where}`]),
  ];
}
