import type { Plugin, PluginFactory } from '../../framework/plugin.ts';
import { Status } from '../../framework/status.ts';

const unlicensed = new Status('Unschedulable', 'node(s) without a free license');
const oldKernel = new Status('UnschedulableAndUnresolvable', ['node(s) with an old kernel', 'node(s) of another team']);
const pinned = new Status('UnschedulableAndUnresolvable', {
  text: 'node(s) other than the one that the pod is pinned to',
  code: 'NodeNameMismatch',
});
const noSlot = new Status('Unschedulable', 'node(s) without a slot');

/** Whether the plugin rejects the node: the same nodes in each run. */
const isOdd = (name: string): boolean => Number(name.at(-1)) % 2 === 1;

/**
 * Plugins as others write them. They judge pods with the label `odd` whose value is their name.
 * - `Licenses`, `Kernels`: reject nodes with texts only. `Pins`: rejects nodes with a code.
 * - `Preselects`: leaves out nodes in PreFilter. `NotToday`: rejects the pod as a whole.
 * - `Throws`, `ThrowsEarly`: throw in Filter, or in PreFilter. `Slots`: rejects nodes in Reserve.
 */
const plugins: readonly Plugin[] = [
  {
    name: 'Licenses',
    filter: (_state, { labels }, { name }) => (labels.odd === 'Licenses' && isOdd(name) ? unlicensed : undefined),
  },
  {
    name: 'Kernels',
    filter: (_state, { labels }, { name }) => (labels.odd === 'Kernels' && isOdd(name) ? oldKernel : undefined),
  },
  {
    name: 'Pins',
    filter: (_state, { labels }, { name }) => (labels.odd === 'Pins' && name !== 'n1' ? pinned : undefined),
  },
  {
    name: 'Preselects',
    preFilter: (_state, { labels }) => (labels.odd === 'Preselects' ? { nodeNames: new Set(['n1', 'n3']) } : undefined),
  },
  {
    name: 'NotToday',
    preFilter: (_state, { labels }) =>
      labels.odd === 'NotToday' ? new Status('Unschedulable', 'not today') : undefined,
  },
  {
    name: 'Throws',
    filter: (_state, { labels }, { name }) => {
      if (labels.odd === 'Throws' && isOdd(name)) throw new Error('out of ideas');
      return undefined;
    },
  },
  {
    name: 'ThrowsEarly',
    preFilter: (_state, { labels }) => {
      if (labels.odd === 'ThrowsEarly') throw new Error('no idea at all');
      return undefined;
    },
  },
  {
    name: 'Slots',
    reserve: (_state, { labels }, { name }) => (labels.odd === 'Slots' && isOdd(name) ? noSlot : undefined),
    unreserve: () => undefined,
  },
];

export const otherPlugins: ReadonlyMap<string, PluginFactory> = new Map(
  plugins.map((plugin) => [plugin.name, () => plugin]),
);

/** Those that give a code of their own are more frequent. */
export const otherPluginNames: readonly string[] = [...otherPlugins.keys(), 'Pins', 'Preselects'];
