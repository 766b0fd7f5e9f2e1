import { parseAllDocuments, stringify } from 'yaml';
import { renderChart } from './render.ts';

interface Manifest {
  readonly kind: string;
  readonly metadata: Readonly<Record<string, unknown>> & {
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
}

/** Labels and annotations for Helm, which would be wrong on objects that kubectl applies. */
const helmKeys = ['helm.sh/chart', 'helm.sh/resource-policy', 'app.kubernetes.io/managed-by'];

/** The values of the plain manifests. Nothing can look up what their API server serves, and a permission for an absent kind does no harm. */
export const plainValues = { nativePodGroups: { writeStatus: true } };

/** Renders the chart with these values for users without Helm: the release tutti in the namespace tutti-system, including the Namespace. */
export async function plainManifests(): Promise<string> {
  const objects = parseAllDocuments(await renderChart({ values: { ...plainValues, tests: { enabled: false } } }))
    .map((document) => document.toJSON() as Manifest | null)
    .filter((object) => object !== null)
    .map(withoutHelm);
  const namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'tutti-system' } };
  const texts = [namespace, ...objects].map((object) =>
    stringify(object, { lineWidth: 120, aliasDuplicateObjects: false }),
  );
  return `# Made by scripts/generate-chart.ts from charts/tutti; do not edit.\n${texts.join('---\n')}`;
}

/** Returns an object of the chart without Helm's labels and annotations. */
export function withoutHelm<T extends Manifest>(object: T): T {
  const { labels, annotations, ...metadata } = object.metadata;
  const kept = (map: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> =>
    Object.fromEntries(Object.entries(map).filter(([key]) => !helmKeys.includes(key)));
  const [keptLabels, keptAnnotations] = [kept(labels), kept(annotations)];
  return {
    ...object,
    metadata: {
      ...metadata,
      ...(Object.keys(keptLabels).length > 0 && { labels: keptLabels }),
      ...(Object.keys(keptAnnotations).length > 0 && { annotations: keptAnnotations }),
    },
  };
}
