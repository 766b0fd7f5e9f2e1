import { existsSync, readFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { BuildOptions, Metafile, Plugin } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));

/** Name in dist/ -> the source it is made from; those that there are. */
export const entries: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    cli: 'src/main.ts',
    index: 'src/index.ts',
    testing: 'src/testing.ts',
    'serving-thread': 'src/serving/front/front-thread.ts',
  }).filter(([, source]) => existsSync(join(root, source))),
);

/** A package of which something is in the bundle. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX expression, where its package.json has one. */
  readonly license: string | undefined;
  /** Relative to the repository. */
  readonly folder: string;
}

/**
 * client-node is bundled twice. What reads a kubeconfig gets the 34 KB that it needs: its modules do nothing when they are
 * loaded but define things, which its package.json does not say, and told so esbuild leaves the rest out. Everybody else
 * shares the whole of it, 5 MB, in a file of its own: in one graph esbuild would give the whole to both.
 */
const twoClientNodes: Plugin = {
  name: 'two-client-nodes',
  setup(builder) {
    builder.onResolve({ filter: /^@kubernetes\/client-node$|^\./ }, async (args) => {
      if (args.pluginData === twoClientNodes) return undefined;
      const { importer, resolveDir, kind } = args;
      const isEntrance = !args.path.startsWith('.');
      if (isEntrance && !importer.endsWith('client-node-kubeconfig.ts')) {
        return { path: '../client-node.js', external: true }; // from dist/chunks/
      }
      if (!isEntrance && !/[\\/]@kubernetes[\\/]client-node[\\/]/.test(importer)) return undefined;
      const resolved = await builder.resolve(args.path, { importer, resolveDir, kind, pluginData: twoClientNodes });
      return { ...resolved, sideEffects: false };
    });
  },
};

/**
 * client-node's kubeconfig imports the HTTP client undici for what we never ask it for: a dispatcher for fetch. It is 1 MB, and runs
 * only if somebody does ask.
 */
const undiciWhenAsked: Plugin = {
  name: 'undici-when-asked',
  setup(builder) {
    builder.onResolve({ filter: /^undici$/ }, ({ path, kind, resolveDir }) =>
      kind === 'import-statement' ? { path, namespace: 'when-asked', pluginData: resolveDir } : undefined,
    );
    builder.onLoad({ filter: /.*/, namespace: 'when-asked' }, ({ pluginData }) => ({
      contents: `module.exports = {
        get Agent() { return require('undici').Agent; },
        get ProxyAgent() { return require('undici').ProxyAgent; },
      };`,
      resolveDir: pluginData as string,
    }));
  },
};

/**
 * Node's own modules are required, not imported: to import one reads all that it exports, also what is made only when it is read.
 * `import 'node:http'` in any of the packages loads fetch and HTTP/2 in that way, which costs some 4 MB and a fifth of the time to start.
 */
const builtinsAreRequired: Plugin = {
  name: 'builtins-are-required',
  setup(builder) {
    builder.onResolve({ filter: /^[a-z_:/0-9]+$/ }, ({ path, kind }) => {
      if (!isBuiltin(path)) return undefined;
      if (kind !== 'import-statement') return { path, external: true };
      return { path: path.replace(/^node:/, ''), namespace: 'builtin' };
    });
    builder.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule(${JSON.stringify(`node:${path}`)});`,
    }));
  },
};

const common = {
  absWorkingDir: root,
  bundle: true,
  format: 'esm',
  platform: 'node',
  target: 'node22.19',
  // Names stay as they are in the sources, for stack traces; white space costs memory while a bundle is loaded.
  minifySyntax: true,
  minifyWhitespace: true,
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'none', // THIRD-PARTY-LICENSES.txt has the whole texts
  // CommonJS packages in the bundle call require() for Node's own modules.
  banner: {
    js: `import{createRequire as createRequireOfBundle}from'node:module';const require=createRequireOfBundle(import.meta.url);`,
  },
  // The package debug asks for it, in vain where nobody has it; here a development tool may have brought it.
  external: ['supports-color'],
  metafile: true,
  logLevel: 'warning',
} satisfies BuildOptions;

/**
 * Bundles the entries with everything they import, into that folder or, with `write` false, nowhere. Everything, so that the package
 * installs no others: loading @kubernetes/client-node file by file costs the scheduler some 50 MB of memory and a quarter of a
 * second (docs/decisions/0008-one-bundle-without-dependencies.md). Answers with the packages in it, by folder.
 */
export async function bundle({
  write,
  folder = 'dist',
}: {
  readonly write: boolean;
  readonly folder?: string;
}): Promise<readonly BundledPackage[]> {
  const into = { ...common, outdir: folder, write };
  const { metafile } = await build({
    ...into,
    entryPoints: entries,
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true, // a command loads what it needs: the scheduler has no use for the embedded plane
    plugins: [twoClientNodes, undiciWhenAsked, builtinsAreRequired],
  });
  const whole = await build({ ...into, entryPoints: { 'client-node': '@kubernetes/client-node' } });
  return packagesIn([metafile, whole.metafile]);
}

/** Those that output comes from: what was read and found to be unused does not count. */
function packagesIn(metafiles: readonly Metafile[]): readonly BundledPackage[] {
  const folders = new Set<string>();
  for (const { inputs } of metafiles.flatMap(({ outputs }) => Object.values(outputs))) {
    for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
      const folder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];
      if (folder !== undefined && bytesInOutput > 0) folders.add(folder);
    }
  }
  return [...folders].sort().map((folder) => {
    const manifest = readFileSync(join(root, folder, 'package.json'), 'utf8');
    const { name, version, license } = JSON.parse(manifest) as Omit<BundledPackage, 'folder'>;
    return { name, version, license, folder };
  });
}
