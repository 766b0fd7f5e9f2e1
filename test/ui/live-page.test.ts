import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { Explanation } from '../../src/api/explain/explanation.ts';
import { nearestText, shortageText } from '../../src/api/explain/explanation-texts.ts';
import { podGroupPath } from '../../src/api/pod-group.ts';
import { systemClock } from '../../src/base/system-clock.ts';
import { createPod } from '../../src/cli/testing/create-pod.ts';
import { freshHome } from '../../src/cli/testing/fresh-home.ts';
import { httpEndpoints } from '../../src/cli/ui/http-endpoints.ts';
import { HttpTransport } from '../../src/client/http/http-transport.ts';
import { KubeClient } from '../../src/client/kube-client.ts';
import { loadKubeconfig } from '../../src/client/kubeconfig.ts';
import { createPlayground } from '../../src/compose/create-playground.ts';
import type { Playground } from '../../src/compose/create-playground.ts';
import { silentLogger } from '../../src/observability/silent-logger.ts';
import { browserPath, launchBrowser } from './browser.ts';
import { openPage } from './open-page.ts';
import type { OpenPage } from './open-page.ts';

const home = freshHome('live-page');

describe.skipIf(browserPath === undefined)('The timeline page of a real scheduler', () => {
  let browser: Browser;
  let ground: Playground;
  let transport: HttpTransport;
  let client: KubeClient;
  let open: OpenPage;

  beforeAll(async () => {
    browser = await launchBrowser();
    ground = await createPlayground({
      nodes: [
        { name: 'n1', allocatable: { cpu: 2, memory: '8Gi' } },
        { name: 'n2', allocatable: { cpu: 2, memory: '8Gi' } },
      ],
      logger: silentLogger,
    });
    transport = new HttpTransport({
      endpoint: await loadKubeconfig({ clock: systemClock, path: ground.kubeconfigPath }),
    });
    client = new KubeClient({ transport, clock: systemClock });
  });
  afterAll(async () => {
    await transport?.close();
    await ground?.stop();
    await browser?.close();
  });
  beforeEach(async () => {
    const permissions = ['clipboard-read', 'clipboard-write'];
    open = await openPage(browser, { endpoints: httpEndpoints(ground.schedulerUrl), permissions });
    await expect.poll(() => text('connection')).toBe('Live');
  });
  afterEach(async () => {
    await open.close();
    expect(open.problems).toEqual([]);
  });

  const text = (id: string): Promise<string> => open.page.locator(`#${id}`).innerText();

  async function createGroup(name: string, minMember: number): Promise<void> {
    await client.create(podGroupPath('default'), {
      apiVersion: 'scheduling.x-k8s.io/v1alpha1',
      kind: 'PodGroup',
      metadata: { name, namespace: 'default' },
      spec: { minMember },
    });
  }

  it('UI1 shows a gang of the API from its first member to running, with every step in order', async () => {
    await createGroup('red', 2);
    await createPod(client, { name: 'red-0', group: 'red', cpu: 0.1 });
    await open.page.locator('#show-table').click();
    const row = open.page.locator('#tables tbody tr', { hasText: 'default/red' });
    await expect.poll(() => row.innerText()).toContain('not ready');
    await createPod(client, { name: 'red-1', group: 'red', cpu: 0.1 });
    await expect.poll(() => row.innerText()).toMatch(/running\s+2\/2/);
    await row.getByRole('button').click();
    const happened = await open.page.locator('#panel ol li').allInnerTexts();
    const kinds = happened.map((line) => line.replace(/^[\d: –]+/, '').trim()).reverse();
    const order = ['added', 'ready', 'planned', 'started'].map((kind) =>
      kinds.findIndex((line) => line.startsWith(kind)),
    );
    expect(order.every((index) => index >= 0)).toBe(true);
    expect(order).toEqual(order.toSorted((a, b) => a - b));
  });

  it('UI2 explains a rejected gang as tutti why does for the same cluster', async () => {
    await createGroup('full', 2);
    for (const index of [0, 1]) await createPod(client, { name: `full-${index}`, group: 'full', cpu: 1.95 });
    await ground.until(async () =>
      JSON.stringify(await client.get(podGroupPath('default', 'full'))).includes('"reason":"Unschedulable"'),
    );
    const command = home.tutti(['why', 'full', '-o', 'json', '--kubeconfig', ground.kubeconfigPath]);
    expect(await command.ended()).toEqual({ exitCode: 0 });
    const printed = JSON.parse(command.stdout) as Explanation;
    await open.page.locator('#filter').fill('full');
    await open.page.locator('#lanes').press('Home');
    expect(await text('why')).toContain('no nodes found (waits for capacity)');
    await open.page.locator('#lanes').press('Enter');
    await expect.poll(() => text('panel')).toContain('What blocks it');

    const { verdict, blocker, placed, needed, shortages, whatHelps } = printed;
    const panel = await text('panel');
    expect(panel).toContain(verdict!.message);
    expect(panel).toContain(`${placed} of ${needed} placed. Then ${blocker!.member} `);
    const rows = await open.page.locator('#panel tbody tr').all();
    const cells = await Promise.all(rows.map((row) => row.locator('td').allInnerTexts()));
    expect(cells.map(([left, removed]) => [left, removed])).toEqual(
      blocker!.funnel.map(({ left, removed }) => [String(left), String(removed)]),
    );
    const lines = panel.split('\n');
    for (const each of [...blocker!.nearest.map(nearestText), ...shortages.map(shortageText)])
      expect(lines).toContain(each);
    expect(panel.split('would help').length - 1).toBe(whatHelps.length === 0 ? 0 : 1);

    // The same object, but for where it comes from.
    await open.page.getByRole('button', { name: 'Copy JSON' }).click();
    await expect.poll(() => text('panel')).toContain('The explanation is copied.');
    const copied = JSON.parse(await open.page.evaluate('navigator.clipboard.readText()')) as Explanation;
    const shared = ({
      subject,
      state,
      waitsFor,
      verdict,
      placed,
      needed,
      blocker,
      shortages,
      fitsNow,
    }: Explanation): unknown => ({
      ...{ subject, state, waitsFor, verdict, placed, needed, blocker, shortages, fitsNow },
    });
    expect(shared(copied)).toEqual(shared(printed));
  });
});
