/** The namespace in which the documentation installs the chart. */
export const defaultReleaseNamespace = 'tutti-system';

/** Returns the selector of the chart's objects of one component, in any release. */
export function componentSelector(component: 'scheduler' | 'controller'): string {
  return `app.kubernetes.io/part-of=tutti,app.kubernetes.io/component=${component}`;
}
