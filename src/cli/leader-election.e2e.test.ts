import { afterAll, beforeAll, expect, it } from 'vitest';
import { openEmbeddedPlane } from '../../test/planes/embedded.ts';
import type { TestPlane } from '../../test/planes/plane.ts';
import { freePorts } from '../../test/planes/real/ports.ts';
import { httpsGet } from '../serving/testing/https-get.ts';
import type { HttpsAnswer } from '../serving/testing/https-get.ts';
import { freshHome } from './testing/fresh-home.ts';
import type { TestProcess } from './testing/test-process.ts';

const home = freshHome('election');
let plane: TestPlane;

beforeAll(async () => {
  plane = await openEmbeddedPlane();
});

afterAll(async () => {
  await plane.stop();
});

/** Starts `tutti` with this command. It serves only if a flag sets the port. */
function start(command: string, ...flags: readonly string[]): TestProcess {
  return home.tutti([command, '--kubeconfig', plane.kubeconfigPath, '--secure-port', '0', ...flags]);
}

async function holderOf(lease: string): Promise<string> {
  const { spec } = await plane.client.get<{ readonly spec: { readonly holderIdentity: string } }>(
    `/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/${lease}`,
  );
  return spec.holderIdentity;
}

it.each([
  ['scheduler', 'tutti-scheduler'],
  ['controller', 'tutti-controller'],
])('lets one of two tutti %s processes lead, and the other as soon as that one ends', async (command, lease) => {
  const first = start(command);
  await first.said(/became leader +lease=kube-system/);
  const holder = await holderOf(lease);
  const [port] = await freePorts(1);
  const second = start(command, '--secure-port', String(port), '--authorization-always-allow-paths=/readyz,/metrics');
  await second.said(new RegExp(`standing by: another process holds the Lease .*holder=${holder}`));
  const get = (path: string): Promise<HttpsAnswer> => httpsGet(`https://127.0.0.1:${port}${path}`);
  await expect.poll(async () => (await get('/readyz')).status).toBe(200);
  expect((await get('/metrics')).text).toContain(`leader_election_master_status{name="${lease}"} 0`);
  first.signal('SIGTERM');
  await second.said(/became leader/);
  expect((await first.ended()).exitCode).toBe(0);
  expect(first.stderr).toContain('released the Lease');
  expect(await holderOf(lease)).not.toBe(holder);
  second.signal('SIGTERM');
  expect((await second.ended()).exitCode).toBe(0);
  expect(await holderOf(lease)).toBe('');
});

it('does not make a scheduler wait for one with other scheduler names, or with --leader-elect=false', async () => {
  const first = start('scheduler');
  await first.said(/scheduling +schedulerNames=tutti/);
  await start('scheduler', '--scheduler-name', 'other').said(/scheduling +schedulerNames=other/);
  await start('scheduler', '--leader-elect=false').said(/scheduling +schedulerNames=tutti/);
});
