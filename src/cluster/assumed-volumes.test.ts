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
function shown(name: string, version: string, storageClassName = 'x'): PersistentVolume {
  const volume = projectListed('PersistentVolume', {
    metadata: { name, resourceVersion: version },
    spec: { capacity: { storage: '1Gi' }, storageClassName },
  });
  listed.set(volume);
  return volume;
}

describe('a volume that is assumed to be kept for a claim', () => {
  it('is so for all who ask, until it is given up', () => {
    const volume = { ...shown('v', '1'), claim: ours };
    expect(assumed.assumeVolume(volume)).toBe(true);
    expect(assumed.volume('v')).toBe(volume);
    expect([...assumed.volumesOfClass('x')]).toEqual([volume]);
    assumed.giveUpVolume(volume);
    expect(assumed.volume('v')?.claim).toBeUndefined();
  });

  it('is what the API shows as soon as that is another version', () => {
    assumed.assumeVolume({ ...shown('v', '1'), claim: ours });
    const now = shown('v', '2');
    expect(assumed.volume('v')).toBe(now);
    listed.remove(now);
    expect(assumed.volume('v')).toBeUndefined();
  });

  it('cannot be assumed from an older version, and giving up an older decision leaves a newer one alone', () => {
    const first = { ...shown('v', '1'), claim: ours };
    assumed.assumeVolume(first);
    shown('v', '2');
    expect(assumed.assumeVolume(first)).toBe(false);
    const second = { ...assumed.volume('v')!, claim: { ...ours, name: 'other' } };
    assumed.assumeVolume(second);
    assumed.giveUpVolume(first);
    expect(assumed.volume('v')).toBe(second);
  });

  it('moves the revision, and with each change of a volume or claim', () => {
    const before = assumed.revision;
    const volume = shown('v', '1');
    assumed.assumeVolume({ ...volume, claim: ours });
    expect(assumed.revision).toBe(before + 2);
  });
});

it('volumes are found by their class, also after that has changed', () => {
  const volume = shown('v', '1', 'x');
  shown('w', '1', 'y');
  expect([...listed.ofGroup('PersistentVolume', 'x')]).toEqual([volume]);
  shown('v', '2', 'y');
  expect([...listed.ofGroup('PersistentVolume', 'x')]).toEqual([]);
  expect([...listed.ofGroup('PersistentVolume', 'y')].map(({ name }) => name).toSorted()).toEqual(['v', 'w']);
});
