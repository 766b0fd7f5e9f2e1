import { describe, expect, test } from 'vitest';
import { NetworkPolicies } from './network-policy.ts';
import type { NetworkPeer } from './network-policy.ts';
import { deployment, rendered, theObject } from './rendered-chart.ts';
import type { ChartObject } from './rendered-chart.ts';

const namespace = 'tutti-system';
const apiServer: NetworkPeer = { address: '10.0.0.1' };
const node: NetworkPeer = { address: '10.0.0.7' };
const prometheus: NetworkPeer = {
  namespace: 'monitoring',
  namespaceLabels: { 'kubernetes.io/metadata.name': 'monitoring' },
  labels: { 'app.kubernetes.io/name': 'prometheus' },
};
const tenant: NetworkPeer = {
  namespace: 'team',
  namespaceLabels: { 'kubernetes.io/metadata.name': 'team' },
  labels: { app: 'batch' },
};
const readers = { metrics: { readers: [{ name: 'prometheus', namespace: 'monitoring' }] } };
const nodes = { ipBlock: { cidr: '10.0.0.0/24' } };
const dns: NetworkPeer = { namespace: 'kube-system', labels: { 'k8s-app': 'kube-dns' } };

interface ContainerParts {
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly livenessProbe: { readonly httpGet: { readonly port: string } };
}

type ServingPod = NetworkPeer & { readonly ports: Readonly<Record<string, number>>; readonly probed: string };

/** Returns the serving pod of a Deployment; `probed` is the name of the port of its probes. */
function podOf(objects: readonly ChartObject[], component: 'scheduler' | 'controller'): ServingPod {
  const { metadata, spec } = deployment(objects, component).spec.template;
  const [container] = spec.containers as unknown as readonly ContainerParts[];
  const ports = Object.fromEntries(container!.ports.map(({ name, containerPort }) => [name, containerPort]));
  return { namespace, labels: metadata.labels, ports, probed: container!.livenessProbe.httpGet.port };
}

/** Returns the admitted ports of the whole range, by protocol. */
function admitted(policies: NetworkPolicies, from: NetworkPeer, to: NetworkPeer): string[] {
  const every = Array.from({ length: 65_535 }, (_, index) => index + 1);
  return (['TCP', 'UDP', 'SCTP'] as const).flatMap((protocol) =>
    every.filter((port) => policies.admits(from, to, { port, protocol })).map((port) => `${protocol} ${port}`),
  );
}

describe('CH22 the NetworkPolicy of the chart', () => {
  test.each(['scheduler', 'controller'] as const)(
    'admits connections to the endpoints of the %s from the namespaces of metrics.readers only',
    async (component) => {
      const objects = await rendered(readers);
      const policies = new NetworkPolicies(objects);
      const pod = podOf(objects, component);
      const port = pod.ports[pod.probed]!;
      const service = theObject<{ spec: { ports: readonly { targetPort: string }[] } }>(
        objects,
        `Service/tutti-${component}`,
      );
      expect(pod.ports[service.spec.ports[0]!.targetPort]).toBe(port);
      expect(admitted(policies, prometheus, pod)).toEqual([`TCP ${port}`]);
      expect(admitted(policies, tenant, pod)).toEqual([]);
    },
  );

  test('admits no pod by default', async () => {
    const objects = await rendered();
    const policies = new NetworkPolicies(objects);
    for (const from of [prometheus, tenant, { namespace, labels: {} }]) {
      expect(admitted(policies, from, podOf(objects, 'scheduler'))).toEqual([]);
    }
  });

  test('does not restrict outgoing connections by default: the ports of API servers and extenders differ', async () => {
    const objects = await rendered();
    const policies = new NetworkPolicies(objects);
    for (const to of [apiServer, dns, tenant]) {
      expect(policies.admits(podOf(objects, 'scheduler'), to, { port: 8443, protocol: 'TCP' })).toBe(true);
    }
  });

  test.each(['scheduler', 'controller'] as const)('lets the %s reach the API server and DNS', async (component) => {
    const objects = await rendered({ networkPolicy: { restrictEgress: true } });
    const policies = new NetworkPolicies(objects);
    const pod = podOf(objects, component);
    const everywhere = ['TCP 53', 'TCP 443', 'TCP 6443', 'UDP 53'];
    expect(admitted(policies, pod, apiServer).sort()).toEqual([...everywhere].sort());
    expect(admitted(policies, pod, dns).sort()).toEqual([...everywhere].sort());
  });

  test('lets helm test reach the API server, and admits no connection to it', async () => {
    const objects = await rendered({ ...readers, networkPolicy: { restrictEgress: true } });
    const policies = new NetworkPolicies(objects);
    const pod: NetworkPeer = { namespace, labels: theObject(objects, 'Pod/tutti-test').metadata.labels! };
    expect(policies.admits(pod, apiServer, { port: 443, protocol: 'TCP' })).toBe(true);
    expect(policies.admits(prometheus, pod, { port: 443, protocol: 'TCP' })).toBe(false);
  });

  test('admits ingressFrom, and connections to apiServerPorts and extraEgress', async () => {
    const from = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'monitoring' } } };
    const extender = {
      to: [{ podSelector: { matchLabels: { app: 'extender' } } }],
      ports: [{ port: 8888, protocol: 'TCP' }],
    };
    const objects = await rendered({
      networkPolicy: {
        ingressFrom: [from, nodes],
        restrictEgress: true,
        apiServerPorts: [16_443],
        extraEgress: [extender],
      },
    });
    const policies = new NetworkPolicies(objects);
    const pod = podOf(objects, 'scheduler');
    for (const peer of [prometheus, node]) expect(admitted(policies, peer, pod)).toEqual(['TCP 10259']);
    expect(admitted(policies, { ...prometheus, namespaceLabels: {} }, pod)).toEqual([]);
    expect(admitted(policies, { namespace, labels: {} }, pod)).toEqual([]);
    expect(admitted(policies, pod, apiServer)).toEqual(['TCP 53', 'TCP 16443', 'UDP 53']);
    const port = { port: 8888, protocol: 'TCP' } as const;
    expect(policies.admits(pod, { namespace, labels: { app: 'extender' } }, port)).toBe(true);
    expect(policies.admits(pod, { namespace: 'other', labels: { app: 'extender' } }, port)).toBe(false);
  });

  test('does not apply to another release in the namespace, or to the same release in another namespace', async () => {
    const objects = await rendered();
    const policies = new NetworkPolicies(objects);
    const pod = podOf(objects, 'scheduler');
    const port = { port: 8080, protocol: 'TCP' } as const;
    expect(policies.admits(node, pod, port)).toBe(false);
    expect(policies.admits(node, { ...pod, namespace: 'other' }, port)).toBe(true);
    const second = podOf(await rendered({}, { release: 'second' }), 'scheduler');
    expect(policies.admits(node, second, port)).toBe(true);
  });

  test('does not exist if it is disabled, and everything is open', async () => {
    const objects = await rendered({ networkPolicy: { enabled: false } });
    expect(new NetworkPolicies(objects).admits(node, podOf(objects, 'scheduler'), { port: 1, protocol: 'UDP' })).toBe(
      true,
    );
  });
});

describe('NetworkPolicies', () => {
  const pod: NetworkPeer = { namespace: 'a', labels: { app: 'x' }, ports: { https: 8443 } };
  const policy = (spec: object): NetworkPolicies =>
    new NetworkPolicies([
      { apiVersion: 'networking.k8s.io/v1', kind: 'NetworkPolicy', metadata: { name: 'p', namespace: 'a' }, spec },
    ]);
  const tcp = (port: number): { port: number; protocol: 'TCP' } => ({ port, protocol: 'TCP' });

  test.each<[string, object, NetworkPeer, number, boolean]>([
    [
      'an empty selector selects every pod, and without rules admits no connection',
      { podSelector: {} },
      node,
      1,
      false,
    ],
    ['a pod that is not selected is open', { podSelector: { matchLabels: { app: 'y' } } }, node, 1, true],
    ['a policy without the direction has no effect on it', { podSelector: {}, policyTypes: ['Egress'] }, node, 1, true],
    ['an empty rule admits everything', { podSelector: {}, ingress: [{}] }, node, 1, true],
    ['a port by name', { podSelector: {}, ingress: [{ ports: [{ port: 'https' }] }] }, node, 8443, true],
    [
      'a port name that the pod does not have',
      { podSelector: {}, ingress: [{ ports: [{ port: 'web' }] }] },
      node,
      8443,
      false,
    ],
    ['a range of ports', { podSelector: {}, ingress: [{ ports: [{ port: 8000, endPort: 9000 }] }] }, node, 8500, true],
    ['an IP block', { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/24' } }] }] }, node, 1, true],
    [
      'an IP block with an exception',
      { podSelector: {}, ingress: [{ from: [{ ipBlock: { cidr: '10.0.0.0/24', except: ['10.0.0.0/29'] } }] }] },
      node,
      1,
      false,
    ],
    ['pods of the same namespace', { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] }, pod, 1, true],
    [
      'pods of another namespace',
      { podSelector: {}, ingress: [{ from: [{ podSelector: {} }] }] },
      prometheus,
      1,
      false,
    ],
  ])('%s', (_, spec, from, port, expected) => {
    const other = from === pod ? { ...pod, labels: {} } : from;
    expect(policy(spec).admits(other, pod, tcp(port))).toBe(expected);
  });
});
