import { describe, expect, it } from 'vitest';
import { systemClock } from '../../src/base/system-clock.ts';
import { NoLeaderError } from '../../src/cli/explain/leader/find-leader.ts';
import type { DebugEndpoints } from '../../src/cli/ui/debug-endpoints.ts';
import { LeaderEndpoints } from '../../src/cli/ui/leader-endpoints.ts';
import { browserPath } from './browser.ts';
import { FakeScheduler, lacksCapacity } from './fake-scheduler.ts';
import { openPage } from './open-page.ts';
import { noon, pageStage } from './page-stage.ts';
import { cpuReason, exampleNode, exampleStory } from './stories.ts';
import { TimelineStory } from './timeline-story.ts';

describe.skipIf(browserPath === undefined)('The timeline page in a browser', () => {
  const stage = pageStage();
  const { opened, text, expectText, openTable, table } = stage;

  /** Returns the colors of a row of the canvas just before now, as #rrggbb. */
  async function colorsBeforeNow(row: number): Promise<readonly string[]> {
    await stage.open.page.evaluate(
      'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))',
    );
    return stage.open.page.evaluate(`(() => {
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
    stage.scheduler.send(stage.story.delta());
    stage.scheduler.send(stage.story.pass(5).delta());
  }

  it('UI1 shows each step of a gang from members to running as soon as it receives it', async () => {
    const red = stage.story.group('red', 8);
    // Without it, nothing is drawn but what messages and keys lead to.
    await opened({ script: 'window.setInterval = () => 0;' });
    await stage.open.page.getByRole('button', { name: '1m' }).click();
    const expectShown = async (why: RegExp): Promise<void> => {
      await step();
      await expect
        .poll(async () => {
          await stage.open.page.locator('#lanes').press('Home');
          return text('why');
        })
        .toMatch(why);
    };
    await expectShown(/^ml\/red: not ready, waiting for members for \d+s; 0 bound of 8 needed/);
    stage.story.tell(red, 'Ready', 'Waiting');
    await expectShown(/^ml\/red: waiting for/);
    expect(await text('summary')).toBe('1 groups and pods: 1 waiting; 0 nodes.');
    stage.story.tell(red, 'Planned', 'Starting', { planned: 8 });
    await expectShown(/^ml\/red: planned for/);
    expect(await colorsBeforeNow(0)).toContain('#0072b2');
    stage.story.tell(red, 'Started', 'Running', { bound: 8 });
    await expectShown(/^ml\/red: running for \d+s; 8 bound of 8 needed; started/);
    expect(await colorsBeforeNow(0)).toContain('#009e73');
    expect(await text('summary')).toBe('1 groups and pods: 1 running; 0 nodes.');
  });

  it('UI2 explains a rejected gang as the scheduler does', async () => {
    const red = stage.story.group('red', 8);
    stage.story.tell(red, 'Ready', 'Waiting').pass(10);
    stage.story
      .tell(red, 'Rejected', 'Waiting', { waitsFor: 'capacity', reason: cpuReason })
      .pass(60)
      .again(red, 7)
      .pass(5);
    const explanation = lacksCapacity('ml', 'red');
    stage.scheduler.explanation = (query) => (query.get('name') === 'red' ? explanation : undefined);
    await opened({ permissions: ['clipboard-read', 'clipboard-write'] });
    await stage.open.page.locator('#lanes').press('ArrowDown');
    expect(await text('why')).toMatch(
      /^ml\/red: waiting for capacity for 1m 15s; 0 bound of 8 needed; no nodes found \(waits for capacity\) ×7: 12 more cpu needed, 4 free$/,
    );
    await stage.open.page.locator('#lanes').press('Enter');
    await expectText('panel', '5 of 8 members fit: 12 more cpu needed, 4 free');
    const panel = await text('panel');
    for (const part of [
      '5 of 8 placed. Then red-5 (2 more like it) found no node of 40.',
      'node-7: lacks 1 cpu',
      'minMember 5',
      '×7',
    ])
      expect(panel).toContain(part);
    expect(stage.scheduler.requests.at(-1)!.path).toBe(
      '/debug/explain?namespace=ml&name=red&kind=PodGroup&source=scheduling.x-k8s.io',
    );
    const clipboard = (): Promise<string> => stage.open.page.evaluate('navigator.clipboard.readText()');
    await stage.open.page.getByRole('button', { name: 'Copy JSON' }).click();
    await expectText('panel', 'The explanation is copied.');
    expect(JSON.parse(await clipboard())).toEqual(explanation);
    await stage.open.page.getByRole('button', { name: 'Copy kubectl command' }).click();
    await expectText('panel', 'The command is copied.');
    expect(await clipboard()).toBe('kubectl tutti why --namespace ml group/red');
    await stage.open.page.keyboard.press('Escape');
    expect(await stage.open.page.evaluate('document.activeElement.id')).toBe('lanes');
  });

  it('UI3 pins a partially bound gang on top, and announces it once', async () => {
    stage.story.group('alpha', 2);
    const blue = stage.story.group('blue', 4);
    await opened();
    await stage.open.page.evaluate(`
      window.announced = [];
      new MutationObserver(() => window.announced.push(document.getElementById('announcements').textContent))
        .observe(document.getElementById('announcements'), { childList: true, characterData: true, subtree: true });
    `);
    stage.story.tell(blue, 'Planned', 'Starting', { planned: 4 }).pass(1).tell(blue, 'Bound', 'Partial', { bound: 2 });
    stage.scheduler.send(stage.story.delta());
    await expectText('summary', '1 partially bound');
    await stage.open.page.locator('#lanes').press('Home');
    await expectText('why', /^ml\/blue: partially bound for/);
    expect(await stage.open.page.evaluate('window.announced')).toEqual([]);
    for (let seconds = 0; seconds < 10; seconds++) stage.scheduler.send(stage.story.pass(1).delta());
    await expect.poll(() => stage.open.page.evaluate('window.announced')).toEqual(['ml/blue is partially bound: 2/4.']);
    await stage.open.page.getByRole('button', { name: '1m' }).click();
    expect(await colorsBeforeNow(0)).toContain('#d55e00');
    stage.story.tell(blue, 'Started', 'Running', { bound: 4 });
    stage.scheduler.send(stage.story.delta());
    await expectText('summary', '1 running');
    expect(await stage.open.page.evaluate('window.announced')).toHaveLength(1);
  });

  it('UI5 reconnects with the last event id, and says that the connection was lost', async () => {
    const red = stage.story.group('red', 8);
    await opened();
    stage.expectedProblem = /the server responded with a status of 503/;
    stage.scheduler.refusal = { status: 503, text: '8 clients follow the timeline already\n' };
    stage.scheduler.disconnect();
    await expectText('connection', 'Disconnected: 8 clients follow the timeline already');
    await expectText('announcements', 'The connection to the scheduler is lost.');
    stage.scheduler.refusal = undefined;
    stage.scheduler.greeting = () => [{ ...stage.story.delta(), kind: 'delta', from: 1 }];
    stage.story.tell(red, 'Ready', 'Waiting');
    await expectText('connection', 'Live');
    await expectText('summary', '1 waiting');
    const ids = stage.scheduler.requests.map(({ headers }) => headers['last-event-id']);
    expect([ids[0], ids.at(-1)]).toEqual([undefined, 'e1.1']);
  });

  it('UI8− starts over with a new leader, says so, and keeps nothing of the old one', async () => {
    stage.story.group('old', 2);
    await opened();
    await stage.open.page.getByRole('button', { name: 'Table' }).click();
    await expect.poll(table).toHaveProperty('ml/old');
    const next = new TimelineStory(noon + 60_000, { epoch: 'e2' });
    next.group('young', 2);
    stage.scheduler.send(next.gap('NewLeader'));
    stage.scheduler.send(next.snapshot());
    await expect.poll(table).toEqual({ 'ml/young': expect.anything() });
    expect(await text('summary')).toContain('another scheduler leads now');
  });

  it('UI8− follows the next leader when the one that it follows ends', async () => {
    stage.story.group('old', 2);
    const next = new FakeScheduler();
    const story2 = new TimelineStory(noon + 60_000, { epoch: 'e2' });
    story2.group('young', 2);
    next.greeting = () => [story2.gap('NewLeader'), story2.snapshot()];
    let hasEnded = false;
    const first: DebugEndpoints = {
      get: (request) => (hasEnded ? Promise.reject(new NoLeaderError('it has ended')) : stage.scheduler.get(request)),
    };
    let leader: DebugEndpoints | undefined = first;
    const open = async (): Promise<DebugEndpoints> => {
      if (leader === undefined) throw new NoLeaderError('no scheduler holds the Lease');
      return leader;
    };
    await opened({ endpoints: new LeaderEndpoints({ open, clock: systemClock }) });
    stage.expectedProblem = /the server responded with a status of 502/;
    [hasEnded, leader] = [true, undefined];
    stage.scheduler.disconnect();
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
    stage.expectedProblem = /the server responded with a status of 503/;
    stage.scheduler.refusal = { status: 503, text: '8 clients follow the timeline already\n' };
    stage.open = await openPage(stage.browser, { scheduler: stage.scheduler });
    await expectText('connection', 'Disconnected: 8 clients follow the timeline already');
    stage.scheduler.refusal = undefined;
    await expectText('connection', 'Live');
  });

  it('UI6− starts over when the scheduler has dropped what this page was too slow to read', async () => {
    const red = stage.story.group('red', 2);
    await opened();
    stage.story.tell(red, 'Ready', 'Waiting');
    stage.story.delta(); // is never sent
    stage.scheduler.send(stage.story.gap('SlowClient'));
    stage.scheduler.send(stage.story.snapshot());
    await expectText('summary', '1 waiting');
    expect(await text('summary')).toContain('Earlier transitions are not here: this page was too slow.');
    expect(stage.scheduler.requests).toHaveLength(1);
  });

  it('UI10 goes on without a network', async () => {
    stage.story = exampleStory();
    await opened();
    await stage.open.page.context().setOffline(true);
    await stage.open.page.locator('#lanes').press('Home');
    await expectText('why', /^ml\/blue: partially bound/);
    await stage.open.page.locator('#show-nodes').click();
    await stage.open.page.locator('#lanes').press('Home');
    await expectText('why', /^node-1: Ready/);
    await stage.open.page.context().setOffline(false);
  });

  it('UI11− shows names as text, whatever they contain', async () => {
    const evil = `<img src=x onerror="window.hacked=1">`;
    const key = stage.story.group(evil, 2, '<script>window.hacked=1</script>');
    stage.story.tell(key, 'Rejected', 'Waiting', { waitsFor: 'capacity', reason: evil });
    stage.story.node(exampleNode(evil, [[key, 0.5, 0.25]]));
    stage.scheduler.explanation = () => ({
      ...lacksCapacity('ml', evil),
      verdict: { reason: evil, message: evil },
      whatHelps: [{ kind: 'uncordon', nodes: [evil] }],
    });
    await opened({ permissions: ['clipboard-read', 'clipboard-write'] });
    await stage.open.page.locator('#lanes').press('Home');
    await expectText('why', evil);
    await stage.open.page.locator('#lanes').press('Enter');
    await expectText('panel', `kubectl uncordon ${evil}`);
    await stage.open.page.getByRole('button', { name: 'Copy kubectl command' }).click();
    await expectText('panel', 'The command is copied.');
    expect(await stage.open.page.evaluate('navigator.clipboard.readText()')).toBe(
      `kubectl tutti why --namespace '<script>window.hacked=1</script>' 'group/${evil}'`,
    );
    await stage.open.page.locator('#lanes').hover({ position: { x: 500, y: 35 } });
    await expectText('tooltip', evil);
    await openTable();
    expect(await text('tables')).toContain(evil);
    await stage.open.page.locator('#show-nodes').click();
    expect(await text('tables')).toContain(evil);
    expect(await stage.open.page.locator('img, main script').count()).toBe(0);
    expect(await stage.open.page.evaluate('window.hacked')).toBeUndefined();
  });

  it.each([-3_600_000, 3_600_000])(
    'UI13 shows the time of the scheduler when the browser’s clock is off by %d ms',
    async (offset) => {
      const red = stage.story.group('red', 2);
      stage.story.pass(60).tell(red, 'Started', 'Running', { bound: 2 }).pass(30);
      const script = `
      const realNow = Date.now;
      Date.now = () => realNow() + ${offset};
    `;
      await opened({ script });
      await stage.open.page.getByRole('button', { name: '1m' }).click();
      await expectText('now', /^12:01:3\d$/);
      expect(await colorsBeforeNow(0)).toContain('#009e73');
      stage.scheduler.send(stage.story.pass(120).delta());
      await expectText('now', /^12:03:3\d$/);
      expect(await colorsBeforeNow(0)).toContain('#009e73');
    },
  );

  it('UI16 draws what a newer server sends as unknown, and not as a failure', async () => {
    const red = stage.story.group('red', 2);
    stage.story.tell(red, 'Suspended' as 'Changed', 'Hibernating' as 'Unknown').pass(30);
    await opened();
    await openTable();
    expect((await table())['ml/red']!.slice(0, 4)).toEqual(['unknown', '0/2', '12:00:00', 'unknown change']);
    await openTable();
    await stage.open.page.getByRole('button', { name: '1m' }).click();
    const colors = await colorsBeforeNow(0);
    expect(colors).toContain('#cc79a7');
    expect(colors).not.toContain('#d55e00');
  });

  it('shows the same in two tabs of a browser, which have a stream each', async () => {
    const red = stage.story.group('red', 2);
    await opened();
    expect(stage.open.page.url()).not.toContain('#');
    const second = await stage.open.page.context().newPage();
    // The cookie is that of the browser.
    await second.goto(new URL(stage.open.server.link).origin);
    await expect.poll(() => second.locator('#connection').innerText()).toBe('Live');
    expect(stage.scheduler.clients).toBe(2);
    stage.story.tell(red, 'Started', 'Running', { bound: 2 });
    stage.scheduler.send(stage.story.delta());
    await expectText('summary', '1 running');
    await expect.poll(() => second.locator('#summary').innerText()).toContain('1 running');
    await second.close();
    await expect.poll(() => stage.scheduler.clients).toBe(1);
  });

  it('UI12− tells a browser without a session to open the link', async () => {
    await opened();
    const other = await stage.browser.newContext();
    const stranger = await other.newPage();
    await stranger.goto(stage.open.server.link);
    await expect.poll(() => stranger.locator('#connection').innerText()).toContain('this link was used before');
    await other.close();
    expect(stage.scheduler.clients).toBe(1);
  });
});
