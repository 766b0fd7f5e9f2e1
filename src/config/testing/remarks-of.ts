import { formatRemark } from '../configuration-error.ts';
import type { KnownPlugin } from '../known-plugin.ts';
import { readConfiguration } from '../parse-configuration.ts';

export const header = 'apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n';

/** Returns the remarks about a file f.yaml, without its name: `3:1: parallelism must be …`. */
export function remarksOf(
  text: string,
  own: readonly KnownPlugin[] = [],
): { readonly problems: readonly string[]; readonly warnings: readonly string[] } {
  const { problems, warnings } = readConfiguration('f.yaml', text, own);
  const shown = (remark: Parameters<typeof formatRemark>[0]): string => formatRemark(remark).slice('f.yaml:'.length);
  return { problems: problems.map(shown), warnings: warnings.map(shown) };
}
