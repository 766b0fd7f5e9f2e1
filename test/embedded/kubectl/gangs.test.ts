import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { section, table } from './kubectl-command.ts';
import { listOf, podGroup, worker } from './manifests.ts';
import { describeSession } from './recorded-session.ts';

const examples = join(import.meta.dirname, '..', '..', '..', 'examples');
const blueVerdict =
  /^PodGroup default\/blue cannot start: 1 of 3 members would fit; blue-\d would not: 0\/2 nodes are available: 2 Insufficient cpu\. It needs 2 more cpu; 1 free, 4 in total\. It is first in line for cpu\. preemption: no pods of lower priority\.$/;

describeSession('gangs', (session) => {
  it('get nodes -o wide shows two ready nodes with their addresses', async () => {
    expect(table(await session().kubectl.ok('get nodes -o wide'))).toEqual([
      expect.arrayContaining(['NAME', 'STATUS', 'ROLES', 'AGE', 'VERSION', 'INTERNAL-IP']),
      expect.arrayContaining(['node-1', 'Ready', '<none>', '10.0.0.1']),
      expect.arrayContaining(['node-2', 'Ready', '<none>', '10.0.0.2']),
    ]);
  });

  it('apply starts red as a whole while blue waits, and get -w shows it live', async () => {
    const { kubectl } = session();
    const pods = kubectl.follow('get pods -w');
    const groups = kubectl.follow('get pg -w');
    const created = await kubectl.ok(
      'apply -f -',
      [],
      listOf(
        podGroup('red', 3),
        podGroup('blue', 3),
        ...[0, 1, 2].flatMap((index) => [worker(`red-${index}`, 'red'), worker(`blue-${index}`, 'blue')]),
      ),
    );
    expect(created.trimEnd().split('\n')).toEqual([
      'podgroup.scheduling.x-k8s.io/red created',
      'podgroup.scheduling.x-k8s.io/blue created',
      ...[0, 1, 2].flatMap((index) => [`pod/red-${index} created`, `pod/blue-${index} created`]),
    ]);
    try {
      for (const index of [0, 1, 2]) await pods.until(new RegExp(`red-${index} +1/1 +Running`));
      await groups.until(/red +Running +3 +3 /);
      await groups.until(/blue +Scheduling +3 +0 +Unschedulable/);
      expect(table(pods.stdout)[0]).toEqual(['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE']);
      expect(pods.stdout).toMatch(/red-0 +0\/1 +ContainerCreating/);
      expect(pods.stdout).not.toMatch(/blue-\d +\d\/1 +[^ P]/);
    } finally {
      await Promise.all([pods.end(), groups.end()]);
    }
  });

  it('wait resolves at a phase', async () => {
    const { kubectl } = session();
    expect(await kubectl.ok('wait pg/red --for=jsonpath={.status.phase}=Running --timeout=60s')).toBe(
      'podgroup.scheduling.x-k8s.io/red condition met\n',
    );
    expect(await kubectl.ok('wait pod/red-0 pod/red-1 --for=condition=Ready --timeout=60s')).toBe(
      'pod/red-0 condition met\npod/red-1 condition met\n',
    );
    expect(await kubectl.fails('wait pod/blue-0 --for=condition=Ready --timeout=1s')).toBe(
      'error: timed out waiting for the condition on pods/blue-0',
    );
  });

  it('get pods -o wide prints the nodes of pods', async () => {
    const rows = table(await session().kubectl.ok('get pods -o wide'));
    const age = expect.stringMatching(/^\d+s$/) as string;
    const ip = expect.stringMatching(/^10\.128\.0\.\d+$/) as string;
    const node = expect.stringMatching(/^node-[12]$/) as string;
    expect(rows).toEqual([
      ['NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE', 'IP', 'NODE', 'NOMINATED NODE'],
      ...[0, 1, 2].map((index) => [`blue-${index}`, '0/1', 'Pending', '0', age, ...Array<string>(3).fill('<none>')]),
      ...[0, 1, 2].map((index) => [`red-${index}`, '1/1', 'Running', '0', age, ip, node, '<none>']),
    ]);
  });

  const columns = ['NAME', 'PHASE', 'MINMEMBER', 'SCHEDULED', 'REASON', 'AGE'];
  const age = expect.stringMatching(/^\d+s$/) as string;

  it.each(['pg', 'pgs', 'podgroups.scheduling.x-k8s.io', 'podgroups.v1alpha1.scheduling.x-k8s.io'])(
    'prints %s',
    async (words) => {
      expect(table(await session().kubectl.ok(`get ${words}`))).toEqual([
        columns,
        ['blue', 'Scheduling', '3', '0', 'Unschedulable', age],
        ['red', 'Running', '3', '3', 'QuorumScheduled', age],
      ]);
    },
  );

  it('get pg -o wide prints since when and why a group waits', async () => {
    expect(table(await session().kubectl.ok('get pg -o wide'))).toEqual([
      [
        ...['NAME', 'PHASE', 'MINMEMBER', 'RUNNING', 'SUCCEEDED', 'FAILED', 'SCHEDULED', 'REASON', 'AGE'],
        ...['MEMBERS', 'READY', 'SINCE', 'MESSAGE'],
      ],
      [
        ...['blue', 'Scheduling', '3', '0', '0', '0', '0', 'Unschedulable', age, '3', '0', age],
        expect.stringMatching(blueVerdict),
      ],
      [
        ...['red', 'Running', '3', '3', '0', '0', '3', 'QuorumScheduled', age, '3', '3', age],
        '3 members are scheduled, 3 are needed',
      ],
    ]);
  });

  it('describe pod shows the plan and the node of a running member', async () => {
    const text = await session().kubectl.ok('describe pod red-0');
    expect(text).toMatch(/^Node: +node-[12]\/10\.0\.0\.[12]$/m);
    expect(text).toMatch(/^Start Time: +\w{3}, \d\d \w{3} \d{4} /m);
    expect(text).toMatch(/^Labels: +scheduling\.x-k8s\.io\/pod-group=red$/m);
    expect(text).toMatch(/tutti\.dev\/quorum: 3$/m);
    expect(text).toMatch(/^Status: +Running$/m);
    expect(text).toMatch(/^QoS Class: +Burstable$/m);
    expect(section(text, 'Containers')).toEqual(expect.arrayContaining(['worker:', 'Ready:          True']));
    expect(table(section(text, 'Conditions').join('\n'))).toEqual(
      expect.arrayContaining([
        ['PodScheduled', 'True'],
        ['Ready', 'True'],
      ]),
    );
    expect(table(section(text, 'Events').join('\n'))).toEqual([
      ['Type', 'Reason', 'Age', 'From', 'Message'],
      ['----', '------', '----', '----', '-------'],
      [
        'Normal',
        'Scheduled',
        expect.any(String),
        'tutti',
        expect.stringMatching(/^Successfully assigned default\/red-0 to node-[12]$/),
      ],
    ]);
  });

  it('describe pod shows the verdict of the group of a waiting member', async () => {
    const text = await session().kubectl.ok('describe pod blue-0');
    expect(text).toMatch(/^Node: +<none>$/m);
    expect(text).toMatch(/^Status: +Pending$/m);
    expect(table(section(text, 'Conditions').join('\n'))).toEqual([
      ['Type', 'Status'],
      ['PodScheduled', 'False'],
    ]);
    const events = table(section(text, 'Events').join('\n')).slice(2);
    expect(events).toEqual([
      ['Warning', 'FailedScheduling', expect.any(String), 'tutti', expect.stringMatching(blueVerdict)],
    ]);
  });

  it('describe pg shows the conditions of a group', async () => {
    const { kubectl } = session();
    const blue = await kubectl.ok('describe pg blue');
    expect(blue).toMatch(/^Kind: +PodGroup$/m);
    expect(blue).toMatch(/^ {2}Min Member: +3$/m);
    expect(section(blue, 'Status').join('\n')).toMatch(/Message: +PodGroup default\/blue cannot start/);
    expect(section(blue, 'Status')).toEqual(
      expect.arrayContaining([expect.stringMatching(/^Reason: +Unschedulable$/)]),
    );
    expect(table(section(blue, 'Events').join('\n')).at(-1)).toEqual([
      ...['Warning', 'FailedScheduling', expect.any(String), 'tutti'],
      expect.stringMatching(blueVerdict),
    ]);
    const red = await kubectl.ok('describe pg red');
    expect(section(red, 'Events').join('\n')).toMatch(
      /Normal +Scheduled .* tutti +Successfully assigned 3 members to \d nodes?/,
    );
    expect(section(red, 'Status')).toEqual(
      expect.arrayContaining([
        expect.stringMatching(/^Reason: +QuorumReached$/),
        expect.stringMatching(/^Running: +3$/),
      ]),
    );
  });

  it('describe nodes shows the pods of a node', async () => {
    const text = await session().kubectl.ok('describe nodes');
    expect(section(text, 'Allocatable')).toEqual(['cpu:     2', 'memory:  4Gi', 'pods:    110']);
    expect(section(text, 'Conditions').join('\n')).toMatch(/Ready +True .* KubeletReady/);
    expect(text.match(/default +red-\d +1 \(50%\) +0 \(0%\)/g)).toHaveLength(3);
  });

  it('events lists the Events, oldest first', async () => {
    const { kubectl } = session();
    const [header, ...rows] = table(await kubectl.ok('events'));
    expect(header).toEqual(['LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE']);
    expect(rows).toHaveLength(8);
    expect(rows).toEqual(
      expect.arrayContaining([
        [expect.any(String), 'Warning', 'FailedScheduling', 'Pod/blue-1', expect.stringMatching(blueVerdict)],
      ]),
    );
    expect(table(await kubectl.ok('events --for pod/red-0'))).toHaveLength(2);
    expect(table(await kubectl.ok('get events --field-selector reason=Scheduled,type=Normal'))).toHaveLength(5);
    const sorted = table(await kubectl.ok('get events -A --sort-by=.lastTimestamp'));
    expect(sorted).toHaveLength(9);
    expect(sorted[0]).toEqual(['NAMESPACE', 'LAST SEEN', 'TYPE', 'REASON', 'OBJECT', 'MESSAGE']);
  });

  it('delete pods of red lets blue start as a whole', async () => {
    const { kubectl } = session();
    const deleted = await kubectl.ok('delete pods -l scheduling.x-k8s.io/pod-group=red');
    expect(deleted).toBe('pod "red-0" deleted\npod "red-1" deleted\npod "red-2" deleted\n');
    await kubectl.ok('wait pods -l scheduling.x-k8s.io/pod-group=blue --for=condition=Ready --timeout=60s');
    await kubectl.ok('wait pg/blue --for=jsonpath={.status.phase}=Running --timeout=60s');
    expect(await kubectl.ok('delete pods,pg --all')).toMatch(/podgroup\.scheduling\.x-k8s\.io "red" deleted/);
  });

  // test/examples runs the others.
  describe('examples that consist only of manifests', () => {
    it.each(readdirSync(examples).filter((name) => existsSync(join(examples, name, 'manifests.yaml'))))(
      '%s can be applied and runs to its end',
      async (example) => {
        const { kubectl } = session();
        const namespace = `example-${example}`;
        await kubectl.ok(`create namespace ${namespace}`);
        const file = join(examples, example);
        const created = await kubectl.ok(`apply -n ${namespace} -f`, [file]);
        expect(created.trimEnd().split('\n')).toEqual(
          created
            .trimEnd()
            .split('\n')
            .map(() => expect.stringMatching(/^[\w.-]+\/[\w.-]+ created$/) as string),
        );
        expect(await kubectl.ok(`apply -n ${namespace} -f`, [file])).toBe(created.replaceAll(' created', ' unchanged'));
        await kubectl.ok(`wait pg --all -n ${namespace} --for=jsonpath={.status.phase}=Finished --timeout=60s`);
        await kubectl.ok(`delete namespace ${namespace}`);
        expect(await kubectl.fails(`get namespace ${namespace}`)).toBe(
          `Error from server (NotFound): namespaces "${namespace}" not found`,
        );
      },
    );
  });
});
