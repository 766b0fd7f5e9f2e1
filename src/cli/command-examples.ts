/** What an example does -> the command line that does it. */
export type Examples = Readonly<Record<string, string>>;

/** Command, without `tutti` -> its examples, in the order of --help. */
export const commandExamples: Readonly<Record<string, Examples>> = {
  up: {
    'Start two nodes, play the deadlock example and stay up for kubectl': 'tutti up',
    'Show the deadlock that occurs without gang scheduling': 'tutti up --naive',
    'Play your own manifests, print a summary and exit': 'tutti up -f job.yaml --exit',
    'Start four nodes with eight GPUs each and no workload':
      'tutti up --empty --nodes 4 --node-resource nvidia.com/gpu=8',
    'Start a control plane for your own scheduler': 'tutti up --no-scheduler --kubeconfig tutti.kubeconfig',
  },
  scheduler: {
    'Schedule the pods whose schedulerName is tutti': 'tutti scheduler',
    'Use a configuration file': 'tutti scheduler --config scheduler.yaml',
    'Schedule the pods of two scheduler names, without leader election':
      'tutti scheduler --scheduler-name batch --scheduler-name interactive --leader-elect=false',
    'Enable your own plugin': 'tutti scheduler --plugin my-plugin.ts',
    'Write the default configuration to a file': 'tutti scheduler --write-config-to scheduler.yaml',
  },
  controller: {
    'Write the status of PodGroups': 'tutti controller',
    'Reconcile up to 16 PodGroups at the same time': 'tutti controller --workers 16',
    'Use another context and log at debug level': 'tutti controller --context staging --log-level debug',
  },
  config: {
    'Check a configuration file': 'tutti config check scheduler.yaml',
  },
  'config check': {
    'Check a configuration file': 'tutti config check scheduler.yaml',
    'Also print the profiles and their plugins': 'tutti config check --verbose scheduler.yaml',
    'Check a file that enables your own plugin': 'tutti config check --plugin my-plugin.ts scheduler.yaml',
  },
  verify: {
    'Check the API server and the PodGroup CRD': 'tutti verify',
    'Also schedule a gang of two pods in the namespace default': 'tutti verify --gang',
    'Schedule the gang with another scheduler name, in another namespace':
      'tutti verify --gang --scheduler-name batch --namespace team-a',
  },
  status: {
    'Show the pod groups of the namespace and why they wait': 'tutti status',
    'Show all pod groups of the cluster, with whole messages': 'tutti status --all-namespaces --output wide',
    'Show one group': 'tutti status train --namespace ml',
    'Also show pods without a group': 'tutti status --pods',
    'Follow the pod groups of all namespaces': 'tutti status --all-namespaces --watch',
    'Print the list for another program': 'tutti status --output json',
  },
  why: {
    'Explain why the pod group red waits': 'tutti why red',
    'Explain one pod, as JSON': 'tutti why pod/red-5 --namespace ml -o json',
    'Say only what the conditions of the objects say': 'tutti why red --source conditions',
  },
  plan: {
    'Say whether the workloads of a file would start now': 'tutti plan -f job.yaml',
    'Plan the files of a directory, without sending them to the API server': 'tutti plan -f manifests --local',
    'Plan again only if the cluster is as before': 'tutti plan -f job.yaml --if-version 0f3c5a7e9b1d2468 --output json',
  },
  'drain-check': {
    'Say what a drain of two nodes at once would do to pod groups': 'tutti drain-check node-7 node-8',
    'Print it for another program': 'tutti drain-check node-7 --output json',
  },
  queue: {
    'Show the queue': 'tutti queue',
    'Show what waits in one namespace, with its rank among all': 'tutti queue --namespace ml',
  },
  snapshot: {
    'Write what the API shows to a file': 'tutti snapshot -o snapshot.json.gz',
    'Ask the scheduler that leads, and replace all names':
      'tutti snapshot -o snapshot.json.gz --anonymize --source scheduler --token-from-service-account tutti-system/debug --insecure-skip-scheduler-tls-verify',
  },
  explain: {
    'Plan everything that waits in a snapshot again': 'tutti explain --snapshot snapshot.json.gz',
    'Plan one pod group, and print the result for another program':
      'tutti explain group/red --namespace ml --snapshot snapshot.json.gz --output json',
  },
  version: {
    'Print the versions of this program and of the scheduler': 'tutti version',
    'Print the version of this program as JSON': 'tutti version --client --output json',
  },
  timeline: {
    'Show what happened to the pod group red':
      'tutti timeline red --token-from-service-account tutti-system/debug --insecure-skip-scheduler-tls-verify',
    'Follow all namespaces, beginning ten minutes ago':
      'tutti timeline --all-namespaces --since 10m --follow --scheduler-token-file token --scheduler-ca ca.crt',
    'Print a trace for Perfetto':
      'tutti timeline --all-namespaces -o trace --scheduler-token-file token --scheduler-ca ca.crt',
    'Show what tutti up has done; it prints the address of its scheduler':
      'tutti timeline --scheduler-url http://127.0.0.1:36715',
  },
  ui: {
    'Serve the timeline page, and ask the scheduler with a token of a ServiceAccount':
      'tutti ui --token-from-service-account tutti-system/debug --insecure-skip-scheduler-tls-verify',
    'Use a token from a file, and verify the certificate':
      'tutti ui --port 8080 --scheduler-token-file token --scheduler-ca ca.crt',
  },
  completion: {
    'Print the script for Bash, to be loaded with source': 'tutti completion bash',
    'Print the script for Fish': 'tutti completion fish',
  },
  help: {
    'Print the help of the scheduler': 'tutti help scheduler',
  },
};

/** Returns the `Examples:` section of --help, in the form that kubectl uses. `program`: how the user calls it. */
export function formatExamples(examples: Examples, program = 'tutti'): string {
  const entries = Object.entries(examples).map(
    ([purpose, commandLine]) => `  # ${purpose}\n  ${commandLine.replace(/^tutti\b/, program)}`,
  );
  return `Examples:\n${entries.join('\n\n')}`;
}
