import { parseAllDocuments, stringify } from 'yaml';
import { renderChart } from './render.ts';

interface Manifest {
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>> & {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** Said by Helm, and wrong of what kubectl applies. */
const ofHelm = ['helm.sh/chart', 'helm.sh/resource-policy', 'app.kubernetes.io/managed-by'];

/** The chart with its defaults, for people without Helm: the release tutti in the namespace tutti-system, the namespace included. */
export async function plainManifests(): Promise<string> {
  const objects = parseAllDocuments(await renderChart({ values: { tests: { enabled: false } } }))
    .map((document) => document.toJSON() as Manifest | null)
    .filter((object) => object !== null)
    .map(withoutHelm);
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tutti-system' } };
  const texts = [namespace, ...objects].map((object) =>
    stringify(object, { lineWidth: 120, aliasDuplicateObjects: false }),
  );
  return `# Made by scripts/generate-chart.ts from charts/tutti; do not edit.\n${texts.join('---\n')}`;
}

/** What the chart makes, as it is without Helm. */
export function withoutHelm<T extends Manifest>(object: T): T {
  const { labels, annotations, ...metadata } = object.metadata;
  const kept = (map: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(map).filter(([key]) => !ofHelm.includes(key)));
  const [left, rest] = [kept(labels), kept(annotations)];
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(Object.keys(left).length > 0 && { labels: left }),
      ...(Object.keys(rest).length > 0 && { annotations: rest }),
    },
  };
}
