import { beforeEach, describe, expect, it } from 'vitest';
import { projectListed } from '../api/listed-object.ts';
import type { PersistentVolume } from '../api/persistent-volume.ts';
import { AssumedVolumes } from './assumed-volumes.ts';
import { ListedObjects } from './listed-objects.ts';

let listed: ListedObjects;
let assumed: AssumedVolumes;
beforeEach(() => {
  listed = new ListedObjects();
  assumed = new AssumedVolumes(listed);
});

const ours = { namespace: 'default', name: 'ours', uid: 'u' };
function observe(name: string, version: string, storageClassName = 'x'): PersistentVolume {
  const volume = projectListed('PersistentVolume', {
    metadata: { name, resourceVersion: version },
    spec: { capacity: { storage: '1Gi' }, storageClassName },
  });
  listed.set(volume);
  return volume;
}

describe('a volume that is assumed for a claim', () => {
  it('is returned as assumed until it is released', () => {
    const volume = { ...observe('v', '1'), claim: ours };
    expect(assumed.assumeVolume(volume)).toBe(true);
    expect(assumed.volume('v')).toBe(volume);
    expect([...assumed.volumesOfClass('x')]).toEqual([volume]);
    assumed.giveUpVolume(volume);
    expect(assumed.volume('v')?.claim).toBeUndefined();
  });

  it('is returned as observed once the API server shows another version', () => {
    assumed.assumeVolume({ ...observe('v', '1'), claim: ours });
    const now = observe('v', '2');
    expect(assumed.volume('v')).toBe(now);
    listed.remove(now);
    expect(assumed.volume('v')).toBeUndefined();
  });

  it('cannot be assumed from an older version; releasing an older decision keeps a newer one', () => {
    const first = { ...observe('v', '1'), claim: ours };
    assumed.assumeVolume(first);
    observe('v', '2');
    expect(assumed.assumeVolume(first)).toBe(false);
    const second = { ...assumed.volume('v')!, claim: { ...ours, name: 'other' } };
    assumed.assumeVolume(second);
    assumed.giveUpVolume(first);
    expect(assumed.volume('v')).toBe(second);
  });

  it('changes the revision, as does each change of a volume or claim', () => {
    const before = assumed.revision;
    const volume = observe('v', '1');
    assumed.assumeVolume({ ...volume, claim: ours });
    expect(assumed.revision).toBe(before + 2);
  });
});

it('finds volumes by class, also after the class has changed', () => {
  const volume = observe('v', '1', 'x');
  observe('w', '1', 'y');
  expect([...listed.ofGroup('PersistentVolume', 'x')]).toEqual([volume]);
  observe('v', '2', 'y');
  expect([...listed.ofGroup('PersistentVolume', 'x')]).toEqual([]);
  expect([...listed.ofGroup('PersistentVolume', 'y')].map(({ name }) => name).toSorted()).toEqual(['v', 'w']);
});
