import { loadAll } from 'js-yaml';
import { chartFolder, helm } from '../planes/helm.ts';
import type { HelmOutcome } from '../planes/helm.ts';
import type { HelmVersion } from '../planes/kubectl.ts';

/** An unvalidated Kubernetes object as the chart renders it. */
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
  /** Kinds that the cluster has in addition to Kubernetes' own: `monitoring.coreos.com/v1/ServiceMonitor`. */
  readonly apiVersions?: readonly string[];
}

/** Runs `helm template` and returns its result. Text values are YAML as a user would write it. */
export function templated(values: object | string = {}, options: RenderOptions = {}): Promise<HelmOutcome> {
  const { version = '3.17', release = 'tutti', namespace = 'tutti-system', apiVersions = [] } = options;
  const known = apiVersions.flatMap((name) => ['--api-versions', name]);
  return helm(['template', release, chartFolder, '--namespace', namespace, ...known], { version, values });
}

/** Returns the objects that the chart renders for the values. Throws with the output of helm on failure. */
export async function rendered(
  values: object | string = {},
  options: RenderOptions = {},
): Promise<readonly ChartObject[]> {
  const { exitCode, stdout, stderr } = await templated(values, options);
  if (exitCode !== 0) throw new Error(stderr);
  return objectsIn(stdout);
}

/** Returns the error output of helm for values that the chart rejects. Throws when it accepts them. */
export async function rejection(values: object | string, options: RenderOptions = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await templated(values, options);
  if (exitCode === 0)
    throw new Error(`the chart accepts ${JSON.stringify(values)} and renders ${stdout.length} characters`);
  return stderr;
}

/** Parses manifests and skips empty documents. Throws for invalid YAML. */
export function objectsIn(manifests: string): readonly ChartObject[] {
  const documents = loadAll(manifests) as unknown as readonly (ChartObject | null)[];
  return documents.filter((document) => document !== null);
}

/** Returns an id such as `Deployment/tutti-scheduler`. */
export function idOf({ kind, metadata }: ChartObject): string {
  return `${kind}/${metadata.name}`;
}

/** Returns the only object of that kind and name. */
export function theObject<T extends object = object>(objects: readonly ChartObject[], id: string): ChartObject & T {
  const found = objects.filter((object) => idOf(object) === id);
  if (found.length !== 1)
    throw new Error(`${found.length} objects are ${id}: there are ${objects.map(idOf).join(', ')}`);
  return found[0]! as ChartObject & T;
}

/** The fields of a Deployment that tests read. */
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

/** Returns the scheduler's configuration file. */
export function schedulerFile(objects: readonly ChartObject[]): string {
  const maps = objects.filter(
    ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name.endsWith('-scheduler-config'),
  );
  return (maps[0] as unknown as { data: Record<string, string> }).data['scheduler.yaml']!;
}

/** Returns where two sets of objects differ, as `Kind/name` with a path; one for each value that differs, in order. */
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

/** kind -> name of its collection */
const collections: Readonly<Record<string, string>> = {
  NetworkPolicy: 'networkpolicies',
  CustomResourceDefinition: 'customresourcedefinitions',
};

/** Returns the object's path at the API server. */
export function pathOf({ apiVersion, kind, metadata }: ChartObject): string {
  const base = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const collection = collections[kind] ?? `${kind.toLowerCase()}s`;
  const namespace = metadata.namespace === undefined ? '' : `/namespaces/${metadata.namespace}`;
  return `${base}${namespace}/${collection}/${encodeURIComponent(metadata.name)}`;
}
