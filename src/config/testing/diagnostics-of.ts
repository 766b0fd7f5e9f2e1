import { formatDiagnostic } from '../configuration-error.ts';
import type { KnownPlugin } from '../known-plugin.ts';
import { readConfiguration } from '../parse-configuration.ts';

export const header = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n';

/** Returns the diagnostics about a file f.yaml, without its name: `3:1: parallelism must be …`. */
export function diagnosticsOf(
  text: string,
  own: readonly KnownPlugin[] = [],
): { readonly problems: readonly string[]; readonly warnings: readonly string[] } {
  const { problems, warnings } = readConfiguration('f.yaml', text, own);
  const shown = (diagnostic: Parameters<typeof formatDiagnostic>[0]): string =>
    formatDiagnostic(diagnostic).slice('f.yaml:'.length);
  return { problems: problems.map(shown), warnings: warnings.map(shown) };
}
