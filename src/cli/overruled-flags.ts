import type { Command } from 'commander';

/** Returns the flags that a configuration file overrides, as in kube-scheduler, although the user set them. */
export function overruledFlags(command: Command): readonly string[] {
  const names = ['schedulerName', 'kubeconfig', 'kubeApiQps', 'kubeApiBurst'];
  return command.options
    .filter((option) => names.includes(option.attributeName()))
    .filter((option) => command.getOptionValueSource(option.attributeName()) === 'cli')
    .map((option) => option.long!);
}
