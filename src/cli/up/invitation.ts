import type { ObservedPod } from './observed.ts';

/** What to try in another terminal, with the pods that are there; how to begin where there are none. */
export function invitation(kubeconfigPath: string, pods: readonly ObservedPod[]): readonly string[] {
  const isElsewhere = pods.some(({ namespace }) => namespace !== 'default');
  const everywhere = isElsewhere ? ' -A' : '';
  const latest = pods.at(-1);
  const where = latest === undefined || latest.namespace === 'default' ? '' : ` -n ${latest.namespace}`;
  const looks = [
    `kubectl get podgroups${everywhere}`,
    `kubectl get pods -o wide${everywhere}`,
    `kubectl describe pod ${latest?.name}${where}`,
  ];
  const begins = ['kubectl get nodes', 'kubectl apply -f YOUR-JOB.yaml', 'kubectl get jobs,podgroups,pods'];
  const commands = latest === undefined ? begins : looks;
  return [
    'The control plane stays up until Ctrl-C. In another terminal, try:',
    `  export KUBECONFIG=${kubeconfigPath}`,
    ...commands.map((command) => `  ${command}`),
  ];
}
