import { loadAll } from 'js-yaml';
import { chartFolder, helm } from '../planes/helm.ts';
import type { HelmOutcome } from '../planes/helm.ts';
import type { HelmVersion } from '../planes/kubectl.ts';

/** A Kubernetes object as the chart makes it, which nobody has checked. */
export interface ChartObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

export interface RenderOptions {
  readonly version?: HelmVersion;
  readonly release?: string;
  readonly namespace?: string;
  /** Kinds that the cluster knows besides Kubernetes' own: `monitoring.coreos.com/v1/ServiceMonitor`. */
  readonly apiVersions?: readonly string[];
}

/** `helm template`, as it ends. Text is taken for YAML as a user would write it. */
export function templated(values: object | string = {}, options: RenderOptions = {}): Promise<HelmOutcome> {
  const { version = '3.17', release = 'tutti', namespace = 'tutti-system', apiVersions = [] } = options;
  const known = apiVersions.flatMap((name) => ['--api-versions', name]);
  return helm(['template', release, chartFolder, '--namespace', namespace, ...known], { version, values });
}

/** The objects that the chart makes of the values. Throws with what helm says. */
export async function rendered(
  values: object | string = {},
  options: RenderOptions = {},
): Promise<readonly ChartObject[]> {
  const { exitCode, stdout, stderr } = await templated(values, options);
  if (exitCode !== 0) throw new Error(stderr);
  return objectsIn(stdout);
}

/** What helm says of values that the chart rejects. Throws when it takes them. */
export async function rejection(values: object | string, options: RenderOptions = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await templated(values, options);
  if (exitCode === 0)
    throw new Error(`the chart takes ${JSON.stringify(values)} and makes ${stdout.length} characters`);
  return stderr;
}

/** Documents without anything in them do not count. Throws for what is no YAML. */
export function objectsIn(manifests: string): readonly ChartObject[] {
  const documents = loadAll(manifests) as unknown as readonly (ChartObject | null)[];
  return documents.filter((document) => document !== null);
}

/** `Deployment/tutti-scheduler` */
export function idOf({ kind, metadata }: ChartObject): string {
  return `${kind}/${metadata.name}`;
}

/** The one object of that kind and name. */
export function theObject<T extends object = object>(objects: readonly ChartObject[], id: string): ChartObject & T {
  const found = objects.filter((object) => idOf(object) === id);
  if (found.length !== 1)
    throw new Error(`${found.length} objects are ${id}: there are ${objects.map(idOf).join(', ')}`);
  return found[0]! as ChartObject & T;
}

/** The parts of a Deployment that are looked at. */
export interface DeploymentParts {
  readonly spec: {
    readonly replicas: number;
    readonly strategy: object;
    readonly selector: { readonly matchLabels: Readonly<Record<string, string>> };
    readonly template: {
      readonly metadata: {
        readonly labels: Readonly<Record<string, string>>;
        readonly annotations?: Readonly<Record<string, string>>;
      };
      readonly spec: {
        readonly serviceAccountName: string;
        readonly schedulerName: string;
        readonly topologySpreadConstraints?: readonly object[];
        readonly containers: readonly { readonly image: string; readonly args: readonly string[] }[];
      } & Readonly<Record<string, unknown>>;
    };
  };
}

export function deployment(
  objects: readonly ChartObject[],
  component: 'scheduler' | 'controller' = 'scheduler',
): ChartObject & DeploymentParts {
  const found = objects.filter(
    ({ kind, metadata }) => kind === 'Deployment' && metadata.labels?.['app.kubernetes.io/component'] === component,
  );
  if (found.length !== 1) throw new Error(`there are ${found.length} Deployments of the ${component}`);
  return found[0]! as ChartObject & DeploymentParts;
}

/** The scheduler's file. */
export function schedulerFile(objects: readonly ChartObject[]): string {
  const maps = objects.filter(
    ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.endsWith('-scheduler-config'),
  );
  return (maps[0] as unknown as { data: Record<string, string> }).data['scheduler.yaml']!;
}

/** Where two sets of objects differ, as `Kind/name` with a path; one for each value that is not the same, in order. */
export function differences(before: readonly ChartObject[], after: readonly ChartObject[]): readonly string[] {
  const byId = (objects: readonly ChartObject[]): Record<string, unknown> =>
    Object.fromEntries(objects.map((object) => [`${idOf(object)}`, object]));
  const found: string[] = [];
  compare(byId(before), byId(after), '', found);
  return found;
}

function compare(a: unknown, b: unknown, path: string, found: string[]): void {
  if (JSON.stringify(a) === JSON.stringify(b)) return;
  const isMap = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
  if (!isMap(a) || !isMap(b) || Array.isArray(a) !== Array.isArray(b)) {
    found.push(path);
    return;
  }
  for (const key of new Set([...Object.keys(a), ...Object.keys(b)])) {
    compare(a[key], b[key], path === '' ? key : `${path}.${key}`, found);
  }
}

/** Kind -> the name of its collection. */
const collections: Readonly<Record<string, string>> = {
  NetworkPolicy: 'networkpolicies',
  CustomResourceDefinition: 'customresourcedefinitions',
};

/** Where the API server has the object. */
export function pathOf({ apiVersion, kind, metadata }: ChartObject): string {
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const collection = collections[kind] ?? `${kind.toLowerCase()}s`;
  const namespace = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
  return `${base}${namespace}/${collection}/${encodeURIComponent(metadata.name)}`;
}
