import { describe, expect, it } from 'vitest';
import { InProcessTransport } from './in-process-transport.ts';
import { ApiClient, WatchReader, readText } from './testing/api-client.ts';
import { configMapManifest, configMapsPath } from './testing/manifests.ts';

describe('InProcessTransport', () => {
  const watchPath = `${configMapsPath}?watch=true`;

  it('passes requests to the server', async () => {
    const client = new ApiClient();
    const transport = new InProcessTransport(client.server);
    const answer = await transport.send({
      method: 'POST',
      path: configMapsPath,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(configMapManifest('a')),
    });
    expect(answer.status).toBe(201);
    expect(JSON.parse(await readText(answer.body))).toMatchObject({ metadata: { name: 'a' } });
    expect((await client.get(`${configMapsPath}/a`)).status).toBe(200);
  });

  it('rejects the body of an aborted request, and a request that starts aborted', async () => {
    const transport = new InProcessTransport(new ApiClient().server);
    const controller = new AbortController();
    const watch = new WatchReader(
      (await transport.send({ method: 'GET', path: watchPath, headers: {} }, controller.signal)).body,
    );
    const next = watch.next();
    controller.abort(new Error('enough'));
    await expect(next).rejects.toThrow('enough');
    await expect(transport.send({ method: 'GET', path: watchPath, headers: {} }, controller.signal)).rejects.toThrow(
      'enough',
    );
  });

  it('ends only its own watches when closed', async () => {
    const client = new ApiClient();
    const transport = new InProcessTransport(client.server);
    const watch = new WatchReader((await transport.send({ method: 'GET', path: watchPath, headers: {} })).body);
    const other = await client.watch(watchPath);
    await transport.close();
    await expect(watch.next()).rejects.toThrow('the transport is closed');
    await client.mustCreate(configMapsPath, configMapManifest('a'));
    expect(await other.nextNames(1)).toEqual(['ADDED a']);
    await expect(transport.send({ method: 'GET', path: watchPath, headers: {} })).rejects.toThrow('closed');
  });
});
