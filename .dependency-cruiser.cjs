// The import rule of the source folders. scripts/check-layers.ts proves that it bites before it is believed.

/** A folder under src/ may import from itself and from the folders before it in this list. */
const layers = [
  'base',
  'api',
  'observability',
  'client',
  'informer',
  'workqueue',
  'cluster',
  'framework',
  'queue',
  'plugins',
  'config',
  'scheduler',
  'controller',
  'embedded',
  'serving',
  'compose',
  'cli',
];

/** Files directly in src/: the process entry and what the package exports. They may import any folder. */
const entries = ['main', 'index', 'testing'];

// Tests stand beside what they test, and may reach for whatever they need.
const test = '\\.test\\.ts$';

module.exports = {
  forbidden: [
    ...layers.slice(0, -1).map((layer, index) => ({
      name: `layer-${layer}`,
      comment: `src/${layer} imports only from the folders before it: ${layers.slice(0, index).join(', ') || 'none'}.`,
      severity: 'error',
      from: { path: `^src/${layer}/`, pathNot: test },
      to: { path: `^src/((${layers.slice(index + 1).join('|')})/|(${entries.join('|')})\\.ts$)` },
    })),
    {
      name: 'layer-cli',
      comment: 'Nothing but the package itself enters through the files directly in src/.',
      severity: 'error',
      from: { path: '^src/cli/', pathNot: test },
      to: { path: `^src/(${entries.join('|')})\\.ts$` },
    },
    {
      name: 'layer-unknown',
      comment: 'A new folder or file directly in src/ takes its place in the list of layers.',
      severity: 'error',
      from: {},
      to: { path: '^src/', pathNot: `^src/((${layers.join('|')})/|(${entries.join('|')})\\.ts$)` },
    },
    {
      name: 'scheduler-without-plugins',
      comment: 'The scheduler gets its plugins from compose; it knows only their contract in src/framework.',
      severity: 'error',
      from: { path: '^src/scheduler/', pathNot: test },
      to: { path: '^src/plugins/' },
    },
    {
      name: 'plugin-without-plugin',
      comment: 'What two plugins share stands in src/plugins itself or in a layer below.',
      severity: 'error',
      from: { path: '^src/plugins/([^/]+)/', pathNot: test },
      to: { path: '^src/plugins/[^/]+/', pathNot: '^src/plugins/$1/' },
    },
    {
      name: 'embedded-only-in-compose',
      comment: 'The embedded control plane is reached over its HTTP interface; only compose starts it.',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/(embedded|compose)/|${test}` },
      to: { path: '^src/embedded/' },
    },
    {
      name: 'sources-without-tests',
      comment: 'What is published does not import tests, benchmarks or scripts.',
      severity: 'error',
      from: { path: '^src/', pathNot: `/testing/|${test}` },
      to: { path: `^(test|bench|scripts)/|^src/.+/testing/|${test}` },
    },
    {
      name: 'one-http-stack',
      comment: 'Calls to an API server go through src/client/transport.ts, whoever makes them.',
      severity: 'error',
      from: { path: '^src/', pathNot: test },
      to: { path: '(^|/)node_modules/undici/' },
    },
    {
      name: 'unresolvable',
      comment: 'An import that leads nowhere would escape the rules above.',
      severity: 'error',
      from: {},
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: '(^|/)node_modules/' },
    exclude: { path: '^test/fixtures/|^dist/' },
    // Type imports count: a layer that knows the types of a later one knows that layer.
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ['exports'],
      conditionNames: ['import', 'node', 'types', 'default'],
      extensions: ['.ts', '.js', '.d.ts'],
    },
  },
};
