// The import rule of the source folders. scripts/check-layers.ts proves that it bites before it is believed.

/** A folder under src/ may import from itself and from the folders before it in this list. */
const layers = [
  'base',
  'api',
  'ui',
  'observability',
  'client',
  'informer',
  'cluster',
  'framework',
  'queue',
  'plugins',
  'config',
  'scheduler',
  'controller',
  'plane',
  'serving',
  'compose',
  'testkit',
  'cli',
];

/** Files directly in src/: the process entry and what the package exports. They may import any folder. */
const entries = ['main', 'index', 'testing'];

// Tests are next to the code that they test, and code that several tests share is in a folder testing/. Both may import anything.
const test = '\\.test\\.ts$|/testing/';

/**
 * folder under src/ -> its parts in order: a part may import from itself and from the parts before it. `http/` is a folder,
 * `json.ts` a file; `files` and `folders` are those that are not named.
 */
const parts = {
  api: ['files', 'explain/', 'timeline/'],
  client: ['api-errors.ts', 'endpoint.ts', 'transport.ts', 'wait.ts', 'http/', 'files'],
  queue: ['failure.ts', 'queued-entity.ts', 'equivalence/', 'files'],
  plugins: ['files', 'folders', 'registry.ts'],
  scheduler: [
    ...[
      'placement/',
      'metrics/',
      'lifecycle.ts',
      'ports.ts',
      'sort-key.ts',
      'profiles.ts',
      'api/',
      'verdicts/',
      'extenders/',
    ],
    ...[
      'timeline/',
      'intake/',
      'preemption/',
      'recovery/',
      'backfill/',
      'binding/',
      'cycle/',
      'explain/',
      'snapshot/',
      'files',
    ],
  ],
  'scheduler/placement': ['cache/', 'packing/', 'planning/'],
  controller: [
    ...['work-queue/', 'member-pod.ts', 'member-tally.ts', 'pod-group-controller-metrics.ts', 'native/', 'files'],
  ],
  plane: ['apiserver/', 'nodes/', 'workloads/'],
  'plane/apiserver': [
    ...['json.ts', 'append.ts', 'background-work.ts', 'schema/', 'patch/'],
    ...['store/', 'http/', 'kinds/', 'access/', 'verbs/', 'discovery/', 'background/', 'files'],
  ],
  'plane/apiserver/kinds': ['files', 'pods/', 'workloads/', 'custom/', 'built-in-kinds.ts'],
  serving: ['files', 'certificates/', 'access/', 'debug/', 'front/', 'secure-serving.ts'],
  compose: ['files', 'cluster-state/', 'snapshot/'],
  testkit: ['builders/', 'files'],
  cli: [
    ...['interruption.ts', 'command-context.ts', 'exit-codes.ts', 'flag-values.ts', 'text-columns.ts'],
    ...[
      'output/',
      'cluster-flags.ts',
      'manifests/',
      'explain/',
      'ui/',
      'timeline/',
      'completion/',
      'up/',
      'verify/',
      'files',
    ],
  ],
};

/** The pattern of what a part holds. */
function partPath(folder, part) {
  const literal = (name) => name.replaceAll('.', '\\.');
  const named = parts[folder].filter((name) => name !== 'files' && name !== 'folders');
  if (part === 'files') return `^src/${folder}/(?!(${named.map(literal).join('|')})$)[^/]+\\.ts$`;
  if (part === 'folders') return `^src/${folder}/(?!${named.map(literal).join('|')})[^/]+/`;
  return `^src/${folder}/${literal(part)}`;
}

/** One rule for each part of a folder but the last, which may import from all. */
function partRules(folder) {
  return parts[folder].slice(0, -1).map((part, index) => ({
    name: `part-${folder}/${part}`,
    comment: `In src/${folder} it imports only from the parts before it: ${parts[folder].slice(0, index).join(', ') || 'none'}.`,
    severity: 'error',
    from: { path: partPath(folder, part), pathNot: test },
    to: { path: parts[folder].slice(index + 1).map((later) => partPath(folder, later)), pathNot: test },
  }));
}

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
    ...Object.keys(parts).flatMap(partRules),
    {
      name: 'part-unknown',
      comment: 'A new folder inside a layer takes its place in the table of parts.',
      severity: 'error',
      from: {},
      to: {
        path: '^src/[^/]+/[^/]+/',
        pathNot: [test, ...Object.keys(parts).flatMap((folder) => parts[folder].map((part) => partPath(folder, part)))],
      },
    },
    {
      name: 'no-cycle',
      comment: 'Modules that need each other, if only as types, are one module or lack a third below them.',
      severity: 'error',
      from: { path: '^src/' },
      to: { circular: true },
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
      name: 'apiserver-only-in-compose',
      comment: 'The embedded API server is reached over HTTP; only compose starts it.',
      severity: 'error',
      from: { path: '^src/', pathNot: `^src/(plane/apiserver|compose)/|${test}` },
      to: { path: '^src/plane/apiserver/' },
    },
    {
      name: 'sources-without-tests',
      comment: 'What is published does not import tests, benchmarks or scripts.',
      severity: 'error',
      from: { path: '^src/', pathNot: test },
      to: { path: `^(test|bench|scripts)/|${test}` },
    },
    {
      name: 'page-apart',
      comment: 'The page runs in a browser. A process serves its bundle, and imports nothing of it.',
      severity: 'error',
      from: { path: '^src/(?!ui/)', pathNot: test },
      to: { path: '^src/ui/' },
    },
    {
      name: 'page-without-node',
      comment: 'The page runs in a browser. It imports no module of Node, and no package.',
      severity: 'error',
      from: { path: '^src/ui/', pathNot: test },
      to: { dependencyTypesNot: ['local', 'type-only'] },
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
      conditionNames: ['tutti-sources', 'import', 'node', 'types', 'default'],
      extensions: ['.ts', '.js', '.d.ts'],
    },
  },
};
