import { describe, expect, it } from 'vitest';
import { apiFieldLines } from './api-field-lines.ts';
import { apiModel } from './api-fields.ts';
import { modelFields } from './built-in-types.ts';

/** What the client library still has and Kubernetes has taken back since. */
const goneFields = new Set(['V1NodeAllocatableResourceClaimStatus.resources']);
const models = apiFieldLines.map((line) => /^\w+/.exec(line)![0]);

describe('what is known of the fields of built-in models', () => {
  it.each(models)('has each field of %s', (model) => {
    const isObject = modelFields(model)!.has('apiVersion') && modelFields(model)!.has('kind');
    const names = [...modelFields(model)!.keys()].filter(
      (name) => !isObject || (name !== 'apiVersion' && name !== 'kind'),
    );
    const known = apiModel(model)!.fields;
    const missing = names.filter((name) => !known.has(name) && !goneFields.has(`${model}.${name}`));
    expect(missing).toEqual([]);
  });

  it('says of lists how they are merged and owned', () => {
    const ports = apiModel('V1Container')!.fields.get('ports')!;
    expect(ports).toMatchObject({
      number: 6,
      mergeKey: 'containerPort',
      structure: { type: 'map', keys: ['containerPort', 'protocol'] },
    });
    expect(apiModel('V1ContainerPort')!.fields.get('protocol')!.keyDefault).toBe('TCP');
    expect(apiModel('V1ObjectMeta')!.fields.get('finalizers')).toMatchObject({
      mergeKey: '',
      structure: { type: 'set' },
    });
  });

  it('tells structures apart that are one value and those that are many', () => {
    expect(apiModel('V1LabelSelector')!.isAtomic).toBe(true);
    expect(apiModel('V1PodSpec')!.isAtomic).toBe(false);
    expect(apiModel('V1PodSpec')!.fields.get('nodeSelector')!.structure).toEqual({ type: 'atomic' });
  });

  it('only merges and joins lists', () => {
    for (const model of models) {
      for (const field of apiModel(model)!.fields.values()) {
        if (field.mergeKey === undefined && field.structure?.type !== 'map') continue;
        expect(modelFields(model)!.get(field.name)?.kind ?? 'list', `${model}.${field.name}`).toBe('list');
      }
    }
  });

  it('reads the fields that protobuf puts in a message of their own', () => {
    const source = apiModel('V1Volume')!.wire.get(2);
    expect(source instanceof Map && source.get(19)).toMatchObject({ name: 'configMap', isPointer: true });
  });

  it('is silent about models that no served kind has', () => {
    expect(apiModel('V1CronJob')).toBeUndefined();
  });
});
