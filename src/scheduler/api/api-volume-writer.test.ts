import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ApiProxy } from '../../../test/planes/api-proxy.ts';
import { openEmbeddedPlane } from '../../../test/planes/embedded.ts';
import type { TestPlane } from '../../../test/planes/plane.ts';
import { projectPersistentVolumeClaim } from '../../api/persistent-volume-claim.ts';
import type { PersistentVolumeClaim } from '../../api/persistent-volume-claim.ts';
import { projectPersistentVolume } from '../../api/persistent-volume.ts';
import type { PersistentVolume } from '../../api/persistent-volume.ts';
import { systemClock } from '../../base/system-clock.ts';
import { HttpTransport } from '../../client/http/http-transport.ts';
import { KubeClient } from '../../client/kube-client.ts';
import { ApiVolumeWriter } from './api-volume-writer.ts';

const claimsPath = '/api/v1/namespaces/default/persistentvolumeclaims';
const volumesPath = '/api/v1/persistentvolumes';
const { signal } = new AbortController();

let plane: TestPlane;
let proxy: ApiProxy;
let transport: HttpTransport;
let writer: ApiVolumeWriter;
let serial = 0;

beforeAll(async () => {
  plane = await openEmbeddedPlane();
  proxy = await ApiProxy.open(plane.transport);
});

afterAll(async () => {
  await proxy.cut();
  await plane.stop();
});

beforeEach(() => {
  proxy.fault = () => undefined;
  transport = new HttpTransport({ endpoint: proxy.endpoint });
  const client = new KubeClient({ transport, clock: systemClock });
  writer = new ApiVolumeWriter({ client, clock: systemClock, random: Math.random });
});

afterEach(() => transport.close());

async function newClaim(): Promise<PersistentVolumeClaim> {
  const name = `claim-${serial++}`;
  const spec = { accessModes: ['ReadWriteOnce'], storageClassName: 'x', resources: { requests: { storage: '1Gi' } } };
  return projectPersistentVolumeClaim(await plane.client.create(claimsPath, { metadata: { name }, spec }));
}

async function newVolume(): Promise<PersistentVolume> {
  const name = `volume-${serial++}`;
  const spec = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/x' } };
  return projectPersistentVolume(await plane.client.create(volumesPath, { metadata: { name }, spec }));
}

async function volumeNow({ name }: PersistentVolume): Promise<PersistentVolume> {
  return projectPersistentVolume(await plane.client.get(`${volumesPath}/${name}`));
}

async function claimNow({ name }: PersistentVolumeClaim): Promise<PersistentVolumeClaim> {
  return projectPersistentVolumeClaim(await plane.client.get(`${claimsPath}/${name}`));
}

/** Lets the server process one PATCH but drops its response. */
function loseResponse(): void {
  let lost = false;
  proxy.fault = async ({ method }, forward) => {
    if (method !== 'PATCH' || lost) return undefined;
    lost = true;
    await forward();
    throw new Error('lost for a test');
  };
}

describe('a volume', () => {
  it('is reserved for the claim, in the format that the PV controller expects', async () => {
    const [volume, claim] = [await newVolume(), await newClaim()];
    const version = await writer.bind(volume, claim, { isOurChoice: true, signal });
    const raw = await plane.client.get<{ readonly metadata: object; readonly spec: object }>(
      `${volumesPath}/${volume.name}`,
    );
    expect(raw.metadata).toMatchObject({
      resourceVersion: version,
      annotations: { 'pv.kubernetes.io/bound-by-controller': 'yes' },
    });
    const { namespace, name, uid } = claim;
    expect(raw.spec).toMatchObject({
      claimRef: { apiVersion: 'v1', kind: 'PersistentVolumeClaim', namespace, name, uid },
    });
  });

  it('is reserved even if it has changed, unless another claim has it', async () => {
    const [volume, claim, other] = [await newVolume(), await newClaim(), await newClaim()];
    await plane.client.patch(`${volumesPath}/${volume.name}`, 'merge', { metadata: { labels: { a: 'b' } } });
    await writer.bind(volume, claim, { isOurChoice: true, signal });
    expect((await volumeNow(volume)).claim?.name).toBe(claim.name);
    const theft = writer.bind(volume, other, { isOurChoice: true, signal });
    await expect(theft).rejects.toThrow(
      `persistentvolume "${volume.name}" is already bound to claim "default/${claim.name}"`,
    );
  });

  it('is written once if a response is lost or a sibling has written the same', async () => {
    const [volume, claim] = [await newVolume(), await newClaim()];
    loseResponse();
    const version = await writer.bind(volume, claim, { isOurChoice: true, signal });
    expect((await volumeNow(volume)).resourceVersion).toBe(version);
    expect(await writer.bind(volume, claim, { isOurChoice: true, signal })).toBe(version);
  });

  it('that is gone causes an error', async () => {
    const [volume, claim] = [await newVolume(), await newClaim()];
    await plane.client.delete(`${volumesPath}/${volume.name}`);
    await expect(writer.bind(volume, claim, { isOurChoice: true, signal })).rejects.toThrow('not found');
  });
});

describe('a claim', () => {
  it('gets the node on which its volume will be provisioned', async () => {
    const claim = await newClaim();
    const version = await writer.provision(claim, 'a', signal);
    expect(await claimNow(claim)).toMatchObject({ selectedNode: 'a', resourceVersion: version });
    expect(await writer.provision(claim, 'a', signal)).toBe(version);
  });

  it('keeps the node that it has', async () => {
    const claim = await newClaim();
    await writer.provision(claim, 'a', signal);
    const move = writer.provision(claim, 'b', signal);
    await expect(move).rejects.toThrow(`the volume of "default/${claim.name}" is being provisioned for node a`);
  });

  it('that was recreated causes an error', async () => {
    const claim = await newClaim();
    await plane.client.delete(`${claimsPath}/${claim.name}`);
    const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } };
    await plane.client.create(claimsPath, { metadata: { name: claim.name }, spec });
    await expect(writer.provision(claim, 'a', signal)).rejects.toThrow('was deleted and recreated');
    expect((await claimNow(claim)).selectedNode).toBeUndefined();
  });
});
