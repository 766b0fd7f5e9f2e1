import { readFile, readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { parse } from 'yaml';
import { everyMetric } from '../../scripts/metrics/every-metric.ts';

const top = new URL('../../', import.meta.url);
const folder = new URL('docs/runbooks/', top);

async function alerts(): Promise<readonly string[]> {
  const { groups } = parse(await readFile(new URL('charts/tutti/files/alerts.yaml', top), 'utf8')) as {
    groups: { rules: { alert: string }[] }[];
  };
  return groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
}

test('ME9 every alert has a page named after it, and every page has an alert', async () => {
  const pages = (await readdir(folder)).filter((name) => name !== 'README.md');
  expect(pages.sort()).toEqual((await alerts()).map((alert) => `${alert.toLowerCase()}.md`).sort());
});

test('ME9 each page has the four headings in order, each with content, and begins with a command', async () => {
  for (const alert of await alerts()) {
    const page = await readFile(new URL(`${alert.toLowerCase()}.md`, folder), 'utf8');
    const [title, ...sections] = page.split(/^## /m);
    expect(title, alert).toBe(`# ${alert}\n\n`);
    expect(
      sections.map((section) => section.split('\n', 1)[0]),
      alert,
    ).toEqual(['Meaning', 'Impact', 'Diagnosis', 'Mitigation']);
    for (const section of sections) expect(section.split('\n').slice(1).join('').trim(), alert).toMatch(/\w{3,}/);
    expect(sections[2], alert).toMatch(/```console\n\$ kubectl /);
  }
});

test('ME9 pages name only existing metrics', async () => {
  const { scheduler, controller } = everyMetric();
  const known = new Set([...scheduler, ...controller].map(({ name }) => name));
  for (const name of await readdir(folder)) {
    const page = await readFile(new URL(name, folder), 'utf8');
    for (const [, metric] of page.matchAll(/`((?:tutti|scheduler|rest_client|leader_election)_\w+)/g)) {
      expect(known, name).toContain(metric);
    }
  }
});

test('the index lists every page', async () => {
  const index = await readFile(new URL('README.md', folder), 'utf8');
  expect([...index.matchAll(/\]\((\w+\.md)\)/g)].map(([, file]) => file).sort()).toEqual(
    (await alerts()).map((alert) => `${alert.toLowerCase()}.md`).sort(),
  );
});
