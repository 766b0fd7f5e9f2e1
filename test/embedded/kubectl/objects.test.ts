import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { table } from './kubectl-command.ts';
import { listOf, podGroup, worker } from './manifests.ts';
import { describeSession } from './recorded-session.ts';
import { rejectedManifests } from './rejected-manifests.ts';

const settings = (b: string): object => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'settings' },
  data: { a: '1', b },
});

describeSession('objects', (session) => {
  describe('discovery', () => {
    it('version prints the version of the server', async () => {
      const { clientVersion, serverVersion } = JSON.parse(await session().kubectl.ok('version -o json')) as Record<
        string,
        { gitVersion: string }
      >;
      expect(clientVersion?.gitVersion).toMatch(new RegExp(`^v${session().version}\\.`));
      expect(serverVersion?.gitVersion).toMatch(/^v1\.34\.\d+\+tutti$/);
    });

    it('api-resources lists the served resources', async () => {
      const { kubectl } = session();
      const resources = table(await kubectl.ok('api-resources'));
      expect(resources[0]).toEqual(['NAME', 'SHORTNAMES', 'APIVERSION', 'NAMESPACED', 'KIND']);
      expect(resources).toEqual(
        expect.arrayContaining([
          ['pods', 'po', 'v1', 'true', 'Pod'],
          ['podgroups', 'pg,pgs', 'scheduling.x-k8s.io/v1alpha1', 'true', 'PodGroup'],
          ['priorityclasses', 'pc', 'scheduling.k8s.io/v1', 'false', 'PriorityClass'],
        ]),
      );
      const versions = (await kubectl.ok('api-versions')).trimEnd().split('\n');
      expect(versions).toEqual(expect.arrayContaining(['scheduling.x-k8s.io/v1alpha1', 'v1']));
      expect(await kubectl.fails('get daemonsets')).toBe(`error: the server doesn't have a resource type "daemonsets"`);
    });

    it('explain describes the fields of custom resources', async () => {
      const { kubectl } = session();
      expect(await kubectl.ok('explain pg.spec.minMember')).toMatch(
        /^GROUP: +scheduling\.x-k8s\.io\nKIND: +PodGroup\nVERSION: +v1alpha1\n\nFIELD: minMember <integer>\n\n\nDESCRIPTION:\n +The quorum/,
      );
      expect(await kubectl.fails('explain pg.spec.nonsense')).toMatch(/field "nonsense" does not exist/);
      expect(await kubectl.fails('explain pod.spec')).toMatch(/not found in OpenAPI schema/);
    });

    it('get --raw returns raw responses', async () => {
      const { kubectl } = session();
      expect(await kubectl.ok('get --raw /healthz')).toBe('ok');
      expect(await kubectl.fails('get --raw /nothing')).toMatch(/^Error from server \(NotFound\)/);
    });
  });

  describe('create', () => {
    it('creates objects of the kinds that kubectl has commands for', async () => {
      const { kubectl } = session();
      expect(await kubectl.ok('create namespace team')).toBe('namespace/team created\n');
      expect(await kubectl.ok('create configmap limits --from-literal=pods=5 -n team')).toBe(
        'configmap/limits created\n',
      );
      expect(await kubectl.ok('create serviceaccount robot -n team')).toBe('serviceaccount/robot created\n');
      expect(await kubectl.ok('create priorityclass high --value=1000')).toBe(
        'priorityclass.scheduling.k8s.io/high created\n',
      );
      expect(table(await kubectl.ok('get serviceaccounts -n team'))).toEqual([
        ['NAME', 'AGE'],
        ['robot', expect.any(String)],
      ]);
      expect(table(await kubectl.ok('get priorityclass high'))).toEqual([
        ['NAME', 'VALUE', 'GLOBAL-DEFAULT', 'AGE', 'PREEMPTIONPOLICY'],
        ['high', '1000', 'false', expect.any(String), 'PreemptLowerPriority'],
      ]);
      expect(await kubectl.ok('describe configmap limits -n team')).toMatch(/^pods:\n----\n5$/m);
      expect(await kubectl.ok('describe namespace team')).toMatch(/^Status: +Active$/m);
    });

    it('run creates a pod that runs', async () => {
      const { kubectl } = session();
      expect(await kubectl.ok('run web --image=nginx -n team --labels=app=web')).toBe('pod/web created\n');
      expect(await kubectl.ok('wait pod/web -n team --for=condition=Ready --timeout=60s')).toBe(
        'pod/web condition met\n',
      );
    });

    it('rejects an object that already exists', async () => {
      const { kubectl } = session();
      expect(await kubectl.fails('create namespace team')).toBe(
        'Error from server (AlreadyExists): namespaces "team" already exists',
      );
      expect(await kubectl.fails('create -f -', ['-n', 'team'], { ...worker('web') })).toBe(
        'Error from server (AlreadyExists): error when creating "STDIN": pods "web" already exists',
      );
    });

    it('generates the end of a name', async () => {
      const { kubectl } = session();
      const generated = { ...worker(''), metadata: { generateName: 'worker-' } };
      const created = await kubectl.ok('create -n team -o name -f -', [], generated);
      expect(created).toMatch(/^pod\/worker-[bcdfghjklmnpqrstvwxz2456789]{5}\n$/);
      await kubectl.ok(`delete -n team --grace-period=0 --force ${created.trimEnd()}`);
    });
  });

  describe('apply', () => {
    it.each(rejectedManifests)('rejects $what', async ({ manifest, message }) => {
      const complaint = await session().kubectl.fails('apply -f -', [], manifest);
      if (typeof message === 'string') expect(complaint).toBe(message);
      else expect(complaint).toMatch(message);
    });

    it('reports every invalid field of a pod at once', async () => {
      const spec = {
        restartPolicy: 'Sometimes',
        containers: [{ name: 'A_b', resources: { requests: { cpu: '3' }, limits: { cpu: '1' } } }],
      };
      const complaint = await session().kubectl.fails('apply -f -', [], { ...worker('bad'), spec });
      expect(complaint.split('\n')).toEqual([
        'The Pod "bad" is invalid: ',
        expect.stringMatching(/^\* spec\.containers\[0\]\.name: Invalid value: "A_b": a lowercase RFC 1123 label must/),
        '* spec.containers[0].image: Required value',
        expect.stringMatching(
          /^\* spec\.containers\[0\]\.resources\.requests: Invalid value: "3": must be less than or equal/,
        ),
        expect.stringMatching(/^\* spec\.restartPolicy: Unsupported value: "Sometimes": supported values: "Always"/),
      ]);
    });

    it('only warns of unknown fields with --validate=warn', async () => {
      const { kubectl } = session();
      const manifest = { ...podGroup('warned', 1), spec: { minMember: 1, minMembers: 3 } };
      const { code, stdout, stderr } = await kubectl.run('apply --validate=warn -f -', [], manifest);
      expect({ code, stdout, stderr }).toEqual({
        code: 0,
        stdout: 'podgroup.scheduling.x-k8s.io/warned created\n',
        stderr: 'Warning: unknown field "spec.minMembers"\n',
      });
      expect(await kubectl.ok('get pg warned -o jsonpath={.spec}')).toBe('{"minMember":1}');
    });

    it('creates, skips unchanged objects, and changes the others', async () => {
      const { kubectl } = session();
      const both = (b: string, quorum: number): object => listOf(settings(b), podGroup('band', quorum));
      const names = ['configmap/settings', 'podgroup.scheduling.x-k8s.io/band'];
      const saying = (word: string): string => names.map((name) => `${name} ${word}\n`).join('');
      expect(await kubectl.ok('apply -f -', [], both('2', 2))).toBe(saying('created'));
      expect(await kubectl.ok('apply -f -', [], both('2', 2))).toBe(saying('unchanged'));
      expect(await kubectl.ok('apply -f - --dry-run=server', [], both('3', 3))).toBe(
        saying('configured (server dry run)'),
      );
      expect(await kubectl.ok('get configmap settings -o jsonpath={.data.b}')).toBe('2');
      expect(await kubectl.ok('apply -f -', [], both('3', 3))).toBe(saying('configured'));
      expect(await kubectl.ok('get configmap settings -o jsonpath={.data.b}')).toBe('3');
      expect(await kubectl.ok('get pg band -o jsonpath={.spec.minMember}/{.metadata.generation}')).toBe('3/2');
    });

    it('diff shows what would change', async () => {
      const { kubectl } = session();
      expect(await kubectl.ok('diff -f -', [], settings('3'))).toBe('');
      const { code, stdout } = await kubectl.run('diff -f -', [], listOf(settings('4'), podGroup('band', 4)));
      expect(code).toBe(1);
      expect(stdout).toMatch(/^- {2}b: "3"\n\+ {2}b: "4"$/m);
      expect(stdout).toMatch(/^- {2}minMember: 3\n\+ {2}minMember: 4$/m);
    });

    it('rejects server-side apply and names the alternative', async () => {
      const { kubectl } = session();
      expect(await kubectl.fails('apply --server-side -f -', [], settings('4'))).toMatch(
        /^error: .*this API server does not support server-side apply: use client-side apply, which is kubectl apply without --server-side/m,
      );
    });
  });

  describe('replace', () => {
    it('writes the whole object', async () => {
      const { kubectl, plane } = session();
      const file = join(plane.folder, 'settings.json');
      await writeFile(file, JSON.stringify(settings('6')));
      expect(await kubectl.ok('replace -f', [file])).toBe('configmap/settings replaced\n');
      expect(await kubectl.ok('get configmap settings -o jsonpath={.data.b}')).toBe('6');
      expect(await kubectl.ok('replace --force -f', [file])).toBe(
        'configmap "settings" deleted\nconfigmap/settings replaced\n',
      );
    });

    it('rejects an outdated resource version', async () => {
      const { kubectl } = session();
      const old = { ...settings('7'), metadata: { name: 'settings', namespace: 'default', resourceVersion: '1' } };
      expect(await kubectl.fails('replace -f -', [], old)).toMatch(
        /^Error from server \(Conflict\): .*the object has been modified; please apply your changes to the latest version/,
      );
    });
  });

  describe('label, annotate and patch', () => {
    const labels = (): Promise<string> => session().kubectl.ok('get pod web -n team -o jsonpath={.metadata.labels}');

    it('label sets, refuses to overwrite, overwrites and removes', async () => {
      const { kubectl } = session();
      expect(await kubectl.ok('label pod web -n team tier=gold')).toBe('pod/web labeled\n');
      expect(await kubectl.fails('label pod web -n team tier=tin')).toBe(
        "error: 'tier' already has a value (gold), and --overwrite is false",
      );
      await kubectl.ok('label pod web -n team tier=tin --overwrite');
      expect(await labels()).toBe('{"app":"web","tier":"tin"}');
      expect(await kubectl.ok('label pod web -n team tier-')).toBe('pod/web unlabeled\n');
      expect(await labels()).toBe('{"app":"web"}');
      expect(await kubectl.ok('label pg --all tier=gold')).toMatch(/^podgroup\.scheduling\.x-k8s\.io\/band labeled$/m);
    });

    it('annotate sets and removes', async () => {
      const { kubectl } = session();
      expect(await kubectl.ok('annotate pods --all -n team note=hello')).toBe('pod/web annotated\n');
      expect(await kubectl.ok('annotate pod web -n team note-')).toBe('pod/web annotated\n');
    });

    it('patch accepts strategic merge, merge and JSON patches of pods', async () => {
      const { kubectl } = session();
      const patch = (type: string, body: object): Promise<string> =>
        kubectl.ok(`patch pod web -n team --type=${type} -p`, [JSON.stringify(body)]);
      expect(await patch('strategic', { metadata: { labels: { x: 'y' } } })).toBe('pod/web patched\n');
      expect(await patch('strategic', { spec: { containers: [{ name: 'web', image: 'nginx:2' }] } })).toBe(
        'pod/web patched\n',
      );
      expect(await patch('merge', { metadata: { labels: { x: null } } })).toBe('pod/web patched\n');
      expect(await patch('json', [{ op: 'add', path: '/metadata/labels/z', value: '1' }])).toBe('pod/web patched\n');
      expect(await patch('merge', { metadata: { labels: { z: '1' } } })).toBe('pod/web patched (no change)\n');
      expect(await labels()).toBe('{"app":"web","z":"1"}');
      expect(await kubectl.ok('get pod web -n team -o jsonpath={.spec.containers[*].image}')).toBe('nginx:2');
    });

    it('patch rejects invalid patches', async () => {
      const { kubectl } = session();
      const rejects = (what: string, type: string, body: object): Promise<string> =>
        kubectl.fails(`patch ${what} --type=${type} -p`, [JSON.stringify(body)]);
      expect(await rejects('pod web -n team', 'strategic', { spec: { nodeName: 'elsewhere' } })).toMatch(
        /^The Pod "web" is invalid: spec: Forbidden: pod updates may not change fields other than/,
      );
      const test = [{ op: 'test', path: '/metadata/labels/z', value: '2' }];
      expect(await rejects('pod web -n team', 'json', test)).toBe(
        'The request is invalid: the server rejected our request due to an error in our request: operation 0: testing value /metadata/labels/z failed',
      );
      expect(await rejects('pg band', 'strategic', { spec: { minMember: 2 } })).toMatch(
        /accepted media types include: application\/json-patch\+json, application\/merge-patch\+json$/,
      );
      expect(await rejects('pg band', 'merge', { spec: { minMember: 'two' } })).toBe(
        'The PodGroup "band" is invalid: spec.minMember: Invalid value: "string": spec.minMember in body must be of type integer: "string"',
      );
      expect(await rejects('pod missing', 'merge', {})).toBe('Error from server (NotFound): pods "missing" not found');
    });

    it('patch --subresource=status changes only the status', async () => {
      const { kubectl } = session();
      expect(
        await kubectl.ok('patch pod web -n team --subresource=status -p', ['{"status":{"message":"hello"}}']),
      ).toBe('pod/web patched\n');
      expect(await kubectl.ok('get pod web -n team -o jsonpath={.status.message}')).toBe('hello');
      const patch = JSON.stringify({ spec: { minMember: 9 }, status: { scheduleStartTime: '2026-01-01T00:00:00Z' } });
      await kubectl.ok('patch pg band --type=merge --subresource=status -p', [patch]);
      expect(await kubectl.ok('get pg band --subresource=status -o jsonpath={.spec.minMember}')).toBe('3');
    });
  });

  describe('get', () => {
    it('prints pods of all namespaces, by label and by field', async () => {
      const { kubectl } = session();
      const header = ['NAMESPACE', 'NAME', 'READY', 'STATUS', 'RESTARTS', 'AGE'];
      const web = ['team', 'web', '1/1', 'Running', '0', expect.any(String)];
      expect(table(await kubectl.ok('get pods -A'))).toEqual([header, web]);
      expect(table(await kubectl.ok('get pods -A -l app=web,tier!=gold'))).toEqual([header, web]);
      expect(table(await kubectl.ok('get pods -A --field-selector=status.phase=Running'))).toEqual([header, web]);
      const none = await kubectl.run('get pods -A --field-selector=status.phase=Failed');
      expect(none).toEqual({ code: 0, stdout: '', stderr: 'No resources found\n' });
      expect(await kubectl.fails('get pods --field-selector=spec.nonsense=1')).toMatch(
        /field label not supported: spec\.nonsense/,
      );
    });

    it('prints labels as columns', async () => {
      const text = await session().kubectl.ok('get pods -n team -L app --show-labels --no-headers');
      expect(table(text)[0]?.slice(-2)).toEqual(['web', 'app=web,z=1']);
    });

    it('pages, sorts and prints other formats', async () => {
      const { kubectl } = session();
      const namespaces = ['default', 'kube-node-lease', 'kube-public', 'kube-system', 'team'];
      const names = (text: string): (string | undefined)[] => table(text).map(([name]) => name);
      expect(names(await kubectl.ok('get namespaces --chunk-size=2 --no-headers'))).toEqual(namespaces);
      const values = await kubectl.ok('get priorityclasses --sort-by=.value --no-headers');
      expect(names(values)).toEqual(['high', 'system-cluster-critical', 'system-node-critical']);
      expect(await kubectl.ok('get namespaces -o name')).toBe(namespaces.map((name) => `namespace/${name}\n`).join(''));
      expect(await kubectl.ok('get ns -o jsonpath={.items[*].metadata.name}')).toBe(namespaces.join(' '));
      expect(
        table(await kubectl.ok('get pods -n team -o custom-columns=NAME:.metadata.name,PHASE:.status.phase')),
      ).toEqual([
        ['NAME', 'PHASE'],
        ['web', 'Running'],
      ]);
      expect(await kubectl.ok('get pg band -o yaml')).toMatch(/^kind: PodGroup\n[^]*^spec:\n {2}minMember: 3$/m);
      const json = JSON.parse(await kubectl.ok('get pods -n team -o json')) as { kind: string; items: object[] };
      expect(json).toMatchObject({
        kind: 'List',
        items: [{ kind: 'Pod', spec: { schedulerName: 'default-scheduler' } }],
      });
    });

    it('reports missing objects', async () => {
      const { kubectl } = session();
      expect(await kubectl.fails('get pod missing')).toBe('Error from server (NotFound): pods "missing" not found');
      expect(await kubectl.fails('describe pg missing')).toBe(
        'Error from server (NotFound): podgroups.scheduling.x-k8s.io "missing" not found',
      );
    });

    it('prints the CRD of PodGroups', async () => {
      const { kubectl } = session();
      expect(table(await kubectl.ok('get crd'))).toEqual([
        ['NAME', 'CREATED AT'],
        ['podgroups.scheduling.x-k8s.io', expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)],
      ]);
      expect(await kubectl.ok('wait crd/podgroups.scheduling.x-k8s.io --for=condition=Established --timeout=60s')).toBe(
        'customresourcedefinition.apiextensions.k8s.io/podgroups.scheduling.x-k8s.io condition met\n',
      );
    });
  });

  it('logs and exec report that simulated pods have neither', async () => {
    const { kubectl } = session();
    const message =
      /^Error from server \(NotImplemented\): pods\/(log|exec) is not available: the pods of this API server are simulated/;
    expect(await kubectl.fails('logs web -n team')).toMatch(message);
    expect(await kubectl.fails('exec web -n team -- ls')).toMatch(message);
    expect(await kubectl.fails('top pods')).toBe('error: Metrics API not available');
  });

  describe('delete', () => {
    it('waits until the pod has ended', async () => {
      const { kubectl } = session();
      expect(await kubectl.ok('delete pod web -n team')).toBe('pod "web" deleted\n');
      expect(await kubectl.fails('get pod web -n team')).toBe('Error from server (NotFound): pods "web" not found');
    });

    it('shows a slow pod as Terminating, and can force its deletion', async () => {
      const { kubectl } = session();
      const slow = worker('slow') as { metadata: object };
      slow.metadata = { name: 'slow', annotations: { 'sim.tutti.dev/termination': '20s' } };
      await kubectl.ok('create -f -', [], slow);
      await kubectl.ok('wait pod/slow --for=condition=Ready --timeout=60s');
      expect(await kubectl.ok('delete pod slow --wait=false')).toBe('pod "slow" deleted\n');
      expect(table(await kubectl.ok('get pod slow'))[1]?.slice(0, 3)).toEqual(['slow', '1/1', 'Terminating']);
      const forced = await kubectl.run('delete pod slow --grace-period=0 --force');
      expect(forced).toMatchObject({ code: 0, stdout: 'pod "slow" force deleted\n' });
      expect(await kubectl.ok('get pod slow --ignore-not-found')).toBe('');
    });

    it('deletes the objects of a file or all of a kind, and reports missing objects', async () => {
      const { kubectl } = session();
      expect(await kubectl.ok('delete -f -', [], settings('6'))).toBe('configmap "settings" deleted\n');
      expect(await kubectl.ok('delete pg --all')).toBe(
        'podgroup.scheduling.x-k8s.io "band" deleted\npodgroup.scheduling.x-k8s.io "warned" deleted\n',
      );
      expect(await kubectl.ok('delete pods --all')).toBe('No resources found\n');
      expect(await kubectl.fails('delete pod missing')).toBe('Error from server (NotFound): pods "missing" not found');
      expect(await kubectl.ok('delete pod missing --ignore-not-found')).toBe('');
      expect(await kubectl.ok('delete priorityclass high')).toMatch(/"high" deleted/);
    });

    it('empties a namespace, but keeps the system namespaces', async () => {
      const { kubectl } = session();
      expect(await kubectl.ok('delete namespace team')).toBe('namespace "team" deleted\n');
      expect(await kubectl.fails('get configmaps -n team limits')).toMatch(/not found$/);
      expect(await kubectl.fails('delete namespace default')).toBe(
        'Error from server (Forbidden): namespaces "default" is forbidden: this namespace may not be deleted',
      );
    });
  });
});
