import { expect, it } from 'vitest';
import { section, table } from './kubectl-command.ts';
import { listOf, worker } from './manifests.ts';
import { describeSession } from './recorded-session.ts';

describeSession('nodes', (session) => {
  const statuses = async (): Promise<unknown> =>
    Object.fromEntries(
      table(await session().kubectl.ok('get nodes --no-headers')).map(([name, status]) => [name, status]),
    );

  it('cordon keeps new pods off a node until uncordon', async () => {
    const { kubectl } = session();
    expect(await kubectl.ok('cordon node-1')).toBe('node/node-1 cordoned\n');
    expect(await kubectl.ok('cordon node-1')).toBe('node/node-1 already cordoned\n');
    expect(await statuses()).toEqual({ 'node-1': 'Ready,SchedulingDisabled', 'node-2': 'Ready' });
    expect(await kubectl.ok('describe node node-1')).toMatch(/^Unschedulable: +true$/m);
    await kubectl.ok('create -f -', [], listOf(worker('w-0'), worker('w-1')));
    await kubectl.ok('wait pod/w-0 pod/w-1 --for=condition=Ready --timeout=60s');
    expect(await kubectl.ok('get pods -o jsonpath={.items[*].spec.nodeName}')).toBe('node-2 node-2');
    await kubectl.ok('create -f -', [], worker('w-2'));
    await kubectl.ok('wait pod/w-2 --for=condition=PodScheduled=False --timeout=60s');
    expect(section(await kubectl.ok('describe pod w-2'), 'Events').at(-1)).toMatch(
      /FailedScheduling.*0\/2 nodes are available: 1 Insufficient cpu, 1 node\(s\) were unschedulable\./,
    );
    expect(await kubectl.ok('uncordon node-1')).toBe('node/node-1 uncordoned\n');
    await kubectl.ok('wait pod/w-2 --for=condition=Ready --timeout=60s');
    expect(await kubectl.ok('get pod w-2 -o jsonpath={.spec.nodeName}')).toBe('node-1');
  });

  it('taint adds and removes a taint', async () => {
    const { kubectl } = session();
    expect(await kubectl.ok('taint nodes node-1 gpu=yes:NoSchedule')).toBe('node/node-1 tainted\n');
    expect(await kubectl.fails('taint nodes node-1 gpu=yes:NoSchedule')).toBe(
      'error: node node-1 already has gpu taint(s) with same effect(s) and --overwrite is false',
    );
    expect(await kubectl.ok('describe node node-1')).toMatch(/^Taints: +gpu=yes:NoSchedule$/m);
    expect(await kubectl.ok('taint nodes node-1 gpu-')).toBe('node/node-1 untainted\n');
    expect(await kubectl.ok('describe node node-1')).toMatch(/^Taints: +<none>$/m);
  });

  it('label labels a node', async () => {
    const { kubectl } = session();
    expect(await kubectl.ok('label node node-1 zone=a')).toBe('node/node-1 labeled\n');
    expect(await kubectl.ok('get nodes -l zone=a -o name')).toBe('node/node-1\n');
  });

  it('drain evicts the pods of a node, with --force also those without a controller', async () => {
    const { kubectl } = session();
    expect(await kubectl.fails('drain node-2')).toMatch(
      /cannot delete Pods that declare no controller \(use --force to override\): default\/w-0, default\/w-1/,
    );
    expect((await kubectl.ok('drain node-2 --force --timeout=60s')).split('\n').sort()).toEqual([
      '',
      'evicting pod default/w-0',
      'evicting pod default/w-1',
      'node/node-2 already cordoned',
      'node/node-2 drained',
      'pod/w-0 evicted',
      'pod/w-1 evicted',
    ]);
    expect(await kubectl.ok('get pods -o name')).toBe('pod/w-2\n');
    expect(await kubectl.ok('uncordon node-2')).toBe('node/node-2 uncordoned\n');
  });
});
