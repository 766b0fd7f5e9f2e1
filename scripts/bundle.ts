import { existsSync, readFileSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { isBuiltin } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { BuildOptions, Metafile, Plugin } from 'esbuild';
import { bundlePage } from '../src/cli/ui/bundle-page.ts';
import { builtPageFolder } from '../src/cli/ui/load-page.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

/** name in dist/ -> its source, for sources that exist */
export const entries: Readonly<Record<string, string>> = Object.fromEntries(
  Object.entries({
    cli: 'src/main.ts',
    index: 'src/index.ts',
    testing: 'src/testing.ts',
    'serving-thread': 'src/serving/front/front-thread.ts',
  }).filter(([, source]) => existsSync(join(root, source))),
);

/** A package with code in the bundle. */
export interface BundledPackage {
  readonly name: string;
  readonly version: string;
  /** SPDX expression in its package.json, if any. */
  readonly license: string | undefined;
  /** Path relative to the repository. */
  readonly folder: string;
}

/**
 * Bundles client-node twice. The kubeconfig reader gets only the 34 KB that it needs: the modules have no side effects, which their
 * package.json does not declare, so this plugin tells esbuild to drop the rest. All other code shares the complete package (5 MB) in a
 * separate file. With a single module graph, esbuild would include the complete package for both.
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
 * Loads undici lazily. client-node's kubeconfig imports this HTTP client (1 MB) only to create a dispatcher for fetch, which Tutti does not
 * use.
 */
const lazyUndici: Plugin = {
  name: 'lazy-undici',
  setup(builder) {
    builder.onResolve({ filter: /^undici$/ }, ({ path, kind, resolveDir }) =>
      kind === 'import-statement' ? { path, namespace: 'lazy', pluginData: resolveDir } : undefined,
    );
    builder.onLoad({ filter: /.*/, namespace: 'lazy' }, ({ pluginData }) => ({
      contents: `module.exports = {
        get Agent() { return require('undici').Agent; },
        get ProxyAgent() { return require('undici').ProxyAgent; },
      };`,
      resolveDir: pluginData as string,
    }));
  },
};

/**
 * Replaces imports of Node's built-in modules by lookups. An import reads all exports of a module, including lazy ones: `import 'node:http'`
 * in any package loads fetch and HTTP/2, which costs about 4 MB and a fifth of the startup time.
 */
const requireBuiltins: Plugin = {
  name: 'require-builtins',
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
  // Keep names for stack traces, but remove white space: it costs memory while a bundle loads.
  minifySyntax: true,
  minifyWhitespace: true,
  sourcemap: 'linked',
  sourcesContent: false,
  legalComments: 'none', // THIRD-PARTY-LICENSES.txt has the complete texts
  // CommonJS packages in the bundle call require() for built-in modules.
  banner: {
    js: `import{createRequire as createRequireOfBundle}from'node:module';const require=createRequireOfBundle(import.meta.url);`,
  },
  // supports-color: an optional dependency of the package debug. Development tools may have installed it here, but users need not have it.
  // esbuild: only the sources bundle the page, see src/cli/ui/load-page.ts.
  external: ['supports-color', 'esbuild'],
  metafile: true,
  logLevel: 'warning',
} satisfies BuildOptions;

/**
 * Bundles the entries with all their imports. Writes them to `folder`, or nowhere if `write` is false. The bundle includes all packages,
 * so that users install no others: loading @kubernetes/client-node file by file costs the scheduler about 50 MB of memory and a quarter of
 * a second (docs/decisions/0008-one-bundle-without-dependencies.md). The timeline page is a bundle of its own; rejects if it is too large. Resolves to the
 * bundled packages, by folder.
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
    splitting: true, // each command loads only what it needs: the scheduler does not need the embedded plane
    plugins: [twoClientNodes, lazyUndici, requireBuiltins],
  });
  const whole = await build({ ...into, entryPoints: { 'client-node': '@kubernetes/client-node' } });
  const page = await bundlePage(join(root, 'src/ui'));
  if (write) {
    const pageFolder = resolve(root, folder, builtPageFolder);
    await mkdir(pageFolder, { recursive: true });
    for (const { name, bytes } of page) await writeFile(join(pageFolder, name), bytes);
  }
  return packagesIn([metafile, whole.metafile]);
}

/** Returns the packages with code in the output. Packages that esbuild read but dropped do not count. */
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
