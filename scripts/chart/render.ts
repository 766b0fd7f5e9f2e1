import { chartFolder, helm } from '../../test/planes/helm.ts';

/** What `helm template` makes of the chart, comments included. Throws with what helm says. */
export async function renderChart({
  release = 'tutti',
  namespace = 'tutti-system',
  values = {},
}: { readonly release?: string; readonly namespace?: string; readonly values?: object } = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await helm(['template', release, chartFolder, '--namespace', namespace], {
    values,
  });
  if (exitCode !== 0) throw new Error(`the chart cannot be rendered: ${stderr}`);
  return stdout;
}
