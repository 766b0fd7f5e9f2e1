import { formatConfiguration } from './format-configuration.ts';
import type { SchedulerConfiguration } from './scheduler-configuration.ts';

/** Labels of the objects that the chart installs for the scheduler. */
export const releaseLabels = { 'app.kubernetes.io/part-of': 'tutti', 'app.kubernetes.io/component': 'scheduler' };

/** Key of the scheduler's configuration in its ConfigMap. */
export const configurationFile = 'scheduler.yaml';

/** Returns a ConfigMap like that of the chart. Commands that plan as the scheduler does find it by its labels. */
export function configMapOf(configuration: SchedulerConfiguration): object {
  return {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'tutti-scheduler', labels: releaseLabels },
    data: { [configurationFile]: formatConfiguration(configuration) },
  };
}
