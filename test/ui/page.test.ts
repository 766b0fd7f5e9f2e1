import axe from 'axe-core';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/system-clock.ts';
import { NoLeaderError } from '../../src/cli/explain/leader/find-leader.ts';
import type { DebugEndpoints } from '../../src/cli/ui/debug-endpoints.ts';
import { LeaderEndpoints } from '../../src/cli/ui/leader-endpoints.ts';
import { browserPath, launchBrowser } from './browser.ts';
import { FakeScheduler, lacksCapacity } from './fake-scheduler.ts';
import { openPage } from './open-page.ts';
import type { OpenPage, OpenPageOptions } from './open-page.ts';
import { cpuReason, exampleNode, exampleStory, largeStory } from './stories.ts';
import { TimelineStory } from './timeline-story.ts';

const noon = new Date(2026, 0, 1, 12).getTime();

describe.skipIf(browserPath === undefined)('The timeline page in a browser', () => {
  let browser: Browser;
  let scheduler: FakeScheduler;
  let story: TimelineStory;
  let open: OpenPage;
  /** What a test provokes. */
  let expectedProblem: RegExp;

  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(() => {
    scheduler = new FakeScheduler();
    story = new TimelineStory(noon);
    expectedProblem = /^$/;
    scheduler.greeting = () => [story.snapshot()];
  });
  afterEach(async () => {
    const { problems, requests, server } = open;
    await open.close();
    // UI10, UI11: nothing leaves the origin, and the content security policy has nothing to report.
    expect(problems.filter((problem) => !expectedProblem.test(problem))).toEqual([]);
    const { origin } = new URL(server.link);
    expect(requests.filter((url) => !url.startsWith(`${origin}/`))).toEqual([]);
  });

  async function opened(options: OpenPageOptions = {}): Promise<OpenPage> {
    open = await openPage(browser, { scheduler, ...options });
    await expectText('connection', /^Live/);
    return open;
  }

  const text = (id: string): Promise<string> => open.page.locator(`#${id}`).innerText();
  const expectText = (id: string, pattern: RegExp | string): Promise<void> =>
    expect.poll(() => text(id)).toMatch(pattern);

  const openTable = (): Promise<void> => open.page.locator('#show-table').click();

  /** Returns the cells of the table: name -> the others. */
  async function table(): Promise<Record<string, string[]>> {
    const rows = await open.page.locator('#tables tbody tr').all();
    const cells = await Promise.all(rows.map((row) => row.locator('th, td').allInnerTexts()));
    return Object.fromEntries(cells.map(([name, ...others]) => [name!, others]));
  }

  /** Returns the colors of a row of the canvas just before now, as #rrggbb. */
  async function colorsBeforeNow(row: number): Promise<readonly string[]> {
    await open.page.evaluate('new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))');
    return open.page.evaluate(`(() => {
      const canvas = document.getElementById('canvas');
      const copy = document.createElement('canvas');
      [copy.width, copy.height] = [canvas.width, canvas.height];
      const context = copy.getContext('2d', { willReadFrequently: true });
      context.drawImage(canvas, 0, 0);
      const names = Math.round(Math.min(240, Math.max(96, canvas.width * 0.3)));
      const now = names + (canvas.width - names) * (1 - 0.03);
      const { data } = context.getImageData(now - 8, 24 + ${row} * 22, 5, 22);
      const colors = new Set();
      for (let at = 0; at < data.length; at += 4)
        colors.add('#' + [0, 1, 2].map((index) => data[at + index].toString(16).padStart(2, '0')).join(''));
      return [...colors];
    })()`);
  }

  /** A row for the time just before now needs a bar of some seconds: the span is one minute, and the scheduler's time moves on. */
  async function step(): Promise<void> {
    scheduler.send(story.delta());
    scheduler.send(story.pass(5).delta());
  }

  it('UI1 shows each step of a gang from members to running as soon as it receives it', async () => {
    const red = story.group('red', 8);
    // Without it, nothing is drawn but what messages and keys lead to.
    await opened({ script: 'window.setInterval = () => 0;' });
    await open.page.getByRole('button', { name: '1m' }).click();
    const expectShown = async (why: RegExp): Promise<void> => {
      await step();
      await expect
        .poll(async () => {
          await open.page.locator('#lanes').press('Home');
          return text('why');
        })
        .toMatch(why);
    };
    await expectShown(/^ml\/red: not ready, waiting for members for \d+s; 0 bound of 8 needed/);
    story.tell(red, 'Ready', 'Waiting');
    await expectShown(/^ml\/red: waiting for/);
    expect(await text('summary')).toBe('1 groups and pods: 1 waiting; 0 nodes.');
    story.tell(red, 'Planned', 'Starting', { planned: 8 });
    await expectShown(/^ml\/red: planned for/);
    expect(await colorsBeforeNow(0)).toContain('#0072b2');
    story.tell(red, 'Started', 'Running', { bound: 8 });
    await expectShown(/^ml\/red: running for \d+s; 8 bound of 8 needed; started/);
    expect(await colorsBeforeNow(0)).toContain('#009e73');
    expect(await text('summary')).toBe('1 groups and pods: 1 running; 0 nodes.');
  });

  it('UI2 explains a rejected gang as the scheduler does', async () => {
    const red = story.group('red', 8);
    story.tell(red, 'Ready', 'Waiting').pass(10);
    story.tell(red, 'Rejected', 'Waiting', { waitsFor: 'capacity', reason: cpuReason }).pass(60).again(red, 7).pass(5);
    const explanation = lacksCapacity('ml', 'red');
    scheduler.explanation = (query) => (query.get('name') === 'red' ? explanation : undefined);
    await opened({ permissions: ['clipboard-read', 'clipboard-write'] });
    await open.page.locator('#lanes').press('ArrowDown');
    expect(await text('why')).toMatch(
      /^ml\/red: waiting for capacity for 1m 15s; 0 bound of 8 needed; no nodes found \(waits for capacity\) ×7: 12 more cpu needed, 4 free$/,
    );
    await open.page.locator('#lanes').press('Enter');
    await expectText('panel', '5 of 8 members fit: 12 more cpu needed, 4 free');
    const panel = await text('panel');
    for (const part of [
      '5 of 8 placed. Then red-5 (2 more like it) found no node of 40.',
      'node-7 lacks 1 cpu',
      'minMember 5',
      '×7',
    ])
      expect(panel).toContain(part);
    expect(scheduler.requests.at(-1)!.path).toBe(
      '/debug/explain?namespace=ml&name=red&kind=PodGroup&source=scheduling.x-k8s.io',
    );
    const clipboard = (): Promise<string> => open.page.evaluate('navigator.clipboard.readText()');
    await open.page.getByRole('button', { name: 'Copy JSON' }).click();
    await expectText('panel', 'The explanation is copied.');
    expect(JSON.parse(await clipboard())).toEqual(explanation);
    await open.page.getByRole('button', { name: 'Copy kubectl command' }).click();
    await expectText('panel', 'The command is copied.');
    expect(await clipboard()).toBe('kubectl tutti why --namespace ml group/red');
    await open.page.keyboard.press('Escape');
    expect(await open.page.evaluate('document.activeElement.id')).toBe('lanes');
  });

  it('UI3 pins a partially bound gang on top, and announces it once', async () => {
    story.group('alpha', 2);
    const blue = story.group('blue', 4);
    await opened();
    await open.page.evaluate(`
      window.announced = [];
      new MutationObserver(() => window.announced.push(document.getElementById('announcements').textContent))
        .observe(document.getElementById('announcements'), { childList: true, characterData: true, subtree: true });
    `);
    story.tell(blue, 'Planned', 'Starting', { planned: 4 }).pass(1).tell(blue, 'Bound', 'Partial', { bound: 2 });
    scheduler.send(story.delta());
    await expectText('summary', '1 partially bound');
    await open.page.locator('#lanes').press('Home');
    await expectText('why', /^ml\/blue: partially bound for/);
    expect(await open.page.evaluate('window.announced')).toEqual([]);
    for (let seconds = 0; seconds < 10; seconds++) scheduler.send(story.pass(1).delta());
    await expect.poll(() => open.page.evaluate('window.announced')).toEqual(['ml/blue is partially bound: 2/4.']);
    await open.page.getByRole('button', { name: '1m' }).click();
    expect(await colorsBeforeNow(0)).toContain('#d55e00');
    story.tell(blue, 'Started', 'Running', { bound: 4 });
    scheduler.send(story.delta());
    await expectText('summary', '1 running');
    expect(await open.page.evaluate('window.announced')).toHaveLength(1);
  });

  it('UI5 reconnects with the last event id, and says that the connection was lost', async () => {
    const red = story.group('red', 8);
    await opened();
    expectedProblem = /the server responded with a status of 503/;
    scheduler.refusal = { status: 503, text: '8 clients follow the timeline already\n' };
    scheduler.disconnect();
    await expectText('connection', 'Disconnected: 8 clients follow the timeline already');
    await expectText('announcements', 'The connection to the scheduler is lost.');
    scheduler.refusal = undefined;
    scheduler.greeting = () => [{ ...story.delta(), kind: 'delta', from: 1 }];
    story.tell(red, 'Ready', 'Waiting');
    await expectText('connection', 'Live');
    await expectText('summary', '1 waiting');
    const ids = scheduler.requests.map(({ headers }) => headers['last-event-id']);
    expect([ids[0], ids.at(-1)]).toEqual([undefined, 'e1.1']);
  });

  it('UI8− starts over with a new leader, says so, and keeps nothing of the old one', async () => {
    story.group('old', 2);
    await opened();
    await open.page.getByRole('button', { name: 'Table' }).click();
    await expect.poll(table).toHaveProperty('ml/old');
    const next = new TimelineStory(noon + 60_000, { epoch: 'e2' });
    next.group('young', 2);
    scheduler.send(next.gap('NewLeader'));
    scheduler.send(next.snapshot());
    await expect.poll(table).toEqual({ 'ml/young': expect.anything() });
    expect(await text('summary')).toContain('another scheduler leads now');
  });

  it('UI8− follows the next leader when the one that it follows ends', async () => {
    story.group('old', 2);
    const next = new FakeScheduler();
    const story2 = new TimelineStory(noon + 60_000, { epoch: 'e2' });
    story2.group('young', 2);
    next.greeting = () => [story2.gap('NewLeader'), story2.snapshot()];
    let hasEnded = false;
    const first: DebugEndpoints = {
      get: (request) => (hasEnded ? Promise.reject(new NoLeaderError('it has ended')) : scheduler.get(request)),
    };
    let leader: DebugEndpoints | undefined = first;
    const open = async (): Promise<DebugEndpoints> => {
      if (leader === undefined) throw new NoLeaderError('no scheduler holds the Lease');
      return leader;
    };
    await opened({ endpoints: new LeaderEndpoints({ open, clock: systemClock }) });
    expectedProblem = /the server responded with a status of 502/;
    [hasEnded, leader] = [true, undefined];
    scheduler.disconnect();
    await expectText('connection', 'Disconnected: no scheduler holds the Lease');
    expect(await text('summary')).toContain('1 not ready');
    leader = next;
    await expectText('connection', 'Live');
    await expectText('summary', 'another scheduler leads now');
    await openTable();
    await expect.poll(table).toEqual({ 'ml/young': expect.anything() });
    expect(next.requests[0]!.headers['last-event-id']).toBe('e1.1');
  });

  it('UI7− says that too many clients follow the timeline, and gets in when one has left', async () => {
    expectedProblem = /the server responded with a status of 503/;
    scheduler.refusal = { status: 503, text: '8 clients follow the timeline already\n' };
    open = await openPage(browser, { scheduler });
    await expectText('connection', 'Disconnected: 8 clients follow the timeline already');
    scheduler.refusal = undefined;
    await expectText('connection', 'Live');
  });

  it('UI6− starts over when the scheduler has dropped what this page was too slow to read', async () => {
    const red = story.group('red', 2);
    await opened();
    story.tell(red, 'Ready', 'Waiting');
    story.delta(); // is never sent
    scheduler.send(story.gap('SlowClient'));
    scheduler.send(story.snapshot());
    await expectText('summary', '1 waiting');
    expect(await text('summary')).toContain('Earlier transitions are not here: this page was too slow.');
    expect(scheduler.requests).toHaveLength(1);
  });

  it.each(['light', 'dark'] as const)('UI9 has nothing serious for axe to find: %s', async (colorScheme) => {
    story = exampleStory();
    scheduler.explanation = () => lacksCapacity('ml', 'red');
    await opened({ colorScheme });
    // The policy of the page forbids other scripts; this one does not come from the page.
    await open.page.evaluate(axe.source);
    const serious = (): Promise<unknown> =>
      open.page.evaluate(`axe.run().then(({ violations }) => violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`);
    await open.page.locator('#lanes').press('ArrowDown');
    expect(await serious()).toEqual([]);
    await open.page.locator('#lanes').press('Enter');
    await expectText('panel', 'What blocks it');
    expect(await serious()).toEqual([]);
    await open.page.getByRole('button', { name: 'Table' }).click();
    expect(await serious()).toEqual([]);
    await open.page.getByRole('button', { name: 'Nodes' }).click();
    expect(await serious()).toEqual([]);
    await openTable(); // once more: the view of the nodes is back
    await open.page.locator('#lanes').press('Home');
    await open.page.locator('#lanes').press('Enter');
    await expectText('panel', 'Who uses cpu');
    expect(await serious()).toEqual([]);
    await open.page.getByRole('button', { name: 'Keys' }).click();
    expect(await serious()).toEqual([]);
  });

  it('UI9 does everything with the keyboard', async () => {
    story = exampleStory();
    scheduler.explanation = (query) => lacksCapacity(query.get('namespace')!, query.get('name')!);
    await opened();
    const { keyboard } = open.page;
    const focused = (): Promise<string> =>
      open.page.evaluate('document.activeElement.id || document.activeElement.textContent');
    // The first stop leads to the table, past the drawing.
    await keyboard.press('Tab');
    expect(await focused()).toBe('skip');
    await keyboard.press('Enter');
    expect(await focused()).toBe('tables');
    await keyboard.press('Tab');
    expect(await focused()).toBe('ml/blue');
    await keyboard.press('Enter');
    await expectText('panel', /^ml\/blue/);
    await keyboard.press('Escape');
    await open.page.locator('#show-table').press('Space');
    await open.page.locator('#lanes').focus();
    await keyboard.press('End');
    await expectText('why', /^ml\/done: finished/);
    await keyboard.press('Home');
    await keyboard.press('ArrowDown');
    await expectText('why', /^ml\/green: degraded/);
    const pressed = (id: string): Promise<string | null> => open.page.locator(`#${id}`).getAttribute('aria-pressed');
    await keyboard.press('Space');
    expect(await pressed('pause')).toBe('true');
    scheduler.send(story.pass(60).delta());
    expect(await text('now')).toBe('12:06:05');
    await keyboard.press('Space');
    expect(await pressed('pause')).toBe('false');
    await expectText('now', /^12:07:0/);
    const before = await open.page.locator('#canvas').screenshot();
    await keyboard.press('+');
    await keyboard.press('ArrowLeft');
    expect((await open.page.locator('#canvas').screenshot()).equals(before)).toBe(false);
    await keyboard.press('/');
    expect(await focused()).toBe('filter');
    await keyboard.type('waiting');
    await openTable();
    await expect.poll(async () => Object.keys(await table())).toEqual(['low/batch', 'ml/red']);
  });

  it('UI9 has the same data in the table', async () => {
    story = exampleStory();
    await opened();
    await openTable();
    const rows = await table();
    expect(Object.keys(rows)).toHaveLength(10);
    expect(rows['ml/blue']).toEqual(['partially bound', '2/4', '12:05:32', 'pod bound on node-2', '']);
    expect(rows['ml/cyan']!.slice(0, 3)).toEqual(['running', '16/16', '12:00:31']);
    await open.page.getByRole('button', { name: 'Nodes' }).click();
    expect((await table())['node-3']).toEqual([
      'Ready',
      'cpu 10 of 16 used, 4 reserved',
      '13 %',
      'ml/cyan, others',
      'ml/red',
    ]);
    expect((await table())['node-4']![0]).toBe('Cordoned');
  });

  it('UI9 keeps the focus in the table on its row, wherever that moves', async () => {
    const keys = ['alpha', 'beta', 'gamma'].map((name) => story.group(name, 2));
    await opened();
    await openTable();
    await expect.poll(async () => Object.keys(await table())).toEqual(['ml/alpha', 'ml/beta', 'ml/gamma']);
    await open.page.getByRole('button', { name: 'ml/alpha' }).focus();
    story.tell(keys[0]!, 'Started', 'Running', { bound: 2 });
    scheduler.send(story.delta());
    await expect.poll(async () => Object.keys(await table())).toEqual(['ml/beta', 'ml/gamma', 'ml/alpha']);
    story.tell(keys[2]!, 'Bound', 'Partial', { bound: 1 });
    scheduler.send(story.delta());
    await expect.poll(async () => Object.keys(await table())).toEqual(['ml/gamma', 'ml/beta', 'ml/alpha']);
    expect(await open.page.evaluate('document.activeElement.textContent')).toBe('ml/alpha');
  });

  it('UI9 has all rows of a large table, in order, soon after it is opened', async () => {
    story = largeStory(300, 600);
    await opened();
    await openTable();
    await expect.poll(() => open.page.locator('#tables tbody tr').count()).toBe(300);
    const names = await open.page.locator('#tables tbody th').allInnerTexts();
    expect(names[0]).toBe('ml/group-3');
    expect(new Set(names).size).toBe(300);
    await open.page.locator('#filter').fill('group-29');
    await expect.poll(() => open.page.locator('#tables tbody tr').count()).toBe(11);
  });

  it.each([
    { name: '380 px', viewport: { width: 380, height: 700 } },
    // Chromium lays a page out at 200 % zoom as in a window of half the size.
    { name: '200 % zoom', viewport: { width: 640, height: 360 }, deviceScaleFactor: 2 },
  ])('UI9 needs no scrolling sideways: $name', async ({ name: _, ...options }) => {
    story = exampleStory();
    scheduler.explanation = () => lacksCapacity('ml', 'red');
    await opened(options);
    const overflow = (): Promise<number> =>
      open.page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(await overflow()).toBe(0);
    await open.page.locator('#lanes').press('Home');
    await open.page.locator('#lanes').press('Enter');
    await expectText('panel', 'What blocks it');
    expect(await overflow()).toBe(0);
    await openTable();
    expect(await overflow()).toBe(0);
  });

  it('UI10 goes on without a network', async () => {
    story = exampleStory();
    await opened();
    await open.page.context().setOffline(true);
    await open.page.locator('#lanes').press('Home');
    await expectText('why', /^ml\/blue: partially bound/);
    await open.page.locator('#show-nodes').click();
    await open.page.locator('#lanes').press('Home');
    await expectText('why', /^node-1: Ready/);
    await open.page.context().setOffline(false);
  });

  it('UI11− shows names as text, whatever they contain', async () => {
    const evil = `<img src=x onerror="window.hacked=1">`;
    const key = story.group(evil, 2, '<script>window.hacked=1</script>');
    story.tell(key, 'Rejected', 'Waiting', { waitsFor: 'capacity', reason: evil });
    story.node(exampleNode(evil, [[key, 0.5, 0.25]]));
    scheduler.explanation = () => ({
      ...lacksCapacity('ml', evil),
      verdict: { reason: evil, message: evil },
      whatHelps: [{ kind: 'uncordon', nodes: [evil] }],
    });
    await opened({ permissions: ['clipboard-read', 'clipboard-write'] });
    await open.page.locator('#lanes').press('Home');
    await expectText('why', evil);
    await open.page.locator('#lanes').press('Enter');
    await expectText('panel', `kubectl uncordon ${evil}`);
    await open.page.getByRole('button', { name: 'Copy kubectl command' }).click();
    await expectText('panel', 'The command is copied.');
    expect(await open.page.evaluate('navigator.clipboard.readText()')).toBe(
      `kubectl tutti why --namespace '<script>window.hacked=1</script>' 'group/${evil}'`,
    );
    await open.page.locator('#lanes').hover({ position: { x: 500, y: 35 } });
    await expectText('tooltip', evil);
    await openTable();
    expect(await text('tables')).toContain(evil);
    await open.page.locator('#show-nodes').click();
    expect(await text('tables')).toContain(evil);
    expect(await open.page.locator('img, main script').count()).toBe(0);
    expect(await open.page.evaluate('window.hacked')).toBeUndefined();
  });

  it.each([-3_600_000, 3_600_000])(
    'UI13 shows the time of the scheduler when the browser’s clock is off by %d ms',
    async (offset) => {
      const red = story.group('red', 2);
      story.pass(60).tell(red, 'Started', 'Running', { bound: 2 }).pass(30);
      const script = `
      const realNow = Date.now;
      Date.now = () => realNow() + ${offset};
    `;
      await opened({ script });
      await open.page.getByRole('button', { name: '1m' }).click();
      await expectText('now', /^12:01:3\d$/);
      expect(await colorsBeforeNow(0)).toContain('#009e73');
      scheduler.send(story.pass(120).delta());
      await expectText('now', /^12:03:3\d$/);
      expect(await colorsBeforeNow(0)).toContain('#009e73');
    },
  );

  it('UI16 draws what a newer server sends as unknown, and not as a failure', async () => {
    const red = story.group('red', 2);
    story.tell(red, 'Suspended' as 'Changed', 'Hibernating' as 'Unknown').pass(30);
    await opened();
    await openTable();
    expect((await table())['ml/red']!.slice(0, 4)).toEqual(['unknown', '0/2', '12:00:00', 'unknown change']);
    await openTable();
    await open.page.getByRole('button', { name: '1m' }).click();
    const colors = await colorsBeforeNow(0);
    expect(colors).toContain('#cc79a7');
    expect(colors).not.toContain('#d55e00');
  });

  it('shows the same in two tabs of a browser, which have a stream each', async () => {
    const red = story.group('red', 2);
    await opened();
    expect(open.page.url()).not.toContain('#');
    const second = await open.page.context().newPage();
    // The cookie is that of the browser.
    await second.goto(new URL(open.server.link).origin);
    await expect.poll(() => second.locator('#connection').innerText()).toBe('Live');
    expect(scheduler.clients).toBe(2);
    story.tell(red, 'Started', 'Running', { bound: 2 });
    scheduler.send(story.delta());
    await expectText('summary', '1 running');
    await expect.poll(() => second.locator('#summary').innerText()).toContain('1 running');
    await second.close();
    await expect.poll(() => scheduler.clients).toBe(1);
  });

  it('UI12− tells a browser without a session to open the link', async () => {
    await opened();
    const other = await browser.newContext();
    const stranger = await other.newPage();
    await stranger.goto(open.server.link);
    await expect.poll(() => stranger.locator('#connection').innerText()).toContain('this link was used before');
    await other.close();
    expect(scheduler.clients).toBe(1);
  });
});
