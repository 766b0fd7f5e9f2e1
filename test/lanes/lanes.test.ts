import { globSync } from 'node:fs';
import { relative } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { createVitest } from 'vitest/node';
import { packageFile } from '../../src/base/package-files.ts';
import { lanes } from './lanes.ts';

const root = packageFile('.');

/** Returns project -> test files that vitest runs in it, relative to the repository. */
async function projectsOf(mode: 'test' | 'properties'): Promise<Map<string, string[]>> {
  const vitest = await createVitest('test', { root, watch: false, reporters: [] }, { mode });
  try {
    const projects = new Map<string, string[]>();
    for (const { project, moduleId } of await vitest.globTestSpecifications()) {
      projects.set(project.name, [...(projects.get(project.name) ?? []), relative(root, moduleId)]);
    }
    return projects;
  } finally {
    await vitest.close();
  }
}

let projects: Map<string, string[]>;
beforeAll(async () => {
  projects = new Map([...(await projectsOf('test')), ...(await projectsOf('properties'))]);
});

it('vitest runs exactly the files of each lane', () => {
  const { unit, integration, properties } = lanes();
  expect([...projects.get('unit')!, ...projects.get('unit-apart')!].sort()).toEqual(unit);
  expect(projects.get('integration')!.sort()).toEqual(integration);
  expect(projects.get('properties')!.sort()).toEqual(properties);
});

it('every test file is in exactly one lane, except that unit tests with properties are also in the properties lane', () => {
  const all = globSync('**/*.test.ts', { cwd: root, exclude: ['**/node_modules', 'test/fixtures', 'dist', '.cache'] });
  const { unit, integration, properties } = lanes();
  const properUnit = new Set(unit);
  const onlyProperties = properties.filter((file) => !properUnit.has(file));
  expect([...unit, ...integration, ...onlyProperties].sort()).toEqual(all.sort());
  expect(onlyProperties.length).toBeGreaterThan(5);
  expect(properties.length - onlyProperties.length).toBeGreaterThan(50);
});
