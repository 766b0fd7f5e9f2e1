import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { openEmbeddedPlane } from '../../test/planes/embedded.ts';
import type { TestPlane } from '../../test/planes/plane.ts';
import { TestProcess } from './testing/test-process.ts';

const running: TestProcess[] = [];
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tutti-plugins-'));
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((process) => process.kill()));
});
afterAll(() => rm(folder, { recursive: true }));

function tutti(...parameters: readonly string[]): TestProcess {
  const process = new TestProcess(parameters, { environment: { KUBECONFIG: '', HOME: folder } });
  running.push(process);
  return process;
}

async function file(name: string, ...lines: readonly string[]): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, `${lines.join('\n')}\n`);
  return path;
}

/** Returns why `tutti up` rejects these files, without the path of the last file. */
async function rejection(...paths: readonly string[]): Promise<string> {
  const process = tutti('up', '--exit', ...paths.flatMap((path) => ['--plugin', path]));
  expect(await process.ended()).toMatchObject({ exitCode: 1 });
  expect(process.stderr).not.toMatch(/^ +at (?!.*\/n\.ts:)|please report/m);
  return process.stderr
    .replace('tutti: ', '')
    .replace(`plugin ${paths.at(-1)}: `, '')
    .trim();
}

const withExample =
  /:\n {2}export default \{ name: 'MyPlugin', factory: \(args, handle\) => \(\{ name: 'MyPlugin', … \}\) \}$/;

describe('--plugin', () => {
  it.each<[string, string, readonly string[], string | RegExp]>([
    [
      'with a syntax error in TypeScript',
      'a.ts',
      ['export default {', "  name: 'A',", '  factory: ((', '};'],
      'line 4: SyntaxError: Expression expected',
    ],
    [
      'with a syntax error in JavaScript',
      'a.mjs',
      ['export default {', "  name: 'A'", '  factory: 1', '};'],
      "line 3: SyntaxError: Unexpected identifier 'factory'",
    ],
    [
      'with TypeScript that needs compilation',
      'b.mts',
      ['enum Size { Small }', 'export default Size;'],
      'line 1: SyntaxError: TypeScript enum is not supported in strip-only mode. Node.js strips types but does not compile TypeScript: remove enums, namespaces and parameter properties',
    ],
    [
      'that imports values of this package, which is not installed next to it',
      'c.ts',
      ["import { Status } from 'tutti-scheduler';", 'export default Status;'],
      /\. Import only its types \(import type\), because Status is in the handle; or install it next to the plugin, and run that tutti$/,
    ],
    [
      'that throws',
      'd.js',
      ['const nothing = undefined;', 'export default nothing.name;'],
      "line 2: TypeError: Cannot read properties of undefined (reading 'name')",
    ],
    ['that exports nothing', 'e.ts', ['const plugin = 1;', 'export {};'], withExample],
    [
      'that exports by name',
      'f.ts',
      ["export const plugin = { name: 'F' };"],
      /^it exports plugin, but must export one plugin by default:/,
    ],
    [
      'that exports a function',
      'g.ts',
      ["export default () => ({ name: 'G' });"],
      /^its default export is a function, but must be a plugin:/,
    ],
    [
      'that exports no name',
      'h.ts',
      ['export default { factory: () => ({}) };'],
      "its default export needs a name of letters and digits, such as name: 'MyPlugin'",
    ],
    [
      'that exports no factory',
      'i.ts',
      ["export default { name: 'I', filter: () => undefined };"],
      'its default export needs a factory: (args, handle) => ({ name: "I", … })',
    ],
    [
      'with an unknown field',
      'j.ts',
      ["export default { name: 'J', factory: () => ({ name: 'J' }), argumentSchema: {} };"],
      'its default export has an unknown field argumentSchema: did you mean argumentsSchema?',
    ],
    [
      'with an invalid weight',
      'k.ts',
      ["export default { name: 'K', factory: () => ({ name: 'K' }), weight: 0 };"],
      'its weight must be a number of at least 1',
    ],
    [
      'with an invalid schema',
      'l.ts',
      ["export default { name: 'L', factory: () => ({ name: 'L' }), argumentsSchema: { type: 'string' } };"],
      "its argumentsSchema must be a JSON schema of type 'object'",
    ],
    [
      'with invalid arguments',
      'm.ts',
      [
        'export default {',
        "  name: 'M',",
        '  factory: () => { throw new Error(); },',
        "  argumentsSchema: { type: 'object', additionalProperties: false, properties: { hour: { type: 'integer', maximum: 23 } } },",
        '  args: { hour: 24, minute: 1 },',
        '};',
      ],
      'profiles tutti, default-scheduler: arguments of M:\n  minute is not a known field; the only field is hour\n  hour must be a whole number of at most 23, not 24',
    ],
    [
      'with a factory that throws',
      'n.ts',
      ["export default { name: 'N', factory: () => { throw new Error('no disk'); } };"],
      /^profiles tutti, default-scheduler: plugin N could not be created: no disk\n {4}at .*factory \(file:\/\/.*\/n\.ts:1:\d+\)$/,
    ],
    [
      "with the name of one of Tutti's plugins",
      'o.ts',
      ["export default { name: 'NodeName', factory: () => ({ name: 'NodeName' }) };"],
      "the name NodeName is already used by one of Tutti's plugins: choose another name",
    ],
    ['with another extension', 'p.txt', [''], 'the file name of a plugin must end in .ts, .mts, .js, .mjs'],
  ])('rejects a file %s', async (_what, name, lines, message) => {
    expect(await rejection(await file(name, ...lines))).toMatch(
      typeof message === 'string' ? exactly(message) : message,
    );
  });

  it('rejects a missing file and a directory', async () => {
    expect(await rejection(join(folder, 'missing.ts'))).toBe('no such file');
    await mkdir(join(folder, 'folder.ts'));
    expect(await rejection(join(folder, 'folder.ts'))).toBe('not a file');
  });

  it('rejects a file with the plugin name of another file', async () => {
    const lines = ["export default { name: 'Same', factory: () => ({ name: 'Same' }) };"];
    const first = await file('first.ts', ...lines);
    expect(await rejection(first, await file('second.ts', ...lines))).toBe(
      `the name Same is already used by ${first}: choose another name`,
    );
  });
});

it('enables the plugin of a file in the profile that names it, and validates its arguments', async () => {
  const plugin = await file(
    'night.ts',
    'export default {',
    "  name: 'Night',",
    "  factory: ({ hour }: { hour: number }) => ({ name: 'Night', preFilter: () => { throw new Error(`hour ${hour}`); } }),",
    "  argumentsSchema: { type: 'object', additionalProperties: false, properties: { hour: { type: 'integer', maximum: 23, default: 6 } } },",
    '};',
  );
  const config = (hour: string): Promise<string> =>
    file(
      `scheduler-${hour}.yaml`,
      'apiVersion: kubescheduler.config.k8s.io/v1',
      'kind: KubeSchedulerConfiguration',
      'profiles:',
      '- schedulerName: night',
      '  plugins: {multiPoint: {enabled: [{name: Night}]}}',
      `  pluginConfig: [{name: Night, args: {hour: ${hour}}}]`,
    );
  const wrong = tutti('scheduler', '--plugin', plugin, '--config', await config('24'));
  expect(await wrong.ended()).toMatchObject({ exitCode: 1 });
  expect(wrong.stderr).toMatch(/scheduler-24\.yaml.*6.*hour must be a whole number of at most 23, not 24/s);
  const written = join(folder, 'written.yaml');
  const right = tutti('scheduler', '--plugin', plugin, '--config', await config('2'), '--write-config-to', written);
  expect(await right.ended()).toMatchObject({ exitCode: 0 });
  expect(await readFile(written, 'utf8')).toMatch(/name: Night/);
});

describe('tutti scheduler --plugin', () => {
  let plane: TestPlane;
  beforeAll(async () => {
    plane = await openEmbeddedPlane();
    const amounts = { cpu: '8', memory: '8Gi', pods: '10' };
    const node = { metadata: { name: 'node' }, status: { allocatable: amounts, capacity: amounts } };
    await plane.client.create('/api/v1/nodes', { apiVersion: 'v1', kind: 'Node', ...node });
  });
  afterAll(() => plane.stop());

  /** Creates a pod. Resolves with its node, or with the message of its verdict. */
  async function outcomeOf(name: string): Promise<string> {
    const spec = { schedulerName: 'tutti', containers: [{ name: 'main', image: 'busybox' }] };
    const path = '/api/v1/namespaces/default/pods';
    await plane.client.create(path, { apiVersion: 'v1', kind: 'Pod', metadata: { name }, spec });
    let outcome: string | undefined;
    await expect
      .poll(async () => {
        const pod = await plane.client.get<any>(`${path}/${name}`);
        const verdict = pod.status?.conditions?.find(({ type }: any) => type === 'PodScheduled')?.message;
        return (outcome = pod.spec.nodeName ?? verdict);
      })
      .toBeTruthy();
    return outcome!;
  }

  it('runs the plugins of all files, and reports in the verdict a plugin that throws or returns an invalid value', async () => {
    const nonsense = await file(
      'nonsense.ts',
      'export default {',
      "  name: 'Nonsense',",
      "  factory: () => ({ name: 'Nonsense', filter: (_: unknown, pod: { name: string }) => (pod.name === 'one' ? 'no' : undefined) }),",
      '};',
    );
    const bug = await file(
      'bug.mjs',
      'export default {',
      "  name: 'Bug',",
      '  factory: (_args, { logger }) => ({',
      "    name: 'Bug',",
      "    preFilter: (_state, pod) => { if (pod.name === 'two') throw new Error('a bug'); },",
      "    postBind: (_state, pod, node) => logger.info('bound', { pod: pod.name, node }),",
      '  }),',
      '};',
    );
    const flags = ['--kubeconfig', plane.kubeconfigPath, '--secure-port', '0'];
    const process = tutti('scheduler', ...flags, '--plugin', nonsense, '--plugin', bug);
    await process.said(/scheduling .*nodes=1/);
    expect(await outcomeOf('one')).toBe(
      '0/1 nodes are available: Nonsense failed in Filter: it must return undefined or a Status, not "no".',
    );
    expect(await outcomeOf('two')).toBe('0/1 nodes are available: Bug failed in PreFilter: a bug.');
    expect(await outcomeOf('three')).toBe('node');
    await process.said(/bound plugin=Bug pod=three node=node/);
    process.signal('SIGTERM');
    expect(await process.ended()).toMatchObject({ exitCode: 0 });
  });
});

function exactly(text: string): RegExp {
  return new RegExp(`^${text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`);
}
