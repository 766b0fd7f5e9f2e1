import { readFile } from 'node:fs/promises';
import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { podGroupDefinition } from './pod-group-schema.ts';

const version = podGroupDefinition.spec.versions[0];
const schema = version.schema.openAPIV3Schema;

describe('the PodGroup CRD', () => {
  it('equals the checked-in file', async () => {
    const file = new URL('../../crds/scheduling.x-k8s.io_podgroups.yaml', import.meta.url);
    expect(parse(await readFile(file, 'utf8'))).toEqual(podGroupDefinition);
  });

  it('has the names, columns and subresource of scheduler-plugins', () => {
    expect(podGroupDefinition.metadata.name).toBe('podgroups.scheduling.x-k8s.io');
    expect(podGroupDefinition.spec.names.shortNames).toEqual(['pg', 'pgs']);
    expect(podGroupDefinition.spec.scope).toBe('Namespaced');
    expect(podGroupDefinition.metadata.annotations['api-approved.kubernetes.io']).toMatch(
      /\/scheduler-plugins\/pull\/50$/,
    );
    expect(version).toMatchObject({ name: 'v1alpha1', served: true, storage: true, subresources: { status: {} } });
    const columns = version.additionalPrinterColumns.map(({ name, jsonPath, type }) => `${name} ${jsonPath} ${type}`);
    expect(columns.slice(0, 5)).toEqual([
      'Phase .status.phase string',
      'MinMember .spec.minMember integer',
      'Running .status.running integer',
      'Succeeded .status.succeeded integer',
      'Failed .status.failed integer',
    ]);
    expect(columns).toContain('Age .metadata.creationTimestamp date');
  });

  it('shows scheduled members and the reason, and with -o wide counts, the time and the message', () => {
    const columns = version.additionalPrinterColumns as readonly {
      readonly name: string;
      readonly priority?: number;
    }[];
    expect(columns.filter(({ priority }) => priority === undefined).map(({ name }) => name)).toEqual([
      ...['Phase', 'MinMember', 'Scheduled', 'Reason', 'Age'],
    ]);
    expect(columns.filter(({ priority }) => priority === 1).map(({ name }) => name)).toEqual([
      ...['Running', 'Succeeded', 'Failed', 'Members', 'Ready', 'Since', 'Message'],
    ]);
  });

  it('fits 80 columns for a group with a name of 17 characters', () => {
    const columns = version.additionalPrinterColumns as readonly {
      readonly name: string;
      readonly priority?: number;
    }[];
    /** Column -> its widest value, where that is wider than the heading */
    const widest = new Map([
      ['Phase', 'Scheduling'],
      ['Reason', 'QuorumScheduled'],
      ['Age', '2d23h'],
    ]);
    const widths = columns
      .filter(({ priority }) => priority === undefined)
      .map(({ name }) => Math.max(name.length, widest.get(name)?.length ?? 0));
    // kubectl leaves three spaces between columns.
    expect([17, ...widths].reduce((sum, width) => sum + width + 3, -3)).toBeLessThanOrEqual(80);
  });

  it('has the fields of scheduler-plugins with their types, all optional', () => {
    expect(Object.keys(schema.properties.spec.properties!)).toEqual([
      'minMember',
      'minResources',
      'scheduleTimeoutSeconds',
      'repairPolicy',
      'repairGraceSeconds',
    ]);
    expect(Object.keys(schema.properties.status.properties!)).toEqual(
      expect.arrayContaining(['phase', 'occupiedBy', 'running', 'succeeded', 'failed', 'scheduleStartTime']),
    );
    expect(schema.properties.spec.required).toBeUndefined();
    expect(schema.properties.status.required).toBeUndefined();
    expect(schema.properties.status.properties!.phase!.enum).toBeUndefined();
  });

  it.each<[string, unknown, boolean]>([
    ['no spec', {}, true],
    ['minMember 1', { spec: { minMember: 1 } }, true],
    ['minMember 0', { spec: { minMember: 0 } }, false],
    ['minMember negative', { spec: { minMember: -1 } }, false],
    ['minMember text', { spec: { minMember: '3' } }, false],
    ['amounts as texts and integers', { spec: { minResources: { cpu: '1500m', memory: 1024 } } }, true],
    ['an amount that is not a quantity', { spec: { minResources: { cpu: '1 core' } } }, false],
    ['no timeout', { spec: { scheduleTimeoutSeconds: 0 } }, true],
    ['a negative timeout', { spec: { scheduleTimeoutSeconds: -1 } }, false],
    ['a negative amount as text', { spec: { minResources: { cpu: '-1' } } }, false],
    ['a negative amount as integer', { spec: { minResources: { cpu: -1 } } }, false],
    ['an amount with signs', { spec: { minResources: { cpu: '+1e-3' } } }, true],
    ['a phase of another implementation', { status: { phase: 'PreScheduling' } }, true],
    ['a condition without a reason', { status: { conditions: [{ type: 'Ready', status: 'True' }] } }, false],
  ])('validates %s', (_name, object, valid) => {
    const validate = new Ajv({ strict: false, validateFormats: false }).compile(schema);
    expect(validate(object)).toBe(valid);
  });
});
