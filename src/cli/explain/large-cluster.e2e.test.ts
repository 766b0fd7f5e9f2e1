import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Explanation } from '../../api/explain/explanation.ts';
import { podGroupPath } from '../../api/pod-group.ts';
import { localKubeconfig } from '../../client/local-kubeconfig.ts';
import { Builders } from '../../testkit/builders/builders.ts';
import { freshHome } from '../testing/fresh-home.ts';
import { ServedLists } from './testing/served-lists.ts';

const home = freshHome('large');
let api: ServedLists;

beforeAll(async () => {
  api = await ServedLists.start();
  const build = new Builders();
  const nodes = [];
  const pods = [];
  for (let n = 0; n < 5_000; n++) {
    nodes.push(build.node({ name: `n${n}`, cpu: 32, memory: '128Gi', labels: { pool: n % 10 === 0 ? 'gpu' : 'cpu' } }));
    for (let p = 0; p < 10; p++)
      pods.push(build.pod({ name: `p${n}-${p}`, nodeName: `n${n}`, cpu: 3, memory: '8Gi', priority: p % 3 }));
  }
  for (let m = 0; m < 64; m++) {
    const options = { group: 'train', cpu: 30, nodeSelector: { pool: 'gpu' }, schedulerName: 'tutti', priority: -1 };
    pods.push(build.pod({ name: `train-${m}`, ...options }));
  }
  api.lists.set('/api/v1/nodes', nodes).set('/api/v1/pods', pods).set('/api/v1/configmaps', []);
  api.lists.set(podGroupPath(), [build.podGroup({ name: 'train', minMember: 64 })]);
});

afterAll(() => api.close());

describe('WI25: tutti why with 5,000 nodes and 50,000 pods', () => {
  it('takes less than 5 s of processor time and 512 MB', async () => {
    const kubeconfig = join(home.path, 'kubeconfig');
    await writeFile(kubeconfig, localKubeconfig(api.url));
    const usage = join(home.path, 'usage.cjs');
    const file = join(home.path, 'usage.json');
    await writeFile(
      usage,
      `process.on('exit', () => require('fs').writeFileSync(${JSON.stringify(file)}, JSON.stringify(process.resourceUsage())));`,
    );
    const environment = { NODE_OPTIONS: `--require ${usage}` };
    const why = home.tutti(['why', 'train', '-o', 'json', '--kubeconfig', kubeconfig], { environment });
    expect(await why.ended(), why.stderr).toEqual({ exitCode: 0 });
    expect(JSON.parse(why.stdout) as Explanation).toMatchObject({ needed: 64, waitsFor: 'capacity', errors: [] });
    const { userCPUTime, systemCPUTime, maxRSS } = JSON.parse(await readFile(file, 'utf8')) as NodeJS.ResourceUsage;
    expect((userCPUTime + systemCPUTime) / 1e6).toBeLessThan(5);
    expect(maxRSS / 1024).toBeLessThan(512);
  });
});
