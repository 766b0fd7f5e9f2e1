import { chartFolder, helm } from '../../test/planes/helm.ts';

/** Returns the output of `helm template` for the chart, including comments. Throws helm's error. */
export async function renderChart({
  release = 'tutti',
  namespace = 'tutti-system',
  values = {},
}: { readonly release?: string; readonly namespace?: string; readonly values?: object } = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await helm(['template', release, chartFolder, '--namespace', namespace], {
    values,
  });
  if (exitCode !== 0) throw new Error(`cannot render the chart: ${stderr}`);
  return stdout;
}
