import { existsSync } from 'node:fs';
import { readFile, readdir } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/base/system-clock.ts';
import { loadKubeconfig } from '../../../src/client/kubeconfig.ts';
import { openPortForward } from '../../../src/client/port-forward.ts';
import { poll } from '../poll.ts';
import { planeForSuite } from './plane-for-suite.ts';
import { provideNodeForSuite } from './node/provide-real-node.ts';
import { nodeName, pauseImage } from './node/real-node.ts';
import { hangsMs } from '../patience.ts';

const programs = await provideNodeForSuite('a real node', []);
const pods = '/api/v1/namespaces/default/pods';

describe.skipIf(programs.state === 'missing')('Real plane with a real node', () => {
  const plane = planeForSuite(programs, { controllerManager: true, node: true });

  beforeAll(async () => {
    const { client } = plane();
    await poll(
      () => client.get('/api/v1/namespaces/default/serviceaccounts/default').then(() => undefined, String),
      'pods have a service account',
    );
  });

  async function run(name: string, ...args: readonly string[]): Promise<void> {
    await runWith({}, name, ...args);
  }

  async function runWith(spec: object, name: string, ...args: readonly string[]): Promise<void> {
    const container = { name: 'main', image: pauseImage, imagePullPolicy: 'Never', args };
    await plane().client.create(pods, {
      metadata: { name },
      spec: { nodeName, restartPolicy: 'Never', terminationGracePeriodSeconds: 5, containers: [container], ...spec },
    });
  }

  async function reached(name: string, phase: string): Promise<void> {
    await poll(async () => {
      const { status } = await plane().client.get<{ status: { phase?: string } }>(`${pods}/${name}`);
      return status.phase === phase ? undefined : JSON.stringify(status);
    }, `${name} is ${phase}`);
  }

  async function logOf(name: string): Promise<string> {
    const { text } = await plane().client.call(
      { method: 'GET', path: `${pods}/${name}/log`, headers: {} },
      { timeoutMs: hangsMs },
    );
    return text;
  }

  it('runs containers to their end and shows their logs', async () => {
    await run('short', '100ms');
    await reached('short', 'Succeeded');
    expect(await logOf('short')).toBe('waiting\n');
  });

  it('reports how a container failed', async () => {
    await run('wrong', 'soon');
    await reached('wrong', 'Failed');
    expect(await logOf('wrong')).toContain('invalid duration "soon"');
  });

  it('forwards a port of a pod through the API server, the kubelet and containerd', async () => {
    await runWith({ hostNetwork: true }, 'on-host');
    await reached('on-host', 'Running');
    const endpoint = await loadKubeconfig({ clock: systemClock, path: join(plane().folder, 'kubeconfig') });
    const target = { endpoint, namespace: 'default', pod: 'on-host', timeoutMs: hangsMs };
    // In the network of the node, the kubelet itself listens there.
    const connection = await openPortForward({ ...target, port: 10_248 });
    connection.write('GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n');
    let answer = '';
    connection.on('data', (text: unknown) => (answer += String(text)));
    await poll(() => Promise.resolve(answer.endsWith('\r\n\r\nok') ? undefined : answer), 'the kubelet has answered');
    connection.destroy();
    // The kubelet may report the failure before or after the connection is open.
    const failure = openPortForward({ ...target, port: 1 }).then(
      (closed) =>
        new Promise<Error>((resolve) => {
          closed.once('error', resolve);
          closed.write('x');
        }),
      (error: unknown) => error as Error,
    );
    expect((await failure).message).toMatch(/^cannot forward port 1 of pod default\/on-host: .*(refused|failed)/s);
  });

  it('ends a container whose pod is deleted', async () => {
    await run('long');
    await reached('long', 'Running');
    expect(await plane().node!.containers()).toContain(pauseImage);
    await plane().client.delete(`${pods}/long`);
    await poll(async () => {
      const { items } = await plane().client.list(pods);
      const names = (items as { metadata: { name: string } }[]).map(({ metadata }) => metadata.name);
      return names.includes('long') ? 'it still exists' : undefined;
    }, 'the pod is gone');
  });

  it('uses its own namespaces and cgroups, and removes all of them when it stops', async () => {
    const { folder } = plane();
    await run('left');
    await reached('left', 'Running');
    const mounts = async (): Promise<readonly string[]> =>
      (await readFile('/proc/self/mounts', 'utf8')).split('\n').filter((line) => line.includes(folder));
    expect(await mounts()).toEqual([]);
    expect(await processesOf(folder)).not.toEqual([]);
    expect(await cgroupsOf(folder)).not.toEqual([]);
    await plane().stop();
    expect(existsSync(folder)).toBe(false);
    expect(await cgroupsOf(folder)).toEqual([]);
    await poll(async () => {
      const left = await processesOf(folder);
      return left.length === 0 ? undefined : left.join();
    }, 'no process of it is left');
  });
});

/** Returns command lines that name the plane's folder: of its programs and of the shims of its containers. */
async function processesOf(folder: string): Promise<readonly string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return lines.filter((line) => line.includes(folder));
}

async function cgroupsOf(folder: string): Promise<readonly string[]> {
  const hierarchies = ['', ...(await readdir('/sys/fs/cgroup'))].map((name) => `/sys/fs/cgroup/${name}`);
  return hierarchies.map((hierarchy) => `${hierarchy}/${basename(folder)}`).filter((path) => existsSync(path));
}
