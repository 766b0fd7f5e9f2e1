// Makes dist/: the command line, the library, their declarations, source maps, and the licenses of what is bundled.
//
// Everything is bundled, so that the package installs no others: loading @kubernetes/client-node file by file costs the
// scheduler some 50 MB of memory and a quarter of a second (docs/decisions/0008-one-bundle-without-dependencies.md).
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { chmod, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import type { BuildOptions, Metafile, Plugin } from 'esbuild';

const root = fileURLToPath(new URL('..', import.meta.url));
const dist = join(root, 'dist');
process.chdir(root);

/** Name in dist/ -> the source it is made from. */
const entries = {
  cli: 'src/main.ts',
  index: 'src/index.ts',
  testing: 'src/testing.ts',
};

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

const common = {
  outdir: dist,
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
  metafile: true,
  logLevel: 'warning',
} satisfies BuildOptions;

async function bundle(): Promise<Metafile> {
  const { metafile } = await build({
    ...common,
    entryPoints: Object.fromEntries(Object.entries(entries).filter(([, source]) => existsSync(source))),
    chunkNames: 'chunks/[name]-[hash]',
    splitting: true, // a command loads what it needs: the scheduler has no use for the embedded plane
    plugins: [twoClientNodes],
  });
  const whole = await build({ ...common, entryPoints: { 'client-node': '@kubernetes/client-node' } });
  const cli = join(dist, 'cli.js');
  if (!(await readFile(cli, 'utf8')).startsWith('#!'))
    throw new Error('src/main.ts must begin with #!/usr/bin/env node');
  await chmod(cli, 0o755);
  return {
    inputs: { ...metafile.inputs, ...whole.metafile.inputs },
    outputs: { ...metafile.outputs, ...whole.metafile.outputs },
  };
}

/**
 * Declarations of the library, without those of files that its declarations do not lead to. A package that they name must
 * be installed with ours.
 */
async function declarations(): Promise<void> {
  execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
    stdio: 'inherit',
  });
  const { dependencies = {} } = JSON.parse(await readFile('package.json', 'utf8')) as {
    dependencies?: Record<string, string>;
  };
  const types = join(dist, 'types');
  const reached = new Set(
    Object.keys(entries)
      .map((name) => join(types, `${name}.d.ts`))
      .filter(existsSync),
  );
  for (const file of reached) {
    for (const specifier of importsOf(await readFile(file, 'utf8'))) {
      if (specifier.startsWith('.')) reached.add(join(dirname(file), specifier.replace(/\.ts$/, '.d.ts')));
      else if (!specifier.startsWith('node:') && !Object.hasOwn(dependencies, packageOf(specifier))) {
        throw new Error(
          `${relative(root, file)} names the package ${specifier}, which is bundled and not installed with this one: ` +
            `keep its types out of what src/index.ts exports, or make it a dependency`,
        );
      }
    }
  }
  for (const entry of await readdir(types, { recursive: true })) {
    const file = join(types, entry);
    if (file.endsWith('.d.ts') && !reached.has(file)) await rm(file);
  }
}

/** What a declaration file imports; the examples in its comments do not count. */
function importsOf(declaration: string): string[] {
  const code = declaration.replaceAll(/\/\*[^]*?\*\//g, '');
  return [...code.matchAll(/(?:\bfrom |\bimport\()['"]([^'"]+)['"]/g)].map(([, specifier]) => specifier ?? '');
}

function packageOf(specifier: string): string {
  return specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');
}

/** The license texts of the packages in the bundle. Throws for one that brings none. */
function licenses(metafile: Metafile): string {
  const packages = new Set<string>();
  for (const input of Object.keys(metafile.inputs)) {
    const folder = /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(input)?.[0];
    if (folder !== undefined) packages.add(folder);
  }
  const texts = [...packages].sort().map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as {
      name: string;
      version: string;
      license?: string;
    };
    const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
    if (files.length === 0 && license === undefined) throw new Error(`${name} is bundled and states no license`);
    const text = files.sort().map((file) => readFileSync(join(folder, file), 'utf8').trim());
    return [`${name} ${version} (${license ?? 'see below'})`, ...text].join('\n\n');
  });
  return `The bundles in this folder contain the packages below.\n\n${texts.join(`\n\n${'-'.repeat(80)}\n\n`)}\n`;
}

await rm(dist, { recursive: true, force: true });
const metafile = await bundle();
await writeFile(join(dist, 'THIRD-PARTY-LICENSES.txt'), licenses(metafile));
if (existsSync(entries.index)) await declarations();
for (const file of (await readdir(dist, { recursive: true })).filter((name) => name.endsWith('.js'))) {
  console.log(`${((await stat(join(dist, file))).size / 1024).toFixed(0).padStart(6)} KiB  dist/${file}`);
}
