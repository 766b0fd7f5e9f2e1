import { writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { createServer } from 'node:https';
import type { Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { TimelineChange, TimelineList } from '../../api/timeline/timeline-answer.ts';
import type { Trace } from '../../api/timeline/trace.ts';
import type { TimelineMessage } from '../../api/timeline/timeline-message.ts';
import { delta, group, snapshot, transition } from '../../api/timeline/testing/builders.ts';
import { podGroupPath } from '../../api/pod-group.ts';
import { systemClock } from '../../base/system-clock.ts';
import { HttpTransport } from '../../client/http/http-transport.ts';
import { KubeClient } from '../../client/kube-client.ts';
import { loadKubeconfig } from '../../client/kubeconfig.ts';
import { localKubeconfig } from '../../client/local-kubeconfig.ts';
import { ForwardingServer } from '../../client/testing/forwarding-server.ts';
import { createPlayground } from '../../compose/create-playground.ts';
import type { Playground } from '../../compose/create-playground.ts';
import { silentLogger } from '../../observability/silent-logger.ts';
import { makeSelfSignedCertificate } from '../../serving/certificates/self-signed-certificate.ts';
import { expectValidAnswer, expectValidTrace } from '../../../test/expect/valid-answer.ts';
import { createPod } from '../testing/create-pod.ts';
import { freshHome } from '../testing/fresh-home.ts';
import { leaderObjects } from '../testing/leader-objects.ts';
import type { TestProcess } from '../testing/test-process.ts';

const home = freshHome('timeline');
let scheduler: Server;
let api: ForwardingServer;
let kubeconfig: string;
/** Answers the next requests for /debug/events; once there is none left, the scheduler of the playground answers. */
let streams: { readonly status?: number; readonly text: string; readonly ends?: boolean }[];
/** Last-Event-ID of each request. */
let resumed: (string | undefined)[];
let ground: Playground;

beforeAll(async () => {
  ground = await createPlayground({ nodes: 2, logger: silentLogger });
  const { certificates: cert, key } = await makeSelfSignedCertificate(['scheduler'], Date.now(), 1);
  scheduler = createServer({ cert, key }, (asked, response) => {
    resumed.push(asked.headers['last-event-id'] as string | undefined);
    const stream = streams.shift();
    if (stream !== undefined) {
      const { status = 200, text, ends = false } = stream;
      response.writeHead(status, { 'content-type': 'text/event-stream' });
      response.write(text);
      if (ends) response.end();
      return;
    }
    request(`${ground.schedulerUrl}${asked.url!}`, { headers: {}, agent: false }, (answer) => {
      response.writeHead(answer.statusCode!);
      pipeline(answer, response, () => undefined);
    }).end();
  });
  await new Promise<void>((resolve) => scheduler.listen(0, '127.0.0.1', resolve));
  api = await ForwardingServer.start({ objects: leaderObjects, target: (scheduler.address() as AddressInfo).port });
});

beforeEach(async () => {
  [streams, resumed] = [[], []];
  kubeconfig = join(home.path, 'kubeconfig');
  await writeFile(kubeconfig, localKubeconfig(api.url));
});

afterEach(() => scheduler.closeAllConnections());

afterAll(async () => {
  await new Promise((resolve) => scheduler.close(resolve));
  await api.close();
  await ground.stop();
});

function start(...parameters: readonly string[]): TestProcess {
  return home.tutti([
    ...['timeline', ...parameters, '--kubeconfig', kubeconfig],
    ...['--token-from-service-account', 'tutti-system/debug', '--insecure-skip-scheduler-tls-verify'],
  ]);
}

async function timeline(...parameters: readonly string[]): Promise<readonly [number | undefined, string, string]> {
  const process = start(...parameters);
  const { exitCode } = await process.ended();
  return [exitCode, process.stdout, process.stderr];
}

const textOf = (...messages: readonly TimelineMessage[]): string =>
  messages.map((message) => `event: ${message.kind}\ndata: ${JSON.stringify(message)}\n\n`).join('');

describe('tutti timeline', () => {
  it('shows how a gang came to run, as a table, as JSON and as a trace', async () => {
    const transport = new HttpTransport({
      endpoint: await loadKubeconfig({ clock: systemClock, path: ground.kubeconfigPath }),
    });
    const client = new KubeClient({ transport, clock: systemClock });
    await client.create(podGroupPath('default'), {
      ...{ apiVersion: 'scheduling.x-k8s.io/v1alpha1', kind: 'PodGroup' },
      ...{ metadata: { name: 'red', namespace: 'default' }, spec: { minMember: 2 } },
    });
    for (const name of ['red-0', 'red-1'])
      await createPod(client, { name, namespace: 'default', group: 'red', cpu: 1 });
    const bound = /"nodeName":"node-/g;
    await ground.until(async () => {
      const pods = await client.list('/api/v1/namespaces/default/pods');
      return JSON.stringify(pods).match(bound)?.length === 2;
    });
    // Its watch may be later than this test's.
    await ground.until(async () => (await timeline('red', '-o', 'json'))[1].includes('"Started"'));
    await transport.close();

    const [exitCode, table, errors] = await timeline('red');
    expect([exitCode, errors]).toEqual([0, '']);
    const rows = table
      .trimEnd()
      .split('\n')
      .map((line) => line.split(/ {2,}/));
    expect(rows[0]).toEqual(['TIME', 'ENTITY', 'EVENT', 'STATE', 'BOUND/QUORUM/SIZE', 'WAITED', 'DETAILS']);
    const started = rows.find(([, , event]) => event === 'Started')!;
    expect(started.slice(1, 6)).toEqual(['group/red', 'Started', 'Running', '2/2/2', expect.stringMatching(/^\d+s$/)]);
    expect(rows.at(-1)![0]).toMatch(/^\d+ events, recorded since 20/);

    const ofPlayground = ['--kubeconfig', ground.kubeconfigPath, '--scheduler-url', ground.schedulerUrl];
    const direct = home.tutti(['timeline', 'red', ...ofPlayground]);
    expect((await direct.ended()).exitCode).toBe(0);
    expect(direct.stdout).toBe(table);

    const [, json] = await timeline('group/red', '-o', 'json', '--since', '1h');
    const list = JSON.parse(json) as TimelineList;
    expectValidAnswer(list);
    expect(list.gap).toBe(true);
    const events = list.items.map(({ event }) => event);
    expect(events[0]).toBe('Added');
    expect(events.indexOf('Planned')).toBeLessThan(events.indexOf('Started'));
    expect(parse((await timeline('red', '-o', 'yaml'))[1])).toMatchObject({ kind: 'TimelineList' });

    const [, traced] = await timeline('-A', '-o', 'trace');
    const trace = JSON.parse(traced) as Trace;
    expectValidTrace(trace);
    const spans = trace.traceEvents.filter((event) => event.ph === 'X' && event.cat === 'state');
    expect(spans.map(({ name }) => name)).toEqual(expect.arrayContaining(['Running']));
  });

  it('shows what another namespace has only there, and fails for what it does not know', async () => {
    streams = Array.from({ length: 2 }, () => ({ text: textOf(snapshot([transition(1_000, 'Waiting')])) }));
    expect((await timeline('-n', 'ml', '--no-headers'))[1]).toMatch(/^1970\S+ +group\/red +Changed +Waiting +- +0s$/m);
    const [exitCode, stdout, stderr] = await timeline('blue', '-A');
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toContain('no pod group and no pod without a group named blue');
  });

  it('says why the scheduler refuses, and what it does not understand', async () => {
    streams = [
      { status: 503, text: '8 clients follow it already\n', ends: true },
      { text: 'data: {"kind":"snapshot"}\n\n' },
      { text: '', ends: true },
    ];
    const errors: string[] = [];
    for (let round = 0; round < 3; round++) {
      const [exitCode, stdout, stderr] = await timeline();
      expect([exitCode, stdout]).toEqual([1, '']);
      errors.push(stderr);
    }
    expect(errors[0]).toBe('tutti: the scheduler answered GET /debug/events with 503: 8 clients follow it already\n');
    expect(errors[1]).toContain('has an unknown form');
    expect(errors[2]).toContain('closed the connection');
  });

  it.each(['table', 'wide', 'json', 'yaml', 'trace'])(
    'KP6: moves no cursor and forges no line with -o %s',
    async (output) => {
      const hostile = '\u001b[2J\u202e\u009b31m\r\nforged <img onerror=x>\u0007';
      const subject = { kind: 'PodGroup', namespace: 'ml', name: `${hostile}${'x'.repeat(2 ** 20)}` } as const;
      const happened = transition(1_000, 'Waiting', {
        kind: 'Rejected',
        reason: hostile.repeat(1_000),
        node: hostile,
        by: hostile,
      });
      streams = [{ text: textOf(snapshot([happened], { entities: [group('red', { subject })] })) }];
      const [exitCode, stdout, stderr] = await timeline('-A', '-o', output);
      expect(exitCode).toBe(0);
      expect(stdout + stderr).toMatch(/^[ -~\n…]*$/);
      expect(stdout).not.toMatch(/^forged/m);
      expect(stdout).toContain('\\u001b[2J');
      expect(stdout.length).toBeLessThan(40_000);
    },
  );

  it('KP7: follows over a lost connection and a change of the leader, prints each event once, and ends with 130', async () => {
    const [first, second, third] = [1, 2, 3].map((sequence) =>
      transition(sequence * 1_000, 'Waiting', { sequence, kind: 'Rejected', reason: `cause ${sequence}` }),
    );
    const grown = { ...second!, count: 2, until: 5_000 };
    const begin = snapshot([first!], { sequence: 1 });
    streams = [
      { text: textOf(begin) },
      { text: textOf({ ...begin, after: 1, transitions: [] }, delta(1, [second!], { sequence: 2 })), ends: true },
      { text: textOf({ ...begin, after: 2, sequence: 4, transitions: [grown] }), ends: true },
      { text: textOf(snapshot([{ ...third!, sequence: 1 }], { epoch: 'b', heldSince: 2_500 })) },
    ];
    const process = start('-n', 'ml', '--follow', '-o', 'json');
    await process.said(/cause 3/);
    process.signal('SIGINT');
    expect(await process.ended()).toEqual({ exitCode: 130 });
    expect(resumed).toEqual([undefined, 'a.1', 'a.2', 'a.4']);
    const changes = process.stdout
      .split(/(?<=^\})\n/m)
      .filter((text) => text !== '')
      .map((text) => JSON.parse(text) as TimelineChange);
    for (const change of changes) expectValidAnswer(change);
    expect(changes.map((change) => (change.type === 'Gap' ? change.reason : change.item.reason))).toEqual([
      ...['cause 1', 'cause 2', 'cause 2', 'NewLeader', 'cause 3'],
    ]);
    expect(process.stderr).toContain('Another scheduler leads now');
  });

  it('says once that it cannot read what the scheduler sends while it follows, and goes on', async () => {
    const happened = transition(1_000, 'Waiting', { sequence: 1 });
    const resume = textOf(snapshot([], { after: 1, sequence: 1 }));
    streams = [
      { text: textOf(snapshot([happened], { sequence: 1 })) },
      { text: `${resume}data: {"kind":"delta","now":1e999}\n\n` },
    ];
    const process = start('-n', 'ml', '--follow');
    await process.said(/cannot read/);
    process.signal('SIGINT');
    expect(await process.ended()).toEqual({ exitCode: 130 });
    expect(process.stderr).toBe(
      'cannot follow the timeline, trying again: the scheduler has sent what this version cannot read\n',
    );
  });
});
