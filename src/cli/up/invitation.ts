import type { ObservedPod } from './observed.ts';

/** What to try in another terminal, with the pods that are there. */
export function invitation(kubeconfigPath: string, pods: readonly ObservedPod[]): readonly string[] {
  const isElsewhere = pods.some(({ namespace }) => namespace !== 'default');
  const everywhere = isElsewhere ? ' -A' : '';
  const latest = pods.at(-1);
  const where = latest === undefined || latest.namespace === 'default' ? '' : ` -n ${latest.namespace}`;
  return [
    'The control plane stays up until Ctrl-C. In another terminal, try:',
    `  export KUBECONFIG=${kubeconfigPath}`,
    `  kubectl get podgroups${everywhere}`,
    `  kubectl get pods -o wide${everywhere}`,
    ...(latest === undefined ? [] : [`  kubectl describe pod ${latest.name}${where}`]),
  ];
}
