/**
 * What a text names. Texts of one category are replaced alike wherever they are, so that what was equal stays equal.
 * - `workload`: objects of other kinds, such as Jobs and Services. `class`: storage and attributes classes.
 */
export type Category =
  | 'namespace'
  | 'node'
  | 'pod'
  | 'group'
  | 'uid'
  | 'workload'
  | 'scheduler'
  | 'gate'
  | 'key'
  | 'value'
  | 'taint'
  | 'image'
  | 'resource'
  | 'claim'
  | 'class'
  | 'volume'
  | 'driver'
  | 'address'
  | 'other';

/** Returns what replaces a text. */
export type Rename = (category: Category, text: string) => string;

/** Labels and taints that plugins treat in a special way, or that every cluster has. */
const knownKeys: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'kubernetes.io/metadata.name',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'node.kubernetes.io/not-ready',
  'node.kubernetes.io/unreachable',
  'node.kubernetes.io/unschedulable',
  'node.kubernetes.io/memory-pressure',
  'node.kubernetes.io/disk-pressure',
  'node.kubernetes.io/pid-pressure',
  'node.kubernetes.io/network-unavailable',
  'node.kubernetes.io/out-of-service',
  'node-role.kubernetes.io/control-plane',
  'scheduling.x-k8s.io/pod-group',
  'pod-template-hash',
  'controller-revision-hash',
  'topology.ebs.csi.aws.com/zone',
  'topology.gke.io/zone',
  'topology.cinder.csi.openstack.org/zone',
]);

const knownDrivers: ReadonlySet<string> = new Set([
  'kubernetes.io/no-provisioner',
  'kubernetes.io/aws-ebs',
  'kubernetes.io/gce-pd',
  'kubernetes.io/cinder',
  'kubernetes.io/azure-disk',
  'kubernetes.io/azure-file',
  'kubernetes.io/portworx-volume',
  'kubernetes.io/vsphere-volume',
  'ebs.csi.aws.com',
  'pd.csi.storage.gke.io',
  'cinder.csi.openstack.org',
  'disk.csi.azure.com',
  'pxd.portworx.com',
]);

/** Texts that are kept, because they name nothing of the user's. */
const kept: Readonly<Partial<Record<Category, (text: string) => boolean>>> = {
  key: (text) => knownKeys.has(text),
  driver: (text) => knownDrivers.has(text),
  scheduler: (text) => text === 'default-scheduler',
  address: (text) => text === '0.0.0.0' || text === '127.0.0.1' || text === '::',
  resource: (text) =>
    ['cpu', 'memory', 'ephemeral-storage', 'pods', 'storage', 'nvidia.com/gpu', 'amd.com/gpu'].includes(text) ||
    /^hugepages-\d+[KMG]i$/.test(text),
};

/**
 * Replaces texts by numbered ones. The numbers follow the order of the texts, because names break ties. First pass all texts to `see`, then ask
 * `replacement`. An empty text stays empty.
 */
export class Renaming {
  /** category -> the texts that were seen */
  readonly #seen = new Map<Category, Set<string>>();
  /** category -> text -> its replacement */
  readonly #replacements = new Map<Category, ReadonlyMap<string, string>>();

  readonly see: Rename = (category, text) => {
    let texts = this.#seen.get(category);
    if (texts === undefined) this.#seen.set(category, (texts = new Set()));
    texts.add(text);
    return text;
  };

  readonly replacement: Rename = (category, text) => {
    if (text === '' || kept[category]?.(text) === true) return text;
    let ofCategory = this.#replacements.get(category);
    if (ofCategory === undefined) this.#replacements.set(category, (ofCategory = this.#numbered(category)));
    const replaced = ofCategory.get(text);
    if (replaced === undefined) throw new Error(`a ${category} was not seen before it was to be replaced`);
    return replaced;
  };

  #numbered(category: Category): ReadonlyMap<string, string> {
    const texts = [...(this.#seen.get(category) ?? [])].filter((text) => text !== '').sort();
    const isKept = kept[category] ?? (() => false);
    const digits = String(texts.length).length;
    let before = '';
    return new Map(
      texts.map((text, index) => {
        if (isKept(text)) before = text;
        const number = String(index + 1).padStart(digits, '0');
        return [text, category === 'resource' ? resource(text, before, number) : `${category}-${number}`];
      }),
    );
  }
}

/** Resources are also ordered among those that keep their names, and the form of a name tells what kind of resource it is. */
function resource(text: string, before: string, number: string): string {
  const start = before === '' ? 'a' : before.replace('/', '.');
  if (!text.includes('/')) return `${start}-r${number}`;
  return text.includes('kubernetes.io/') ? `${start}.kubernetes.io/r${number}` : `${start}.x/r${number}`;
}
