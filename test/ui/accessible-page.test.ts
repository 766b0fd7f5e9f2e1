import axe from 'axe-core';
import { describe, expect, it } from 'vitest';
import { browserPath } from './browser.ts';
import { lacksCapacity } from './fake-scheduler.ts';
import { pageStage } from './page-stage.ts';
import { exampleStory, largeStory } from './stories.ts';

describe.skipIf(browserPath === undefined)('The timeline page for all users', () => {
  const stage = pageStage();
  const { opened, text, expectText, openTable, table } = stage;

  it.each(['light', 'dark'] as const)('UI9 has nothing serious for axe to find: %s', async (colorScheme) => {
    stage.story = exampleStory();
    stage.scheduler.explanation = () => lacksCapacity('ml', 'red');
    await opened({ colorScheme });
    // The policy of the page forbids other scripts; this one does not come from the page.
    await stage.open.page.evaluate(axe.source);
    const serious = (): Promise<unknown> =>
      stage.open.page.evaluate(`axe.run().then(({ violations }) => violations
        .filter(({ impact }) => impact === 'serious' || impact === 'critical')
        .map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join(' ')))`);
    await stage.open.page.locator('#lanes').press('ArrowDown');
    expect(await serious()).toEqual([]);
    await stage.open.page.locator('#lanes').press('Enter');
    await expectText('panel', 'What blocks it');
    expect(await serious()).toEqual([]);
    await stage.open.page.getByRole('button', { name: 'Table' }).click();
    expect(await serious()).toEqual([]);
    await stage.open.page.getByRole('button', { name: 'Nodes' }).click();
    expect(await serious()).toEqual([]);
    await openTable(); // once more: the view of the nodes is back
    await stage.open.page.locator('#lanes').press('Home');
    await stage.open.page.locator('#lanes').press('Enter');
    await expectText('panel', 'Who uses cpu');
    expect(await serious()).toEqual([]);
    await stage.open.page.getByRole('button', { name: 'Keys' }).click();
    expect(await serious()).toEqual([]);
  });

  it('UI9 does everything with the keyboard', async () => {
    stage.story = exampleStory();
    stage.scheduler.explanation = (query) => lacksCapacity(query.get('namespace')!, query.get('name')!);
    await opened();
    const { keyboard } = stage.open.page;
    const focused = (): Promise<string> =>
      stage.open.page.evaluate('document.activeElement.id || document.activeElement.textContent');
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
    await stage.open.page.locator('#show-table').press('Space');
    await stage.open.page.locator('#lanes').focus();
    await keyboard.press('End');
    await expectText('why', /^ml\/done: finished/);
    await keyboard.press('Home');
    await keyboard.press('ArrowDown');
    await expectText('why', /^ml\/green: degraded/);
    const pressed = (id: string): Promise<string | null> =>
      stage.open.page.locator(`#${id}`).getAttribute('aria-pressed');
    await keyboard.press('Space');
    expect(await pressed('pause')).toBe('true');
    stage.scheduler.send(stage.story.pass(60).delta());
    expect(await text('now')).toBe('12:06:05');
    await keyboard.press('Space');
    expect(await pressed('pause')).toBe('false');
    await expectText('now', /^12:07:0/);
    const before = await stage.open.page.locator('#canvas').screenshot();
    await keyboard.press('+');
    await keyboard.press('ArrowLeft');
    expect((await stage.open.page.locator('#canvas').screenshot()).equals(before)).toBe(false);
    await keyboard.press('/');
    expect(await focused()).toBe('filter');
    await keyboard.type('waiting');
    await openTable();
    await expect.poll(async () => Object.keys(await table())).toEqual(['low/batch', 'ml/red']);
  });

  it('UI9 has the same data in the table', async () => {
    stage.story = exampleStory();
    await opened();
    await openTable();
    const rows = await table();
    expect(Object.keys(rows)).toHaveLength(10);
    expect(rows['ml/blue']).toEqual(['partially bound', '2/4', '12:05:32', 'pod bound on node-2', '']);
    expect(rows['ml/cyan']!.slice(0, 3)).toEqual(['running', '16/16', '12:00:31']);
    await stage.open.page.getByRole('button', { name: 'Nodes' }).click();
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
    const keys = ['alpha', 'beta', 'gamma'].map((name) => stage.story.group(name, 2));
    await opened();
    await openTable();
    await expect.poll(async () => Object.keys(await table())).toEqual(['ml/alpha', 'ml/beta', 'ml/gamma']);
    await stage.open.page.getByRole('button', { name: 'ml/alpha' }).focus();
    stage.story.tell(keys[0]!, 'Started', 'Running', { bound: 2 });
    stage.scheduler.send(stage.story.delta());
    await expect.poll(async () => Object.keys(await table())).toEqual(['ml/beta', 'ml/gamma', 'ml/alpha']);
    stage.story.tell(keys[2]!, 'Bound', 'Partial', { bound: 1 });
    stage.scheduler.send(stage.story.delta());
    await expect.poll(async () => Object.keys(await table())).toEqual(['ml/gamma', 'ml/beta', 'ml/alpha']);
    expect(await stage.open.page.evaluate('document.activeElement.textContent')).toBe('ml/alpha');
  });

  it('UI9 shows a large table page by page, in order', async () => {
    stage.story = largeStory(450, 900);
    await opened();
    await openTable();
    const { page } = stage.open;
    const tables = page.locator('#tables');
    const names = (): Promise<string[]> => tables.locator('tbody th').allInnerTexts();
    const turn = (direction: 'Previous' | 'Next'): Promise<void> =>
      page.getByRole('button', { name: `${direction} rows` }).press('Enter');
    const seen = new Set<string>();
    for (const [position, count] of [
      ['Rows 1 to 200 of 450', 200],
      ['Rows 201 to 400 of 450', 200],
      ['Rows 401 to 450 of 450', 50],
    ] as const) {
      await expect.poll(() => tables.innerText()).toContain(position);
      expect(await names()).toHaveLength(count);
      for (const name of await names()) seen.add(name);
      await turn('Next');
    }
    expect(seen.size).toBe(450);
    expect([...seen][0]).toBe('ml/group-3');
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Next rows');
    await turn('Previous');
    expect(await tables.innerText()).toContain('Rows 201 to 400 of 450');
    await page.locator('#filter').fill('group-44');
    await expect.poll(names).toHaveLength(11);
    expect(await page.getByRole('button', { name: 'Next rows' }).count()).toBe(0);
  });

  it.each([
    { name: '380 px', viewport: { width: 380, height: 700 } },
    // Chromium lays a page out at 200 % zoom as in a window of half the size.
    { name: '200 % zoom', viewport: { width: 640, height: 360 }, deviceScaleFactor: 2 },
  ])('UI9 needs no scrolling sideways: $name', async ({ name: _, ...options }) => {
    stage.story = exampleStory();
    stage.scheduler.explanation = () => lacksCapacity('ml', 'red');
    await opened(options);
    const overflow = (): Promise<number> =>
      stage.open.page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth');
    expect(await overflow()).toBe(0);
    await stage.open.page.locator('#lanes').press('Home');
    await stage.open.page.locator('#lanes').press('Enter');
    await expectText('panel', 'What blocks it');
    expect(await overflow()).toBe(0);
    await openTable();
    expect(await overflow()).toBe(0);
  });
});
